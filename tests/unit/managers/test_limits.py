"""The limits of one call: budgets, windows, outputs, margins."""

from __future__ import annotations

import pytest

from strands_ctx.managers._limits import DEFAULT_TARGET_RATIO, Budget, output_tokens, usable_tokens
from strands_ctx.plans import UNLIMITED_TOKENS, Limits
from strands_ctx.testing import WindowModel


def model_of(window: int | None = 200_000, max_tokens: int | None = None) -> WindowModel:
    """A real model with a window and an output."""
    return WindowModel(["done"], context_window_limit=window, max_tokens=max_tokens)


def limits_of(trigger_tokens: int, hard_tokens: int) -> Limits:
    """Limits with the default target."""
    return Limits(trigger_tokens, int(trigger_tokens * DEFAULT_TARGET_RATIO), hard_tokens)


class ConfiguredModel:
    """A model that keeps its output size where one provider's class keeps it."""

    def __init__(self, config: object) -> None:
        self.config = config

    def get_config(self) -> object:
        """Return what was given."""
        return self.config


@pytest.mark.parametrize(
    ("budget", "window", "output", "expected"),
    [
        (Budget(), 200_000, None, limits_of(196_000, 196_000)),
        (Budget(), 200_000, 64_000, limits_of(133_280, 133_280)),
        (Budget(budget_tokens=60_000), 200_000, None, limits_of(60_000, 60_000)),
        (Budget(budget_tokens=60_000, target_tokens=50_000), 200_000, None, Limits(60_000, 50_000, 60_000)),
        (Budget(budget_tokens=500_000), 200_000, None, limits_of(196_000, 196_000)),
        (Budget(budget_tokens=60_000, threshold_ratio=0.2), 200_000, None, limits_of(40_000, 60_000)),
        (Budget(budget_tokens=60_000, threshold_ratio=0.7), 200_000, None, limits_of(60_000, 60_000)),
        (Budget(working_set_tokens=48_000), 200_000, None, limits_of(48_000, 196_000)),
        (Budget(working_set_tokens=48_000), 32_000, None, limits_of(31_360, 31_360)),
        (Budget(budget_tokens=30_000, working_set_tokens=48_000), 200_000, None, limits_of(30_000, 30_000)),
        (
            Budget(budget_tokens=60_000, target_tokens=50_000, threshold_ratio=0.2),
            200_000,
            None,
            Limits(40_000, 40_000, 60_000),
        ),
        (Budget(unlimited=True), 1_000, None, Limits(UNLIMITED_TOKENS, UNLIMITED_TOKENS, UNLIMITED_TOKENS)),
    ],
)
def test_the_limits_of_a_call_are_worked_out_by_hand(budget, window, output, expected):
    """Trigger, target and hard limit; the window is left less the output less 2 %."""
    assert expected == budget.limits(model_of(window, output), 0)


@pytest.mark.parametrize(("fixed", "trigger"), [(0, 48_000), (24_000, 48_000), (30_000, 54_000), (190_000, 196_000)])
def test_a_large_system_prompt_raises_the_soft_working_set(fixed, trigger):
    """Half of the set stays for messages, up to what the window has room for."""
    assert trigger == Budget(working_set_tokens=48_000).limits(model_of(), fixed).trigger_tokens


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"max_tokens": 4_096}, 4_096),
        ({"params": {"max_completion_tokens": 2_000}}, 2_000),
        ({"params": {"max_output_tokens": 3_000}, "max_tokens": 1_000}, 3_000),
        ({"options": {"num_predict": 512}}, 512),
        ({"options": {"num_predict": -1}}, 0),
        ({"max_tokens": True}, 0),
        ({}, 0),
        (None, 0),
    ],
)
def test_the_output_is_found_where_models_keep_it(config, expected):
    """R5: it is reserved before the budget is computed."""
    assert expected == output_tokens(ConfiguredModel(config))


def test_an_output_larger_than_half_of_the_window_reserves_half():
    """Something has to be left for the prompt."""
    assert 490 == usable_tokens(model_of(1_000, 900), 1_000)


@pytest.mark.parametrize("budget", [Budget(), Budget(working_set_tokens=48_000), Budget(60_000, threshold_ratio=0.7)])
def test_an_unknown_window_is_the_hosts_default_and_is_missed(budget):
    """R6: 200,000."""
    model = ConfiguredModel({})
    limits = budget.limits(model, 0)
    assert (True, min(196_000, budget.budget_tokens or 196_000)) == (budget.misses_window(model), limits.hard_tokens)


def test_an_explicit_budget_needs_no_window():
    """Where nothing else is known, it is what there is to go by, and nothing is missed."""
    budget, model = Budget(300_000), ConfiguredModel({})
    assert (False, 300_000) == (budget.misses_window(model), budget.limits(model, 0).hard_tokens)
