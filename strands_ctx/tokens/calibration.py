"""Learn from what a provider bills how its tokens differ from ours. Pure: every observation makes a new calibration.

One ratio of billed to counted tokens is off by up to 29 % within a run: results, other text and messages each have
their own, every kind of text has one, and their shares change with every call. So one coefficient is fitted for each
feature, by least squares over all bills, newer ones weighing more. What bills showed is kept as a sum of equations, of
the same size after any number of calls; what it leaves open about a prompt is the margin that this prompt needs.

Successive prompts share most of their content, and so most of what no coefficient explains. Therefore a bill is
compared with the last one: an estimate starts from that bill, and what is learnt from a bill is how it changed.

Source of the constants that state a deviation, a weight or a surprise: the research run and a BFCL session, billed by
the scripted model and by four public tokenizers (cl100k_base, Qwen, DeepSeek, SmolLM2); halving or doubling any of them
moves no median error by 0.2 % (2026-11-30).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import ceil, fsum, sqrt
from operator import mul
from typing import Any

from strands_ctx.tokens.features import Features, values_of
from strands_ctx.tokens.least_squares import Equations, Matrix, Row, fit_bounded, inverse, quadratic
from strands_ctx.tokens.prior import (
    BOUNDS,
    LARGE_PREAMBLE,
    MAX_MEDIA_RATIO,
    MAX_MEDIA_SAVED_RATIO,
    MAX_MESSAGE_TOKENS,
    MAX_PROMPT_TOKENS,
    PRIOR,
    UNCALIBRATED,
    UNKNOWN,
)
from strands_ctx.tokens.usage import prompt_tokens

MAX_RATIO = 4.0
"""A bill more times than this off the uncalibrated estimate, either way, is not of the prompt that we know.

Frames, a preamble and what media may take come on top; tool specifications, calls and most of media may be free.
"""

MARGIN_BOUNDS = (0.02, 0.6)
"""Lowest and highest margin."""

MARGIN_DEVIATIONS = 3.0
"""Standard deviations of an estimate that its margin covers."""

STATE_VERSION = 3

_NEW_RATIO = 0.02
"""How far the bill of what is new may be from what the best coefficients say of it."""

_BILL_RATIO = 0.002
_BILL_TOKENS = 4.0
"""How far a whole bill may be from them besides: a part of it, and some tokens."""

_KEPT_RATIO = 0.99
"""Weight of what was learnt before, relative to the newest bill."""

_LAPSED_RATIO = 0.05
"""The same after a bill that what was learnt can't explain: the provider counts in another way now."""

_FIRST_DEVIATIONS = 2.0
"""A first bill that is further off has a large preamble in it, rather than tokens that all count twice."""

_UNLIKELY_DEVIATIONS = 4.0
_LEARNING_BILLS = 3
"""Until then, no bill is called unlikely."""

_SURPRISE_RATIO = 0.1
"""Weight of the newest bill in the surprise."""

_MAX_SURPRISE = 25.0
_DIGITS = 7
_MAX_NUMBER = 1e15
_MAX_TOKENS = 1e10

Inputs = tuple[float, ...]
"""Features less what a prompt has in common with the last one."""


def _times(coefficients: Sequence[float], inputs: Sequence[float]) -> float:
    return fsum(map(mul, coefficients, inputs))


