"""Faults around a run, of hooks, managers and banks, neither hide what was achieved nor say what did not happen."""

from __future__ import annotations

import asyncio
import logging

import pytest
from strands import Agent, hooks
from strands.agent.conversation_manager import NullConversationManager, SlidingWindowConversationManager
from strands.multiagent import Swarm
from strands.types.exceptions import ConcurrencyException, ContextWindowOverflowException

from strands_ctx import ConfigError
from strands_ctx.bank import ToolResultBank
from strands_ctx.harvest import run, run_async
from strands_ctx.testing import WindowModel

from .support.faults import ProviderDownError
from .support.rig import fetch, fetches


def agent_of(*steps, manager=None, bank=None, model=None, **window):
    """An agent that follows a script."""
    return Agent(
        model=model or WindowModel(steps, **window),
        tools=[fetch],
        conversation_manager=manager or NullConversationManager(),
        callback_handler=None,
        retry_strategy=None,
        hooks=[bank] if bank else [],
    )


def raise_at(agent, event_type, number, error):
    """Let the agent's hooks raise at the n-th event of a type."""
    events = []

    def hook(event):
        events.append(event)
        if len(events) == number:
            raise error

    agent.hooks.add_callback(event_type, hook)


EVENTS = [
    (hooks.BeforeInvocationEvent, 1),
    (hooks.MessageAddedEvent, 3),
    (hooks.BeforeModelCallEvent, 2),
    (hooks.AfterModelCallEvent, 2),
    (hooks.AfterInvocationEvent, 1),
]


@pytest.mark.parametrize(("event_type", "number"), EVENTS, ids=[event_type.__name__ for event_type, _ in EVENTS])
def test_another_agents_refusal_is_not_ours(event_type, number):
    """A hook that meets a busy agent ends the run as any error does, with what was achieved."""
    bank, error = ToolResultBank(), ConcurrencyException("the other agent is busy")
    agent = agent_of(*fetches(300), "Done.", bank=bank)
    raise_at(agent, event_type, number, error)
    outcome = run(agent, "Fetch one.", bank=bank)
    assert ("partial", "error", error) == (outcome.status, outcome.reason, outcome.error)
    assert (agent.messages, bank.count) == (outcome.new_messages, len(outcome.tool_results))


def test_an_agent_that_its_own_hook_calls_is_not_busy_for_us():
    """The host refuses the inner call, and the outer run had begun: it ends by that error."""
    agent = agent_of("Never.")

    async def hook(event):
        await agent.invoke_async("Me too.")

    agent.hooks.add_callback(hooks.BeforeInvocationEvent, hook)
    outcome = asyncio.run(run_async(agent, "Hello?"))
    assert ("partial", "error", ConcurrencyException, []) == (
        outcome.status,
        outcome.reason,
        type(outcome.error),
        outcome.new_messages,
    )


@pytest.mark.parametrize(
    "event_type",
    [hooks.BeforeModelCallEvent, hooks.AfterModelCallEvent, hooks.MessageAddedEvent, hooks.BeforeToolsEvent],
)
def test_words_of_a_hook_make_no_overflow(event_type):
    """A log collector that refuses a payload is no provider that refuses a prompt."""
    agent = agent_of(*fetches(300), "Done.")
    raise_at(agent, event_type, 1, OSError("HTTP 413 Payload Too Large from log collector"))
    outcome = run(agent, "Fetch one.")
    assert ("partial", "error", OSError) == (outcome.status, outcome.reason, type(outcome.error))


def test_the_same_words_of_the_model_are_an_overflow():
    """Whoever raised them decides."""
    error = OSError("HTTP 413 Payload Too Large")
    assert "overflow" == run(agent_of("Never.", fail_at={1: error}), "Hello?").reason


@pytest.mark.parametrize("by_hook", [True, False])
def test_an_overflow_that_was_recovered_from_does_not_name_a_later_end(by_hook):
    """The host calls again while it handles the overflow, so that it is the context of every later error."""
    failures = {2: ContextWindowOverflowException("too long")}
    if not by_hook:
        failures[4] = ProviderDownError("no route")
    agent = agent_of(*fetches(3_000, 300, 300), "Done.", manager=SlidingWindowConversationManager(), fail_at=failures)
    if by_hook:
        raise_at(agent, hooks.BeforeModelCallEvent, 4, ProviderDownError("no route"))
    outcome = run(agent, "Fetch some.")
    assert ("error", ProviderDownError, ContextWindowOverflowException) == (
        outcome.reason,
        type(outcome.error),
        type(outcome.error.__context__),
    )


