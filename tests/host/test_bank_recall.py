"""The recall tool in a model's hands: what it wants again, in parts, its own only, and never banked twice."""

from __future__ import annotations

import pytest
from strands import Agent

from strands_ctx import PerTurnManager
from strands_ctx.bank import ToolResultBank
from strands_ctx.harvest import run
from strands_ctx.testing import ToolCall, WindowModel

from .support.rig import fetch, fetches, text_of


@pytest.fixture
def bank():
    """A bank that is closed at the end of the test."""
    with ToolResultBank() as bank:
        yield bank


def agent_with(bank, *steps, recall=None, **arguments):
    """An agent with a recall tool, and a script."""
    tools = [fetch, recall or bank.as_tool()]
    arguments = {"hooks": [bank], "callback_handler": None, **arguments}
    return Agent(model=WindowModel(steps), tools=tools, **arguments)


def recalled(agent, name="recall"):
    """Status and text of what the recall tool answered, call by call."""
    names = {
        block["toolUse"]["toolUseId"]: block["toolUse"]["name"]
        for message in agent.messages
        for block in message["content"]
        if "toolUse" in block
    }
    results = [
        block["toolResult"] for message in agent.messages for block in message["content"] if "toolResult" in block
    ]
    return [
        (result["status"], result["content"][0]["text"]) for result in results if names[result["toolUseId"]] == name
    ]


def test_a_model_reads_again_what_its_view_no_longer_shows(bank):
    """The view shows old results capped; the recall tool gives one back whole."""
    script = [ToolCall("fetch", {"size": 3_001}, id="t1"), *fetches(3_100, 3_200, 3_300)]
    script += [ToolCall("recall", {"tool_use_id": "t1"}), "Done."]
    manager = PerTurnManager(2_000, recent_tokens=600, old_result_max_bytes=100)
    agent = agent_with(bank, *script, conversation_manager=manager)
    agent("Go.")
    shown = str(agent.model.requests[-2].messages)
    answer = recalled(agent)[0][1]
    assert (True, text_of(3_001, seed=3_001)) == ("of 3,001 bytes shown" in shown, answer.partition("\n")[2])


def test_what_is_recalled_is_not_banked_again(bank):
    """It is counted, and its own id leads to the one that it was asked for."""
    agent = agent_with(bank, *fetches(300), ToolCall("recall", {"tool_use_id": "tooluse_00001"}, id="r1"), "Done.")
    agent("Go.")
    with pytest.raises(KeyError, match="'r1': what the recall tool hands out is not banked again"):
        bank.get("r1")
    assert (1, 1, 0) == (bank.count, bank.recalls, bank.dropped)


def test_recalls_do_not_grow_the_bank_of_a_callback_handler(bank):
    """Nor where the bank hears of them from messages only."""
    agent = agent_with(bank, *fetches(300), ToolCall("recall"), "Done.", hooks=None, callback_handler=bank)
    agent("Go.")
    assert (["fetch"], 1) == ([r.tool_name for r in bank], bank.recalls)


def test_another_bank_keeps_what_a_recall_tool_answers(bank):
    """A recall tool of one bank is a tool like any other to another bank."""
    with ToolResultBank() as other:
        agent = agent_with(bank, ToolCall("recall"), "Done.", hooks=[other], recall=bank.as_tool())
        agent("Go.")
        assert (["recall"], 0) == ([r.tool_name for r in other], bank.count)


def test_an_agent_never_reads_what_another_agent_was_given(bank):
    """Neither by its id nor in the list; unless the tool is made for sharing."""
    writer = agent_with(bank, ToolCall("fetch", {"size": 50}, id="secret_1"), "Done.", name="writer")
    writer("Go.")
    own = agent_with(bank, ToolCall("recall", {"tool_use_id": "secret_1"}), ToolCall("recall"), "Done.", name="reader")
    own("Go.")
    shared = bank.as_tool("recall_any", shared=True)
    any_of = agent_with(bank, ToolCall("recall_any", {"tool_use_id": "secret_1"}), "Done.", recall=shared)
    any_of("Go.")
    refusal = "No result with tool_use_id secret_1 is banked; 0 others are. Without tool_use_id they are listed."
    assert ([("error", refusal), ("success", "No results are banked.")], True) == (
        recalled(own),
        text_of(50, seed=50) in recalled(any_of, "recall_any")[0][1],
    )


