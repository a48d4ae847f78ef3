"""Which agent a result is of, and which calls of it are open."""

from __future__ import annotations

import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, ref

from ._encoding import Encoded

MAX_OPEN_CALLS = 10_000
"""Calls whose end was never seen, as of direct calls that are not recorded; the oldest are forgotten."""

HOST_DEFAULT_ID = "default"
"""The id of every agent that was given none. Source: ``strands.agent.agent._DEFAULT_AGENT_ID``, 1.51 to 1.62."""

UNKNOWN_AGENT = "unknown agent"
"""Key of results that a callback handler was handed before it was handed the agent."""


MAX_INPUTS = 8
"""Inputs that are kept of calls of one id that run at once."""

_CALLING: ContextVar[tuple[str, ref[Any]] | None] = ContextVar("strands_ctx_bank_calling", default=None)


def enter_call(agent: Any, tool_use_id: str) -> None:
    """Remember whose call it is that begins in this context: the tool runs in the same one, or in a copy."""
    _CALLING.set((tool_use_id, ref(agent)))


def calling_agent(tool_use_id: str) -> Any:
    """Return the agent whose call this is, or None where it is not known.

    The host's ``invocation_state["agent"]`` does not tell: the nodes of a graph share that dictionary.
    """
    call = _CALLING.get()
    return call[1]() if call is not None and call[0] == tool_use_id else None


@dataclass(slots=True)
class Call:
    """A tool call that has begun, and whose result is not yet in the log."""

    started_s: float | None = None
    running: int = 0
    results: int = 0
    inputs: dict[int, Encoded] = field(default_factory=dict)
    heard: ref[Any] | None = None


class Desk:
    """One agent's key and its open calls."""

    def __init__(self, key: str) -> None:
        """Open the desk."""
        self.key = key
        self._calls: dict[str, Call] = {}

    def begin(self, tool_use_id: str, given: object, encoded: Encoded) -> None:
        """Remember when a tool starts, and what its input is then."""
        call = self._call(tool_use_id)
        call.started_s = time.monotonic()
        call.running += 1
        call.inputs[id(given)] = encoded
        if len(call.inputs) > MAX_INPUTS:
            del call.inputs[next(iter(call.inputs))]

    def result(self, tool_use_id: str, given: object = None) -> tuple[int, float | None, Encoded | None]:
        """Count a result of a call.

        Returns:
            Which attempt it is, the seconds since the tool started, and the input that it started with.
        """
        call = self._call(tool_use_id)
        call.results += 1
        call.running = max(0, call.running - 1)
        encoded = call.inputs.pop(id(given), None)
        if encoded is None and call.inputs:
            encoded = call.inputs.popitem()[1]
        return call.results, None if call.started_s is None else time.monotonic() - call.started_s, encoded

    def is_of_a_hook(self, tool_use_id: str, event: Any) -> bool:
        """Tell whether the host hands a failed hook's error as one more result of a call that ran once.

        A call that is made again begins again, but for one in the background: there a hook has asked for it.
        """
        call = self._call(tool_use_id)
        before = call.heard() if call.heard is not None else None
        call.heard = ref(event) if hasattr(event, "__weakref__") else None
        failed = getattr(event, "exception", None) is not None and not getattr(before, "retry", False)
        return failed and call.results > 0 and not call.running

    def end(self, tool_use_id: str) -> int:
        """Forget a call whose results are in the log.

        Returns:
            How many of its results were seen before.
        """
        call = self._calls.pop(tool_use_id, None)
        return 0 if call is None else call.results

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
