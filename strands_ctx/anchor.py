"""What a run added to the log: exactly, or an error that says why that can't be told any more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from .digests import digest
from .errors import AnchorError, ConfigError
from .types import Message, Messages

if TYPE_CHECKING:
    from strands import Agent
    from strands.hooks import MessageAddedEvent


class DeltaAnchor:
    """Marks the end of a log before a run, and hands out what the run appended.

    A slice from a remembered length is right only while nobody removes messages. The anchor remembers what stood
    around the mark, so that a log that was trimmed, summarised or replaced in between is refused and never sliced
    wrongly. Caps of tool results do not break it.

    Example:
        >>> from strands_ctx import DeltaAnchor
        >>> def save_run(agent, prompt, store):
        ...     anchor = DeltaAnchor.mark(agent)
        ...     try:
        ...         return agent(prompt)
        ...     finally:
        ...         store.extend(anchor.delta(agent))
    """

    def __init__(self, messages: Sequence[Message], removed_message_count: int = 0) -> None:
        """Mark the end of a list of messages; :meth:`mark` also watches what is appended first.

        Args:
            messages: The log.
            removed_message_count: What its conversation manager has removed so far.
        """
        self._start = len(messages)
        self._removed = removed_message_count
        self._boundary = _Identity(messages[-1]) if messages else None
        self._first: _Identity | None = None

    @property
    def start(self) -> int:
        """Length of the log at the mark."""
        return self._start

    @classmethod
    def mark(cls, agent: Agent) -> DeltaAnchor:
        """Mark the end of an agent's log.

        Args:
            agent: The agent, before the run.

        Returns:
            An anchor; it may be asked for the delta as often as needed.

        Raises:
            ConfigError: If it is no agent.
        """
        if not isinstance(getattr(agent, "messages", None), list):
            raise ConfigError("agent", agent, "must be an agent; for a list of messages use DeltaAnchor(messages)")
        anchor = cls(agent.messages, _removed_count(agent))  # type: ignore[arg-type]
        _watch(agent, anchor)
        return anchor

    def delta(self, agent: Agent) -> Messages:
        """Return the messages that were added since the mark.

        Args:
            agent: The agent, after the run, also after a failed one.

        Returns:
            The log's own message objects, in order; empty if nothing was added.

        Raises:
            AnchorError: If the log has fewer messages than at the mark, another message before it, another first
            message
                after it, or if its manager has removed messages since; ``change`` says which.
        """
        return self.delta_of(agent.messages, _removed_count(agent))  # type: ignore[arg-type]

    def delta_of(self, messages: Sequence[Message], removed_message_count: int = 0) -> Messages:
        """Return what was added to a list of messages; see :meth:`delta`.

        Raises:
            AnchorError: As :meth:`delta`.
        """
        if removed_message_count > self._removed:
            raise AnchorError(
                "removed_message_count",
                self._removed,
                removed_message_count,
                "the conversation manager removed messages since the mark",
            )
        if len(messages) < self._start:
            raise AnchorError("fewer_messages", self._start, len(messages), "the log is shorter than at the mark")
        if self._boundary is not None and not self._boundary.is_of(messages[self._start - 1]):
            raise self._changed("boundary_message", self._boundary, messages[self._start - 1])
        added = list(messages[self._start :])
        if self._first is not None and not (added and self._first.is_of(added[0])):
            raise self._changed("first_appended_message", self._first, added[0] if added else None)
        if added and self._first is None:
            self._first = _Identity(added[0])
        return added

    def _changed(self, change: str, expected: _Identity, actual: Message | None) -> AnchorError:
        place = "before" if change == "boundary_message" else "after"
        found = digest(actual) if actual is not None else None
        return AnchorError(
            change, expected.digest, found, f"another message stands just {place} the mark, shown by digest"
        )

    def _appended(self, messages: Sequence[Message]) -> None:
        """Remember the first message after the mark; called as messages are added."""
        if self._first is None and len(messages) > self._start:
            self._first = _Identity(messages[self._start])


class _Identity:
    """Recognises a message: the same object, the host's tracking id, or the same role, texts and calls."""

    def __init__(self, message: Message) -> None:
        self._message = message
        self.digest = digest(message)

    def is_of(self, message: Message) -> bool:
        if message is self._message:
            return True
        own, other = self._message.get("tracking_id"), message.get("tracking_id")
        return own == other if own and other else digest(message) == self.digest


def _removed_count(agent: Any) -> int:
    count = getattr(getattr(agent, "conversation_manager", None), "removed_message_count", 0)
    return count if isinstance(count, int) else 0


_watched: WeakKeyDictionary[Any, WeakSet[DeltaAnchor]] = WeakKeyDictionary()


def _watch(agent: Agent, anchor: DeltaAnchor) -> None:
    """Let an anchor see the first message that is added; one callback serves all anchors of an agent."""
    from strands.hooks import MessageAddedEvent

    if agent not in _watched:
        _watched[agent] = WeakSet()
        agent.hooks.add_callback(MessageAddedEvent, _on_message)
    _watched[agent].add(anchor)


def _on_message(event: MessageAddedEvent) -> None:
    for anchor in tuple(_watched.get(event.agent, ())):
        anchor._appended(event.agent.messages)  # type: ignore[arg-type]
