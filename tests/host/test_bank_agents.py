"""How a bank takes part: as a hook, attached, as a callback handler, for several agents, full or closed."""

from __future__ import annotations

import threading

import pytest
from strands.hooks import AfterToolCallEvent

from strands_ctx.bank import ToolResultBank
from strands_ctx.testing import ToolCall, WindowModel

from .support.banking import agent_with, texts, texts_of_log
from .support.rig import fetches


@pytest.fixture
def bank():
    """A bank that is closed at the end of the test."""
    with ToolResultBank() as bank:
        yield bank


def test_an_agent_that_exists_can_be_attached_once(bank):
    """Attached twice, and given as a hook too, it banks each result once."""
    agent = agent_with(bank, *fetches(5), "Done.", hooks=[])
    bank.attach(agent)
    bank.attach(agent)
    bank.register_hooks(agent.hooks)
    agent("Go.")
    assert 1 == bank.count


@pytest.mark.parametrize("hooks", [False, True], ids=["alone", "as a hook too"])
def test_a_callback_handler_banks_each_result_once_and_at_emission(bank, hooks):
    """The events of the first answer name the agent, before its tools run."""
    agent = agent_with(bank, *fetches(300, 400), "Done.", hooks=[bank] if hooks else [], callback_handler=bank)
    agent.hooks.add_callback(AfterToolCallEvent, lambda event: event.result.update(content=[{"text": "gone"}]))
    agent("Go.")
    assert [(300, True), (400, True)] == [(len(r.result["content"][0]["text"]), r.at_emission) for r in bank]


class SilentModel(WindowModel):
    """A model whose first answer comes without a single delta."""

    async def stream(self, *args, **kwargs):
        first = not self.requests
        async for event in super().stream(*args, **kwargs):
            if not (first and "contentBlockDelta" in event):
                yield event


def test_a_callback_handler_misses_no_result_of_a_model_that_streams_nothing(bank):
    """Where no event names the agent, its first results are taken from the message."""
    model = SilentModel([ToolCall("broken", id="t1"), *fetches(40), "Done."])
    agent = agent_with(bank, model=model, hooks=[], callback_handler=bank)
    agent("Go.")
    assert [("t1", "broken", "unknown agent", False), ("tooluse_00001", "fetch", "Strands Agents", True)] == [
        (r.tool_use_id, r.tool_name, r.agent, r.at_emission) for r in bank
    ]


def test_a_recall_that_only_a_message_tells_of_is_not_banked(bank):
    """A model that streams nothing asks for a list at once."""
    model = SilentModel([ToolCall("recall"), "Done."])
    agent_with(bank, model=model, tools=[bank.as_tool()], hooks=[], callback_handler=bank)("Go.")
    assert 0 == bank.count


def test_a_dropped_result_is_counted_once():
    """The message that brings it again changes nothing."""
    with ToolResultBank(max_bytes=100) as bank:
        agent_with(bank, *fetches(300), "Done.", callback_handler=bank)("Go.")
        assert (0, 1) == (bank.count, bank.dropped)


def test_agents_of_one_name_and_equal_ids_are_told_apart(bank):
    """One bank, two agents, the same ids: each keeps its own results."""
    first = agent_with(bank, ToolCall("fetch", {"size": 10}, id="t1"), "Done.")
    second = agent_with(bank, ToolCall("fetch", {"size": 20}, id="t1"), "Done.")
    named = agent_with(bank, ToolCall("fetch", {"size": 30}, id="t1"), "Done.", agent_id="reader")
    for agent in (first, second, named):
        agent("Go.")
    assert (["Strands Agents", "Strands Agents#2", "reader"], [10, 20, 30], 30) == (
        [bank.agent_key(agent) for agent in (first, second, named)],
        [len(texts([bank.get("t1", agent)])[0]) for agent in (first, second, named)],
        len(texts([bank.get("t1", "reader")])[0]),
    )


def test_agents_that_run_at_once_share_a_bank(bank):
    """Four agents in four threads, with parallel tools: every result is there, whole, under its agent."""
    agents = [
        agent_with(
            bank, *([ToolCall("fetch", {"size": 50 + n}, id=f"t{i}-{j}") for j in range(5)] for i in range(6)), "Done."
        )
        for n in range(4)
    ]
    threads = [threading.Thread(target=agent, args=("Go.",)) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (120, list(range(1, 121)), [[50 + n] * 30 for n in range(4)]) == (
        bank.count,
        [r.order for r in bank],
        [[len(text) for text in texts(bank.get_results(agent=agent))] for agent in agents],
    )


def test_a_bank_that_is_full_or_closed_leaves_the_run_alone(caplog):
    """The results are in the log; the bank counts what it could not keep, and says so."""
    with ToolResultBank(max_bytes=600) as bank:
        agent = agent_with(bank, *fetches(300, 900), "Done.", *fetches(10), "Done.")
        agent("Go.")
    agent("More.")
    warnings = [record.getMessage() for record in caplog.records if "full or closed" in record.getMessage()]
    assert ([300, 900, 10], 1, 2, 2) == (
        [len(text) for text in texts_of_log(agent)],
        bank.count,
        bank.dropped,
        len(warnings),
    )
