"""Conversation managers for Strands Agents that make each model call smaller and leave ``agent.messages`` alone.

The log is not the view: ``agent.messages`` is what happened; what one model call is sent is computed from it and thrown
away. Every name below is imported at its first use, so that ``import strands_ctx`` costs next to nothing.

Example:
    >>> import strands_ctx
    >>> strands_ctx.check_messages([{"role": "user", "content": [{"text": "Hello"}]}])
    []
"""

from __future__ import annotations

from strands_ctx._lazy import facade

# Importing typing for this one name would be most of what importing the package costs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from strands_ctx.anchor import DeltaAnchor
    from strands_ctx.bank import BankedResult, ToolResultBank
    from strands_ctx.errors import (
        AnchorError,
        BankLookupError,
        BudgetError,
        ConfigError,
        HistoryError,
        SilentTruncationWarning,
        StrandsCtxError,
    )
    from strands_ctx.harvest import AgentBusyError, RunOutcome, outcome_of, run, run_async
    from strands_ctx.managers import BudgetExceededError, BudgetSuffixManager, CapToolResultsManager, PerTurnManager
    from strands_ctx.messages import check_messages
    from strands_ctx.overflow.recognition import Overflow, find_overflow
    from strands_ctx.plans import Plan
    from strands_ctx.receipts import Receipt
    from strands_ctx.tokens import CharacterCounter, ModelCounter, TiktokenCounter
    from strands_ctx.types import TokenCounter

__version__ = "0.1.0"

__all__ = [
    "AgentBusyError",
    "AnchorError",
    "BankLookupError",
    "BankedResult",
    "BudgetError",
    "BudgetExceededError",
    "BudgetSuffixManager",
    "CapToolResultsManager",
    "CharacterCounter",
    "ConfigError",
    "DeltaAnchor",
    "HistoryError",
    "ModelCounter",
    "Overflow",
    "PerTurnManager",
    "Plan",
    "Receipt",
    "RunOutcome",
    "SilentTruncationWarning",
    "StrandsCtxError",
    "TiktokenCounter",
    "TokenCounter",
    "ToolResultBank",
    "__version__",
    "check_messages",
    "find_overflow",
    "outcome_of",
    "run",
    "run_async",
]

_HOMES = {
    "AgentBusyError": "harvest",
    "AnchorError": "errors",
    "BankLookupError": "errors",
    "BankedResult": "bank",
    "BudgetError": "errors",
    "BudgetExceededError": "managers",
    "BudgetSuffixManager": "managers",
    "CapToolResultsManager": "managers",
    "CharacterCounter": "tokens",
    "ConfigError": "errors",
    "DeltaAnchor": "anchor",
    "HistoryError": "errors",
    "ModelCounter": "tokens",
    "Overflow": "overflow",
    "PerTurnManager": "managers",
    "Plan": "plans",
    "Receipt": "receipts",
    "RunOutcome": "harvest",
    "SilentTruncationWarning": "errors",
    "StrandsCtxError": "errors",
    "TiktokenCounter": "tokens",
    "TokenCounter": "types",
    "ToolResultBank": "bank",
    "check_messages": "messages",
    "find_overflow": "overflow",
    "outcome_of": "harvest",
    "run": "harvest",
    "run_async": "harvest",
}

__getattr__, __dir__ = facade(globals(), _HOMES)
