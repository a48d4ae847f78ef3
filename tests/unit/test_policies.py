"""Plans: the tiers and the issue's figures."""

from __future__ import annotations

from itertools import pairwise

import pytest

from strands_ctx.capping.rules import CapRules
from strands_ctx.errors import BudgetError
from strands_ctx.plans import Boundaries, Policy
from tests.builders import (
    WordCounter,
    assistant,
    cycle,
    limits_of,
    load_of,
    pinned,
    planned,
    texts,
    tokens_of,
    turn,
    use,
    user,
    words,
)

TIERS = Policy(old_result_max_bytes=64, recent_tokens=50)


def turns_of(count: int, tokens: int) -> list:
    """Turns of so many tokens each: a prompt of 10 words, and an answer of the rest."""
    return [message for _ in range(count) for message in turn(words(10), words(tokens - 18))]


def test_31_turns_of_50_tokens_are_the_view():
    """Nothing is touched below the budget."""
    log = turns_of(31, 50)
    plan, view = planned(log, limits_of(50_000))
    assert ("log", 0) == (plan.reason, plan.omitted_messages)
    assert [id(message) for message in log] == [id(message) for message in view]


def test_a_view_is_estimated_as_one_whole_prompt():
    """With the system prompt, the tools and what a provider puts before a prompt, once."""
    plan, _ = planned(turns_of(3, 50), limits_of(50_000), load=load_of(40, 60))
    assert (100, 1) == (plan.features.fixed_tokens, plan.features.prompts)


def test_25_turns_of_6000_tokens_keep_as_many_newest_turns_as_fit():
    """With the target at the budget of 50,000: one turn more would not fit, and it is not half."""
    log, load = turns_of(25, 6_000), load_of()
    plan, view = planned(log, limits_of(50_000, target_tokens=50_000), load=load)
    kept = (len(log) - plan.cut) // 2
    fits = [n for n in range(1, 26) if tokens_of([user(words(12)), *log[-2 * n :]], WordCounter(), load) <= 50_000]
    assert (max(fits), 2 * (25 - kept)) == (kept, plan.omitted_messages)
    assert log[-2 * kept + 1 :] == view[1:]


def test_the_newest_alone_stays_where_the_middle_does_not_fit():
    """Sizes 10, 5,000, 10 from the oldest, budget 1,000: no hidden gap, and the note says 2."""
    log = [user(words(6)), assistant(words(4_996)), user(words(6))]
    plan, view = planned(log, limits_of(1_000))
    assert (2, ()) == (plan.cut, plan.lead)
    assert [user("[strands_ctx: 2 earlier messages are not shown here.]", words(6))] == view


def test_a_huge_newest_result_is_capped_to_the_budget():
    """It shrinks as far as it has to, and says so."""
    log = [user("the task"), *cycle("huge", words(5_000))]
    plan, view = planned(log, limits_of(2_000))
    taken = tokens_of(view, WordCounter(), load_of())
    assert ("newest", 1, 0) == (plan.reason, plan.capped_results, plan.omitted_messages)
    assert 1_700 <= taken <= 2_000
    assert "bytes shown" in texts(view[2])[0]


def test_old_results_are_capped_before_anything_is_left_out():
    """Tier 1 is enough: the cap line jumps to the newest cycle, which stays whole."""
    log = [user("go"), *(m for n in range(5) for m in cycle(f"c{n}", words(100)))]
    plan, view = planned(log, limits_of(400), TIERS)
    assert ("cap_line", Boundaries(0, 9, 64), 4) == (plan.reason, plan.boundaries, plan.capped_results)
    assert words(100) == texts(view[-1])[0]


def test_the_cap_line_stays_while_what_is_whole_is_within_recent_tokens():
    """It does not slide one step a call."""
    log = [user("go"), *(m for n in range(6) for m in cycle(f"c{n}", words(100)))]
    standing, limits = Boundaries(0, 7, 64), limits_of(800)
    lines = [
        planned(log, limits, Policy(old_result_max_bytes=64, recent_tokens=recent), standing=standing)[0].cap_line
        for recent in (300, 230, 190, 0)
    ]
    assert [7, 7, 11, 11] == lines


def test_whole_turns_are_left_out_and_the_target_is_reached():
    """Tier 2: from over the budget down to 0.4 of it, at the start of a turn."""
    log = turns_of(25, 100)
    plan, view = planned(log, limits_of(2_000))
    assert ("cut", (), 0) == (plan.reason, plan.lead, plan.cut % 2)
    assert tokens_of(view, WordCounter(), load_of()) <= 800
    assert tokens_of([log[plan.cut - 1], log[plan.cut - 2], *view], WordCounter(), load_of()) > 800


