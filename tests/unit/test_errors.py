"""The error tree: whose fault, which data, and pickling."""

from __future__ import annotations

import pickle

import pytest
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx.errors import AnchorError, BudgetError, ConfigError, HistoryError, StrandsCtxError
from strands_ctx.managers import BudgetExceededError

BUDGET = {"budget_tokens": 500, "system_tokens": 20, "tools_tokens": 900, "newest_tokens": 30}
ERRORS = [
    ConfigError("budget_tokens", -1, "must be a whole number above 0"),
    HistoryError(3, "its role is 'system'"),
    BudgetError(**BUDGET),
    BudgetExceededError(**BUDGET),
    AnchorError("fewer_messages", 5, 3, "the log is shorter than at the mark"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_survive_pickling(error):
    """Class, message and every attribute."""
    copied = pickle.loads(pickle.dumps(error))
    assert (type(error), str(error), vars(error)) == (type(copied), str(copied), vars(copied))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_all_errors_have_one_base(error):
    """So an app can catch all that this library raises on purpose."""
    assert isinstance(error, StrandsCtxError)


def test_a_config_error_is_a_value_error_that_names_the_parameter_and_the_value():
    """As Python's own."""
    assert ("budget_tokens=-1 is not allowed: must be a whole number above 0", True) == (
        str(ERRORS[0]),
        isinstance(ERRORS[0], ValueError),
    )


def test_a_budget_error_says_what_value_limit_and_remedy():
    """The largest part is what should shrink."""
    message = str(BudgetError(**BUDGET))
    for part in (
        "950 tokens",
        "system prompt 20",
        "tools 900",
        "newest messages 30",
        "budget is 500",
        "shrink the tools",
    ):
        assert part in message


def test_the_managers_budget_error_is_the_hosts_overflow_too():
    """And carries what the pure error carried."""
    error = BudgetExceededError.of(BudgetError(**BUDGET))
    assert (True, BUDGET) == (isinstance(error, ContextWindowOverflowException), vars(error))
