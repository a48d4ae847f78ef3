"""Counts by a Strands model's own ``count_tokens``, called from synchronous code."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol, cast

from strands_ctx.tokens.counting import CountMemo, block_tokens
from strands_ctx.tokens.media import MEDIA_TOKENS
from strands_ctx.tokens.tiktoken_counter import TiktokenCounter
from strands_ctx.types import Block, Message, ToolSpec

logger = logging.getLogger(__name__)

MAX_FAILURES = 3
"""Failures in a row after which the model is not asked again: each may cost a network timeout."""

_PROBE = cast(Message, {"role": "user", "content": [{"text": "."}]})


class CountingModel(Protocol):
    """What is needed of a Strands model: its asynchronous ``count_tokens``."""

    def count_tokens(self, messages: Any, tool_specs: Any = None) -> Awaitable[int]:
        """Count the tokens of messages and tool specifications."""
        ...


class ModelCounter:
    """A ``TokenCounter`` that asks a Strands model, and remembers its answers.

    The host's default count is an estimate from characters, and a provider's own may be a network call for each new
    message; therefore ``exact`` is False. Media that the model's count leaves out are added by kind and size. Where
    the model raises, the number comes from ``TiktokenCounter()``, one warning says so, and after three failures in a
    row the model is not asked again.

    Args:
        model: A model with ``count_tokens(messages, tool_specs=...)``, as every Strands model has from 1.51 on.

    Example:
        >>> class Model:
        ...     async def count_tokens(self, messages, tool_specs=None):
        ...         return 7
        >>> ModelCounter(Model()).count_text("How large is this?")
        7
    """

    __slots__ = ("_failures", "_fallback", "_memo", "_model", "_warned")

    def __init__(self, model: CountingModel) -> None:
        """Name the model; it is not asked yet."""
        self._model = model
        self._memo = CountMemo()
        self._fallback = TiktokenCounter()
        self._failures = 0
        self._warned = False

    @property
    def exact(self) -> bool:
        """False: what a model counts may be an estimate."""
        return False

    def count_text(self, text: str) -> int:
        """Count a text as the only block of a user message."""
        if not text:
            return 0
        message = cast(Message, {"role": "user", "content": [{"text": text}]})
        count = partial(self._ask, [message], None, partial(self._fallback.count_text, text))
        return self._remembered("text", text, count)

    def count_message(self, message: Message) -> int:
        """Count one whole message; a message changed in place is counted anew."""
        return self._remembered("message", _identity(message), partial(self._count_message, message))

    def count_tools(self, specs: Sequence[ToolSpec]) -> int:
        """Count tool specifications as what they add to a message, since providers refuse to count tools alone."""
        if not specs:
            return 0
        return self._remembered("tools", _identity(specs), partial(self._count_tools, specs))

    def _remembered(self, kind: str, identity: str | None, count: Callable[[], int]) -> int:
        return count() if identity is None else self._memo.get(f"{kind}: {identity}", lambda _: count())

    def _count_message(self, message: Message) -> int:
        whole = self._ask([message], None, partial(self._fallback.count_message, message))
        media = _media_blocks(message)
        if not media:
            return whole
        rest = _without_media(message)
        beside = self._ask([rest], None, partial(self._fallback.count_message, rest)) if rest["content"] else 0
        return whole if whole > beside else whole + sum(block_tokens(self._fallback, block) for block in media)

    def _count_tools(self, specs: Sequence[ToolSpec]) -> int:
        alone = self._ask([_PROBE], None, lambda: 0)
        both = self._ask([_PROBE], list(specs), lambda: alone + self._fallback.count_tools(specs))
        return max(1, both - alone)

    def _ask(self, messages: list[Message], specs: list[ToolSpec] | None, fallback: Callable[[], int]) -> int:
        if self._failures >= MAX_FAILURES:
            return fallback()
        try:
            counted = _run(self._model, messages, specs)
            if not isinstance(counted, int) or counted < 0:
                raise TypeError(f"count_tokens gave {counted!r}, not a number of tokens")
        except Exception as error:  # noqa: BLE001  a model is foreign code: it may raise whatever its client raises
            self._failures += 1
            if not self._warned:
                self._warned = True
                logger.warning("error=<%s> | model could not count tokens, counting with tiktoken", error)
            return fallback()
        self._failures = 0
        return counted


def _run(model: CountingModel, messages: list[Message], specs: list[ToolSpec] | None) -> int:
    async def count() -> int:
        return await model.count_tokens(messages, tool_specs=specs)

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(count())
    # A loop can't wait for itself, so the count runs on a loop of another thread, with this call's context.
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(contextvars.copy_context().run, asyncio.run, count()).result()


def _identity(value: Any) -> str | None:
    """Text that is equal for what is counted alike: the JSON, with bytes by their hash. None where there is no JSON."""
    if isinstance(value, dict) and "content" in value:
        value = (value.get("role"), value["content"])
    try:
        return _IDENTITY.encode(value)
    except (TypeError, ValueError, RecursionError):
        return None


def _hashed(value: object) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return f"bytes:{len(value)}:{hash(bytes(value))}"
    return str(value)


_IDENTITY = json.JSONEncoder(ensure_ascii=False, default=_hashed)


def _is_media(block: Any) -> bool:
    return isinstance(block, dict) and not MEDIA_TOKENS.keys().isdisjoint(block)


def _media_blocks(message: Message) -> list[Block]:
    """The media of a message, those inside tool results included."""
    found: list[Block] = []
    for block in _blocks(message):
        if _is_media(block):
            found.append(block)
        result = block.get("toolResult") if isinstance(block, dict) else None
        items = result.get("content") if isinstance(result, dict) else None
        found += filter(_is_media, items if isinstance(items, list) else ())
    return found


def _without_media(message: Message) -> Message:
    content: list[Block] = []
    for block in _blocks(message):
        result = block.get("toolResult") if isinstance(block, dict) else None
        if isinstance(result, dict) and isinstance(result.get("content"), list):
            kept = [item for item in result["content"] if not _is_media(item)]
            content.append({"toolResult": {**result, "content": kept}})
        elif not _is_media(block):
            content.append(block)
    return cast(Message, {"role": message.get("role", "user"), "content": content})


def _blocks(message: Message) -> list[Block]:
    content: Any = message.get("content")
    return content if isinstance(content, list) else []
