"""An overflow that nobody recovers from ends a run once, as an overflow, whatever the host's loop makes of it."""

from __future__ import annotations

import pytest
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx.harvest import run
from strands_ctx.testing import ToolCall, WindowModel

from .support.counting import short_stack


@pytest.fixture(name="short_stack", autouse=True)
def _short_stack():
    with short_stack():
        yield


class NoProgressManager(NullConversationManager):
    """Says that it made the context smaller, and did not: the host calls again, deeper each time."""

    def reduce_context(self, agent, e=None, **kwargs):
        """Do nothing."""


def test_an_overflow_that_recursed_is_an_overflow():
    """The host goes from one overflow to the next until the stack ends: taking that up again would not help."""
    calls = [ToolCall("big"), "Done."]

    @tool
    def big() -> str:
        """Return much."""
        return "much " * 900

    model = WindowModel(calls, context_window_limit=600, cache=False)
    agent = Agent(model=model, tools=[big], conversation_manager=NoProgressManager(), callback_handler=None)
    outcome = run(agent, "Fetch much.")
    assert ("partial", "overflow", ContextWindowOverflowException, 3) == (
        outcome.status,
        outcome.reason,
        type(outcome.error),
        len(outcome.new_messages),
    )
    assert (1, None) == (outcome.resumes, outcome.result)


def test_an_overflow_that_recursed_to_the_end_is_an_overflow_too():
    """Without a cap of ours it is a RecursionError that came from an overflow."""
    model = WindowModel(["Never."], context_window_limit=5, cache=False)
    agent = Agent(model=model, conversation_manager=NoProgressManager(), callback_handler=None)
    outcome = run(agent, "Tell me much, please.", max_resumes=0)
    assert ("overflow", RecursionError) == (outcome.reason, type(outcome.error))


def test_a_run_that_makes_no_progress_is_not_taken_up_again():
    """A model that always fails so is asked once."""
    model = WindowModel(["Never."], fail_at=dict.fromkeys(range(1, 9), RecursionError("maximum recursion depth")))
    outcome = run(Agent(model=model, callback_handler=None), "Hello?")
    assert ("recursion", 0, 1) == (outcome.reason, outcome.resumes, len(model.requests))


def test_an_overflow_that_the_host_does_not_recognise_is_one():
    """A gateway's own words, which reach us as any other exception."""
    text = "Input tokens exceed the configured limit of 500 tokens. Your messages resulted in 1000 tokens."
    model = WindowModel(["Never."], context_window_limit=5, overflow_text=text, overflow_error=ValueError)
    agent = Agent(model=model, conversation_manager=NullConversationManager(), callback_handler=None)
    outcome = run(agent, "Tell me much, please.")
    assert ("partial", "overflow", ValueError) == (outcome.status, outcome.reason, type(outcome.error))
