"""The issue's figures and the cases from the field through real managers and real agents."""

from __future__ import annotations

import copy
from itertools import pairwise

import pytest
from strands import Agent

from strands_ctx import BudgetExceededError, BudgetSuffixManager, CapToolResultsManager, PerTurnManager
from strands_ctx.messages import check_messages
from strands_ctx.testing import WindowModel
from tests.builders import WordCounter, assistant, cycle, ids, load_of, pinned, texts, tokens_of, turn, user, words

MANAGERS = [
    BudgetSuffixManager(50_000, counter=WordCounter()),
    PerTurnManager(50_000, counter=WordCounter()),
    CapToolResultsManager(),
]


def agent_of(log, manager, system_prompt: str | None = None) -> Agent:
    """A real agent at rest, with a log."""
    model = WindowModel(["done"], context_window_limit=1_000_000)
    return Agent(model, messages=log, conversation_manager=manager, system_prompt=system_prompt, callback_handler=None)


@pytest.mark.parametrize("manager", MANAGERS, ids=lambda manager: type(manager).__name__)
def test_31_turns_of_50_tokens_are_the_view(manager):
    """Nothing is touched: the view is the log."""
    log = [message for _ in range(31) for message in turn(words(10), words(32))]
    assert log == manager.view(agent_of(copy.deepcopy(log), manager))


@pytest.mark.parametrize("kind", [BudgetSuffixManager, PerTurnManager])
def test_25_turns_of_6000_tokens_keep_as_many_newest_turns_as_fit(kind):
    """With the target at the budget: one more would not fit, by the estimate with its margin."""
    log = [message for _ in range(25) for message in turn(words(10), words(5_982))]
    with pytest.warns(UserWarning, match="target_tokens=50000 is 1.00"):
        manager = kind(50_000, target_tokens=50_000, counter=WordCounter())
    view = manager.view(agent_of(log, manager))
    kept = len(view) // 2
    fits = [n for n in range(1, 26) if tokens_of([user(words(12)), *log[-2 * n :]], WordCounter(), load_of()) <= 50_000]
    assert (max(fits), f"{50 - 2 * kept} earlier") == (kept, texts(view[0])[0][14:24])
    assert log[-2 * kept + 1 :] == view[1:]


@pytest.mark.parametrize("kind", [BudgetSuffixManager, PerTurnManager])
def test_the_newest_alone_stays_where_the_middle_does_not_fit(kind):
    """Sizes 10, 5,000, 10 from the oldest, budget 1,000: no hidden gap, and the note says 2."""
    log = [user(words(6)), assistant(words(4_996)), user(words(6))]
    manager = kind(1_000, counter=WordCounter())
    view = manager.view(agent_of(log, manager))
    assert [user("[strands_ctx: 2 earlier messages are not shown here.]", words(6))] == view


@pytest.mark.parametrize("kind", [BudgetSuffixManager, PerTurnManager])
def test_one_prompt_and_50_pairs_keep_the_prompt(kind):
    """S1, over budget."""
    log = [user("the task"), *(message for n in range(50) for message in cycle(f"c{n}", words(300)))]
    manager = kind(3_000, counter=WordCounter())
    view = manager.view(agent_of(log, manager))
    assert ("the task", [], "c49") == (texts(view[0])[-1], check_messages(view), ids(view, "toolResult")[-1])


@pytest.mark.parametrize("kind", [BudgetSuffixManager, PerTurnManager])
def test_a_huge_newest_result_shrinks_and_nothing_is_left_out(kind):
    """S2: the tiny first result stays."""
    log = [user("the task"), *cycle("tiny", "found"), *cycle("huge", words(5_000))]
    manager = kind(2_000, counter=WordCounter())
    view = manager.view(agent_of(log, manager))
    assert (["tiny", "huge"], True) == (ids(view, "toolResult"), "bytes shown" in texts(view[-1])[0])


