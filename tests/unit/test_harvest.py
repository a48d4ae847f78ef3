"""The parts of a harvest that need no agent: endings, chains of exceptions, what an exception carries."""

from __future__ import annotations

import asyncio
import typing
from itertools import pairwise

import pytest
from strands.types.event_loop import StopReason
from strands.types.exceptions import ContextWindowOverflowException, EventLoopException

from strands_ctx.errors import BudgetError
from strands_ctx.harvest import RunOutcome, outcome_of
from strands_ctx.harvest._attempts import stack_frames
from strands_ctx.harvest._endings import STOP_REASONS, Ending, is_overflow, reason_of, unwrapped
from strands_ctx.harvest.outcome import Reason, Status, attach_outcome, chain_of


def outcome(**fields):
    """An outcome of a run that did nothing."""
    empty = dict.fromkeys(RunOutcome.__dataclass_fields__)
    return RunOutcome(**{**empty, "status": "partial", "reason": "error", "new_messages": [], "resumes": 0, **fields})


def test_every_stop_reason_of_the_host_is_known():
    """A version that adds one is noticed."""
    assert set() == set(typing.get_args(StopReason)) - set(STOP_REASONS)


def test_every_status_and_reason_is_a_declared_one():
    """Callers may match on the literals."""
    statuses, reasons = zip(*STOP_REASONS.values(), strict=True)
    assert (set(), set()) == (set(statuses) - set(typing.get_args(Status)), set(reasons) - set(typing.get_args(Reason)))


def test_an_unknown_stop_reason_is_no_complete_run():
    """Somebody should look at it."""

    class Result:
        stop_reason = "of_tomorrow"

    assert ("partial", "error") == (Ending.of_result(Result()).status, Ending.of_result(Result()).reason)


def test_wrappers_are_taken_off_however_many_there_are():
    """The original exception is what ended the run."""
    error = ValueError("no route")
    assert error is unwrapped(EventLoopException(EventLoopException(error)))


def test_a_budget_error_is_a_budget_and_no_overflow():
    """Ours is both for the host, and the more telling name wins."""

    class BothError(BudgetError, ContextWindowOverflowException):
        """As the managers raise it."""

    error = BothError(budget_tokens=1, system_tokens=1, tools_tokens=1, newest_tokens=1)
    assert ("budget", "overflow") == (reason_of(error), reason_of(ContextWindowOverflowException()))


def recursion_from(*errors):
    """A RecursionError that was raised while the first of the errors was handled, that one while the next was."""
    chain = [RecursionError(), *errors]
    for error, context in pairwise(chain):
        error.__context__ = context
    return chain[0]


def test_a_recursion_over_an_unanswered_overflow_is_an_overflow():
    """Not one whose context has an overflow that was recovered from long ago."""
    overflow = ContextWindowOverflowException("too long")
    assert ["recursion", "recursion", "overflow"] == [
        reason_of(recursion_from()),
        reason_of(recursion_from(ValueError(), overflow, KeyError())),
        reason_of(recursion_from(overflow), overflow),
    ]


def test_an_error_is_an_overflow_by_its_cause_or_the_calls_own_words():
    """Words of anybody else, and what was handled while it came up, make none."""
    refused, caused = ValueError("prompt is too long: 7 tokens > 5 maximum"), KeyError("made of it")
    caused.__cause__ = ContextWindowOverflowException("too long")
    handled = recursion_from(caused).__context__
    assert ["error", "overflow", "overflow", "error"] == [
        reason_of(refused),
        reason_of(refused, refused),
        reason_of(handled),
        reason_of(ValueError("of something else"), refused),
    ]


def test_an_overflow_that_the_host_was_handling_is_not_that_of_the_next_call():
    """Its loop calls the model again inside of the handler."""
    down = recursion_from(ValueError("no route"), ContextWindowOverflowException("too long")).__context__
    words = recursion_from(ValueError("prompt is too long"), ContextWindowOverflowException("too long")).__context__
    assert (False, True, True) == (is_overflow(down), is_overflow(words), is_overflow(words.__context__))


@pytest.mark.parametrize("stop", [asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_stops_are_cancellations(stop):
    """They come from outside of the run."""
    assert ("cancelled", "cancelled") == (Ending.of_exception(stop()).status, Ending.of_exception(stop()).reason)


def test_a_chain_with_a_ring_ends():
    """Each exception once, causes and contexts."""
    first, second, third = ValueError(1), ValueError(2), ValueError(3)
    first.__cause__, first.__context__, second.__context__, third.__cause__ = second, third, first, second
    assert [first, second, third] == list(chain_of(first))


def test_an_outcome_is_found_behind_what_replaced_its_exception():
    """A timeout came from a cancellation that came from the run."""
    cancelled, timeout, of_app, expected = asyncio.CancelledError(), TimeoutError(), ValueError(), outcome()
    attach_outcome(cancelled, expected)
    timeout.__cause__, of_app.__context__ = cancelled, timeout
    assert expected is outcome_of(of_app)


def test_an_attribute_of_somebody_else_is_no_outcome():
    """Other libraries call things so too."""
    error = ValueError()
    error.outcome = "passed"
    assert None is outcome_of(error)


def test_an_exception_that_takes_no_attributes_goes_on_without():
    """The exception is what counts."""

    class SealedError(ValueError):
        def __setattr__(self, name, value):
            raise AttributeError(name)

    error = SealedError()
    attach_outcome(error, outcome())
    assert None is outcome_of(error)


@pytest.mark.parametrize(("added", "said"), [([], "added 0 messages"), (None, "added an unknown number of messages")])
def test_a_note_says_what_the_exception_carries(added, said):
    """Where Python shows notes, a traceback says that the work is not lost."""
    error = ValueError()
    attach_outcome(error, outcome(new_messages=added))
    notes = getattr(error, "__notes__", [f"the run {said}; strands_ctx.harvest.outcome_of(error) returns them"])
    assert [f"the run {said}; strands_ctx.harvest.outcome_of(error) returns them"] == notes


def test_frames_are_counted():
    """One more for each call."""

    def inner():
        return stack_frames()

    assert 1 == inner() - stack_frames()
