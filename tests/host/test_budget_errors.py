"""A hard budget that nothing fits: a typed error with the breakdown, before the provider is asked, and nothing lost."""

from __future__ import annotations

import pickle

import pytest
from strands import hooks, tool
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx import BudgetExceededError, BudgetSuffixManager, PerTurnManager
from strands_ctx.errors import BudgetError, StrandsCtxError

from .support.rig import FaultyModel, Rig, fetches, text_of

HARD = {"suffix": lambda: BudgetSuffixManager(900), "per_turn": lambda: PerTurnManager(900, recent_tokens=300)}


def wordy(topic: str) -> str:
    """Say something about a topic.

    Args:
        topic: What it is about.
    """
    return topic


@pytest.fixture(params=sorted(HARD))
def kind(request):
    """A manager with a hard budget."""
    return request.param


def refused(rig, prompt="Hello."):
    """Run the agent and return the budget error."""
    with pytest.raises(BudgetExceededError) as raised:
        rig.run(prompt, "Hello.")
    return raised.value


def test_a_system_prompt_larger_than_the_budget_is_named(kind):
    """The breakdown tells the system prompt, the tools, the newest messages and the budget."""
    rig = Rig(kind, manager=HARD[kind](), system_prompt=text_of(6_000))
    error = refused(rig)
    parts = {"system": error.system_tokens, "tools": error.tools_tokens, "newest": error.newest_tokens}
    assert ("system", 900, True, True) == (
        max(parts, key=lambda part: parts[part]),
        error.budget_tokens,
        all(tokens > 0 for tokens in parts.values()),
        "system prompt" in str(error).rsplit("shrink", 1)[1],
    )


def test_tools_larger_than_the_budget_are_named(kind):
    """As many words about a tool as no budget has room for."""
    rig = Rig(kind, manager=HARD[kind](), tools=[tool(description=text_of(6_000))(wordy)])
    error = refused(rig)
    assert (True, True) == (error.tools_tokens > 900, "tools" in str(error).rsplit("shrink", 1)[1])


def test_the_provider_is_never_asked_and_nothing_is_retried(kind):
    """No request, one plan: neither the retry nor the second line takes the error for an overflow of theirs."""
    rig = Rig(kind, manager=HARD[kind](), system_prompt=text_of(6_000))
    plans = []
    rig.agent.hooks.add_callback(hooks.BeforeModelCallEvent, plans.append)
    refused(rig)
    assert (0, 1) == (len(rig.model.requests), len(plans))


def test_the_log_keeps_the_prompt_and_the_agent_is_usable_afterwards(kind):
    """With a shorter system prompt the same agent answers; the refused prompt is still in the log."""
    rig = Rig(kind, manager=HARD[kind](), system_prompt=text_of(6_000))
    refused(rig, "The first prompt.")
    rig.agent.system_prompt = "Be brief."
    rig.run("The second prompt.", *fetches(900), "Fine.")
    first = rig.agent.messages[0]["content"][0]["text"]
    assert ("The first prompt.", 5, []) == (first, len(rig.agent.messages), rig.broken_laws())


def test_an_error_in_the_middle_of_a_life_loses_nothing(kind):
    """After several runs the system prompt grows too large: every message stays."""
    rig = Rig(kind, manager=HARD[kind]())
    rig.fill()
    before = list(rig.agent.messages)
    rig.agent.system_prompt = text_of(6_000)
    refused(rig)
    assert (True, len(before) + 1, []) == (
        all(a is b for a, b in zip(before, rig.agent.messages, strict=False)),
        len(rig.agent.messages),
        rig.broken_laws(),
    )


def test_the_error_is_ours_and_the_hosts(kind):
    """Code that handles the host's overflow handles it; so does code that handles ours."""
    error = refused(Rig(kind, manager=HARD[kind](), system_prompt=text_of(6_000)))
    kinds = (ContextWindowOverflowException, BudgetError, StrandsCtxError)
    assert [True] * 3 == [isinstance(error, kind) for kind in kinds]


def test_the_error_pickles(kind):
    """It crosses a process with class, text and numbers."""
    error = refused(Rig(kind, manager=HARD[kind](), system_prompt=text_of(6_000)))
    copy = pickle.loads(pickle.dumps(error))
    assert (type(error), str(error), vars(error)) == (type(copy), str(copy), vars(copy))


def test_view_raises_the_same_error(kind):
    """What the next call would be sent can't be told where there is none."""
    rig = Rig(kind, manager=HARD[kind](), system_prompt=text_of(6_000))
    with pytest.raises(BudgetExceededError):
        rig.manager.view(rig.agent)


def test_a_budget_holds_by_the_models_own_count(kind):
    """After three calls no request is billed above the budget, whatever the model's own token rule."""
    rig = Rig(kind, manager=HARD[kind]())
    for _ in range(3):
        rig.fill()
    billed = [request.prompt_tokens for request in rig.model.requests[3:]]
    assert (True, []) == (max(billed) <= 900, rig.broken_laws())


def test_a_prompt_larger_than_the_budget_is_shown_in_part_and_kept_whole(kind):
    """One message alone larger than the budget is elided in the view, marked, and whole in the log."""
    rig = Rig(kind, manager=HARD[kind]())
    rig.fill()
    text = text_of(20_000)
    rig.run(text, "Long.")
    shown = " ".join(block["text"] for block in rig.views[-1][-1]["content"])
    assert (text, True, True, []) == (
        rig.agent.messages[10]["content"][0]["text"],
        "of 20,000 bytes shown" in shown,
        rig.model.requests[-1].prompt_tokens <= 900,
        rig.broken_laws(),
    )


def test_the_default_working_set_is_soft():
    """Without an explicit budget a large newest result is sent whole, up to the window, and the receipt says so."""
    rig = Rig(manager=PerTurnManager(), model=FaultyModel(context_window_limit=200_000))
    rig.run("Fetch.", *fetches(260_000), "Fetched.")
    receipt = rig.manager.receipts(rig.agent)[-1]
    shown = rig.views[-1][-1]["content"][0]["toolResult"]["content"][0]["text"]
    assert (260_000, True, []) == (len(shown), receipt.over_working_set, rig.broken_laws())
