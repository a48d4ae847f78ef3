"""The three conversation managers and the error that they raise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strands_ctx._lazy import facade

if TYPE_CHECKING:
    from ._errors import BudgetExceededError
    from .budget_suffix import BudgetSuffixManager
    from .cap import CapToolResultsManager
    from .per_turn import PerTurnManager

__all__ = ["BudgetExceededError", "BudgetSuffixManager", "CapToolResultsManager", "PerTurnManager"]

_HOMES = {
    "BudgetExceededError": "_errors",
    "BudgetSuffixManager": "budget_suffix",
    "CapToolResultsManager": "cap",
    "PerTurnManager": "per_turn",
}

__getattr__, __dir__ = facade(globals(), _HOMES)
