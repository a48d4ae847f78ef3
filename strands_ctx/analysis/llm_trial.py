"""Run a workload against a real model under a contender, and measure what its provider said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from statistics import median
from typing import TYPE_CHECKING, Any

from strands_ctx.analysis.contender import Contender, strands_contenders
from strands_ctx.analysis.recorded import RecordedRun, record_workload
from strands_ctx.analysis.workloads.workload import LiveResult, Workload

if TYPE_CHECKING:
    from strands.models import Model

    from strands_ctx.receipts import Receipt
    from strands_ctx.testing.recording import Recording
    from strands_ctx.testing.scripted_calls import ScriptedCalls

SETTLED_CALL = 4
"""The first call whose estimate counts: three bills to learn from come before it."""


@dataclass(frozen=True, slots=True)
class LlmTrial:
    """What one run against a real model came to. Every number is exact and in the provider's own tokens.

    Attributes:
        contender: Name of the contender.
        completes: Whether every prompt was answered.
        calls_made: Tool calls that were executed.
        delta_ok: Whether ``DeltaAnchor`` found the slice of the log from the start of the run whole.
        messages_kept: Appended messages that are still in the log.
        messages_total: Messages that the run appended.
        model_calls: Requests that the provider answered, a manager's own included.
        tokens_billed: Prompt tokens of these, cached ones included.
        largest_prompt_tokens: The largest prompt that was answered.
        refused: Requests that the provider refused.
        median_error_ratio: Median of how far estimates were off the bill, from the fourth call on; None where no
            receipt has both.
        error: What ended the run early, in one line, or None.
    """

    contender: str
    completes: bool
    calls_made: int
    delta_ok: bool
    messages_kept: int
    messages_total: int
    model_calls: int
    tokens_billed: int
    largest_prompt_tokens: int
    refused: int
    median_error_ratio: float | None
    error: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary that JSON can hold."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class LlmRun:
    """One run with all that can be looked at afterwards.

    Attributes:
        trial: Its figures.
        recording: The agent and what its log was given.
        model: The real model with its requests.
        results: What the tools returned.
        receipts: Those of this library's managers, else none.
    """

    trial: LlmTrial
    recording: Recording
    model: ScriptedCalls
    results: tuple[LiveResult, ...]
    receipts: tuple[Receipt, ...]


def llm_contenders() -> tuple[Contender, ...]:
    """List the ways to manage a window of 2,048 tokens: three of Strands' and this library's.

    Returns:
        Six contenders.
    """
    names = ("none", "SlidingWindow", "Summarizing proactive")
    return (
        *(contender for contender in strands_contenders() if contender.name in names),
        _own("CapToolResults", "CapToolResultsManager", 160),
        _own("BudgetSuffix", "BudgetSuffixManager", 1_800),
        _own("PerTurn", "PerTurnManager", 1_800, recent_tokens=700, old_result_max_bytes=160),
    )


def run_llm_trial(
    workload: Workload, contender: Contender, model: Model, *, on_result: Callable[[], None] | None = None
) -> LlmRun:
    """Run a workload under a contender, against a real model whose tool calls are scripted.

    Args:
        workload: What to run.
        contender: How context is managed.
        model: The real model.
        on_result: Called after each tool result.

    Returns:
        The run; an exception that ended it is in it and not raised.
    """
    from strands_ctx.testing.scripted_calls import ScriptedCalls

    arguments = contender.agent_arguments()
    scripted = ScriptedCalls(model, workload.script)
    run = record_workload(workload, scripted, arguments, on_result=on_result)
    receipts_of = getattr(arguments["conversation_manager"], "receipts", None)
    receipts = tuple(receipts_of(run.recording.agent)) if receipts_of else ()
    trial = _measure(contender.name, run, scripted, receipts)
    return LlmRun(trial, run.recording, scripted, tuple(run.session.results), receipts)


def error_ratios(receipts: tuple[Receipt, ...]) -> list[float]:
    """List how far each estimate was off its bill, from the fourth call on.

    Args:
        receipts: Receipts of one agent, in order.

    Returns:
        Absolute differences over the bill, of the calls that were billed.
    """
    return [
        abs(receipt.view_tokens - receipt.billed_tokens) / receipt.billed_tokens
        for receipt in receipts
        if receipt.call >= SETTLED_CALL and receipt.billed_tokens
    ]


def _measure(name: str, run: RecordedRun, model: ScriptedCalls, receipts: tuple[Receipt, ...]) -> LlmTrial:
    answered = [exchange.prompt_tokens or 0 for exchange in model.exchanges if exchange.error is None]
    ratios = error_ratios(receipts)
    return LlmTrial(
        contender=name,
        completes=run.completes,
        calls_made=len(run.session.results),
        delta_ok=run.anchor_ok,
        messages_kept=run.messages_kept,
        messages_total=len(run.recording.added),
        model_calls=len(answered),
        tokens_billed=sum(answered),
        largest_prompt_tokens=max(answered, default=0),
        refused=sum(exchange.error is not None for exchange in model.exchanges),
        median_error_ratio=round(median(ratios), 4) if ratios else None,
        error=run.error,
    )


def _own(name: str, manager: str, size: int, **keywords: int) -> Contender:
    def arguments() -> dict[str, Any]:
        return {"conversation_manager": getattr(import_module("strands_ctx.managers"), manager)(size, **keywords)}

    given = ", ".join([f"{size:_}", *(f"{key}={value:_}" for key, value in keywords.items())])
    return Contender(name, f"{manager}({given})", arguments)