_NOTHING = Equations.none(len(UNCALIBRATED))


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was learnt about one model's tokens, from one agent's calls.

    An estimate is linear in the features, and exact for the prompt that was billed last. Equal observations in equal
    order give equal estimates, in any process.

    Attributes:
        bills: How many bills were learnt from.
        last: Features of the prompt that was billed last.
        billed_tokens: Its bill.
        evidence: What the bills showed, summed up, newer ones weighing more (7 digits).
        surprise: How far the latest bills were off, in expected variances; at least 1 (4 digits).
        coefficients: Billed tokens for each unit of each feature (4 digits).
        covariance: What the evidence leaves open about the coefficients.

    Example:
        >>> features = Features(result_tokens=8_000, other_tokens=2_000, messages=10)
        >>> Calibration().estimate(features)
        10000
        >>> Calibration().observe(features, {"inputTokens": 12_000}).estimate(features)
        12000
    """

    bills: int = 0
    last: Features = field(default_factory=Features)
    billed_tokens: int = 0
    evidence: Equations = _NOTHING
    surprise: float = 1.0
    coefficients: tuple[float, ...] = UNCALIBRATED
    covariance: Matrix = field(default=UNKNOWN, repr=False)

    def _learnt(self, evidence: Equations) -> Calibration:
        known = evidence + PRIOR
        covariance = inverse(known.matrix)
        coefficients = tuple(round(value, 4) for value in fit_bounded(known, covariance, BOUNDS))
        return replace(self, evidence=evidence, coefficients=coefficients, covariance=covariance)

    def estimate(self, features: Features) -> int:
        """Estimate what a prompt will be billed, in tokens, rounded up; within 4 times the count, frames apart.

        Args:
            features: A prompt, or a part of one.

        Returns:
            Tokens: what the coefficients say of it, and as much of what they left unexplained in the last bill as the
            prompt has in common with the last one, by its size.
        """
        return self._estimate(features, *self._change(features))

    def _estimate(self, features: Features, inputs: Inputs, known: float) -> int:
        expected = known + _times(self.coefficients, inputs)
        least, most = _extremes(features)
        return ceil(min(max(expected, least), most + MAX_MESSAGE_TOKENS * features.messages))

    def bound(self, features: Features) -> int:
        """Estimate with the margin, in tokens."""
        inputs, known = self._change(features)
        estimate = self._estimate(features, inputs, known)
        return ceil(estimate * (1 + self._margin_ratio(features, inputs, estimate)))

    def margin_ratio(self, features: Features) -> float:
        """Return how much of an estimate to leave free above it: 0 before a bill, then 0.02 to 0.6.

        It is small where the bills leave little open about a prompt, and little of it is new: three standard
        deviations, more of them where the latest bills were off.
        """
        inputs, known = self._change(features)
        return self._margin_ratio(features, inputs, self._estimate(features, inputs, known))

    def _margin_ratio(self, features: Features, inputs: Inputs, estimate: int) -> float:
        if not self.bills:
            return 0.0
        low, high = MARGIN_BOUNDS
        deviation = sqrt(self._variance(features, inputs) * self.surprise)
        return round(min(high, max(low, MARGIN_DEVIATIONS * deviation / max(1, estimate))), 4)

    def observe(self, features: Features, usage: Mapping[str, Any] | None) -> Calibration:
        """Learn from one call.

        Args:
            features: The prompt of the call.
            usage: What the provider reported; see ``prompt_tokens``.

        Returns:
            The calibration with this call; itself where the usage is absent or 0, or is more than 4 times off the
            uncalibrated estimate in either direction.
        """
        inputs, known = self._change(features)
        expected = max(1, self._estimate(features, inputs, known))
        billed = prompt_tokens(usage, near_tokens=expected)
        least, most = _extremes(features)
        if billed is None or not least <= billed <= most:
            return self
        deviation = _BILL_RATIO * billed + self._new_deviation(features)
        off = (billed - expected) ** 2 / (self._variance(features, inputs) + deviation**2)
        evidence = self.evidence
        if features.prompts and not self.bills and off > _FIRST_DEVIATIONS**2:
            evidence += LARGE_PREAMBLE
        lapsed = self.bills >= _LEARNING_BILLS and off > _UNLIKELY_DEVIATIONS**2 * self.surprise
        row = Row(inputs, billed - known, deviation)
        evidence = _rounded(evidence.plus(row, weight_ratio=_LAPSED_RATIO if lapsed else _KEPT_RATIO))
        surprise = self.surprise
        if self.bills:
            surprise += _SURPRISE_RATIO * (min(off, _MAX_SURPRISE) - surprise)
        learnt = Calibration(self.bills + 1, features, billed, surprise=max(1.0, round(surprise, 4)))
        try:
            return learnt._learnt(evidence)
        except (ZeroDivisionError, OverflowError):  # a stored state was damaged
            return Calibration()

    def _change(self, features: Features) -> tuple[Inputs, float]:
        """Return a prompt's features less what it has in common with the last one, and the bill for that."""
        shared = min(1.0, features.tokens / max(1, self.last.tokens)) ** 2
        inputs = tuple(
            one - shared * other for one, other in zip(values_of(features), values_of(self.last), strict=True)
        )
        return inputs, shared * self.billed_tokens

    def _new_deviation(self, features: Features) -> float:
        """Return how far off the bill of what is new may be, in tokens."""
        new = features - self.last
        parts = new.result_tokens, new.other_tokens, new.fixed_tokens, new.call_tokens
        return _NEW_RATIO * sum(max(0, tokens) for tokens in parts) + _BILL_TOKENS

    def _variance(self, features: Features, inputs: Inputs) -> float:
        """Return the variance of the estimate of a prompt."""
        return max(0.0, quadratic(self.covariance, inputs)) + self._new_deviation(features) ** 2

    def to_state(self) -> dict[str, Any]:
        """Write the calibration as small JSON, under 1 KB."""
        return {
            "version": STATE_VERSION,
            "bills": self.bills,
            "last": list(values_of(self.last)),
            "billed_tokens": self.billed_tokens,
            "surprise": self.surprise,
            "matrix": [entry for index, row in enumerate(self.evidence.matrix) for entry in row[index:]],
            "outputs": list(self.evidence.outputs),
        }

    @classmethod
    def from_state(cls, state: object) -> Calibration:
        """Read what ``to_state`` wrote; anything else gives a calibration that has learnt nothing."""
        if not isinstance(state, Mapping) or state.get("version") != STATE_VERSION:
            return cls()
        size = len(UNCALIBRATED)
        matrix, outputs = _numbers(state.get("matrix"), size * (size + 1) // 2), _numbers(state.get("outputs"), size)
        last = _numbers(state.get("last"), size)
        scalars = _numbers([state.get("bills"), state.get("billed_tokens"), state.get("surprise")], 3)
        if matrix is None or outputs is None or last is None or scalars is None:
            return cls()
        bills, billed_tokens, surprise = scalars
        if (
            bills < 1
            or billed_tokens < 1
            or max(map(abs, [*last, billed_tokens])) > _MAX_TOKENS
            or not 1 <= surprise <= _MAX_SURPRISE
            or min(last[:6]) < 0
        ):
            return cls()
        restored = cls(int(bills), Features(*map(int, last)), int(billed_tokens), surprise=surprise)
        evidence = Equations(_symmetric(matrix, size), tuple(outputs))
        try:
            restored = restored._learnt(evidence)
        except (ZeroDivisionError, OverflowError):
            return cls()
        known = evidence + PRIOR
        variances = ((known.matrix[index][index], restored.covariance[index][index]) for index in range(size))
        return restored if all(seen > 0 and left > 0 for seen, left in variances) else cls()


def _extremes(features: Features) -> tuple[float, float]:
    """Return the smallest and the largest bill that a prompt may have."""
    media = features.media_tokens
    surely = features.tokens - features.fixed_tokens - features.call_tokens - MAX_MEDIA_SAVED_RATIO * media
    most = features.tokens * MAX_RATIO + MAX_PROMPT_TOKENS * features.prompts + MAX_MEDIA_RATIO * media
    return max(surely, 0.0) / MAX_RATIO, most


def _symmetric(triangle: Sequence[float], size: int) -> Matrix:
    """Complete a matrix from its upper triangle, row by row."""
    numbers = iter(triangle)
    upper = [list(islice(numbers, size - row)) for row in range(size)]
    return tuple((*(upper[column][row - column] for column in range(row)), *upper[row]) for row in range(size))


def _rounded(equations: Equations) -> Equations:
    upper = [_significant(entry) for index, row in enumerate(equations.matrix) for entry in row[index:]]
    return Equations(_symmetric(upper, len(equations.matrix)), tuple(map(_significant, equations.outputs)))


def _significant(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def _numbers(value: object, count: int) -> list[float] | None:
    """The numbers of a list of a known length, or None where it is anything else."""
    if not isinstance(value, list | tuple) or len(value) != count or not all(map(_is_number, value)):
        return None
    return [float(item) for item in value]


def _is_number(item: object) -> bool:
    return isinstance(item, int | float) and not isinstance(item, bool) and abs(item) < _MAX_NUMBER
