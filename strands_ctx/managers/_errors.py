"""Our budget error as the host knows it."""

from __future__ import annotations

from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx.errors import BudgetError


class BudgetExceededError(BudgetError, ContextWindowOverflowException):
    """Nothing that may be sent fits the budget of a model call.

    It is raised before the model is called, and no manager of ours retries it: the log is untouched. Code that
    handles the host's ``ContextWindowOverflowException`` handles it too.

    Attributes:
        budget_tokens: The budget.
        system_tokens: The system prompt (estimate).
        tools_tokens: The tool specifications (estimate).
        newest_tokens: The smallest view that keeps the task and the newest cycle (estimate).
    """

    @classmethod
    def of(cls, error: BudgetError) -> BudgetExceededError:
        """Translate the error of the pure layers."""
        return cls(
            budget_tokens=error.budget_tokens,
            system_tokens=error.system_tokens,
            tools_tokens=error.tools_tokens,
            newest_tokens=error.newest_tokens,
        )
