"""The three conversation managers and the error that they raise."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
