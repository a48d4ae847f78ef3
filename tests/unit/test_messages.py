"""The algebra: what every provider accepts, pairs, turns, digests."""

from __future__ import annotations

import pytest

from strands_ctx.digests import digest
from strands_ctx.errors import HistoryError
from strands_ctx.messages import (
    STRUCTURED_OUTPUT_PROMPT,
    Problem,
    check_messages,
    pair_partners,
    shape_of,
    tool_names,
)
from tests.builders import CACHE_POINT, assistant, cycle, ledger_of, pinned, result, turn, use, user

GO = user("go")
EMPTY_RESULT = {"toolResult": {"toolUseId": "a", "status": "success", "content": []}}
ALTERNATE = "roles must alternate"
EXCEED = "toolResult blocks exceed the toolUse blocks of the previous turn"
UNANSWERED = "toolUse ids without toolResult blocks immediately after"


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], []),
        ([GO, *cycle("a"), assistant("done")], []),
        ([GO, assistant(use("a"))], []),
        ([GO, assistant(use("a"), use("b")), user(result("b"), result("a"), "and")], []),
        ([assistant("hi")], [Problem(0, "a conversation must start with a user message")]),
        ([GO, GO], [Problem(1, ALTERNATE)]),
        ([GO, assistant("a"), assistant("b")], [Problem(2, ALTERNATE)]),
        ([user(result("a"))], [Problem(0, EXCEED)]),
        ([GO, assistant("a"), user(result("a"))], [Problem(2, EXCEED)]),
        ([GO, assistant(use("a")), user(result("a"), result("b"))], [Problem(2, EXCEED)]),
        ([GO, assistant(use("a")), user("no")], [Problem(2, UNANSWERED)]),
        ([GO, assistant(use("a"), use("b")), user(result("a"))], [Problem(2, UNANSWERED)]),
        ([GO, assistant(use("a"), use("a")), user(result("a"))], [Problem(1, "an id occurs twice")]),
        ([GO, assistant(use("a")), user(result("a"), result("a"))], [Problem(2, "an id occurs twice")]),
        ([user()], [Problem(0, "content is empty")]),
        ([user(" \n")], [Problem(0, "text is blank")]),
        ([user("go", "")], [Problem(0, "text is blank")]),
        ([GO, assistant(use("a")), user(result("a", "\t"))], [Problem(2, "text of a toolResult is blank")]),
        ([GO, assistant(use("a")), user(EMPTY_RESULT)], [Problem(2, "a toolResult is empty")]),
        ([user(use("a"), "go")], [Problem(0, "toolUse in a user message")]),
        ([GO, assistant(result("a"))], [Problem(1, "toolResult in an assistant message")]),
        ([user(CACHE_POINT, "go")], [Problem(0, "a cachePoint stands first")]),
        ([user("go", *[CACHE_POINT] * 4)], []),
        (
            [user("go", *[CACHE_POINT] * 3), assistant("a", *[CACHE_POINT] * 2)],
            [Problem(1, "more than 4 cache points")],
        ),
    ],
)
def test_what_providers_refuse_is_found_where_it_is(messages, expected):
    """One problem a message at most, in order."""
    assert expected == check_messages(messages)


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("text", "it is a str"),
        ({"role": "system", "content": []}, "its role is 'system'"),
        ({"role": "user", "content": "text"}, "its content is a str"),
        ({"role": "user"}, "its content is a NoneType"),
        ({"role": "user", "content": ["text"]}, "its content holds a str"),
    ],
)
def test_what_is_no_converse_message_is_named_by_its_index(message, problem):
    """A type error of the app, and not of the conversation."""
    with pytest.raises(HistoryError) as caught:
        check_messages([GO, message])
    assert (1, problem) == (caught.value.index, caught.value.problem)


def test_turns_open_with_prompts():
    """Results, a forced structured output and what is known to lie inside an invocation open none."""
    log = [
        GO,
        *cycle("a"),
        assistant("x"),
        user(STRUCTURED_OUTPUT_PROMPT),
        *cycle("b"),
        *turn("new", "x"),
        user("more"),
    ]
    ledger = ledger_of(log)
    ledger.inner.add(9)
    assert ([0, 7, 9], [0, 7]) == (ledger.prompts, [index for index in ledger.prompts if ledger.opens_turn(index)])


@pytest.mark.parametrize(
    ("log", "newest"),
    [
        ([], 0),
        ([GO], 0),
        ([GO, *cycle("a")], 1),
        ([GO, *cycle("a"), assistant("x")], 1),
        ([GO, *cycle("a"), assistant("x"), user("new")], 4),
        ([GO, *cycle("a"), *cycle("b")], 3),
    ],
)
def test_the_newest_start_is_that_of_the_last_cycle_or_turn(log, newest):
    """What the next call is about."""
    assert newest == ledger_of(log).newest_start()


def test_pairs_are_told_by_id():
    """A neighbour without a shared call is no partner."""
    log = [GO, *cycle("a"), assistant(use("b")), user(result("c"))]
    shapes = [shape_of(message) for message in log]
    assert [[], [2], [1], [], []] == [list(pair_partners(shapes, index)) for index in range(5)]


def test_a_pin_is_strands_own():
    """``metadata.custom.pinned`` and only true."""
    other = {**GO, "metadata": {"custom": {"pinned": "yes"}}}
    assert [True, False, False] == [shape_of(m).pinned for m in (pinned(GO), GO, other)]


def test_tools_are_named_by_call():
    """The names of all calls of a message."""
    assert {"a": "search", "b": "read_pdf"} == tool_names(assistant("x", use("a"), use("b", "read_pdf")))


def test_a_digest_tells_role_texts_and_calls():
    """Any other of them gives another digest; another result does not."""
    messages = [
        user("a"),
        assistant("a"),
        user("b"),
        user("a", "b"),
        user("ab"),
        assistant(use("a")),
        user(result("a")),
    ]
    assert len(messages) == len({digest(message) for message in messages})
    assert digest(user(result("a"))) != digest(user(result("b")))
    assert digest(user(result("a", "x"))) == digest(user(result("a", "y")))
    assert digest(user("go")) == digest(pinned(user("go")))
