"""What is known of a provider's tokens before it billed any: our own count, and how far it may be off.

A template that leaves out tool specifications leaves out tool calls too, and one that writes them at length does so for
both. Therefore a first bill, which says much about the fixed part, says something about calls that are still to come.
"""

from __future__ import annotations

from math import fsum
from operator import mul
from typing import NamedTuple

from strands_ctx.tokens.least_squares import Equations, inverse


class Coefficient(NamedTuple):
    """Billed tokens for each unit of a feature: the value before any bill, its bounds, and how far it may be off."""

    uncalibrated: float
    low: float
    high: float
    deviation: float


MAX_MESSAGE_TOKENS, MAX_PROMPT_TOKENS = 64.0, 1_000.0
"""Most that the frame of a message and the preamble of a prompt may be found to take, in tokens.

Source: Anthropic documents preambles of 159 to 530 tokens where tools are used, by model (read 2026-12-01).
"""

MAX_MEDIA_SAVED_RATIO, MAX_MEDIA_RATIO = 0.95, 31.0
"""Most that media may be found to take less, or more, than we count, for each token.

Source: Gemini bills 258 tokens for an image, the smallest models of OpenAI 36,835 for one of 1,280 x 800 (2026-12-01).
"""

COEFFICIENTS = {
    "result_tokens": Coefficient(1.0, 0.25, 4.0, 0.2),
    "other_tokens": Coefficient(1.0, 0.25, 4.0, 0.2),
    "messages": Coefficient(0.0, 0.0, MAX_MESSAGE_TOKENS, 6.0),
    "fixed_tokens": Coefficient(1.0, 0.0, 2.0, 0.3),
    "call_tokens": Coefficient(1.0, 0.0, 4.0, 0.3),
    "prompts": Coefficient(0.0, -300.0, MAX_PROMPT_TOKENS, 60.0),
    "extra_chars": Coefficient(0.0, -0.25, 0.5, 0.05),
    "spaces": Coefficient(0.0, -0.5, 0.5, 0.2),
    "digits": Coefficient(0.0, -0.5, 1.5, 0.5),
    "accented_tokens": Coefficient(0.0, -0.75, 3.0, 0.6),
    "wide_tokens": Coefficient(0.0, -0.75, 3.0, 0.8),
    "media_tokens": Coefficient(0.0, -MAX_MEDIA_SAVED_RATIO, MAX_MEDIA_RATIO, 1.0),
}
"""One for each feature, in the order of ``Features``."""

UNCALIBRATED = tuple(each.uncalibrated for each in COEFFICIENTS.values())
"""Coefficients before anything was billed: our own count, which has the frame of a message in it already."""

BOUNDS = tuple((each.low, each.high) for each in COEFFICIENTS.values())
"""Lowest and highest value of each coefficient."""

_LARGE_PREAMBLE_TOKENS = 600.0
"""How far a preamble may be off where a first bill shows that there is a large one."""

_SCALE_DEVIATION = 0.35
"""How far those of all that we count in tokens may be off besides, together."""

_TOOLS = ("fixed_tokens", "call_tokens")
_TOOLS_DEVIATION = 1.0
"""How far those of tool calls and of the fixed part may be off besides, together."""


def _covariance(one: str, other: str) -> float:
    """Say how the deviations of two coefficients go together."""
    first, second = COEFFICIENTS[one], COEFFICIENTS[other]
    shared = _SCALE_DEVIATION**2 * first.uncalibrated * second.uncalibrated
    if one in _TOOLS and other in _TOOLS:
        shared += _TOOLS_DEVIATION**2
    return shared + (first.deviation**2 if one == other else 0.0)


def _prior() -> Equations:
    """State what is known of the coefficients before any bill."""
    matrix = inverse(tuple(tuple(_covariance(one, other) for other in COEFFICIENTS) for one in COEFFICIENTS))
    return Equations(matrix, tuple(fsum(map(mul, line, UNCALIBRATED)) for line in matrix))


PRIOR = _prior()
"""The same as equations, to which those of bills are added."""

_KNOWN, _LESS_KNOWN = 1 / COEFFICIENTS["prompts"].deviation ** 2, 1 / _LARGE_PREAMBLE_TOKENS**2

LARGE_PREAMBLE = Equations(
    tuple(
        tuple((_LESS_KNOWN - _KNOWN) * (one == other == "prompts") for other in COEFFICIENTS) for one in COEFFICIENTS
    ),
    (0.0,) * len(COEFFICIENTS),
)
"""What makes a large preamble as likely as a small one, when it is added."""

UNKNOWN = inverse(PRIOR.matrix)
"""The covariance of the coefficients before any bill."""
