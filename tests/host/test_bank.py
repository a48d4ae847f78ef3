"""A bank beside real agents: every result, once, as the tool gave it, whatever happens to the run and to the log."""

from __future__ import annotations

import copy
import json
import threading
from inspect import signature

import pytest
from pydantic import BaseModel
from strands import Agent, tool
from strands.hooks import AfterToolCallEvent, BeforeToolCallEvent, HookOrder, MessageAddedEvent
from strands.tools.executors import SequentialToolExecutor
from strands.types.exceptions import ContextWindowOverflowException
from strands.vended_plugins.context_offloader import ContextOffloader, InMemoryStorage

from strands_ctx import CapToolResultsManager
from strands_ctx.bank import ToolResultBank
from strands_ctx.testing import ToolCall, WindowModel

from .support.banking import agent_with, results_of, texts, texts_of_log
from .support.rig import fetches, text_of


@pytest.fixture
def bank():
    """A bank that is closed at the end of the test."""
    with ToolResultBank() as bank:
        yield bank


def test_every_result_of_a_run_is_banked_in_order(bank):
    """One after the other, parallel ones and a failed one: what the log holds, with names, inputs and sizes."""
    calls = [ToolCall("fetch", {"size": 500}), [ToolCall("fetch", {"size": 60}), ToolCall("broken")]]
    agent = agent_with(bank, *calls, "Done.")
    agent("Go.")
    sizes = [len(json.dumps(result, separators=(",", ":"))) for result in results_of(agent.messages)]
    facts = [(r.order, r.tool_name, r.input, r.status, r.attempt, r.agent) for r in bank]
    assert [
        (1, "fetch", {"size": 500}, "success", 1, "Strands Agents"),
        (2, "fetch", {"size": 60}, "success", 1, "Strands Agents"),
        (3, "broken", {}, "error", 1, "Strands Agents"),
    ] == sorted(facts, key=lambda fact: (fact[1] == "broken", fact[0]))
    assert (results_of(agent.messages), sizes, sum(sizes)) == (
        [bank.get(result["toolUseId"]).result for result in results_of(agent.messages)],
        [bank.get(result["toolUseId"]).bytes for result in results_of(agent.messages)],
        bank.total_bytes,
    )


def test_the_time_that_a_tool_ran_is_known(bank):
    """A tool that waits for 20 ms took no less; a cancelled call took none."""

    @tool
    def wait() -> str:
        """Wait."""
        threading.Event().wait(0.02)
        return "waited"

    agent = agent_with(bank, ToolCall("wait"), ToolCall("fetch", {"size": 5}), "Done.", tools=[wait])
    agent.hooks.add_callback(
        BeforeToolCallEvent, lambda event: setattr(event, "cancel_tool", event.tool_use["name"] == "fetch")
    )
    agent("Go.")
    assert (True, None) == (bank.results[0].duration_s >= 0.02, bank.results[1].duration_s)


@pytest.mark.parametrize("order", [HookOrder.DEFAULT, HookOrder.SDK_FIRST, -1e9])
def test_a_hook_that_replaces_results_does_not_reach_the_bank(bank, order):
    """Whatever its order, and registered later than the bank: the log holds the replacement, the bank the result."""

    def replace(event):
        event.result = {**event.result, "content": [{"text": "replaced"}]}

    agent = agent_with(bank, *fetches(300), "Done.")
    agent.hooks.add_callback(AfterToolCallEvent, replace, order=order)
    agent("Go.")
    assert (["replaced"], [text_of(300, seed=300)]) == (texts_of_log(agent), texts(bank))


def test_a_hook_that_edits_a_result_in_place_does_not_reach_the_bank(bank):
    """What is banked is a copy."""

    def edit(event):
        event.result["content"][0]["text"] = "edited"

    agent = agent_with(bank, *fetches(300), "Done.")
    agent.hooks.add_callback(AfterToolCallEvent, edit)
    agent("Go.")
    assert (["edited"], [text_of(300, seed=300)]) == (texts_of_log(agent), texts(bank))