def test_an_agent_of_the_same_name_and_with_the_same_id_reads_its_own(bank):
    """Two agents that nobody named have calls of one id."""
    for size in (40, 60):
        script = [ToolCall("fetch", {"size": size}, id="t1"), ToolCall("recall", {"tool_use_id": "t1"}), "Done."]
        agent = agent_with(bank, *script)
        agent("Go.")
        assert text_of(size, seed=size) == recalled(agent)[0][1].partition("\n")[2]


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ({"tool_use_id": "' OR 1=1 --"}, "No result with tool_use_id ' OR 1=1 -- is banked"),
        ({"tool_use_id": "../../etc/passwd"}, "No result with tool_use_id ../../etc/passwd is banked"),
        ({"tool_use_id": "x" * 100_000}, "No result with tool_use_id xxx"),
        ({"tool_use_id": 5}, "tool_use_id must be a text."),
        ({"tool_use_id": "tooluse_00001", "pattern": ""}, "pattern must be 1 to 1,000 characters."),
        ({"tool_use_id": "tooluse_00001", "pattern": "(a+)+$" * 200}, "pattern must be 1 to 1,000 characters."),
        ({"tool_use_id": "tooluse_00001", "first_line": 0}, "first_line must be a whole number from 1"),
        ({"tool_use_id": "tooluse_00001", "first_line": True}, "first_line must be a whole number from 1"),
        ({"tool_use_id": "tooluse_00001", "first_line": 10**30}, "first_line must be a whole number from 1"),
        ({"tool_use_id": "tooluse_00001", "first_line": "2; DROP"}, "first_line must be a whole number from 1"),
        ({"tool_use_id": "tooluse_00001", "first_line": 900}, "first_line=900 is behind the end"),
        ({"tool_use_id": "tooluse_00001", "first_line": 2, "last_line": 1}, "last_line=1 is before first_line=2."),
        (
            {"tool_use_id": "tooluse_00001", "context_lines": 10**9},
            "context_lines must be a whole number from 0 to 20.",
        ),
        ({"pattern": "x"}, "A pattern needs a tool_use_id."),
        ({"agent": "another"}, "There is no argument agent"),
    ],
)
def test_what_can_not_be_answered_is_refused_in_one_line(bank, caplog, given, refusal):
    """A result of status error, short, with no traceback; the run goes on."""
    agent = agent_with(bank, ToolCall("fetch", {"size": 500}), ToolCall("recall", given), "Done.")
    agent("Go.")
    [(status, text)] = recalled(agent)
    assert ("error", True, True, []) == (status, text.startswith(refusal), len(text) < 300, caplog.records)


def test_a_recall_of_a_closed_bank_is_refused(bank):
    """The run goes on."""
    agent = agent_with(bank, *fetches(30), "Done.", ToolCall("recall", {"tool_use_id": "tooluse_00001"}), "Done.")
    agent("Go.")
    bank.close()
    agent("More.")
    assert [("error", "That result can't be read: closed.")] == recalled(agent)


def test_a_direct_recall_reads_the_results_of_its_agent(bank):
    """By the app, past the model."""
    agent = agent_with(bank, *fetches(30), "Done.")
    agent("Go.")
    answer = agent.tool.recall(tool_use_id="tooluse_00001", record_direct_tool_call=False)
    assert ("success", text_of(30, seed=30)) == (answer["status"], answer["content"][0]["text"].partition("\n")[2])


def test_a_run_that_only_recalls_has_no_results_and_no_warning(bank, caplog):
    """What it read again was banked in an earlier run, and the bank is a hook of this agent."""
    again = ToolCall("recall", {"tool_use_id": "f1"})
    agent = agent_with(bank, ToolCall("fetch", {"size": 300}, id="f1"), "Fetched.", again, "Read.")
    run(agent, "Fetch.", bank=bank)
    outcome = run(agent, "Again.", bank=bank)
    assert ("bank", 0, "") == (outcome.tool_results_from, len(outcome.tool_results), caplog.text)
