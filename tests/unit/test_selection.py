"""Where a view may begin and what it keeps from before."""

from __future__ import annotations

from strands_ctx.selection import lead_of, select_cut
from tests.builders import assistant, cycle, ledger_of, pinned, turn, user

LOG = [*turn("one", "yes"), user("two"), *cycle("a"), *cycle("b"), assistant("done"), user("three")]


def test_no_cut_has_no_lead():
    """The whole log needs nothing from before it."""
    assert () == lead_of(ledger_of(LOG), 0, pin_first=3)


def test_a_cut_between_turns_keeps_nothing():
    """The view begins with a prompt of its own."""
    assert ((), ()) == (lead_of(ledger_of(LOG), 2), lead_of(ledger_of(LOG), 8))


def test_a_cut_inside_a_turn_keeps_its_task():
    """And not the prompts of other turns."""
    assert ((2,), (2,)) == (lead_of(ledger_of(LOG), 3), lead_of(ledger_of(LOG), 5))


def test_a_prompt_inside_an_invocation_is_no_task():
    """The task is the prompt that opened the turn."""
    ledger = ledger_of([user("task"), *cycle("a"), assistant("x"), user("go on"), *cycle("b")])
    ledger.inner.add(4)
    assert (0,) == lead_of(ledger, 5)


def test_pins_stay_with_their_partners_in_order():
    """A pinned call keeps its result, once each."""
    log = [*LOG]
    log[3] = pinned(log[3])
    assert (0, 3, 4) == lead_of(ledger_of(log), 8, pin_first=1)


def test_the_longest_suffix_within_the_target_is_selected():
    """Measured from the newest back; the first that does not fit ends it."""
    ledger = ledger_of(LOG)
    costs = {8: 10, 5: 20, 3: 30, 2: 45, 0: 60}
    cuts = [select_cut(ledger, costs.__getitem__, stop=0, target_tokens=target) for target in (5, 10, 44, 45, 60)]
    assert [8, 8, 3, 2, 0] == cuts


def test_a_cut_never_moves_back():
    """Whatever would fit, what was left out stays out."""
    assert 5 == select_cut(ledger_of(LOG), lambda start: 1, stop=5, target_tokens=100, max_user_turns=5)


def test_whole_turns_win_where_they_use_half_of_the_target():
    """Otherwise the cut falls inside the oldest kept turn."""
    ledger = ledger_of(LOG)
    assert 8 == select_cut(ledger, {8: 20, 5: 30, 3: 50}.__getitem__, stop=0, target_tokens=40)
    assert 5 == select_cut(ledger, {8: 19, 5: 30, 3: 50}.__getitem__, stop=0, target_tokens=40)
