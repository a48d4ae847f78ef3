"""Recovery from overflow: recognise a refusal, prepare a smaller attempt, or say why there is none."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx.capping.media import limited_bytes
from strands_ctx.capping.messages import text_bytes
from strands_ctx.errors import BudgetError
from strands_ctx.messages import shape_of
from strands_ctx.overflow import Overflow
from strands_ctx.overflow.recognition import find_call_overflow
from strands_ctx.overflow.words import even_out, is_throttle
from strands_ctx.tokens.calibration import MAX_RATIO
from strands_ctx.view import build_view

from ._limits import output_tokens
from ._planning import Call, Planner
from ._state import AgentState

if TYPE_CHECKING:
    from strands.hooks import AfterModelCallEvent

logger = logging.getLogger(__name__)

RETRY_RATIO = 0.75
"""What the next attempt after an overflow takes of the refused view at most."""

FIT_RATIO = 0.95
"""What the next attempt takes at most of the limit that the provider named."""

IMPLAUSIBLE_RATIO = 0.02
"""Share of a known window below which a refusal is taken for a fault that passes, and not remembered."""

WINDOW_STOP = "model_context_window_exceeded"
"""The stop reason of an answer that ran into the window. Source: Anthropic's Messages API (read 2026-11-30)."""


def overflow_of(event: AfterModelCallEvent) -> Overflow | None:
    """Recognise an overflow in what became of a call: an error, or the stop reason of an answer."""
    if event.exception is not None:
        return recognised(event.exception)
    return Overflow("tokens") if getattr(event.stop_response, "stop_reason", None) == WINDOW_STOP else None


def recognised(error: BaseException) -> Overflow | None:
    """Recognise an overflow: the host's own exception, or a provider's error that it lets through.

    Our own budget error is none. The host takes some throttles for overflows: those of OpenAI-compatible services that
    say "too many tokens".
    """
    if isinstance(error, BudgetError):
        return None
    found = find_call_overflow(error)
    if found is None and isinstance(error, ContextWindowOverflowException) and not is_throttle(even_out(str(error))):
        return Overflow("tokens")
    return found


class Recovery:
    """Prepares smaller attempts for one manager."""

    def __init__(self, planner: Planner) -> None:
        """Take what decides views."""
        self._planner = planner

    def prepare(self, state: AgentState, call: Call, overflow: Overflow, error: BaseException | None) -> bool:
        """Prepare the next attempt at a call that was refused.

        Where images were too many, or bytes that are mostly theirs, half of the images and documents stay; else the
        view shrinks to 0.75, or to what the provider's numbers ask where these are plausible. Where system prompt and
        tools take too much of it for that, the messages shrink to 0.75.

        Args:
            state: The agent's state; its last receipt is that of the refused view.
            call: The input that the next attempt would have.
            overflow: The refusal.
            error: What was raised; where no smaller view can be made, it gets a note that says why.

        Returns:
            Whether there is a smaller view.
        """
        if not state.receipts or state.plan is None:
            return False
        if overflow.kind in ("images", "payload_bytes") and self._drop_media(state, call, overflow):
            return True
        if overflow.kind == "images":
            return False
        return self._shrink(state, call, overflow, error)

    def _drop_media(self, state: AgentState, call: Call, overflow: Overflow) -> bool:
        """Show half of the images and documents; where bytes are too many, only if most of them are theirs."""
        plan = state.plan
        view = build_view(state.ledger, plan, max_cache_points=call.max_cache_points) if plan is not None else []
        shown = sum(shape_of(message).media for message in view)
        if not shown:
            return False
        kept = shown // 2
        if overflow.kind == "images":  # a limit of the model, which holds for later calls too
            memory = state.memory(state.model_key)
            state.models[memory.key] = replace(memory, max_media=kept)
        elif 2 * sum(map(limited_bytes, view)) < sum(map(text_bytes, view)):
            return False
        else:
            state.attempt_media = kept
        state.recovering = state.may_move = True
        logger.warning("shown=<%d>, kept=<%d> | too many images and documents, showing fewer", shown, kept)
        return True

    def _shrink(self, state: AgentState, call: Call, overflow: Overflow, error: BaseException | None) -> bool:
        refused, memory = state.receipts[-1].view_tokens, state.memory(state.model_key)
        fitting = _fitting_tokens(refused, overflow, call.model)
        fixed = min(state.fixed_tokens, refused)
        attempts = {
            min(int(refused * RETRY_RATIO), int(fitting * FIT_RATIO)): fitting,
            int(refused * RETRY_RATIO): refused,  # the numbers may be wrong
            fixed + int((refused - fixed) * RETRY_RATIO): refused,  # system prompt and tools can't be made smaller
        }
        for attempt in attempts:
            obstacle = self._planner.obstacle(state, call, attempt)
            if obstacle is None:
                break
        else:
            _add_note(error, f"strands_ctx: a view of about {refused:,} tokens (estimate) was refused; {obstacle}")
            return False
        if refused >= IMPLAUSIBLE_RATIO * (getattr(call.model, "context_window_limit", None) or 0):
            smallest = min(refused, attempts[attempt], memory.refused_tokens or refused)
            state.models[memory.key] = replace(memory, refused_tokens=smallest)
        state.attempt_tokens = attempt
        state.recovering = state.may_move = True
        return True


def _fitting_tokens(refused: int, overflow: Overflow, model: Any) -> int:
    """Return what of a refused view fits the limit that the provider named, in our tokens; all of it if it named none.

    The provider counts in tokens of its own, so its two numbers give a ratio. They are trusted where its count of the
    prompt is within four times of ours, and its limit is not a tiny part of the window that the model names.
    """
    prompt, limit = overflow.prompt_tokens, overflow.limit_tokens
    if not prompt or not limit or not refused / MAX_RATIO <= prompt <= refused * MAX_RATIO:
        return refused
    if limit < IMPLAUSIBLE_RATIO * (getattr(model, "context_window_limit", None) or 0):
        return refused
    if overflow.kind == "output_reserve" and limit > output_tokens(model):
        limit -= output_tokens(model)
    return max(int(refused * min(limit / prompt, 1.0)), 1)


def _add_note(error: BaseException | None, text: str) -> None:
    """Attach a note, once."""
    if error is None:
        return
    notes = list(getattr(error, "__notes__", ()))
    if text not in notes:
        vars(error)["__notes__"] = [*notes, text]  # as add_note does, which Python 3.10 lacks
