"""Open a receipt when a view is sent, close it when the call ends, and learn from what was billed."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from strands_ctx.receipts import Receipt
from strands_ctx.tokens import prompt_tokens

from ._planning import Decision
from ._state import AgentState, Pending
from ._telemetry import record_receipt, record_view
from ._truncation import doubtful_tokens, has_stalled, is_truncated, warn_of_truncation

logger = logging.getLogger(__name__)

CACHED_APART = ("Anthropic", "Bedrock")
"""Parts of the names of model classes whose providers report cached tokens apart, so that an ambiguous usage may be so
too; of others, OpenAI's for one, cached tokens are part of the input. Source: ``strands.models``, 1.51 to 1.62."""

LOUD_REASONS = ("newest", "overflow")
"""Plans that cost something: what the model has not seen whole yet was capped, or the provider refused a view."""


def abandon_receipt(state: AgentState) -> Receipt | None:
    """File the receipt of a call that never ended, its stream abandoned, once the next call begins."""
    if state.pending is None:
        return None
    receipt, state.pending = state.pending.receipt, None
    state.receipts.append(receipt)
    record_receipt(receipt)
    return receipt


def open_receipt(state: AgentState, decision: Decision, *, view_messages: int, repaired: bool) -> None:
    """Open the receipt of a call."""
    receipt = Receipt.of(
        decision.plan,
        call=state.calls,
        view_messages=view_messages,
        repaired=repaired,
        limit_tokens=decision.limits.known_hard_tokens,
        over_working_set=decision.over_working_set,
        standing=decision.standing,
    )
    state.pending = Pending(receipt, decision.plan.features)
    record_view(receipt)
    loud = receipt.reason in LOUD_REASONS or receipt.over_working_set
    logger.log(
        logging.WARNING if loud else logging.DEBUG,
        "call=<%d>, reason=<%s>, log_messages=<%d>, log_tokens=<%d>, view_messages=<%d>, view_tokens=<%d>, cut=<%d>, "
        "cap_line=<%d>, capped_results=<%d>, limit_tokens=<%s>, standing=<%s> | planned the view of a model call",
        receipt.call,
        receipt.reason,
        receipt.log_messages,
        receipt.log_tokens,
        receipt.view_messages,
        receipt.view_tokens,
        receipt.cut,
        receipt.cap_line,
        receipt.capped_results,
        receipt.limit_tokens,
        receipt.standing,
    )


def close_receipt(state: AgentState, answer: Any, *, overflow: bool) -> Receipt | None:
    """Complete the open receipt and calibrate by what was billed.

    Args:
        state: The agent's state.
        answer: The event's ``stop_response``; None where the call failed.
        overflow: Whether it failed because the view was too large.

    Returns:
        The receipt, or None where no call was open.
    """
    if state.pending is None:
        return None
    pending, state.pending = state.pending, None
    usage = _usage_of(answer)
    outcome = "overflow" if overflow else "failed" if answer is None else "complete"
    near = pending.receipt.view_tokens if any(name in state.model_key for name in CACHED_APART) else None
    billed = prompt_tokens(usage, near_tokens=near)
    receipt = replace(pending.receipt, billed_tokens=billed, outcome=outcome)
    if billed is not None:
        receipt = replace(receipt, silently_truncated=_learn(state, pending, billed))
    state.receipts.append(receipt)
    record_receipt(receipt)
    logger.debug(
        "call=<%d>, outcome=<%s>, view_tokens=<%d>, billed_tokens=<%s> | closed the receipt of a model call",
        receipt.call,
        receipt.outcome,
        receipt.view_tokens,
        receipt.billed_tokens,
    )
    return receipt


def _learn(state: AgentState, pending: Pending, billed_tokens: int) -> bool:
    """Calibrate by a bill, unless the server cut the prompt: then warn once a run. Tell whether it did."""
    memory, features = state.memory(state.model_key), pending.features
    stalled = _goes_on(state, pending.receipt) and has_stalled(memory.calibration, features, billed_tokens)
    truncated = is_truncated(memory.calibration, features, billed_tokens, stalled=stalled)
    if truncated:
        doubtful = doubtful_tokens(state.ledger.counter, state.ledger.messages[pending.receipt.cut :])
        truncated = is_truncated(memory.calibration, features, billed_tokens, stalled=stalled, doubtful_tokens=doubtful)
    if truncated and not state.truncation_told:
        state.truncation_told = True
        warn_of_truncation(pending.receipt.view_tokens, billed_tokens)
    if not truncated and not stalled:
        state.models[memory.key] = replace(
            memory, calibration=memory.calibration.observe(features, {"inputTokens": billed_tokens})
        )
    return truncated


def _goes_on(state: AgentState, receipt: Receipt) -> bool:
    """Tell whether a view is the one before with more behind it: then it can't have been billed less."""
    before = state.receipts[-1] if state.receipts else None
    if before is None or before.outcome != "complete" or receipt.reason not in ("log", "standing"):
        return False
    return (before.cut, before.cap_line) == (receipt.cut, receipt.cap_line)


def _usage_of(answer: Any) -> dict[str, Any] | None:
    """Read the usage of a call; a cancelled call bills no prompt that is worth learning from."""
    if answer is None or getattr(answer, "stop_reason", None) == "cancelled":
        return None
    usage = (answer.message.get("metadata") or {}).get("usage")
    return usage if isinstance(usage, dict) else None
