"""What surrounds a manager fails, lies or is shared: nothing is lost, and what was promised still holds."""

from __future__ import annotations

import copy
import warnings

import pytest
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.hooks import AfterModelCallEvent
from strands.session.file_session_manager import FileSessionManager
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx import (
    BudgetSuffixManager,
    CapToolResultsManager,
    ConfigError,
    HistoryError,
    PerTurnManager,
    TiktokenCounter,
    check_messages,
)
from strands_ctx.testing import ToolCall, WindowModel, strict_violations

PAGE = "a page of a report " * 100


@tool
def read(number: int) -> str:
    """Read a page."""
    return f"{number} {PAGE}"


def agent_of(script, manager, **arguments):
    """An agent that reads pages, with a model of its own."""
    model = arguments.pop("model", None) or WindowModel(script)
    return Agent(model, tools=[read], conversation_manager=manager, callback_handler=None, **arguments)


def reads(count):
    """Calls of the tool."""
    return [ToolCall("read", {"number": number}) for number in range(count)]


class FailingCounter(TiktokenCounter):
    """Counts as usual, but for one call that fails."""

    fails = False

    def count_message(self, message):
        """Fail once when told to."""
        if self.fails:
            self.fails = False
            raise OSError("the counting service is down")
        return super().count_message(message)


def test_a_count_that_failed_once_is_made_again():
    """A large prompt that could not be counted in one call counts in the next, so that the budget holds."""
    counter = FailingCounter()
    agent = agent_of(["ok"] * 3, BudgetSuffixManager(5_000, counter=counter))
    agent("hi")
    counter.fails = True
    agent("words " * 12_500)
    agent("next")
    last = agent.conversation_manager.receipts(agent)[-1]
    assert (True, True) == (last.log_tokens > 12_000, last.view_tokens <= 5_000)


def test_a_counter_that_fails_while_tightening_does_not_replace_the_overflow():
    """Its trouble never leaves our hook: the host asks the second line, which recovers."""
    counter = FailingCounter()
    model = WindowModel(["ok"], fail_at={1: ContextWindowOverflowException("prompt is too long")})
    agent = agent_of([], BudgetSuffixManager(counter=counter), model=model)
    agent.hooks.add_callback(AfterModelCallEvent, lambda event: setattr(counter, "fails", True), order=-1)
    assert "end_turn" == agent("words " * 900).stop_reason


@pytest.mark.parametrize("replaced", ["cleared", "another list"])
def test_a_log_that_is_replaced_is_capped_from_its_start(replaced):
    """What was capped in a log that is gone says nothing of the next one."""
    agent = agent_of([*reads(2), "one", *reads(6), "two"], CapToolResultsManager(200))
    agent("Read.")
    if replaced == "cleared":
        agent.messages.clear()
    else:
        agent.messages = []
    agent("Read again.")
    results = [b["toolResult"]["content"][0]["text"] for m in agent.messages for b in m["content"] if "toolResult" in b]
    assert [True] * 6 == [len(text.encode()) <= 200 for text in results]


def test_a_longer_log_in_place_of_another_is_capped_from_its_start():
    """The place up to which the first log was capped lies inside the second one, and says nothing of it."""
    other = agent_of([*reads(6), "one"], NullConversationManager())
    other("Read.")
    agent = agent_of([*reads(2), "one", "two"], CapToolResultsManager(200))
    agent("Read.")
    agent.messages = other.messages
    agent("Go on.")
    results = [b["toolResult"]["content"][0]["text"] for m in agent.messages for b in m["content"] if "toolResult" in b]
    assert [True] * 6 == [len(text.encode()) <= 200 for text in results]


def test_stored_state_does_not_grow_with_restarts(tmp_path):
    """One manager for two agents with sessions, restarted again and again: as many views as agents."""
    stored = []
    for _ in range(5):
        manager, agents = PerTurnManager(3_000, recent_tokens=300), []
        for name in ("one", "two"):
            sessions = FileSessionManager(session_id=name, storage_dir=str(tmp_path))
            agents.append(agent_of([*reads(8), "done"], manager, session_manager=sessions))
            agents[-1](f"{name}: read.")
        stored.append(len(manager.get_state()["views"]))
    assert [2] * 5 == stored


def test_a_restored_view_never_moves_boundaries_back(tmp_path):
    """After a restart the cut only moves forward, call after call."""
    cuts = []
    for _ in range(4):
        sessions = FileSessionManager(session_id="s", storage_dir=str(tmp_path))
        manager = PerTurnManager(3_000, recent_tokens=300)
        agent = agent_of([*reads(8), "done"], manager, session_manager=sessions)
        agent("Read.")
        cuts += [receipt.cut for receipt in manager.receipts(agent)]
    assert sorted(cuts) == cuts


