"""A bank where something goes wrong around it: hostile values, failing hooks, a full bank, agents that run at once."""

from __future__ import annotations

import asyncio
import datetime
from inspect import signature

import pytest
from strands import Agent, tool
from strands.hooks import AfterToolCallEvent, BeforeToolCallEvent
from strands.multiagent import GraphBuilder
from strands.tools.executors import SequentialToolExecutor
from strands.types.tools import AgentTool

from strands_ctx.bank import ToolResultBank, _recorder
from strands_ctx.errors import BankLookupError
from strands_ctx.testing import ToolCall, WindowModel

from .support.banking import agent_with, results_of, texts, texts_of_log
from .support.rig import fetches, text_of


@pytest.fixture
def bank():
    """A bank that is closed at the end of the test."""
    with ToolResultBank() as bank:
        yield bank


class Raw(AgentTool):
    """A tool that returns the content that it is told to."""

    tool_name, tool_type = "raw", "python"

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    @property
    def tool_spec(self):
        """No parameters are named."""
        schema = {"json": {"type": "object", "properties": {}}}
        return {"name": "raw", "description": "Returns what it is told to.", "inputSchema": schema}

    async def stream(self, tool_use, invocation_state, **_):
        """Return a success."""
        content = self.answer(tool_use["input"])
        yield {"toolUseId": tool_use["toolUseId"], "status": "success", "content": content}


def test_nodes_of_a_graph_recall_their_own_results_only(bank):
    """They run at once and share one ``invocation_state``, in which each call overwrites the agent."""

    async def wait(event):
        await asyncio.sleep(0)

    def node(name):
        script = [ToolCall("raw", id=f"call_{name}"), ToolCall("recall"), "Done."]
        tools = [Raw(lambda _: [{"text": f"secret of {name}"}]), bank.as_tool()]
        agent = Agent(model=WindowModel(script), tools=tools, hooks=[bank], callback_handler=None, name=name)
        agent.hooks.add_callback(BeforeToolCallEvent, wait)
        return agent

    nodes, graph = [node(name) for name in ("a", "b", "c")], GraphBuilder()
    for agent in nodes:
        graph.add_node(agent, agent.name)
        graph.set_entry_point(agent.name)
    graph.set_max_node_executions(3).build()("Go.")
    assert [
        "call_a raw success 76 secret of a",
        "call_b raw success 76 secret of b",
        "call_c raw success 76 secret of c",
    ] == [texts_of_log(agent)[1].split("\n")[1] for agent in nodes]


def test_a_recall_of_an_agent_that_the_bank_does_not_serve_is_refused(bank):
    """Also from within the call of an agent that it does serve: nobody else's results are handed out."""
    inner = Agent(
        model=WindowModel([ToolCall("recall", id="r1"), "Done."]), tools=[bank.as_tool()], callback_handler=None
    )

    @tool
    def ask() -> str:
        """Ask another agent."""
        inner("Go.")
        return "asked"

    outer = agent_with(bank, *fetches(50), ToolCall("ask", id="r0"), "Done.", tools=[ask])
    outer("Go.")
    assert ["Whose results are wanted is not known: the bank is no hook of this agent."] == texts_of_log(inner)


@pytest.mark.skipif("background_tasks" not in signature(Agent).parameters, reason="new in Strands 1.62")
def test_a_recall_in_the_background_is_of_its_agent(bank):
    """Its call has begun before the task that answers it."""
    script = [ToolCall("fetch", {"size": 50}, id="t1"), ToolCall("recall", {"tool_use_id": "t1"}), "Waiting.", "Done."]
    agent = agent_with(bank, *script, tools=[bank.as_tool()], background_tasks={"always": ["recall"]})
    agent("Go.")
    assert (True, 1) == (text_of(50, seed=50) in str(agent.messages[5:]), bank.recalls)


class HostileDate(datetime.date):
    """A date that can't be shown."""

    def __str__(self):
        raise AttributeError("hostile")


def test_values_that_can_not_be_shown_do_not_fail_the_call(bank):
    """Each is kept by the name of its type, with all that is beside it."""
    content = [{"json": {"when": HostileDate(2026, 1, 2), "rows": [1]}}, {"text": "whole"}]
    agent = agent_with(bank, ToolCall("raw"), "Done.", tools=[Raw(lambda _: content)])
    agent("Go.")
    kept = [{"json": {"when": "<HostileDate>", "rows": [1]}}, {"text": "whole"}]
    assert ("success", kept, False) == (
        results_of(agent.messages)[0]["status"],
        bank.results[0].result["content"],
        bank.results[0].exact,
    )


