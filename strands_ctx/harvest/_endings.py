"""Why an attempt ended: the host's stop reasons and exceptions, put into words."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strands_ctx.errors import BudgetError
from strands_ctx.overflow.recognition import find_call_overflow

from .outcome import Reason, Status, causes_of, chain_of

if TYPE_CHECKING:
    from strands.agent import AgentResult

STOP_REASONS: dict[str, tuple[Status, Reason]] = {
    "end_turn": ("complete", "finished"),
    "stop_sequence": ("complete", "finished"),
    "tool_use": ("complete", "finished"),
    "interrupt": ("complete", "interrupt"),
    "checkpoint": ("complete", "checkpoint"),
    "max_tokens": ("partial", "max_tokens"),
    "limit_turns": ("partial", "limit"),
    "limit_total_tokens": ("partial", "limit"),
    "limit_output_tokens": ("partial", "limit"),
    "guardrail_intervened": ("partial", "blocked"),
    "content_filtered": ("partial", "blocked"),
    "model_context_window_exceeded": ("partial", "overflow"),
    "cancelled": ("cancelled", "cancelled"),
}
"""Stop reasons of a result. ``tool_use`` ends a run whose last tool asked for that. Source: ``StopReason`` in
``strands.types.event_loop``, 1.51 to 1.62, read 2026-11-30."""

STOPS = (asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit)
"""What stops a run from outside; it always goes on to whoever asked for it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How one attempt ended.

    Attributes:
        status: What that makes of the run.
        reason: Why.
        result: The host's result, or None.
        error: What was raised, taken out of the host's wrapper, or None.
        raised: What was raised, or None.
    """

    status: Status
    reason: Reason
    result: AgentResult | None = None
    error: BaseException | None = None
    raised: BaseException | None = None

    @classmethod
    def of_result(cls, result: AgentResult) -> Ending:
        """Read a result; an unknown stop reason is an end that somebody should look at."""
        status, reason = STOP_REASONS.get(result.stop_reason, ("partial", "error"))
        return cls(status, reason, result=result)

    @classmethod
    def of_exception(cls, raised: BaseException, overflow: BaseException | None = None) -> Ending:
        """Read an exception.

        Args:
            raised: The exception.
            overflow: The overflow of a model call that no answer followed, or None.
        """
        if isinstance(raised, STOPS):
            return cls("cancelled", "cancelled", error=raised, raised=raised)
        error = unwrapped(raised)
        return cls("partial", reason_of(error, overflow), error=error, raised=raised)


def unwrapped(raised: BaseException) -> BaseException:
    """Take an exception out of the host's ``EventLoopException``."""
    from strands.types.exceptions import EventLoopException

    while isinstance(raised, EventLoopException):
        raised = raised.original_exception
    return raised


def reason_of(error: BaseException, overflow: BaseException | None = None) -> Reason:
    """Say which kind of early end an exception is.

    Words alone make no overflow: those of a hook or a tool may be about something else. Nor does what the host was
    handling when the error came up: it calls the model again while it handles an overflow, and that may have answered.
    """
    from strands.types.exceptions import (
        ContextWindowOverflowException,
        MaxTokensReachedException,
        ModelThrottledException,
    )

    if isinstance(error, BudgetError):
        return "budget"
    if isinstance(error, ContextWindowOverflowException):
        return "overflow"
    if isinstance(error, MaxTokensReachedException):
        return "max_tokens"
    if isinstance(error, ModelThrottledException):
        return "throttled"
    if isinstance(error, RecursionError):
        # A manager that never makes progress lets the host recurse from one overflow to the next.
        return "recursion" if overflow is None else "overflow"
    if any(isinstance(link, ContextWindowOverflowException) for link in causes_of(error)):
        return "overflow"
    return "overflow" if overflow is not None and any(link is overflow for link in chain_of(error)) else "error"


def is_overflow(error: BaseException) -> bool:
    """Tell whether what a model call raised is an overflow, by the host's class or by its words."""
    from strands.types.exceptions import ContextWindowOverflowException

    if isinstance(error, (BudgetError, RecursionError)):
        return False
    return isinstance(error, ContextWindowOverflowException) or find_call_overflow(error) is not None
