"""Requests sent to a model directly, as an agent sends them."""

from __future__ import annotations

import asyncio


def stream(model, messages, **arguments):
    """Every event of one request."""

    async def collect():
        return [event async for event in model.stream(messages, **{"invocation_state": {}, **arguments})]

    return asyncio.run(collect())
