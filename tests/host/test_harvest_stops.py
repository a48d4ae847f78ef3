"""A run that is stopped from outside: what was achieved is kept, and the stop goes on to whoever asked for it."""

from __future__ import annotations

import asyncio
import pickle
import threading

import pytest
from strands import Agent, hooks, tool
from strands.types.exceptions import ConcurrencyException

from strands_ctx import ConfigError, PerTurnManager
from strands_ctx.bank import ToolResultBank
from strands_ctx.harvest import AgentBusyError, outcome_of, run, run_async
from strands_ctx.testing import ToolCall, WindowModel

from .support.faults import ProviderDownError, fail_in
from .support.rig import FaultyModel, Rig, fetch, fetches, text_of
from .support.watch import HOOK_EVENTS


def agent_of(model, *tools, bank=None):
    """An agent that fetches, under a manager of ours."""
    return Agent(
        model=model,
        tools=[fetch, *tools],
        conversation_manager=PerTurnManager(2_000),
        callback_handler=None,
        hooks=[bank] if bank else [],
    )


def kinds(messages):
    """What each message begins with."""
    return [next(iter(message["content"][0])) for message in messages]


@pytest.mark.parametrize("event_number", [1, 2, 4])
def test_r1_a_cancelled_task_keeps_what_it_achieved(event_number):
    """asyncio cancels in the middle of a stream: CancelledError goes on, with the complete log and nothing partial."""
    bank, model = ToolResultBank(), FaultyModel([*fetches(300), "Once upon a time. " * 20])
    agent = agent_of(model, bank=bank)

    async def scenario():
        task = asyncio.ensure_future(run_async(agent, "Tell a story.", bank=bank))

        async def cancel():
            task.cancel()
            await asyncio.sleep(0)

        agent.hooks.add_callback(
            hooks.AfterToolCallEvent, lambda event: setattr(model, "at_event", (event_number, cancel))
        )
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        assert task.cancelled()
        return outcome_of(caught.value)

    outcome = asyncio.run(scenario())
    assert ("cancelled", "cancelled", None) == (outcome.status, outcome.reason, outcome.result)
    assert ["text", "toolUse", "toolResult"] == kinds(outcome.new_messages)
    assert (agent.messages, [text_of(300, 300)]) == (
        outcome.new_messages,
        [record.result["content"][0]["text"] for record in outcome.tool_results],
    )


def test_r1_a_stream_that_is_abandoned_keeps_the_log_for_the_next_run():
    """The cancelled agent is at rest again: its next run is complete, and its delta begins where the first ended."""
    model = FaultyModel(["Once upon a time. " * 20])
    agent = agent_of(model)

    async def scenario():
        first = asyncio.ensure_future(run_async(agent, "Tell a story."))

        async def cancel():
            first.cancel()
            await asyncio.sleep(0)

        model.at_event = (4, cancel)
        with pytest.raises(asyncio.CancelledError):
            await first
        model.say("The end.")
        return await run_async(agent, "Now go on.")

    outcome = asyncio.run(scenario())
    assert ("complete", 3, agent.messages[1:]) == (outcome.status, len(agent.messages), outcome.new_messages)


def test_r1_a_timeout_carries_the_outcome_too():
    """It replaces the cancellation, and came from it."""
    agent = agent_of(WindowModel(["Too late."], delay_s=30))

    async def scenario():
        with pytest.raises(asyncio.TimeoutError) as caught:
            await asyncio.wait_for(run_async(agent, "Hello?"), 0.2)
        return caught.value

    outcome = outcome_of(asyncio.run(scenario()))
    assert ("cancelled", agent.messages) == (outcome.status, outcome.new_messages)


@pytest.mark.parametrize("calls_before", [0, 1])
def test_r2_a_raising_model_keeps_the_log(calls_before):
    """Everything up to the failed call is there, nothing partial is, and the next run goes on."""
    rig = Rig()
    rig.model._fail_at[1 + calls_before] = ProviderDownError("no route")
    rig.model.say(*fetches(300), "Fetched.", "The end.")
    failed = run(rig.agent, "Fetch one.")
    rig.model.say("The end.")
    outcome = run(rig.agent, "Now go on.")
    assert (ProviderDownError, ["text", "toolUse", "toolResult"][: 1 + 2 * calls_before]) == (
        type(failed.error),
        kinds(failed.new_messages),
    )
    assert ("complete", [*failed.new_messages, *outcome.new_messages]) == (outcome.status, rig.agent.messages)
    assert [] == rig.broken_laws()


