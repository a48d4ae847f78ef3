"""DeltaAnchor on lists and on real agents."""

from __future__ import annotations

import pytest
from strands import Agent, tool
from strands.agent.conversation_manager import SlidingWindowConversationManager

from strands_ctx import CapToolResultsManager, DeltaAnchor
from strands_ctx.errors import AnchorError
from strands_ctx.testing import ToolCall, WindowModel
from tests.builders import assistant, turn, user

LOG = [*turn("one", "yes"), *turn("two", "yes indeed")]


def test_the_delta_of_nothing_is_nothing():
    """A run that failed before it added anything."""
    assert [] == DeltaAnchor(LOG).delta_of(LOG)


@pytest.mark.parametrize(
    ("messages", "change", "expected", "actual"),
    [(LOG[:3], "fewer_messages", 4, 3), ([], "fewer_messages", 4, 0)],
)
def test_a_shorter_log_is_told_with_both_lengths(messages, change, expected, actual):
    """The data is in attributes."""
    with pytest.raises(AnchorError) as caught:
        DeltaAnchor(LOG).delta_of(messages)
    assert (change, expected, actual) == (caught.value.change, caught.value.expected, caught.value.actual)


def test_a_trimmed_log_that_grew_again_is_refused():
    """As long as before, but another message stands at the mark."""
    with pytest.raises(AnchorError) as caught:
        DeltaAnchor(LOG).delta_of([*LOG[2:], *turn("three", "no"), *turn("four", "no")])
    assert "boundary_message" == caught.value.change


def test_an_error_says_what_to_do():
    """And what a slice would have held."""
    with pytest.raises(AnchorError, match=r"wrong messages: use a conversation manager that leaves the log alone"):
        DeltaAnchor(LOG).delta_of(LOG[:1])


@tool
def look_up(number: int) -> str:
    """Look a number up.

    Args:
        number: The number.
    """
    return f"{number}: " + "found " * 400


def run_of(calls: int) -> list:
    """A script of so many calls and an answer."""
    return [*(ToolCall("look_up", {"number": number}) for number in range(calls)), "Done."]


def agent_of(manager, script, messages=None, *, strict: bool = True) -> Agent:
    """A real agent that follows a script."""
    model = WindowModel(script, context_window_limit=200_000, strict=strict)
    return Agent(model, tools=[look_up], conversation_manager=manager, messages=messages or [], callback_handler=None)


def test_the_delta_of_a_run_is_what_it_appended():
    """Prompt, calls, results, answer; and asked twice, the same."""
    agent = agent_of(CapToolResultsManager(600), [*run_of(2), *run_of(3)])
    agent("first")
    anchor = DeltaAnchor.mark(agent)
    agent("second")
    assert ("second", 8) == (anchor.delta(agent)[0]["content"][0]["text"], len(anchor.delta(agent)))
    assert anchor.delta(agent)[0] is agent.messages[6]


@pytest.mark.parametrize("before", [[], [user("old"), assistant("old answer")]], ids=["empty", "with history"])
def test_the_slice_that_a_sliding_window_breaks_is_refused(before):
    """Also from an empty log, where a remembered length of 0 notices nothing."""
    agent = agent_of(SlidingWindowConversationManager(window_size=6, per_turn=True), run_of(8), before, strict=False)
    anchor = DeltaAnchor.mark(agent)
    agent("go")
    with pytest.raises(AnchorError):
        anchor.delta(agent)


def test_caps_in_the_log_break_nothing():
    """The only edit that a manager of ours makes."""
    agent = agent_of(CapToolResultsManager(600), [*run_of(2), *run_of(1)])
    anchor = DeltaAnchor.mark(agent)
    agent("go")
    capped = agent.messages[2]["content"][0]["toolResult"]["content"][0]["text"]
    agent("more")
    assert (True, 10) == (len(capped) <= 600, len(anchor.delta(agent)))
