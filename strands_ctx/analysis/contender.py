"""The ways to manage context that a trial compares: Strands' own and this library's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to manage an agent's context.

    Attributes:
        name: Short name, unique.
        summary: What it is, in a line.
        agent_arguments: Makes fresh arguments for ``Agent``.
    """

    name: str
    summary: str
    agent_arguments: Callable[[], dict[str, Any]]


def contenders() -> tuple[Contender, ...]:
    """List every contender: Strands' own first.

    Returns:
        The contenders, in the order of the demo's table.
    """
    return (*strands_contenders(), *own_contenders())


def strands_contenders() -> tuple[Contender, ...]:
    """List what Strands offers.

    Returns:
        Five contenders.
    """
    return (
        Contender("none", "no management: NullConversationManager()", _baseline("null_manager")),
        Contender("SlidingWindow", "Strands' default: SlidingWindowConversationManager()", _baseline("sliding_window")),
        Contender(
            "SlidingWindow per turn",
            "SlidingWindowConversationManager(per_turn=True)",
            _baseline("sliding_window_per_turn"),
        ),
        Contender(
            "Summarizing proactive",
            "SummarizingConversationManager(proactive_compression=True)",
            _baseline("summarizing"),
        ),
        Contender("auto", 'Agent(context_manager="auto")', _baseline("auto")),
    )


def own_contenders() -> tuple[Contender, ...]:
    """List this library's managers, as they come and as they are tuned.

    Returns:
        Six contenders.
    """
    lean = {"recent_tokens": 4_000, "old_result_max_bytes": 400}
    return (
        _own("CapToolResults", "CapToolResultsManager"),
        _own("BudgetSuffix 60k", "BudgetSuffixManager", 60_000),
        _own("BudgetSuffix", "BudgetSuffixManager"),
        _own("PerTurn", "PerTurnManager"),
        _own("PerTurn lean", "PerTurnManager", 30_000, **lean),
        _own("PerTurn first sight", "PerTurnManager", first_sight_max_bytes=2_800),
    )


def _baseline(function: str) -> Callable[[], dict[str, Any]]:
    return lambda: dict(getattr(import_module("strands_ctx.testing.baselines"), function)())


def _own(name: str, manager: str, *positional: int, **keywords: int) -> Contender:
    def arguments() -> dict[str, Any]:
        factory = getattr(import_module("strands_ctx.managers"), manager)
        return {"conversation_manager": factory(*positional, **keywords)}

    given = ", ".join(
        [*(f"{value:_}" for value in positional), *(f"{key}={value:_}" for key, value in keywords.items())]
    )
    return Contender(name, f"{manager}({given})", arguments)
