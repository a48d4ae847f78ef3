"""The laws of views over the shipped histories: three managers, budgets from generous to absurd."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from strands_ctx.ledger.ledger import Ledger
from strands_ctx.plans import Boundaries, Limits, Policy
from strands_ctx.policies import plan_view
from strands_ctx.testing import conversations
from strands_ctx.types import Messages
from strands_ctx.view import build_view
from tests.builders import assistant, cycle, load_of, result, tokens_of, use, user
from tests.support.history_laws import COUNTER, breaches, refusals

seeds = st.integers(0, 10_000)


@settings(max_examples=75)
@given(conversations(), seeds)
def test_every_law_holds_for_any_legal_history(log, seed):
    """Never refused, never over the budget, the log as it was, and the same bytes again."""
    assert [] == breaches(log, seed)


@settings(max_examples=75)
@given(conversations(legal=False), seeds)
def test_every_law_holds_for_a_history_with_faults(log, seed):
    """The view of what a crash or an app's own edit left is repaired; the log is not."""
    assert [] == breaches(log, seed)


def view_after_a_cut(log: Messages, pin_first: int) -> tuple[int, int, Messages]:
    """The estimate of the smallest view, what the view takes, and the view."""
    ledger, load = Ledger(COUNTER), load_of()
    ledger.update(log)
    plan = plan_view(ledger, load, Policy(pin_first=pin_first), Limits(1, 1, 10**6), Boundaries())
    view = build_view(ledger, plan)
    return load.tokens(plan.features), tokens_of(view, COUNTER, load), view


def test_an_id_of_the_lead_is_told_apart_from_the_same_after_it():
    """A pinned call and the first call after the cut have one id."""
    log = [user("go"), *cycle("a"), assistant(use("a")), user(result("a"))]
    assert [] == refusals(view_after_a_cut(log, pin_first=3)[2])


def test_a_blank_message_in_the_lead_counts_with_its_stand_in():
    """Its message is left out as blank, and the view then needs a stand-in prompt."""
    estimate, taken, _ = view_after_a_cut([{"role": "user", "content": []}, assistant(use("a"))], pin_first=1)
    assert max(taken, estimate) == estimate


def test_many_blank_results_count_with_what_stands_in_for_them():
    """Sixteen parallel calls that returned nothing."""
    calls = [f"call_{number}" for number in range(16)]
    nothing = [{"toolResult": {"toolUseId": call, "status": "success", "content": []}} for call in calls]
    estimate, taken, _ = view_after_a_cut([user("go"), assistant(*map(use, calls)), user(*nothing)], pin_first=0)
    assert max(taken, estimate) == estimate


def test_cache_points_inside_results_count_with_the_others():
    """Four at the end of messages and one in a result are one too many."""
    point = {"cachePoint": {"type": "default"}}
    inside = {"toolResult": {"toolUseId": "a", "status": "success", "content": [{"text": "found"}, dict(point)]}}
    log = [user("go", dict(point)), assistant(use("a"), dict(point)), user(inside, dict(point)), assistant("a", point)]
    assert [] == refusals(view_after_a_cut(log, pin_first=0)[2])
