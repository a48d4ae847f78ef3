"""The callbacks: what the host says of tool calls, turned into entries of the store."""

from __future__ import annotations

import functools
import logging
import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakSet

from strands import Agent
from strands.hooks import AfterToolCallEvent, BeforeToolCallEvent, MessageAddedEvent

from ._agents import UNKNOWN_AGENT, Desks, enter_call
from ._encoding import Encoded, encode
from ._log import calls_of, results_of
from ._store import ResultStore
from .recall import RecallTool
from .records import Entry

logger = logging.getLogger(__name__)


class Recorder:
    """Hears of every tool call of its agents, first where results are concerned; never raises into a run."""

    def __init__(self, store: ResultStore, desks: Desks) -> None:
        """Record into a store."""
        self._store, self._desks = store, desks
        self._attached: WeakSet[Agent] = WeakSet()
        self._asked: dict[str, Mapping[str, Any]] = {}
        self.recalls: dict[str, int] = {}

    def attach(self, agent: Agent) -> None:
        """Register with an agent, once."""
        with self._store.lock:
            if agent in self._attached:
                return
            self._attached.add(agent)
        # The host calls AfterToolCall callbacks by order, and within an order the last one first.
        agent.hooks.add_callback(BeforeToolCallEvent, _guarded(self.on_call), order=math.inf)
        agent.hooks.add_callback(AfterToolCallEvent, _guarded(self.on_result), order=-math.inf)
        agent.hooks.add_callback(MessageAddedEvent, _guarded(self.on_message), order=-math.inf)

    def is_known(self, tool_use_id: str) -> bool:
        """Tell whether a result with an id was banked, dropped, or handed out by a recall tool."""
        known = tool_use_id in self._store.dropped or tool_use_id in self.recalls
        return known or bool(self._store.with_id(tool_use_id))

    def on_call(self, event: BeforeToolCallEvent) -> None:
        """Take the time and the input, as the last one before the tool runs."""
        tool_use_id, given = str(event.tool_use.get("toolUseId")), event.tool_use.get("input")
        enter_call(event.agent, tool_use_id)
        encoded = encode(given)
        with self._store.lock:
            self._desks.of(event.agent).begin(tool_use_id, given, encoded)

    def on_result(self, event: AfterToolCallEvent) -> None:
        """Bank what the tool returned, as the first one that sees it."""
        tool_use_id = str(event.tool_use.get("toolUseId"))
        with self._store.lock:
            desk = self._desks.of(event.agent)
            if desk.is_of_a_hook(tool_use_id, event):
                return
            attempt, waited_s, given = desk.result(tool_use_id, event.tool_use.get("input"))
            if isinstance(event.selected_tool, RecallTool) and event.selected_tool.reads(self._store):
                self.recalls[tool_use_id] = self.recalls.get(tool_use_id, 0) + 1
                return
        # The host's own measure, from 1.62, leaves out what a call in the background waited for.
        measured_s = getattr(event, "duration", None)
        self._bank(
            desk.key,
            event.tool_use,
            event.result,
            tool_use_id=tool_use_id,
            given=given,
            attempt=attempt,
            duration_s=(waited_s if measured_s is None else measured_s) if event.cancel_message is None else None,
            at_emission=True,
        )

    def on_message(self, event: MessageAddedEvent) -> None:
        """Bank the results that no tool returned: of calls that were cancelled before they started."""
        results = results_of(event.message)
        with self._store.lock:
            desk = self._desks.of(event.agent)
            seen = Counter({tool_use_id: desk.end(tool_use_id) for tool_use_id in {*map(_id_of, results)}})
        for result in results:
            tool_use_id = _id_of(result)
            seen[tool_use_id] -= 1
            if seen[tool_use_id] < 0:
                log: Any = event.agent.messages
                calls = calls_of(log[-2]) if len(log) > 1 else {}
                self._bank(desk.key, calls.get(tool_use_id), result, tool_use_id=tool_use_id)

    def on_callback_message(self, message: Mapping[str, Any], recall_names: set[str]) -> None:
        """Bank from a message what no hook has seen: a model that streams nothing never names its agent."""
        with self._store.lock:
            self._asked.update(calls_of(message))
            for result in results_of(message):
                tool_use_id = str(result.get("toolUseId"))
                call = self._asked.pop(tool_use_id, None)
                if not self.is_known(tool_use_id) and (call or {}).get("name") not in recall_names:
                    self._bank(UNKNOWN_AGENT, call, result, tool_use_id=tool_use_id)

    def _bank(
        self,
        agent: str,
        call: Mapping[str, Any] | None,
        result: Any,
        *,
        tool_use_id: str,
        given: Encoded | None = None,
        attempt: int = 1,
        duration_s: float | None = None,
        at_emission: bool = False,
    ) -> None:
        try:
            made = encode(result)
            given = given or encode(call.get("input") if call else None)
            status = result.get("status") if isinstance(result, dict) else None
            entry = Entry(
                order=0,
                agent=agent,
                tool_use_id=tool_use_id,
                tool_name=str(call["name"]) if call and "name" in call else None,
                status=status if isinstance(status, str) else None,
                attempt=attempt,
                duration_s=duration_s,
                at_emission=at_emission,
                exact=made.exact,
                result_bytes=made.json_bytes,
            )
            payload = b"%b\n%b" % (given.data, made.data)
        except Exception as error:  # noqa: BLE001 - a run never fails through the bank
            self._store.drop(agent, tool_use_id, f"it can't be encoded: {type(error).__name__}")
        else:
            self._store.add(entry, payload)


def _guarded(callback: Callable[[Any], None]) -> Any:
    """Keep what goes wrong in a callback out of the run."""

    @functools.wraps(callback)
    def guarded(event: Any) -> None:
        try:
            callback(event)
        except Exception as error:  # noqa: BLE001 - a run never fails through the bank
            logger.warning(
                "event=<%s>, error=<%s> | the bank missed an event", type(event).__name__, type(error).__name__
            )

    return guarded


def _id_of(result: Mapping[str, Any]) -> str:
    return str(result.get("toolUseId"))
