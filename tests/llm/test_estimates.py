"""Sessions of several windows, billed by the real model's template and tokenizer: estimates are close to the bills."""

from __future__ import annotations

import pytest

from strands_ctx.analysis.llm_trial import SETTLED_CALL, error_ratios
from tests.support.small_model import OWN, SESSIONS

pytestmark = pytest.mark.llm

BUDGETED = ("BudgetSuffix", "PerTurn")
BUDGET_TOKENS = 1_800
WINDOWS = 2


@pytest.fixture(params=OWN)
def name(request):
    """One of this library's managers."""
    return request.param


@pytest.fixture(params=SESSIONS)
def length(request):
    """How long the sessions are."""
    return request.param


def figures(runs, name, length):
    """The errors of all estimates from the fourth call on, with their median and 95th percentile, which are shown."""
    ratios = sorted(ratio for run in runs.counted(name, length) for ratio in error_ratios(run.receipts))
    median, p95 = ratios[len(ratios) // 2], ratios[int(0.95 * (len(ratios) - 1))]
    print(f"{name}, sessions of {length}: |estimate - billed| / billed of {len(ratios)} calls: ", end="")
    print(f"median {median:.4f}, p95 {p95:.4f}")
    return median, p95


def test_a_session_takes_several_windows(runs, length):
    """Its tool results alone take about twice the window, by the model's own tokenizer."""
    played = runs.counted("PerTurn", length)
    sizes = [sum(runs.server.count_text(result.text) for result in run.results) for run in played]
    assert [] == [size for size in sizes if size <= WINDOWS * runs.server.window_tokens]


def test_every_session_completes(runs, name, length):
    """No prompt stays unanswered, and the log keeps every message."""
    trials = [run.trial for run in runs.counted(name, length)]
    assert [] == [trial for trial in trials if not trial.completes or trial.messages_kept != trial.messages_total]


def test_the_median_estimate_is_within_two_percent(runs, name, length):
    """From the fourth call on, half of the estimates are at most 2 % off the bill."""
    median, _ = figures(runs, name, length)
    assert median <= 0.02


def test_nearly_all_estimates_are_within_five_percent(runs, name, length):
    """From the fourth call on, 95 of 100 estimates are at most 5 % off the bill."""
    _, p95 = figures(runs, name, length)
    assert p95 <= 0.05


@pytest.mark.parametrize("budgeted", BUDGETED)
def test_a_budget_is_never_exceeded_by_the_bill(runs, budgeted, length):
    """From the fourth call on the real count of every prompt is within the explicit budget."""
    billed = [
        exchange.prompt_tokens
        for run in runs.counted(budgeted, length)
        for exchange in run.model.exchanges[SETTLED_CALL - 1 :]
    ]
    assert [] == [tokens for tokens in billed if tokens > BUDGET_TOKENS]
