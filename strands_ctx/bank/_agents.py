"""Which agent a result is of, and which calls of it are open."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

MAX_OPEN_CALLS = 10_000
"""Calls whose end was never seen, as of direct calls that are not recorded; the oldest are forgotten."""

HOST_DEFAULT_ID = "default"
"""The id of every agent that was given none. Source: ``strands.agent.agent._DEFAULT_AGENT_ID``, 1.51 to 1.62."""

UNKNOWN_AGENT = "unknown agent"
"""Key of results that a callback handler was handed before it was handed the agent."""


@dataclass(slots=True)
class Call:
    """A tool call that has begun, and whose result is not yet in the log."""

    started_s: float | None = None
    results: int = 0


class Desk:
    """One agent's key and its open calls."""

    def __init__(self, key: str) -> None:
        """Open the desk."""
        self.key = key
        self._calls: dict[str, Call] = {}

    def begin(self, tool_use_id: str) -> None:
        """Remember when a tool starts."""
        self._call(tool_use_id).started_s = time.monotonic()

    def result(self, tool_use_id: str) -> tuple[int, float | None]:
        """Count a result of a call.

        Returns:
            Which attempt it is, and the seconds since the tool started.
        """
        call = self._call(tool_use_id)
        call.results += 1
        return call.results, None if call.started_s is None else time.monotonic() - call.started_s

    def end(self, tool_use_id: str) -> bool:
        """Forget a call whose result is in the log.

        Returns:
            Whether its result was seen before.
        """
        call = self._calls.pop(tool_use_id, None)
        return call is not None and call.results > 0

    def _call(self, tool_use_id: str) -> Call:
        call = self._calls.get(tool_use_id)
        if call is None:
            call = self._calls[tool_use_id] = Call()
            if len(self._calls) > MAX_OPEN_CALLS:
                del self._calls[next(iter(self._calls))]
        return call


class Desks:
    """The desks of all agents that a bank serves."""

    def __init__(self) -> None:
        """Know no agent."""
        self._desks: WeakKeyDictionary[Any, Desk] = WeakKeyDictionary()
        self._taken = {UNKNOWN_AGENT}

    def of(self, agent: Any) -> Desk:
        """Return an agent's desk; its key is its id, or its name where it was given no id.

        A second agent of the same id or name gets a number behind it, also when the first is gone.
        """
        desk = self._desks.get(agent)
        if desk is None:
            own = str(getattr(agent, "agent_id", HOST_DEFAULT_ID) or HOST_DEFAULT_ID)
            base = str(getattr(agent, "name", own)) if own == HOST_DEFAULT_ID else own
            key, number = base, 1
            while key in self._taken:
                number += 1
                key = f"{base}#{number}"
            self._taken.add(key)
            desk = self._desks[agent] = Desk(key)
        return desk
