"""Arguments are checked at construction, and the message names the parameter and its value."""

from __future__ import annotations

from inspect import signature

import pytest

from strands_ctx import BudgetSuffixManager, CapToolResultsManager, PerTurnManager
from strands_ctx.errors import ConfigError

SUFFIX = [
    {"budget_tokens": 0},
    {"budget_tokens": -1},
    {"budget_tokens": 1.5},
    {"budget_tokens": True},
    {"budget_tokens": "60000"},
    {"target_tokens": 0},
    {"target_tokens": -5},
    {"target_tokens": 60_001, "budget_tokens": 60_000},
    {"max_user_turns": 0},
    {"max_user_turns": -1},
    {"pin_first": -2},
    {"max_bytes_per_result": 63},
    {"max_bytes_per_result": 0},
    {"max_bytes_per_result": 100.0},
    {"max_bytes_per_message": 63},
    {"max_bytes_per_message": "8000"},
    {"per_tool_max_bytes": 40_000},
    {"per_tool_max_bytes": {1: 40_000}},
    {"exempt_tools": "read_pdf"},
    {"exempt_tools": (1,)},
    {"recall_tool": ""},
    {"recall_tool": 5},
    {"recall_tool": "recall]\nobey"},
    {"on_omit": "summary"},
    {"max_media_per_request": -1},
    {"max_media_per_request": True},
    {"proactive_compression": "yes"},
    {"proactive_compression": 0.5},
]
PER_TURN = [
    *SUFFIX,
    {"target_tokens": 48_001},
    {"recent_tokens": -1},
    {"recent_tokens": 0.5},
    {"recent_tokens": True},
    {"old_result_max_bytes": 63},
    {"old_result_max_bytes": -600},
    {"first_sight_max_bytes": 63},
    {"first_sight_max_bytes": 599, "old_result_max_bytes": 600},
    {"per_turn": 0},
    {"per_turn": -1},
    {"per_turn": False},
    {"per_turn": 1.5},
    {"old_input_max_bytes": 63},
    {"per_tool_max_bytes": ["read_pdf"]},
]
CAP = [
    {"max_bytes_per_result": 63},
    {"max_bytes_per_result": -1},
    {"max_bytes_per_result": 1e3},
    {"max_bytes_per_message": 0},
    {"per_tool_max_bytes": "read_pdf"},
    {"max_media_per_request": 1.5},
    {"keep": "middle"},
    {"keep": ""},
    {"exempt_tools": "read_pdf"},
    {"exempt_tools": (None,)},
]
CASES = [
    *((BudgetSuffixManager, arguments) for arguments in SUFFIX),
    *((PerTurnManager, arguments) for arguments in PER_TURN),
    *((CapToolResultsManager, arguments) for arguments in CAP),
]


@pytest.mark.parametrize(("manager", "arguments"), CASES, ids=lambda part: getattr(part, "__name__", str(part)))
def test_bad_input_is_refused_with_the_parameter_and_the_value(manager, arguments):
    """A ConfigError, which is a ValueError, about the first of the arguments."""
    parameter, value = next(iter(arguments.items()))
    with pytest.raises(ValueError, match="is not allowed") as caught:
        manager(**arguments)
    error = caught.value
    assert (ConfigError, parameter, value) == (type(error), error.parameter, error.value)
    assert str(error).startswith(f"{parameter}={value!r} is not allowed: must be")


@pytest.mark.parametrize(
    ("arguments", "parameter", "words"),
    [
        (
            {"per_tool_max_bytes": {"a": 63}, "max_bytes_per_result": 600},
            "per_tool_max_bytes['a']",
            "at least 64 bytes",
        ),
        ({"per_tool_max_bytes": {"a": 640}}, "per_tool_max_bytes", "must come with max_bytes_per_result"),
        (
            {"per_tool_max_bytes": {"a": 640}, "exempt_tools": ["a"], "max_bytes_per_result": 600},
            "per_tool_max_bytes",
            "must not name tools that are in exempt_tools too",
        ),
    ],
)
def test_caps_of_single_tools_are_checked_too(arguments, parameter, words):
    """Each cap, and whether it contradicts another argument."""
    with pytest.raises(ConfigError, match=words) as caught:
        BudgetSuffixManager(**arguments)
    assert parameter == caught.value.parameter


@pytest.mark.parametrize("ratio", [0, -0.1, 1.01, True, "0.5", None])
@pytest.mark.parametrize("manager", [BudgetSuffixManager, PerTurnManager])
def test_a_threshold_outside_of_zero_to_one_is_refused(manager, ratio):
    """As Strands refuses it."""
    with pytest.raises(ConfigError) as caught:
        manager(proactive_compression={"compression_threshold": ratio})
    assert ("compression_threshold", ratio) == (caught.value.parameter, caught.value.value)


@pytest.mark.parametrize(
    ("manager", "arguments"),
    [
        (BudgetSuffixManager, {}),
        (BudgetSuffixManager, {"budget_tokens": 1, "max_user_turns": 1, "pin_first": 1, "max_bytes_per_result": 64}),
        (BudgetSuffixManager, {"proactive_compression": {"compression_threshold": 1}}),
        (BudgetSuffixManager, {"budget_tokens": 100, "target_tokens": 70}),
        (BudgetSuffixManager, {"max_bytes_per_result": 64, "per_tool_max_bytes": {"a": 64}, "exempt_tools": ("b",)}),
        (BudgetSuffixManager, {"max_bytes_per_message": 64, "max_media_per_request": 0}),
        (PerTurnManager, {}),
        (PerTurnManager, {"old_input_max_bytes": 64, "per_tool_max_bytes": {"a": 64}, "max_media_per_request": None}),
        (PerTurnManager, {"recent_tokens": 0, "old_result_max_bytes": 64, "first_sight_max_bytes": 64, "per_turn": 1}),
        (PerTurnManager, {"per_turn": 7, "exempt_tools": ["a", "b"], "proactive_compression": False}),
        (CapToolResultsManager, {"max_bytes_per_result": 64, "keep": "tail", "exempt_tools": {"a"}}),
    ],
    ids=str,
)
def test_the_smallest_allowed_values_are_allowed(manager, arguments):
    """Bounds are inclusive."""
    assert isinstance(manager(**arguments), manager)


@pytest.mark.parametrize(
    ("manager", "budget"), [(BudgetSuffixManager, 100), (PerTurnManager, 100), (PerTurnManager, None)]
)
def test_a_dear_target_is_warned_of_with_the_price(manager, budget):
    """Above 0.7 of the budget or of the working set."""
    with pytest.warns(UserWarning, match=r"each makes a prompt cache write the view anew; at most 0\.7 is advised"):
        manager(budget, target_tokens=80 if budget else 40_000)


def test_the_defaults_are_those_of_the_documentation():
    """A cap of 8,000 bytes needs no argument."""
    assert 8_000 == signature(CapToolResultsManager).parameters["max_bytes_per_result"].default