def test_a_redacted_prompt_is_never_shown_again():
    """S23: a guardrail rewrites the last user message in the log."""
    manager = BudgetSuffixManager(5_000, counter=WordCounter())
    agent = agent_of([*turn("hello", "hi"), user("a secret")], manager)
    shown = [manager.view(agent)]
    agent.messages[-1]["content"] = [{"text": "[redacted]"}]
    shown.append(manager.view(agent))
    assert ["a secret", "[redacted]"] == [texts(view[-1])[0] for view in shown]


def test_a_view_is_a_copy():
    """What an app does to it reaches neither the log nor the next view."""
    manager = BudgetSuffixManager(5_000, counter=WordCounter())
    agent = agent_of(turn("hello", "hi"), manager)
    manager.view(agent)[0]["content"][0]["text"] = "changed"
    assert ["hello", "hello"] == [texts(agent.messages[0])[0], texts(manager.view(agent)[0])[0]]


def test_a_capped_result_of_a_view_is_a_copy_too():
    """Caps are made once and remembered, so what an app does to one must not show up again."""
    manager = PerTurnManager(400, recent_tokens=0, old_result_max_bytes=64, counter=WordCounter())
    log = [user("go"), *cycle("a", words(500)), *cycle("b", "found")]
    agent = agent_of(log, manager)
    view = manager.view(agent)
    shown = texts(view[2])
    view[2]["content"][0]["toolResult"]["content"][0]["text"] = "changed"
    assert (64, shown) == (len(shown[0]), texts(manager.view(agent)[2]))


def test_the_first_messages_and_pins_stay():
    """S20: ``pin_first`` and Strands' own pin."""
    log = [message for n in range(20) for message in turn(f"prompt {n}", words(100))]
    log[10] = pinned(log[10])
    manager = BudgetSuffixManager(1_000, pin_first=1, counter=WordCounter())
    view = manager.view(agent_of(log, manager))
    assert ["prompt 0", "prompt 5"] == texts(view[0])[1:3]


@pytest.mark.parametrize("kind", [BudgetSuffixManager, PerTurnManager])
def test_a_system_prompt_larger_than_the_budget_is_a_typed_error(kind):
    """R6: with the breakdown, and the log is as it was."""
    log = turn("hello", "hi")
    manager = kind(1_000, counter=WordCounter())
    agent = agent_of(copy.deepcopy(log), manager, system_prompt=words(2_000))
    with pytest.raises(BudgetExceededError, match="shrink the system prompt") as caught:
        manager.view(agent)
    assert (1_000, log) == (caught.value.budget_tokens, agent.messages)
    assert caught.value.system_tokens >= 2_000


def test_a_cut_rests_beside_a_huge_system_prompt():
    """Forty runs beside a system prompt that is larger than the working set: the cut moves now and then."""
    manager = PerTurnManager(counter=WordCounter())
    model = WindowModel(["done"] * 40, context_window_limit=1_000_000)
    agent = Agent(model, conversation_manager=manager, system_prompt=words(60_000), callback_handler=None)
    for number in range(40):
        agent(f"{number} {words(2_000)}")
    cuts = [receipt.cut for receipt in manager.receipts(agent)]
    moves = sum(before != after for before, after in pairwise(cuts))
    assert (40, True, True) == (len(cuts), cuts[-1] > 0, moves <= 8)
    assert 80 == len(agent.messages)


def test_a_view_is_what_the_next_call_is_sent_with_per_turn_of_two():
    """Call 1 of 2 may not move a boundary, so its view is the log up to the hard limit."""
    manager = PerTurnManager(per_turn=2, counter=WordCounter())
    log = [user("go"), *(m for n in range(20) for m in cycle(f"c{n}", words(4_000))), assistant("done")]
    agent = agent_of(log, manager)
    agent.messages.append(user("next"))
    expected = manager.view(agent)
    agent.messages.pop()
    agent("next")
    assert expected == list(agent.model.requests[0].messages)


def test_a_view_is_what_the_next_call_is_sent_with_caps_of_loaded_history():
    """The log is capped before the call is planned."""
    manager = CapToolResultsManager(100)
    agent = agent_of([user("go"), *cycle("a", words(400)), assistant("done"), user("next")], manager)
    expected = manager.view(agent)
    agent.messages.pop()
    agent("next")
    assert expected == list(agent.model.requests[0].messages)