def test_a_cut_falls_inside_a_turn_that_would_leave_less_than_half_of_the_target():
    """The oldest kept turn is cut and its task stays."""
    log = [user("large"), *(m for n in range(20) for m in cycle(f"c{n}", words(80))), assistant("done"), user("small")]
    plan, _ = planned(log, limits_of(1_500))
    assert ((0,), True) == (plan.lead, 1 < plan.cut < len(log) - 1)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_cut_leaves_at_most_so_many_turns(most):
    """``max_user_turns`` bounds what a cut leaves."""
    log = turns_of(20, 100)
    plan, _ = planned(log, limits_of(1_700, target_tokens=1_700), Policy(max_user_turns=most))
    assert 2 * (20 - most) == plan.cut


def test_the_number_of_turns_forces_no_cut_by_itself():
    """Under the budget it means nothing."""
    plan, _ = planned(turns_of(20, 100), limits_of(50_000), Policy(max_user_turns=1))
    assert "log" == plan.reason


def test_the_first_messages_can_be_pinned():
    """They stay in every view, and the note does not count them."""
    log = turns_of(20, 100)
    plan, view = planned(log, limits_of(1_000), Policy(pin_first=2))
    assert ((0, 1), plan.cut - 2) == (plan.lead, plan.omitted_messages)
    assert (texts(log[0]), log[1]["content"]) == (texts(view[0])[1:], view[1]["content"])


def test_the_first_messages_are_pinned_with_their_partners():
    """Pinning a call keeps its result, as Strands does for any pin."""
    log = [user("go"), *cycle("first", "the result"), assistant("done"), *turns_of(9, 100)]
    plan, view = planned(log, limits_of(500), Policy(pin_first=2))
    assert ((0, 1, 2), True) == (plan.lead, "the result" in texts(view[2]))


def test_results_of_exempt_tools_are_never_capped():
    """Neither by the cap line nor when nothing else helps."""
    log = [user("go"), *cycle("a", words(100), "read_pdf"), *cycle("b", words(200)), *cycle("c", "found")]
    plan, view = planned(log, limits_of(300), TIERS, rules=CapRules(exempt_tools=frozenset({"read_pdf"})))
    assert (words(100), 1) == (texts(view[2])[0], plan.capped_results)


def test_what_can_not_fit_is_an_error_with_the_breakdown():
    """Tier 4: tools of 900 tokens and a budget of 500."""
    load = load_of(20, 900)
    with pytest.raises(BudgetError) as caught:
        planned([user("go")], limits_of(500), load=load)
    error = caught.value
    assert (500, load.fixed_tokens) == (error.budget_tokens, error.system_tokens + error.tools_tokens)
    assert error.tools_tokens > 40 * error.system_tokens
    assert "shrink the tools" in str(error)


def test_between_the_nth_calls_the_standing_plan_is_applied():
    """Boundaries stay although the trigger is passed, as long as the view fits the hard limit."""
    log, standing = turns_of(20, 100), Boundaries(10, 10)
    limits = limits_of(4_000, 400, trigger_tokens=1_000)
    held = planned(log, limits, standing=standing, may_move=False)[0]
    forced = planned(log, limits_of(1_000), standing=standing, may_move=False)[0]
    assert [("standing", 10), ("cut", True)] == [(held.reason, held.cut), (forced.reason, forced.cut > 10)]


def test_where_nothing_may_be_left_out_the_cap_is_halved():
    """A manager that only caps lowers the cap of old results as far as it takes, and no further."""
    log = [user("go"), *(m for n in range(9) for m in cycle(f"c{n}", words(400)))]
    policy = Policy(cuts=False, old_result_max_bytes=1_600, recent_tokens=10**9)
    plan, _ = planned(log, limits_of(2_500), policy)
    assert ("cap_line", 0, 800) == (plan.reason, plan.cut, plan.boundaries.old_max_bytes)


def test_a_cut_does_not_move_at_every_call_beside_a_large_system_prompt():
    """The target is a share of the room that is left, so the cut rests for several calls."""
    load, standing, cuts, kept = load_of(20_000), Boundaries(), [], []
    limits = limits_of(26_000)
    log = [user("the task")]
    for number in range(60):
        log += cycle(f"c{number}", words(300))
        plan, _ = planned(log, limits, load=load, standing=standing)
        standing = plan.boundaries
        cuts.append(plan.cut)
        kept.append(len(log) - plan.cut)
    moves = sum(before != after for before, after in pairwise(cuts))
    assert (True, True, True) == (moves > 0, moves <= 12, min(kept[cuts.index(cuts[-1]) :]) > 6)


def test_stand_ins_for_pinned_calls_count_against_the_budget():
    """Three pinned calls whose results are gone: without room for their stand-in results nothing is sent."""
    lost = pinned(assistant(use("a"), use("b"), use("c")))
    log = [user("go"), lost, user("and?"), assistant(words(600)), user("newest")]
    needed = tokens_of(planned(log, limits_of(600))[1], WordCounter(), load_of())
    with pytest.raises(BudgetError):
        planned(log, limits_of(needed - 1))