def test_a_result_that_can_not_be_encoded_is_dropped_and_the_run_goes_on(bank, monkeypatch, caplog):
    """As where memory runs out: a warning says why, and ``get`` tells."""

    def encode(value):
        raise MemoryError

    agent = agent_with(bank, ToolCall("fetch", {"size": 30}, id="t1"), "Done.")
    monkeypatch.setattr(_recorder, "encode", encode)
    agent("Go.")
    with pytest.raises(BankLookupError) as caught:
        bank.get("t1")
    assert ("success", 1, "dropped", True) == (
        results_of(agent.messages)[0]["status"],
        bank.dropped,
        caught.value.reason,
        "MemoryError" in caplog.text,
    )


def test_an_attempt_is_not_handed_out_for_the_last_one_that_did_not_fit():
    """Neither by ``get`` nor by id, nor in the list; the tool reads the last one from the log."""
    sizes = iter((30, 3_000))
    with ToolResultBank(max_bytes=500) as bank:
        raw = Raw(lambda _: [{"text": text_of(next(sizes), seed=1)}])
        script = [ToolCall("raw", id="t1"), ToolCall("recall", {"tool_use_id": "t1"}), ToolCall("recall"), "Done."]
        agent = agent_with(bank, *script, tools=[raw, bank.as_tool()])
        agent.hooks.add_callback(
            AfterToolCallEvent, lambda event: setattr(event, "retry", bank.count + bank.dropped == 1)
        )
        agent("Go.")
        with pytest.raises(BankLookupError) as caught:
            bank.get("t1")
        _, answer, listed = texts_of_log(agent)
        head = "Result t1 of raw, status success, not banked, as the log has it, lines 1 to 8 of 8:\n"
        assert ("dropped", text_of(3_000, seed=1), "No results are banked.") == (
            caught.value.reason,
            answer.removeprefix(head),
            listed,
        )


def test_one_id_twice_in_a_batch_is_banked_twice(bank):
    """Some models number their calls; the message that brings both adds nothing."""
    calls = [ToolCall("fetch", {"size": 10}, id="t1"), ToolCall("fetch", {"size": 20}, id="t1")]
    agent = agent_with(bank, model=WindowModel([calls, "Done."], strict=False), tool_executor=SequentialToolExecutor())
    agent("Go.")
    assert ([10, 20], [{"size": 10}, {"size": 20}]) == (
        [len(text) for text in texts(bank)],
        [r.input for r in bank],
    )


def test_a_hook_that_fails_is_no_attempt_of_the_tool(bank):
    """The host puts the hook's error in the log; the tool ran once, and what it returned is banked."""
    agent = agent_with(bank, ToolCall("fetch", {"size": 40}, id="t1"), "Done.")
    fails = iter([True, False])

    def fail(event):
        if next(fails):
            raise ValueError("no metrics")

    agent.hooks.add_callback(AfterToolCallEvent, fail)
    agent("Go.")
    assert (["Error: no metrics"], [(1, "success", text_of(40, seed=40))]) == (
        texts_of_log(agent),
        [(r.attempt, r.status, r.result["content"][0]["text"]) for r in bank],
    )


def test_a_failing_tool_that_is_retried_counts_each_attempt(bank):
    """Each begins anew."""
    agent = agent_with(bank, ToolCall("broken", id="t1"), "Done.")
    agent.hooks.add_callback(AfterToolCallEvent, lambda event: setattr(event, "retry", bank.count < 3))
    agent("Go.")
    assert [1, 2, 3] == [r.attempt for r in bank]


def test_the_input_is_what_the_tool_was_called_with(bank):
    """And not what it made of it."""

    def empty(given):
        given["rows"].clear()
        given["seen"] = True
        return [{"text": "done"}]

    agent = agent_with(bank, ToolCall("raw", {"rows": [1, 2]}), "Done.", tools=[Raw(empty)])
    agent("Go.")
    assert {"rows": [1, 2]} == bank.results[0].input


def test_keys_that_json_can_not_tell_apart_are_said(bank):
    """Of 1 and "1" one stays."""
    agent = agent_with(bank, ToolCall("raw"), "Done.", tools=[Raw(lambda _: [{"json": [{1: "a", "1": "b"}]}])])
    agent("Go.")
    assert False is bank.results[0].exact


def test_a_recall_after_a_restart_reads_the_log(bank):
    """The restored log has the results whole, the new bank in memory has none; what it hands out it says."""
    first = agent_with(bank, ToolCall("fetch", {"size": 60}, id="t1"), "Done.")
    first("Go.")
    with ToolResultBank() as later:
        script = [
            ToolCall("recall", {"tool_use_id": "t1"}, id="r1"),
            ToolCall("recall", {"tool_use_id": "r1"}),
            "Done.",
        ]
        again = agent_with(later, *script, tools=[later.as_tool()], messages=list(first.messages))
        again("Again.")
        head = "Result t1 of fetch, status success, not banked, as the log has it, lines 1 to 1 of 1:"
        assert [
            f"{head}\n{text_of(60, seed=60)}",
            "No result with tool_use_id r1 is banked; 0 others are. Without tool_use_id they are listed.",
        ] == texts_of_log(again)[1:]