def test_a_forged_fingerprint_is_claimed_by_no_log():
    """State that names no log belongs to none, and numbers without a log are no boundaries."""
    manager = BudgetSuffixManager(2_000)
    view = {"fingerprint": "", "cut": 10**9, "cap_line": 10**9, "old_max_bytes": 1, "refused_tokens": 1}
    manager.restore_from_session({"__name__": "x", "version": 1, "views": [view]})
    agent = agent_of([*reads(4), "done"], manager)
    agent("Read.")
    assert (10, [False]) == (len(agent.messages), sorted({r.standing == "restored" for r in manager.receipts(agent)}))


@pytest.mark.parametrize("state", [None, [], "x", 5])
def test_state_that_is_no_state_is_ignored(state):
    """Whatever a session file holds, the agent starts."""
    assert PerTurnManager().restore_from_session(state) is None


def test_call_ids_that_are_used_again_are_told_apart_in_the_view():
    """A provider refuses a repeated id for ever; the log keeps it, the view renames the call with its result."""
    cycle = [
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "read", "input": {"number": 1}}}]},
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "a", "status": "success", "content": [{"text": "1"}]}}],
        },
    ]
    log = [{"role": "user", "content": [{"text": "Read."}]}, *copy.deepcopy(cycle), *copy.deepcopy(cycle)]
    manager = PerTurnManager()
    agent = agent_of(["done"], manager, messages=copy.deepcopy(log))
    view = manager.view(agent)
    agent(None)
    plain = [{"role": m["role"], "content": m["content"]} for m in agent.messages[:5]]
    assert ([], [], log) == (strict_violations(view), check_messages(view), plain)


@pytest.mark.parametrize(
    "block", [{"toolUse": None}, {"toolUse": "x"}, {"toolResult": None}, {"toolResult": {"content": 5}}]
)
def test_a_malformed_block_is_named_with_its_message(block):
    """A typed error with the index, wherever the log comes from."""
    agent = agent_of(["never"], PerTurnManager(), messages=[{"role": "user", "content": [{"text": "Hi."}]}])
    agent.messages.append({"role": "assistant", "content": [block]})
    with pytest.raises(HistoryError, match=r"messages\[1\]"):
        agent.conversation_manager.view(agent)


@pytest.mark.parametrize("manager", [BudgetSuffixManager, CapToolResultsManager, PerTurnManager])
def test_a_malformed_prompt_is_named_with_its_place_in_the_log(manager):
    """The index is that of the log, not of what was handed over."""
    agent = agent_of(["Yes.", "never"], manager())
    agent("Hi.")
    with pytest.raises(HistoryError, match=r"messages\[2\]") as caught:
        agent([{"role": "user", "content": "a plain string"}])
    assert 2 == caught.value.index


def test_warnings_as_errors_do_not_switch_management_off():
    """A model without a window is warned of outside of planning: the view is asked for as ever."""
    agent = agent_of(["ok"], PerTurnManager(), model=WindowModel(["ok"], context_window_limit=None))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [] == agent.conversation_manager.view(agent)


def test_one_refusal_of_a_tiny_prompt_is_not_remembered():
    """A fault of the provider at a hundredth of the window does not bind what follows."""
    model = WindowModel([*reads(8), "done"], fail_at={2: ContextWindowOverflowException("a glitch")})
    manager = PerTurnManager()
    agent = agent_of([], manager, model=model)
    agent("Read.")
    assert 0 == manager.receipts(agent)[-1].omitted_messages


@pytest.mark.parametrize(
    ("kind", "arguments", "named"),
    [
        (PerTurnManager, {"exempt_tools": None}, "exempt_tools=None"),
        (CapToolResultsManager, {"exempt_tools": 5}, "exempt_tools=5"),
        (CapToolResultsManager, {"max_bytes_per_result": None}, "max_bytes_per_result=None"),
        (PerTurnManager, {"old_result_max_bytes": None}, "old_result_max_bytes=None"),
        (PerTurnManager, {"budget_tokens": 1_000, "recent_tokens": 2_000}, "recent_tokens=2000"),
        (BudgetSuffixManager, {"counter": object()}, "counter=<object"),
        (BudgetSuffixManager, {"on_receipt": 3}, "on_receipt=3"),
        (BudgetSuffixManager, {"budget_tokens": -(10**5_000)}, "budget_tokens=<int>"),
    ],
)
def test_an_argument_that_can_not_work_is_refused_at_construction(kind, arguments, named):
    """The error names the parameter and what was passed."""
    with pytest.raises(ConfigError, match=named):
        kind(**arguments)


def test_names_of_exempt_tools_may_come_from_a_generator():
    """They are read once."""
    agent = agent_of(
        [*reads(2), "done"], CapToolResultsManager(200, exempt_tools=(name for name in ["read"])), messages=[]
    )
    agent("Read.")
    results = [b["toolResult"]["content"][0]["text"] for m in agent.messages for b in m["content"] if "toolResult" in b]
    assert [f"{number} {PAGE}" for number in range(2)] == results
