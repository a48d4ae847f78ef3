"""Watch a real agent's log at every hook event and every stream event, and write down what breaks a law."""

from __future__ import annotations

import copy
from typing import Any

from strands import hooks

HOOK_EVENTS = (
    hooks.BeforeInvocationEvent,
    hooks.MessageAddedEvent,
    hooks.BeforeModelCallEvent,
    hooks.AfterModelCallEvent,
    hooks.BeforeToolsEvent,
    hooks.BeforeToolCallEvent,
    hooks.AfterToolCallEvent,
    hooks.AfterToolsEvent,
    hooks.AfterInvocationEvent,
)


class WatchedLog(list):
    """A log that writes down every operation that is not an append, even one that is undone before anybody looks."""

    def __init__(self, messages=()):
        super().__init__(messages)
        self.edits: list[str] = []

    def __deepcopy__(self, memo):
        return [copy.deepcopy(message, memo) for message in self]

    def __reduce__(self):
        return list, (list(self),)


def _noting(name):
    original = getattr(list, name)

    def edit(self, *args, **kwargs):
        self.edits.append(name)
        return original(self, *args, **kwargs)

    return edit


for _name in ("__delitem__", "__setitem__", "clear", "insert", "pop", "remove", "reverse", "sort", "__imul__"):
    setattr(WatchedLog, _name, _noting(_name))


def outline(message):
    """What no manager may ever change: role, and each block's kind, text, tool id, input and status."""
    return message["role"], [_block_outline(block) for block in message["content"]]


def _block_outline(block):
    result = block.get("toolResult")
    if result is None:
        return copy.deepcopy(block)
    return {key: value for key, value in result.items() if key != "content"}


def result_bytes(message):
    """Bytes of the texts of a message's results."""
    results = [block["toolResult"] for block in message["content"] if "toolResult" in block]
    return sum(len(item["text"].encode()) for result in results for item in result["content"] if "text" in item)


class LogWatch:
    """Compares an agent's log with what it was, whenever the agent says anything."""

    def __init__(self, agent: Any, *, caps_log: bool) -> None:
        self.agent, self.caps_log = agent, caps_log
        self.host_resets = False
        self.found: list[str] = []
        self.added: list[Any] = []
        self.looks = 0
        self._removed = agent.conversation_manager.removed_message_count
        self._in_run, self._waits, self._run_start = False, False, 0
        self.rebase()
        for event_type in HOOK_EVENTS:
            agent.hooks.add_callback(event_type, self._on_hook)

    def rebase(self) -> None:
        """Take the log as it is now: a test or the host gave the agent another one on purpose."""
        if not isinstance(self.agent.messages, WatchedLog):
            self.agent.messages = WatchedLog(self.agent.messages)
        self._log = self.agent.messages
        self._known = [self._entry(message) for message in self._log]

    @staticmethod
    def _entry(message):
        return message, outline(message), copy.deepcopy(message["content"])

    def _on_hook(self, event: Any) -> None:
        name = type(event).__name__
        if isinstance(event, hooks.AfterInvocationEvent):
            self._waits = getattr(event.result, "stop_reason", None) == "interrupt"
            self._in_run = self._waits
        if isinstance(event, hooks.BeforeInvocationEvent) and self.host_resets and self.agent.messages is not self._log:
            self.rebase()
        self.look(name)
        if isinstance(event, hooks.BeforeInvocationEvent) and not self._waits:
            self._in_run, self._run_start = True, len(self._log)
        if isinstance(event, hooks.MessageAddedEvent):
            self.added.append(event.message)

    def on_stream(self, **event: Any) -> None:
        """The agent's callback handler."""
        self.look("stream event")

    def look(self, where: str) -> None:
        """Compare the log with what it was when last looked at."""
        self.looks += 1
        log = self.agent.messages
        if log is not self._log:
            self.found.append(f"{where}: agent.messages is another list")
            return
        if log.edits:
            self.found.append(f"{where}: the log was edited by {log.edits}")
            log.edits.clear()
        if len(log) < len(self._known):
            self.found.append(f"{where}: {len(self._known)} messages became {len(log)}")
            return
        removed = self.agent.conversation_manager.removed_message_count
        if removed != self._removed:
            self.found.append(f"{where}: removed_message_count grew to {removed}")
        for index, (message, shape, content) in enumerate(self._known):
            self._compare(where, index, message, shape, content)
        self._known += [self._entry(message) for message in log[len(self._known) :]]

    def _compare(self, where: str, index: int, message: Any, shape: Any, content: Any) -> None:
        now = self._log[index]
        if now is not message:
            self.found.append(f"{where}: message {index} is another object")
        elif now["content"] == content:
            return
        elif outline(now) != shape:
            self.found.append(f"{where}: message {index} has another role, text, tool id or status")
        elif problem := self._cap_problem(index, now, content):
            self.found.append(f"{where}: a result of message {index} changed {problem}")
        self._known[index] = self._entry(now)

    def _cap_problem(self, index: int, now: Any, content: Any) -> str:
        if not self.caps_log:
            return "although no cap was asked for"
        if self._in_run and index >= self._run_start:
            return "while its run was under way"
        if index > max((i for i, message in enumerate(self._log) if message["role"] == "assistant"), default=-1):
            return "before any model call carried it"
        if result_bytes(now) >= result_bytes({"content": content}):
            return "and is no smaller"
        return ""