def test_a_plugin_that_offloads_results_does_not_reach_the_bank(bank):
    """The host's own offloader leaves a preview in the log."""
    plugin = ContextOffloader(storage=InMemoryStorage(), max_result_tokens=200, preview_tokens=20)
    agent = agent_with(bank, *fetches(9_000), "Done.", plugins=[plugin])
    agent("Go.")
    assert ([text_of(9_000, seed=9_000)], True) == (texts(bank), len(texts_of_log(agent)[0]) < 2_000)


def test_a_manager_that_caps_the_log_does_not_reach_the_bank(bank):
    """The log is capped after the run; what is banked stays whole."""
    agent = agent_with(bank, *fetches(5_000), "Done.", conversation_manager=CapToolResultsManager(400))
    agent("Go.")
    assert ([text_of(5_000, seed=5_000)], True) == (texts(bank), len(texts_of_log(agent)[0]) <= 400)


def test_a_tool_that_keeps_its_result_and_changes_it_does_not_reach_the_bank(bank):
    """The dictionary that a tool returned is its own."""
    kept = []

    @tool
    def own() -> dict:
        """Return a dictionary, and keep it."""
        kept.append({"status": "success", "content": [{"json": {"rows": [1, 2]}}]})
        return kept[-1]

    agent = agent_with(bank, ToolCall("own"), "Done.", tools=[own])
    agent("Go.")
    kept[0]["content"][0]["json"]["rows"].append(3)
    assert {"rows": [1, 2]} == bank.results[0].result["content"][0]["json"]


def test_each_attempt_of_a_retried_call_is_banked_and_the_last_one_counts(bank):
    """A hook has a call made three times."""
    numbers = iter(range(1, 4))

    @tool
    def flaky() -> str:
        """Succeed at the third attempt."""
        return f"attempt {next(numbers)}"

    def again(event):
        event.retry = not event.result["content"][0]["text"].endswith("3")

    agent = agent_with(bank, ToolCall("flaky", id="t1"), ToolCall("fetch", {"size": 4}), "Done.", tools=[flaky])
    agent.hooks.add_callback(AfterToolCallEvent, lambda event: event.tool_use["name"] == "flaky" and again(event))
    agent("Go.")
    attempts = bank.get_results(tool_use_id="t1")
    assert ([1, 2, 3], ["attempt 1", "attempt 2", "attempt 3"], "attempt 3", 4) == (
        [r.attempt for r in attempts],
        texts(attempts),
        bank.get("t1").result["content"][0]["text"],
        bank.count,
    )


def test_an_id_that_a_model_uses_again_is_a_first_attempt_again(bank):
    """Some models number their calls from 0 in each answer; the newest one counts."""
    agent = agent_with(bank, model=WindowModel([*fetches(10), "One.", *fetches(20), "Two."], strict=False))
    agent.hooks.add_callback(BeforeToolCallEvent, lambda event: event.tool_use.update(toolUseId="call_0"))
    agent("Go.")
    agent("Again.")
    assert ([("call_0", 1), ("call_0", 1)], 20) == (
        [(r.tool_use_id, r.attempt) for r in bank],
        len(texts([bank.get("call_0")])[0]),
    )


def test_direct_tool_calls_are_banked_once(bank):
    """Whether or not they are recorded in the log."""
    agent = agent_with(bank)
    agent.tool.fetch(size=7)
    agent.tool.fetch(size=9, record_direct_tool_call=False)
    assert ([7, 9], [{"size": 7}, {"size": 9}]) == ([len(text) for text in texts(bank)], [r.input for r in bank])


def test_a_call_that_a_hook_cancels_is_banked(bank):
    """With the result that the model is given."""
    agent = agent_with(bank, ToolCall("fetch", {"size": 5}), "Done.")
    agent.hooks.add_callback(BeforeToolCallEvent, lambda event: setattr(event, "cancel_tool", "not today"))
    agent("Go.")
    assert [("error", "not today", "fetch", True)] == [
        (r.status, r.result["content"][0]["text"], r.tool_name, r.at_emission) for r in bank
    ]


