"""The callbacks: what the host says of tool calls, turned into entries of the store."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from weakref import WeakSet

from strands import Agent
from strands.hooks import AfterToolCallEvent, BeforeToolCallEvent, MessageAddedEvent

from ._agents import UNKNOWN_AGENT, Desks
from ._encoding import encode
from ._store import ResultStore
from .recall import RecallTool
from .records import Entry


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
        agent.hooks.add_callback(BeforeToolCallEvent, self.on_call, order=math.inf)
        agent.hooks.add_callback(AfterToolCallEvent, self.on_result, order=-math.inf)
        agent.hooks.add_callback(MessageAddedEvent, self.on_message, order=-math.inf)

    def is_known(self, tool_use_id: str) -> bool:
        """Tell whether a result with an id was banked, dropped, or handed out by a recall tool."""
        known = tool_use_id in self._store.dropped or tool_use_id in self.recalls
        return known or bool(self._store.with_id(tool_use_id))

    def on_call(self, event: BeforeToolCallEvent) -> None:
        """Take the time, as the last one before the tool runs."""
        with self._store.lock:
            self._desks.of(event.agent).begin(str(event.tool_use.get("toolUseId")))

    def on_result(self, event: AfterToolCallEvent) -> None:
        """Bank what the tool returned, as the first one that sees it."""
        tool_use_id = str(event.tool_use.get("toolUseId"))
        with self._store.lock:
            desk = self._desks.of(event.agent)
            attempt, waited_s = desk.result(tool_use_id)
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
            attempt=attempt,
            duration_s=(waited_s if measured_s is None else measured_s) if event.cancel_message is None else None,
            at_emission=True,
        )

    def on_message(self, event: MessageAddedEvent) -> None:
        """Bank the results that no tool returned: of calls that were cancelled before they started."""
        for result in _results_of(event.message):
            tool_use_id = str(result.get("toolUseId"))
            with self._store.lock:
                desk = self._desks.of(event.agent)
                seen = desk.end(tool_use_id)
            if not seen:
                log: Any = event.agent.messages
                calls = _calls_of(log[-2]) if len(log) > 1 else {}
                self._bank(desk.key, calls.get(tool_use_id), result, tool_use_id=tool_use_id)

    def on_callback_message(self, message: Mapping[str, Any], recall_names: set[str]) -> None:
        """Bank from a message what no hook has seen: a model that streams nothing never names its agent."""
        with self._store.lock:
            self._asked.update(_calls_of(message))
            for result in _results_of(message):
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
        attempt: int = 1,
        duration_s: float | None = None,
        at_emission: bool = False,
    ) -> None:
        made = encode(result)
        given = encode(call.get("input") if call else None)
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
        self._store.add(entry, b"%b\n%b" % (given.data, made.data))


def _results_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    return _values(message, "user", "toolResult")


def _calls_of(message: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {str(use.get("toolUseId")): use for use in _values(message, "assistant", "toolUse")}


def _values(message: Mapping[str, Any], role: str, kind: str) -> list[dict[str, Any]]:
    content = message.get("content") if message.get("role") == role else None
    blocks = content if isinstance(content, list) else []
    values = (block.get(kind) for block in blocks if isinstance(block, dict))
    return [value for value in values if isinstance(value, dict)]
