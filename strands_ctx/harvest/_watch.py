"""What is seen of one invocation from the agent's hooks, as it goes."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

from ._endings import is_overflow
from ._origin import is_of_hook

if TYPE_CHECKING:
    from strands import Agent
    from strands.hooks import AfterModelCallEvent, BeforeInvocationEvent, BeforeToolCallEvent, MessageAddedEvent


class Sight:
    """What one invocation has done so far.

    Attributes:
        caps: The caps that the invocation was made with; ours is moved on for each pass.
        cycles: How many cycles one pass may have, None for no bound of ours.
        begun: Ids of the tool calls that began.
        answered: Whether the log got an answer of the model.
        error: What the last model call raised, or None.
        overflow: The last overflow that a model call raised itself, until one is answered or fails otherwise.
        added: Keys of the messages that the host announced, over all invocations.
    """

    def __init__(self) -> None:
        """See nothing yet."""
        self.added: dict[Any, Any] = {}
        self.begin(None, None)

    def begin(self, caps: dict[str, int] | None, cycles: int | None) -> None:
        """Forget the last invocation."""
        self.caps, self.cycles = caps, cycles
        self._turns_left = (caps or {}).get("turns")
        if caps is not None and cycles is not None:
            caps["turns"] = self._turns_at(0)
        self.begun: set[str] = set()
        self.answered = False
        self.error: Exception | None = None
        self.overflow: Exception | None = None

    def on_answer(self, agent: Any, error: Exception | None) -> None:
        """Remember how a model call ended; a recursion that ends may only be that of the overflows before it."""
        self.error = error
        if not isinstance(error, RecursionError):
            self.overflow = error if error is not None and _is_overflow_of_call(error, agent) else None

    def _turns_at(self, spent: int) -> int:
        ours = spent + (self.cycles or 0)
        return ours if self._turns_left is None else min(ours, self._turns_left)

    def on_pass(self, agent: Agent) -> None:
        """Give the pass that begins the whole stack: a hook may have more input answered in one invocation.

        The recursion begins anew with each pass, while the host counts turns through all of them.
        """
        invocation = agent.event_loop_metrics.latest_agent_invocation
        if self.caps is not None and self.cycles is not None and invocation is not None:
            self.caps["turns"] = self._turns_at(len(invocation.cycles))


_watched: WeakKeyDictionary[Any, tuple[ref[Sight], ...]] = WeakKeyDictionary()
_lock = Lock()


def watch(agent: Agent, sight: Sight) -> None:
    """Let an agent's invocations be seen as long as the sight lives; the callbacks serve all runs of the agent."""
    from strands.hooks import AfterModelCallEvent, BeforeInvocationEvent, BeforeToolCallEvent, MessageAddedEvent

    with _lock:
        known = _watched.get(agent)
        # Another tuple, since a run of this agent may be reading the old one in its own thread.
        _watched[agent] = (*(seen for seen in known or () if seen() is not None), ref(sight))
    if known is None:
        agent.hooks.add_callback(BeforeInvocationEvent, _on_pass)
        agent.hooks.add_callback(MessageAddedEvent, _on_message)
        agent.hooks.add_callback(AfterModelCallEvent, _on_answer)
        agent.hooks.add_callback(BeforeToolCallEvent, _on_tool_call)


def message_key(message: Any) -> Any:
    """Return what stays of a message when the host replaces it by a longer one: its tracking id, else itself."""
    return message.get("tracking_id") or id(message)


def _is_overflow_of_call(error: Exception, agent: Any) -> bool:
    from strands.types.exceptions import ContextWindowOverflowException

    by_class = isinstance(error, ContextWindowOverflowException)
    return is_overflow(error) and (by_class or not is_of_hook(error, agent))


def _sights(agent: Any) -> list[Sight]:
    sights = (reference() for reference in _watched.get(agent, ()))
    return [sight for sight in sights if sight is not None]


def _on_pass(event: BeforeInvocationEvent) -> None:
    for sight in _sights(event.agent):
        sight.on_pass(event.agent)


def _on_message(event: MessageAddedEvent) -> None:
    for sight in _sights(event.agent):
        sight.answered |= event.message["role"] == "assistant"
        sight.added[message_key(event.message)] = event.message


def _on_answer(event: AfterModelCallEvent) -> None:
    for sight in _sights(event.agent):
        sight.on_answer(event.agent, event.exception)


def _on_tool_call(event: BeforeToolCallEvent) -> None:
    for sight in _sights(event.agent):
        sight.begun.add(event.tool_use["toolUseId"])