def test_a_call_that_never_started_is_banked_from_the_log(bank):
    """The agent is cancelled between two tools: the host answers the second call itself, past every tool hook."""

    @tool(context=True)
    def stop(tool_context) -> str:
        """Cancel the agent."""
        tool_context.agent.cancel()
        return "stopping"

    calls = [ToolCall("stop", id="t1"), ToolCall("fetch", {"size": 5}, id="t2")]
    agent = agent_with(bank, calls, "Done.", tools=[stop], tool_executor=SequentialToolExecutor())
    given = []
    agent.hooks.add_callback(MessageAddedEvent, lambda event: hide_results(event.message, given), order=-1e9)
    agent("Go.")
    assert (given, [("t1", "stop", True), ("t2", "fetch", False)], {"size": 5}) == (
        [r.result for r in bank],
        [(r.tool_use_id, r.tool_name, r.at_emission) for r in bank],
        bank.get("t2").input,
    )


def hide_results(message, given):
    """Take the results out of a message, as a hook that redacts does."""
    for result in results_of([message]):
        given.append(copy.deepcopy(result))
        result["content"] = [{"text": "hidden"}]


def test_an_interrupted_batch_is_banked_once_when_it_is_resumed(bank):
    """The result that was there before the interrupt is not banked again with the message."""

    def ask(event):
        if event.tool_use["name"] == "broken" and event.interrupt("allow", reason="may it?") != "yes":
            event.cancel_tool = "no"

    calls = [ToolCall("fetch", {"size": 5}, id="t1"), ToolCall("broken", id="t2")]
    agent = agent_with(bank, calls, "Done.")
    agent.hooks.add_callback(BeforeToolCallEvent, ask)
    result = agent("Go.")
    before = [r.tool_use_id for r in bank]
    agent([{"interruptResponse": {"interruptId": result.interrupts[0].id, "response": "yes"}}])
    assert (["t1"], [("t1", True), ("t2", True)]) == (before, [(r.tool_use_id, r.at_emission) for r in bank])


def test_a_run_killed_by_an_overflow_leaves_all_its_results(bank):
    """Without a manager the 61st request is too large: sixty results, byte for byte as the tool gave them."""
    given = []

    @tool
    def read(number: int) -> str:
        """Read one page.

        Args:
            number: Its number.
        """
        given.append(f"page {number}: {text_of(2_000 + number, seed=number)}")
        return given[-1]

    model = WindowModel([*(ToolCall("read", {"number": n}) for n in range(80)), "Done."], context_window_limit=26_300)
    agent = agent_with(bank, model=model, tools=[read])
    with pytest.raises(ContextWindowOverflowException):
        agent("Read them all.")
    assert (60, given, results_of(agent.messages)) == (bank.count, texts(bank), [r.result for r in bank])


@pytest.mark.skipif("background_tasks" not in signature(Agent).parameters, reason="new in Strands 1.62")
def test_a_call_in_the_background_is_banked_when_its_tool_returns(bank):
    """The result that counts is the tool's, not the acknowledgement that the model was given first."""
    agent = agent_with(
        bank, ToolCall("fetch", {"size": 300}, id="t1"), "Waiting.", "Done.", background_tasks={"always": ["fetch"]}
    )
    agent("Go.")
    banked = bank.get("t1")
    assert (300, True, "fetch") == (len(texts([banked])[0]), banked.at_emission, banked.tool_name)


def test_structured_output_is_banked(bank):
    """It is a tool call like any other."""

    class Answer(BaseModel):
        """An answer."""

        number: int

    agent = agent_with(bank, model=WindowModel(["Thinking."], structured={"number": 5}))
    result = agent("How many?", structured_output_model=Answer)
    assert (5, ["Answer"], results_of(agent.messages)) == (
        result.structured_output.number,
        [r.tool_name for r in bank],
        [r.result for r in bank],
    )
