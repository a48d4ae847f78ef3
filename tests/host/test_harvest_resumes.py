"""A run that is longer than the host's loop can recurse is taken up again: nothing is lost, nothing is run twice."""

from __future__ import annotations

import asyncio

import pytest
from strands import Agent, hooks, tool
from strands.agent.conversation_manager import NullConversationManager

from strands_ctx import BudgetSuffixManager
from strands_ctx.bank import ToolResultBank
from strands_ctx.harvest import run, run_async
from strands_ctx.testing import ToolCall, WindowModel

from .support.counting import CountingModel, QuickLog, short_stack


@pytest.fixture
def ran():
    """The numbers that the tool was called with."""
    return []


@pytest.fixture
def bank():
    """An empty bank."""
    return ToolResultBank()


@pytest.fixture
def agent_of(ran, bank):
    """Makes an agent whose run takes so many calls."""

    @tool
    async def note(number: int) -> str:
        """Note a number.

        Args:
            number: The number.
        """
        ran.append(number)
        return f"noted {number}"

    def make(calls=150, manager=None, model=None):
        agent = Agent(
            model=model or CountingModel(calls),
            tools=[note],
            conversation_manager=manager or NullConversationManager(),
            callback_handler=None,
            hooks=[bank],
        )
        agent.messages = QuickLog()
        return agent

    return make


@pytest.fixture(name="short_stack")
def _short_stack():
    with short_stack():
        yield


def whole(outcome, calls):
    """What a run of so many calls must have: every message once, every result once, in order."""
    texts = [
        item["text"]
        for message in outcome.new_messages
        for block in message["content"]
        if "toolResult" in block
        for item in block["toolResult"]["content"]
    ]
    banked = [record.result["content"][0]["text"] for record in outcome.tool_results]
    expected = [f"noted {number}" for number in range(1, calls + 1)]
    return (expected, expected) == (texts, banked) and len(outcome.new_messages) in (2 * calls + 1, 2 * calls + 2)


def test_a_run_of_1_000_calls_completes(agent_of, ran, bank):
    """At Python's own limit: 2,002 messages in one slice, 1,000 results, each call made once."""
    agent = agent_of(1_000, BudgetSuffixManager(2_000))
    outcome = run(agent, "Note a thousand.", bank=bank)
    assert ("complete", None, 2_002, 1_000) == (
        outcome.status,
        outcome.error,
        len(outcome.new_messages),
        bank.count,
    )
    assert (list(range(1, 1_001)), True) == (ran, whole(outcome, 1_000))
    assert 1 <= outcome.resumes <= 3


@pytest.mark.usefixtures("short_stack")
@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_a_long_run_is_taken_up_again_between_two_cycles(agent_of, ran, bank, asynchronous):
    """No exception on the way: each invocation ends before the limit, by the host's own cap."""
    agent, ends = agent_of(150), []
    agent.hooks.add_callback(hooks.AfterInvocationEvent, lambda event: ends.append(event.result.stop_reason))
    if asynchronous:
        outcome = asyncio.run(run_async(agent, "Note them.", bank=bank, max_resumes=9))
    else:
        outcome = run(agent, "Note them.", bank=bank, max_resumes=9)
    assert ("complete", True, list(range(1, 151))) == (outcome.status, whole(outcome, 150), ran)
    assert (["limit_turns"] * outcome.resumes + ["end_turn"], True) == (ends, outcome.resumes >= 2)


@pytest.mark.usefixtures("short_stack")
def test_without_resumes_the_recursion_limit_ends_the_run(agent_of, ran, bank):
    """As the host ends it, with everything up to there: each call once, the log as long as the host could go."""
    outcome = run(agent_of(150), "Note them.", bank=bank, max_resumes=0)
    calls = len(ran)
    assert ("partial", "recursion", RecursionError, 0) == (
        outcome.status,
        outcome.reason,
        type(outcome.error),
        outcome.resumes,
    )
    assert (list(range(1, calls + 1)), True) == (ran, whole(outcome, calls))
    assert calls > 80


@pytest.mark.usefixtures("short_stack")
def test_what_the_last_resume_leaves_can_be_gone_on_with(agent_of, ran, bank):
    """A partial run, and a later one with no prompt that finishes it."""
    agent = agent_of(200)
    first = run(agent, "Note them.", bank=bank, max_resumes=1)
    second = run(agent, None, bank=bank, max_resumes=3)
    assert ("recursion", "complete", list(range(1, 201))) == (first.reason, second.status, ran)
    assert agent.messages == [*first.new_messages, *second.new_messages]
    assert 200 == len(first.tool_results) + len(second.tool_results)


def deep(frames):
    """Use so many frames of the stack."""
    return frames and deep(frames - 1)


