"""Notice servers that cut a prompt without a word: they bill far fewer tokens than they were sent."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from strands_ctx.errors import SilentTruncationWarning
from strands_ctx.tokens.calibration import Calibration
from strands_ctx.tokens.counting import block_tokens
from strands_ctx.tokens.features import Features
from strands_ctx.types import Message, TokenCounter

from ._warnings import warn_gently

logger = logging.getLogger(__name__)

SURE_BILLS = 3
"""Bills after which an estimate is trusted."""

CALIBRATED_RATIO = 0.5
"""A bill under this share of a trusted estimate is not of the whole prompt."""

UNCALIBRATED_RATIO = 0.3
"""The same for an estimate that is not: no tokenizer makes so few tokens of what ours counts."""

GROWTH_RATIO = 1.02
"""A prompt that has grown by this much costs more, whatever the tokenizer."""

LEVEL_RATIO = 0.9
"""A server that cuts bills about the same each time; a bill that falls by more has another reason, such as reasoning
that a provider leaves out of later turns."""

DOUBTFUL = frozenset({"image", "document", "video", "audio", "reasoningContent"})
"""Kinds of content whose tokens only a provider knows."""

STALLED_RATIO = 0.8
"""Where bills have stopped to grow with the prompts, a bill under this share of the estimate is not of all of it."""


def has_stalled(calibration: Calibration, features: Features, billed_tokens: int) -> bool:
    """Tell whether a prompt that goes on from the one before was billed no more; such a bill teaches nothing."""
    last = calibration.billed_tokens
    grown = features.tokens > calibration.last.tokens * GROWTH_RATIO
    return calibration.bills > 0 and grown and last * LEVEL_RATIO <= billed_tokens <= last


def is_truncated(
    calibration: Calibration, features: Features, billed_tokens: int, *, stalled: bool, doubtful_tokens: int = 0
) -> bool:
    """Tell whether a bill is so far below what was sent that the server must have cut the prompt.

    Args:
        calibration: What was known of the model before this bill.
        features: The prompt as it was sent.
        billed_tokens: Prompt tokens that the provider billed.
        stalled: Whether bills have stopped to grow with the prompts.
        doubtful_tokens: Our count of what providers may bill far less for: media, and reasoning of earlier turns.

    Returns:
        Whether a part of the prompt can't be in the bill.
    """
    estimate = calibration.estimate(features)
    sure_tokens = estimate * max(1 - doubtful_tokens / max(features.tokens, 1), 0.0)
    sure = calibration.bills >= SURE_BILLS
    if billed_tokens < sure_tokens * (CALIBRATED_RATIO if sure else UNCALIBRATED_RATIO):
        return True
    return stalled and billed_tokens < sure_tokens * STALLED_RATIO


def warn_of_truncation(estimate_tokens: int, billed_tokens: int) -> None:
    """Warn with both numbers; where warnings are errors, only in the log, since a run must not fail for one."""
    warning = SilentTruncationWarning(estimate_tokens, billed_tokens)
    logger.warning(
        "view_tokens=<%d>, billed_tokens=<%d> | the server cut the prompt without a word",
        estimate_tokens,
        billed_tokens,
    )
    warn_gently(warning)


def doubtful_tokens(counter: TokenCounter, messages: Sequence[Message]) -> int:
    """Count what providers may bill far less for: media, and reasoning of earlier turns."""
    blocks = [block for message in messages for block in message["content"]]
    items = [item for b in blocks for item in (b["toolResult"].get("content") or () if "toolResult" in b else (b,))]
    return sum(block_tokens(counter, item) for item in items if not DOUBTFUL.isdisjoint(item))
