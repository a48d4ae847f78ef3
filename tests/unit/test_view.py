"""The built view: the note, and where it stands."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from strands_ctx.capping.rules import CapRules
from strands_ctx.notes import note_text
from strands_ctx.plans import Boundaries, Policy
from strands_ctx.view import standing_view
from tests.builders import CACHE_POINT, assistant, cycle, limits_of, pinned, planned, turn, user, words

LOG = [message for _ in range(10) for message in turn(words(5), words(50))]


@pytest.mark.parametrize(
    ("messages", "results", "expected"),
    [
        (2, 0, "[strands_ctx: 2 earlier messages are not shown here.]"),
        (1_234, 1_000, "[strands_ctx: 1,234 earlier messages, with 1,000 tool results, are not shown here.]"),
    ],
)
def test_the_note_states_counts_and_nothing_else(messages, results, expected):
    """R14: a fact, and no instruction."""
    assert expected == note_text(messages, results)


def test_the_note_leads_the_first_message_and_is_no_turn_of_its_own():
    """It stands before the prompt's own text, in the same message."""
    plan, view = planned(LOG, limits_of(300))
    assert user(note_text(plan.cut, 0), words(5)) == view[0]


def test_the_note_of_a_pinned_assistant_message_has_a_message_of_its_own():
    """A view starts with the user."""
    log = [LOG[0], pinned(LOG[1]), *LOG[2:]]
    plan, view = planned(log, limits_of(300))
    assert [user(note_text(plan.cut - 1, 0)), log[1]] == view[:2]


def test_the_note_stays_byte_identical_until_the_cut_moves():
    """Whatever is appended."""
    plan, view = planned(LOG, limits_of(300))
    _, later = planned([*LOG, *turn("more", "done")], limits_of(300), standing=plan.boundaries)
    assert view == later[: len(view)]


def test_neighbours_of_one_role_in_the_lead_are_merged():
    """A pinned prompt before a cut that begins with a prompt."""
    log = [pinned(user("kept")), *LOG[1:]]
    _, view = planned(log, limits_of(300))
    assert ["kept", words(5)] == [block["text"] for block in view[0]["content"]][1:]


def test_a_lead_that_ends_a_cache_point_too_many_is_limited():
    """Four in a request, and the last ones stay."""
    log = [pinned(user("kept", *[CACHE_POINT] * 3)), *LOG[1:-1], assistant("x", *[CACHE_POINT] * 3)]
    _, view = planned(log, limits_of(300))
    assert [1, 3] == [message["content"].count(CACHE_POINT) for message in (view[0], view[-1])]


def test_building_changes_nothing_of_the_log():
    """Caps, notes and repairs are copies."""
    log = [user("go"), *(message for n in range(9) for message in cycle(f"c{n}", words(90)))]
    before = copy.deepcopy(log)
    planned(log, limits_of(300), Policy(old_result_max_bytes=64))
    assert before == log


def test_a_standing_view_applies_the_last_plan_without_counting():
    """The same bytes as the plan's own view, and of the log where no plan fits it."""
    policy = Policy(old_result_max_bytes=64)
    log = [user("go"), *(message for n in range(9) for message in cycle(f"c{n}", words(90)))]
    plan, view = planned(log, limits_of(400), policy)
    assert Boundaries() != plan.boundaries
    assert view == standing_view(log, plan, CapRules())
    assert [log, log] == [
        standing_view(log, None, CapRules()),
        standing_view(log, replace(plan, log_messages=99), CapRules()),
    ]
