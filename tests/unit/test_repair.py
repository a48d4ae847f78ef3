"""Repairs of views, one fault at a time."""

from __future__ import annotations

import copy

import pytest

from strands_ctx.repair import BLANK_TEXT, MISSING_RESULT, legal_view
from tests.builders import CACHE_POINT, assistant, cycle, pinned, result, use, user

GO = user("go")
LOST = result("a", MISSING_RESULT, "error")
STAND_IN = user(BLANK_TEXT)


@pytest.mark.parametrize(
    ("log", "expected", "repairs"),
    [
        ([GO, user("on")], [user("go", "on")], {"merged_messages": 1}),
        ([GO, assistant("a"), assistant("b")], [GO, assistant("a", "b")], {"merged_messages": 1}),
        ([assistant("hi")], [STAND_IN, assistant("hi")], {"stand_in_prompts": 1}),
        ([GO, assistant("x"), user(result("a"), "on")], [GO, assistant("x"), user("on")], {"orphan_results": 1}),
        ([GO, assistant(use("a")), user("on")], [GO, assistant(use("a")), user(LOST, "on")], {"missing_results": 1}),
        (
            [GO, assistant(use("b"), use("a")), user(result("b"))],
            [GO, assistant(use("b"), use("a")), user(LOST, result("b"))],
            {"missing_results": 1},
        ),
        ([GO, assistant(use("a")), user(result("a"), result("a", "again"))], [GO, *cycle("a")], {"orphan_results": 1}),
        ([GO, assistant("x", " "), user("on")], [GO, assistant("x"), user("on")], {"blank_texts": 1}),
        (
            [GO, assistant(" "), user("on")],
            [user("go", "on")],
            {"blank_texts": 1, "dropped_messages": 1, "merged_messages": 1},
        ),
        ([GO, assistant(use("a")), user(result("a", ""))], [GO, *cycle("a", BLANK_TEXT)], {"blank_texts": 1}),
        ([user(CACHE_POINT, "go")], [GO], {"cache_points": 1}),
        ([user("go", *[CACHE_POINT] * 6)], [user("go", *[CACHE_POINT] * 4)], {"cache_points": 2}),
        ([user(use("a"), "go")], [GO], {"orphan_results": 1}),
        ([GO, user(result("a")), assistant("x")], [GO, assistant("x")], {"orphan_results": 1, "merged_messages": 1}),
        ([GO, assistant(use("a"))], [GO, assistant(use("a"))], {}),
        ([], [], {}),
    ],
)
def test_each_fault_is_repaired_and_counted(log, expected, repairs):
    """Written by hand; what came in stays as it was."""
    before = copy.deepcopy(log)
    view, found = legal_view(log)
    assert (expected, before) == (view, log)
    assert repairs == {name: getattr(found, name) for name in found.__slots__ if getattr(found, name)}


def test_a_cache_point_that_is_left_alone_goes_with_its_result():
    """One may not stand first or alone."""
    view, _ = legal_view([GO, assistant("x"), user(result("gone"), CACHE_POINT), assistant("y")])
    assert [GO, assistant("x", "y")] == view


def test_a_log_of_blank_messages_becomes_a_stand_in():
    """A request without messages is refused too."""
    assert [STAND_IN] == legal_view([user(" ")])[0]


def test_results_come_first_in_what_is_merged():
    """The host's tool results behind a prompt that a failed call left."""
    view, _ = legal_view([GO, assistant(use("a")), user("stop"), user(result("a"), "so")])
    assert [GO, assistant(use("a")), user(result("a"), "stop", "so")] == view


def test_untouched_messages_of_a_repaired_view_are_the_same_objects():
    """Only what is repaired is copied."""
    log = [GO, *cycle("a"), assistant("x", " "), user("on"), assistant(use("b")), user(result("b"), "so")]
    view, _ = legal_view(log)
    assert [True, True, True, False, True, True, True] == [a is b for a, b in zip(log, view, strict=True)]


def test_other_keys_of_a_repaired_message_are_kept():
    """Its pin, its metadata."""
    view, _ = legal_view([pinned(user("go", " "))])
    assert [pinned(GO)] == view


def test_a_result_that_is_late_does_not_pair():
    """Only the next message answers; the stand-in says that the result is missing."""
    view, _ = legal_view([GO, assistant(use("a")), user("on"), assistant("x"), user(result("a"), "late")])
    assert [GO, assistant(use("a")), user(LOST, "on"), assistant("x"), user("late")] == view