@pytest.mark.parametrize("event_type", HOOK_EVENTS, ids=lambda event_type: event_type.__name__)
def test_r2_a_raising_hook_keeps_the_log(event_type):
    """Whatever event an app's hook fails in, the outcome has the log's own tail, and the next run goes on."""
    rig = Rig()
    fail_in(rig.agent, event_type)
    rig.model.say(*fetches(300), "Fetched.", "The end.")
    failed = run(rig.agent, "Fetch one.")
    rig.model.say("The end.")
    outcome = run(rig.agent, "Now go on.")
    assert failed.status == "complete" or "a hook of the app fails" in str(failed.error)
    assert ("complete", [*failed.new_messages, *outcome.new_messages]) == (outcome.status, rig.agent.messages)
    assert [] == rig.broken_laws()


def test_agent_cancel_is_an_outcome():
    """The host's own way to stop returns a result, and so do we."""
    agent = agent_of(WindowModel([*fetches(300), "Never said."]))
    agent.hooks.add_callback(hooks.AfterToolCallEvent, lambda event: agent.cancel())
    outcome = run(agent, "Fetch one.")
    assert ("cancelled", "cancelled", "cancelled", None) == (
        outcome.status,
        outcome.reason,
        outcome.result.stop_reason,
        outcome.error,
    )
    assert (["text", "toolUse", "toolResult"], 1) == (kinds(outcome.new_messages), len(outcome.tool_results))


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_stop_of_the_program_goes_on(stop):
    """It is never swallowed, also without ``reraise``, and carries what was achieved."""
    agent = agent_of(WindowModel(["Never said."]))

    def hook(event):
        raise stop

    agent.hooks.add_callback(hooks.BeforeModelCallEvent, hook)
    with pytest.raises(stop) as caught:
        run(agent, "Hello?")
    outcome = outcome_of(caught.value)
    assert ("cancelled", ["text"]) == (outcome.status, kinds(outcome.new_messages))


def test_a_panic_is_raised_and_is_no_cancellation():
    """What is no ``Exception``, as a crash in an extension, is raised too; nobody stopped the run."""

    class PanicError(BaseException):
        """What an extension raises."""

    agent = agent_of(WindowModel(["Never said."]))

    def hook(event):
        raise PanicError

    agent.hooks.add_callback(hooks.BeforeModelCallEvent, hook)
    with pytest.raises(PanicError) as caught:
        run(agent, "Hello?")
    assert ("partial", "error") == (outcome_of(caught.value).status, outcome_of(caught.value).reason)


def test_an_exception_without_an_outcome_has_none():
    """Any exception may be asked."""
    assert None is outcome_of(ValueError("of something else"))


class Gate:
    """A tool that waits until the test says go."""

    def __init__(self):
        self.entered, self.opened = threading.Event(), threading.Event()

        @tool
        def wait() -> str:
            """Wait."""
            self.entered.set()
            assert self.opened.wait(30)
            return "waited"

        self.tool = wait


def test_a_running_agent_is_busy_and_its_run_undisturbed():
    """One line that says so, nothing added, and the run that is under way ends as if nobody had asked."""
    gate, outcomes = Gate(), []
    bank = ToolResultBank()
    agent = agent_of(WindowModel([ToolCall("wait"), "Done."]), gate.tool, bank=bank)
    thread = threading.Thread(target=lambda: outcomes.append(run(agent, "Wait.", bank=bank)))
    thread.start()
    assert gate.entered.wait(30)
    with pytest.raises(AgentBusyError, match=r"^agent 'Strands Agents' is already running") as caught:
        run(agent, "Me too.", bank=bank)
    gate.opened.set()
    thread.join(30)
    (outcome,) = outcomes
    assert ("complete", agent.messages, ["waited"]) == (
        outcome.status,
        outcome.new_messages,
        [record.result["content"][0]["text"] for record in outcome.tool_results],
    )
    assert (4, False) == (len(agent.messages), "\n" in str(caught.value))
    assert isinstance(caught.value.__cause__, ConcurrencyException)


def test_a_busy_agent_is_busy_for_run_async_too():
    """Two runs in one event loop: the second is refused, the first goes on."""
    agent = agent_of(WindowModel(["Done."], delay_s=0.2))

    async def scenario():
        return await asyncio.gather(run_async(agent, "One."), run_async(agent, "Two."), return_exceptions=True)

    first, second = asyncio.run(scenario())
    assert ("complete", 2, AgentBusyError) == (first.status, len(agent.messages), type(second))


def test_a_busy_agent_can_be_told_elsewhere():
    """The error survives pickling, as all of ours."""
    error = pickle.loads(pickle.dumps(AgentBusyError("reader")))
    assert ("reader", str(AgentBusyError("reader"))) == (error.agent_name, str(error))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("max_resumes", -1), ("max_resumes", True), ("max_resumes", 1.5), ("bank", []), ("idempotency_token", "a")],
)
def test_arguments_that_are_not_allowed_are_named(parameter, value):
    """Before anything runs."""
    agent = agent_of(WindowModel(["Never said."]))
    with pytest.raises(ConfigError) as caught:
        run(agent, "Hello?", **{parameter: value})
    assert (parameter, []) == (caught.value.parameter, agent.messages)