@pytest.mark.usefixtures("short_stack")
def test_a_limit_that_is_met_all_the_same_is_resumed_too(agent_of, ran, bank):
    """A hook that needs more stack than we leave: the host's own end, in the middle of a call, and the run goes on."""
    agent = agent_of(50)
    agent.hooks.add_callback(hooks.BeforeModelCallEvent, lambda event: deep(190))
    outcome = run(agent, "Note them.", bank=bank, max_resumes=9)
    assert ("complete", True, list(range(1, 51))) == (outcome.status, whole(outcome, 50), ran)
    assert outcome.resumes >= 1


def raising_once(error):
    """A hook that fails the first time, from the third call on."""
    seen = []

    def hook(event):
        seen.append(event)
        if len(seen) == 3:
            raise error

    return hook


FAILING_HOOKS = {
    hooks.BeforeModelCallEvent: ("finished", [1, 2, 3, 4]),
    hooks.AfterModelCallEvent: ("finished", [1, 2, 4]),
    hooks.BeforeToolsEvent: ("finished", [1, 2, 3, 4]),
    hooks.AfterToolsEvent: ("recursion", [1, 2, 3]),
}
"""Where the stack ends, why the run then ends, and which calls were made. The model counts the answer that was lost."""


@pytest.mark.parametrize("event_type", FAILING_HOOKS, ids=lambda event_type: event_type.__name__)
def test_no_tool_is_run_twice(agent_of, ran, bank, event_type):
    """A call that has begun and has no result in the log ends the run; anywhere else it is taken up again."""
    reason, made = FAILING_HOOKS[event_type]
    agent = agent_of(4)
    agent.hooks.add_callback(event_type, raising_once(RecursionError("maximum recursion depth exceeded")))
    outcome = run(agent, "Note them.", bank=bank)
    banked = [record.result["content"][0]["text"] for record in outcome.tool_results]
    assert (reason, made, [f"noted {number}" for number in made]) == (outcome.reason, ran, banked)


def test_an_answered_run_is_not_answered_again(agent_of):
    """The limit is met by a hook after the last answer: there is nothing to go on with."""
    agent = agent_of(1)
    agent.hooks.add_callback(hooks.AfterInvocationEvent, lambda event: deep(2_000))
    outcome = run(agent, "Note it.")
    assert ("recursion", 0, "Done.", 4) == (
        outcome.reason,
        outcome.resumes,
        outcome.message["content"][0]["text"],
        len(outcome.new_messages),
    )


@pytest.mark.usefixtures("short_stack")
def test_each_pass_of_an_invocation_has_the_whole_stack(agent_of, ran):
    """A hook that has more input answered in one invocation, as often as it likes: no pass is cut short."""
    steps = [step for n in range(40) for step in (ToolCall("note", {"number": n}), "Noted.")]
    agent, passes = agent_of(model=WindowModel(steps, cache=False)), []

    def once_more(event):
        passes.append(event.result.stop_reason)
        event.resume = "And the next." if len(passes) < 40 else None

    agent.hooks.add_callback(hooks.AfterInvocationEvent, once_more)
    outcome = run(agent, "Note them.")
    assert ("complete", 0, ["end_turn"] * 40, 160) == (
        outcome.status,
        outcome.resumes,
        passes,
        len(outcome.new_messages),
    )
    assert list(range(40)) == ran


@pytest.mark.usefixtures("short_stack")
@pytest.mark.parametrize("turns", [20, 70, 130])
def test_limits_hold_for_the_whole_run(agent_of, ran, turns):
    """However often it was taken up again, a cap of turns is spent once."""
    outcome = run(agent_of(150), "Note them.", limits={"turns": turns}, max_resumes=9)
    assert ("partial", "limit", "limit_turns", turns) == (
        outcome.status,
        outcome.reason,
        outcome.result.stop_reason,
        len(ran),
    )


@pytest.mark.usefixtures("short_stack")
def test_token_limits_hold_for_the_whole_run(agent_of):
    """The tokens of all invocations count together."""
    model = WindowModel([*(ToolCall("note", {"number": n}) for n in range(150)), "Done."], cache=False)
    agent = agent_of(model=model)
    outcome = run(agent, "Note them.", limits={"output_tokens": 2_500}, max_resumes=9)
    spent = outcome.usage.output_tokens
    per_call = spent / len(model.answered)
    assert ("limit", True, True) == (outcome.reason, 2_500 <= spent < 2_500 + 2 * per_call, len(model.answered) > 62)


def test_limits_that_the_host_refuses_are_refused(agent_of):
    """They are handed on as they are; the error says what is wrong."""
    outcome = run(agent_of(3), "Note them.", limits={"turns": 0})
    assert ("partial", "error", []) == (outcome.status, outcome.reason, outcome.new_messages)
    assert isinstance(outcome.error, (TypeError, ValueError))