class ForeignManager(NullConversationManager):
    """Has receipts of its own."""

    def receipts(self):
        """Return whatever it calls so."""
        return ["paid"]


class CallableReceiptsManager(NullConversationManager):
    """Takes an agent, and returns what is no receipt."""

    def receipts(self, agent):
        """Return whatever it calls so."""
        return ["paid"]


@pytest.mark.parametrize("manager", [ForeignManager, CallableReceiptsManager])
def test_receipts_of_a_foreign_manager_are_left_alone(manager):
    """The outcome comes, without any."""
    outcome = run(agent_of("Hello.", manager=manager()), "Hello?")
    assert ("complete", ()) == (outcome.status, outcome.receipts)


class FailingBank:
    """A bank whose database goes away during the run."""

    def __init__(self):
        self.asked = 0

    def get_results(self, *, agent):
        """Answer once."""
        self.asked += 1
        if self.asked > 1:
            raise OSError("database gone")
        return []


def test_a_bank_that_fails_does_not_hide_the_error_of_the_run(caplog):
    """The results are then those of the log, and are labelled so."""
    agent = agent_of(*fetches(300), "Never.", fail_at={2: ProviderDownError("no route")})
    with caplog.at_level(logging.WARNING, "strands_ctx.harvest"):
        outcome = run(agent, "Fetch one.", bank=FailingBank())
    assert (ProviderDownError, "log", 1) == (
        type(outcome.error),
        outcome.tool_results_from,
        len(outcome.tool_results),
    )
    assert ["error=<OSError> | the bank can't be read, results are those of the log"] == [
        record.getMessage() for record in caplog.records if record.name.startswith("strands_ctx.harvest")
    ]


@pytest.mark.parametrize("before", [0, 1])
def test_a_log_that_a_hook_cut_in_the_middle_is_told(before):
    """The first message is where it was, and yet the tail is not what the run added."""
    agent = agent_of(*["Hello."] * before, *fetches(10, 20, 30), "Done.")
    if before:
        run(agent, "Hello?")
    removed = []

    def hook(event):
        if len(agent.messages) == 2 * before + 5 and not removed:
            removed.extend(agent.messages[-4:-2])
            del agent.messages[-4:-2]

    agent.hooks.add_callback(hooks.BeforeModelCallEvent, hook)
    outcome = run(agent, "Fetch some.")
    error = outcome.anchor_error
    assert (2, None, None) == (len(removed), outcome.new_messages, outcome.tool_results)
    assert ("added_messages", 8, 6) == (error.change, error.expected, error.actual)


def test_a_log_whose_messages_are_replaced_or_joined_by_others_is_not_cut():
    """A plugin that redacts, and one that adds a message without the host's event."""
    agent = agent_of(*fetches(10), "Done.")

    def hook(event):
        agent.messages[0] = {"role": "user", "content": [{"text": "Fetch one."}]}
        if len(agent.messages) == 3:
            agent.messages.append({"role": "assistant", "content": [{"text": "Noted."}]})
            agent.messages.append({"role": "user", "content": [{"text": "Go on."}]})

    agent.hooks.add_callback(hooks.BeforeModelCallEvent, hook)
    outcome = run(agent, "Fetch one.")
    assert (None, agent.messages, 6) == (outcome.anchor_error, outcome.new_messages, len(agent.messages))


def test_messages_of_an_earlier_run_are_not_counted_twice():
    """Each run counts its own."""
    agent = agent_of(*fetches(10), "One.", "Two.")
    first, second = run(agent, "Fetch one."), run(agent, "And?")
    assert (None, agent.messages) == (second.anchor_error, [*first.new_messages, *second.new_messages])


@pytest.mark.parametrize(
    "thing", [None, "a prompt", Agent, Swarm([agent_of("Hello.")])], ids=["none", "text", "class", "swarm"]
)
@pytest.mark.parametrize(
    "start", [run, lambda agent, prompt: asyncio.run(run_async(agent, prompt))], ids=["run", "async"]
)
def test_what_is_no_agent_is_named(start, thing):
    """In one line that says what is needed."""
    with pytest.raises(ConfigError, match=r"must be one strands\.Agent") as caught:
        start(thing, "Hello?")
    assert ("agent", False) == (caught.value.parameter, "\n" in str(caught.value))
