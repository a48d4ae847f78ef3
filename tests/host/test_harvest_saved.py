"""What a killed run achieved is saved, loaded into another agent, and gone on with."""

from __future__ import annotations

import json

import pytest
from strands import Agent
from strands.agent.conversation_manager import NullConversationManager
from strands.hooks import AfterToolsEvent
from strands.session import FileSessionManager

from strands_ctx import BudgetSuffixManager, PerTurnManager
from strands_ctx.bank import ToolResultBank
from strands_ctx.harvest import run
from strands_ctx.testing import WindowModel

from .support.rig import fetch, fetches, text_of

SIZES = [2_000 + number for number in range(80)]
WINDOW_TOKENS = 26_000
"""A window that holds fifty-nine of the results."""


def killed(bank, **agent_arguments):
    """An agent and the outcome of its run, which an overflow ended before the answer to the sixtieth result."""
    agent = Agent(
        model=WindowModel([*fetches(*SIZES), "Never said."], context_window_limit=WINDOW_TOKENS),
        tools=[fetch],
        conversation_manager=NullConversationManager(),
        callback_handler=None,
        hooks=[bank],
        **agent_arguments,
    )
    return agent, run(agent, "Fetch eighty.", bank=bank)


@pytest.fixture(scope="module")
def outcome():
    """What a run without a manager achieved until the provider refused its next call."""
    return killed(ToolResultBank())[1]


def model():
    """A provider with the same window, for the agent that goes on."""
    return WindowModel([*fetches(2_100, 2_200), "All fetched."], context_window_limit=WINDOW_TOKENS)


def test_a_run_that_is_killed_by_an_overflow_keeps_sixty_results(outcome):
    """Partial, the delta whole, and every result byte for byte."""
    assert ("partial", "overflow", 0, 121) == (
        outcome.status,
        outcome.reason,
        outcome.resumes,
        len(outcome.new_messages),
    )
    assert [text_of(size, size) for size in SIZES[:60]] == [
        record.result["content"][0]["text"] for record in outcome.tool_results
    ]


@pytest.mark.parametrize("manager", [BudgetSuffixManager(12_000), PerTurnManager(12_000)], ids=["suffix", "per_turn"])
def test_a_saved_delta_goes_on_in_another_agent(outcome, tmp_path, manager):
    """Through JSON into a new agent under a manager of ours: the run is finished in the window that ended it."""
    path = tmp_path / "delta.json"
    path.write_text(json.dumps(outcome.new_messages), encoding="utf-8")
    messages = json.loads(path.read_text(encoding="utf-8"))
    agent = Agent(model=model(), tools=[fetch], conversation_manager=manager, callback_handler=None, messages=messages)
    later = run(agent, "Go on with what is missing.")
    refused = [violation for request in agent.model.requests for violation in request.violations]
    assert ("complete", 121 + 6, []) == (later.status, len(agent.messages), refused)


def test_a_session_of_the_killed_run_goes_on(tmp_path):
    """The host's own file session has the same messages as the delta, and the next process finishes the run."""
    session = {"session_id": "s", "storage_dir": str(tmp_path)}
    _, first = killed(ToolResultBank(), session_manager=FileSessionManager(**session), agent_id="a")
    agent = Agent(
        model=model(),
        tools=[fetch],
        conversation_manager=PerTurnManager(12_000),
        session_manager=FileSessionManager(**session),
        agent_id="a",
        callback_handler=None,
    )
    assert [m["content"] for m in first.new_messages] == [m["content"] for m in agent.messages]
    later = run(agent, "Go on with what is missing.")
    assert ("complete", 121 + 6) == (later.status, len(agent.messages))


def test_a_delta_that_ends_on_an_unanswered_call_goes_on(tmp_path):
    """A hook killed the run while its tool ran: the log ends on the call, and the next view answers it."""
    agent = Agent(
        model=WindowModel([*fetches(10, 20), "Never said."]),
        tools=[fetch],
        conversation_manager=NullConversationManager(),
        callback_handler=None,
    )

    def hook(event):
        if len(agent.messages) == 4:
            raise RuntimeError("a hook of the app fails")

    agent.hooks.add_callback(AfterToolsEvent, hook)
    outcome = run(agent, "Fetch two.")
    assert "toolUse" in outcome.new_messages[-1]["content"][0]
    messages = json.loads(json.dumps(outcome.new_messages))
    later = Agent(
        model=model(),
        tools=[fetch],
        conversation_manager=PerTurnManager(12_000),
        callback_handler=None,
        messages=messages,
    )
    finished = run(later, "Go on.")
    refused = [violation for request in later.model.requests for violation in request.violations]
    assert ("complete", []) == (finished.status, refused)
