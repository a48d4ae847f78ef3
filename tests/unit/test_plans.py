"""Limits that are lowered, and what a plan's boundaries mean."""

from __future__ import annotations

from strands_ctx.capping.rules import Cap
from strands_ctx.plans import Boundaries, Limits, Policy
from tests.builders import limits_of, planned, turn, words


def test_limits_are_lowered_with_the_target_in_proportion():
    """From 1,000 to 500: the target of 400 becomes 200."""
    assert Limits(500, 200, 500) == Limits(1_000, 400, 1_000).within(500)


def test_a_trigger_below_the_lowered_limit_stays():
    """Only what is above comes down."""
    assert Limits(300, 100, 500) == Limits(300, 100, 1_000).within(500)


def test_limits_are_never_raised():
    """Not by a larger number, and not by their own."""
    limits = Limits(800, 400, 1_000)
    assert [limits, limits] == [limits.within(1_000), limits.within(5_000)]


def test_a_target_is_never_nothing():
    """However small the attempt."""
    assert Limits(1, 1, 1) == Limits(1_000, 400, 1_000).within(1)


def test_a_plan_tells_the_cap_of_each_message():
    """None before the cut, the old cap before the line, that of first sight after it."""
    log = [message for _ in range(5) for message in turn(words(5), words(50))]
    policy = Policy(old_result_max_bytes=64, first_sight_max_bytes=600)
    plan, _ = planned(log, limits_of(200, trigger_tokens=100), policy, standing=Boundaries(6, 8, 64), may_move=False)
    assert ("standing", [None, Cap(64, spares_errors=True), Cap(600, spares_errors=True)]) == (
        plan.reason,
        [plan.cap_at(index) for index in (5, 7, 8)],
    )
