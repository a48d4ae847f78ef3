"""State of sessions that waits for its log is bounded, and never trusted."""

from __future__ import annotations

import pytest

from strands_ctx.managers._parking import MAX_PARKED, Parking, removed_count
from strands_ctx.managers._state import ModelMemory, StoredView, fingerprint
from strands_ctx.plans import Boundaries


def state_of(*fingerprints):
    """A stored state with a view for each fingerprint."""
    views = [StoredView(name, Boundaries(4, 6), ModelMemory("model")).to_state() for name in fingerprints]
    return {"version": 1, "views": views}


def waiting(parking):
    """Fingerprints of the views that a session would store."""
    return [view["fingerprint"] for view in parking.to_state([])["views"]]


def test_views_that_nobody_claims_do_not_pile_up():
    """A long-lived manager that restores many sessions keeps the newest ones waiting."""
    parking = Parking()
    for number in range(3 * MAX_PARKED):
        parking.park(state_of(f"log {number}"))
    assert [f"log {number}" for number in range(2 * MAX_PARKED, 3 * MAX_PARKED)] == waiting(parking)


def test_a_view_that_is_restored_again_waits_once():
    """The same session opened twice parks one view."""
    parking = Parking()
    parking.park(state_of("a", "b"))
    parking.park(state_of("a"))
    assert ["a", "b"] == waiting(parking)


@pytest.mark.parametrize(
    "state",
    [
        {"version": 1, "views": "nonsense"},
        {"version": 1, "views": [None, 3, {"fingerprint": 7}, {}]},
        {"version": 99, "views": [{"fingerprint": "a"}]},
        {"version": 1, "views": [], "summary_message": ["no message"]},
        {"summary_message": {"role": "system", "content": []}},
    ],
)
def test_state_that_is_no_state_parks_nothing(state):
    """A session file can hold anything."""
    parking = Parking()
    assert (None, []) == (parking.park(state), waiting(parking))


@pytest.mark.parametrize("count", [-1, True, "3", 2.5, None])
def test_a_count_that_is_no_count_is_nothing_removed(count):
    """A hostile count neither hides messages nor fails."""
    assert 0 == removed_count({"removed_message_count": count})


def test_what_a_hostile_view_names_is_brought_into_order():
    """Negative and huge numbers become boundaries that no log can be hurt by."""
    view = StoredView.from_state({"fingerprint": "a", "cut": 9, "cap_line": 2, "old_max_bytes": -5, "inner": [1, "x"]})
    assert (Boundaries(9, 9, None, 2), (1, 0)) == (view.boundaries, view.inner)


def test_of_several_views_of_one_log_the_farthest_is_claimed():
    """An older state of the same log never moves its boundaries back, whichever was restored last."""
    log = [{"role": ("user", "assistant")[n % 2], "content": [{"text": f"message {n}"}]} for n in range(12)]
    parking = Parking()
    for boundaries in (Boundaries(4, 8), Boundaries(2, 4)):
        view = StoredView(fingerprint(log, boundaries), boundaries, ModelMemory("model"))
        parking.park({"version": 1, "views": [view.to_state()]})
    farthest = parking.find(log)
    parking.take(log)
    assert (Boundaries(4, 8), None) == (farthest and farthest.boundaries, parking.find(log))


def test_the_first_of_several_views_is_claimed_only_if_it_went_farthest():
    """The order of restoring does not decide."""
    log = [{"role": ("user", "assistant")[n % 2], "content": [{"text": f"message {n}"}]} for n in range(12)]
    parking = Parking()
    for boundaries in (Boundaries(2, 4), Boundaries(4, 8)):
        view = StoredView(fingerprint(log, boundaries), boundaries, ModelMemory("model"))
        parking.park({"version": 1, "views": [view.to_state()]})
    farthest = parking.find(log)
    assert Boundaries(4, 8) == (farthest and farthest.boundaries)
