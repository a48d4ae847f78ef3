"""One run in several invocations: the host's loop recurses once a cycle, and ends with Python's recursion limit.

Each invocation but the last one allowed ends a little before that limit, between two cycles, by the host's own cap of
turns: there the log is whole and every hook has run. Where the limit is met all the same, the run is taken up again
only if that can't run a tool twice.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from traceback import walk_stack
from typing import TYPE_CHECKING, Any

from ._endings import Ending
from ._watch import Sight, watch

if TYPE_CHECKING:
    from strands import Agent

FRAMES_PER_CYCLE = 3
"""Frames that the host's loop keeps per cycle. Source: ``event_loop_cycle``, ``_handle_tool_execution`` and
``recurse_event_loop``, each awaiting the next one, 1.51 to 1.62; measured 2026-11-30."""

RESERVED_FRAMES = 200
"""Frames left for what runs below the loop: a model's client, hooks, deep copies of nested content."""


def stack_frames() -> int:
    """Return how many frames the caller's stack has."""
    return sum(1 for _ in walk_stack(None))


class Attempts:
    """The invocations of one run: how far each may go, and whether another one may follow."""

    def __init__(self, agent: Agent, *, limits: Any, max_resumes: int, outer_frames: int) -> None:
        """Begin before the first invocation.

        Args:
            agent: The agent.
            limits: The caps that the caller gave for the whole run, or None.
            max_resumes: How many invocations may follow the first one.
            outer_frames: Frames of the stack that the host's loop runs on.
        """
        self.resumes = 0
        self._agent = agent
        self._refused = None if limits is None or _is_limits(limits) else limits
        self._left: dict[str, int] = dict(limits) if limits and self._refused is None else {}
        self._max_resumes = max_resumes
        room = sys.getrecursionlimit() - outer_frames - RESERVED_FRAMES
        self._cycles = max(room // FRAMES_PER_CYCLE, 1)
        self._sight = Sight()
        watch(agent, self._sight)

    @property
    def overflow(self) -> BaseException | None:
        """The overflow of a model call that no answer followed, or None."""
        return self._sight.overflow

    @property
    def added(self) -> Collection[Any]:
        """Keys of the messages that the host added to the log, also of those that are no longer there."""
        return self._sight.added.keys()

    def limits(self) -> Any:
        """Return the caps of the next invocation; what the host should refuse is handed on as it is."""
        if self._refused is not None:
            return self._refused
        caps = dict(self._left)
        self._sight.begin(caps, self._cycles if self.resumes < self._max_resumes else None)
        return caps or None

    def goes_on(self, ending: Ending) -> bool:
        """Tell whether the run is to be invoked again, and count that."""
        if self.resumes >= self._max_resumes or not self._sight.answered:
            return False
        self._spend()
        if ending.result is not None:
            again = self._ended_by_us(ending)
        else:
            again = ending.reason == "recursion" and self._is_within_limits() and self._is_resumable()
        self.resumes += again
        return again

    def final(self, ending: Ending) -> Ending:
        """Return the ending of the whole run.

        An invocation that we ended without one answer went from one refused model call to the next: what refused the
        last of them is what ended the run.
        """
        if self._sight.error is not None and not self._sight.answered and self._ended_by_us(ending):
            return Ending.of_exception(self._sight.error, self._sight.overflow)
        return ending

    def _ended_by_us(self, ending: Ending) -> bool:
        ended = ending.result is not None and ending.result.stop_reason == "limit_turns"
        return ended and self._sight.cycles is not None and self._is_within_limits()

    def _is_within_limits(self) -> bool:
        return all(left > 0 for left in self._left.values())

    def _spend(self) -> None:
        """Take what the last invocation used from the caps of the whole run."""
        invocation = self._agent.event_loop_metrics.latest_agent_invocation
        if invocation is None:
            return
        used: Mapping[str, Any] = {
            "turns": len(invocation.cycles),
            "total_tokens": invocation.usage.get("totalTokens", 0),
            "output_tokens": invocation.usage.get("outputTokens", 0),
        }
        self._left = {name: left - used[name] for name, left in self._left.items()}

    def _is_resumable(self) -> bool:
        """Tell whether the log waits for a model call, or for tools none of which has begun."""
        last = self._agent.messages[-1] if self._agent.messages else None
        if last is None or last["role"] == "user":
            return last is not None
        calls = {block["toolUse"]["toolUseId"] for block in last["content"] if "toolUse" in block}
        return bool(calls) and not calls & self._sight.begun


def _is_limits(limits: Any) -> bool:
    """Tell caps that can be reckoned with from what the host refuses."""
    if not isinstance(limits, Mapping) or not set(limits) <= {"turns", "total_tokens", "output_tokens"}:
        return False
    return all(type(cap) is int and cap > 0 for cap in limits.values())
