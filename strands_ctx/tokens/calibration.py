"""Learn from what a provider bills how its tokens differ from ours. Pure: every observation makes a new calibration.

One ratio of billed to counted tokens is off by up to 29 % within a run, because results, other text and messages each
have their own, and their shares change with every cut. So three coefficients are fitted, one for each.

Source of the constants that state a deviation or a decay: chosen on simulated runs, as in
``tests/unit/tokens/test_calibration.py``, for doing well under each kind of noise (2026-11-30).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

from strands_ctx.tokens.least_squares import Row, fit_bounded
from strands_ctx.tokens.usage import prompt_tokens

MAX_OBSERVATIONS = 12
"""Calls that are remembered: enough for three coefficients, few enough to follow a change of model."""

UNCALIBRATED = (1.0, 1.0, 0.0)
"""Coefficients before anything was billed: our own count, which has the frame of a message in it already."""

BOUNDS = ((0.25, 4.0), (0.25, 4.0), (0.0, 64.0))
"""Lowest and highest value of each coefficient."""

MAX_RATIO = 4.0
"""A bill more times than this off the uncalibrated estimate, either way, is not of the prompt that we know."""

EARLY_MARGIN_RATIO = 0.05
"""Margin from the first bill on, until two estimates were compared with bills."""

MARGIN_BOUNDS = (0.02, 0.25)
"""Lowest and highest margin."""

MARGIN_DEVIATIONS = 3.0
"""Root mean squares of the recent errors that the margin covers; only bills above their estimate count."""

ERROR_DECAY_RATIO = 0.85
"""Weight of an error in the margin, relative to the next newer one."""

STATE_VERSION = 1

_PRIOR_DEVIATIONS = (0.35, 0.35, 6.0)
"""How far each coefficient may be from where it was, by a provider's own encoding and wrapping."""

_CARRIED_RATIO = 0.02
"""Part of that once calls have been forgotten."""

_LEVEL_RATIO = 0.02
"""How far the latest bill may be from the fit."""

_AGE_RATIO = 1.2
"""How much farther each older bill may be, so that a change of model is followed within a few calls."""

_FLOOR_TOKENS = 4.0
_MAX_TOKENS = 10**9

_Triple = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of a prompt before it is billed.

    Attributes:
        result_tokens: Tokens of the payloads of tool results, by our counter.
        other_tokens: Tokens of everything else by our counter, the system prompt and the tool specifications included.
        messages: Number of messages.
    """

    result_tokens: int
    other_tokens: int
    messages: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was learnt about one model's tokens, from one agent's calls.

    An estimate is linear in the features: ``coefficients`` times (result tokens, other tokens, messages). Equal
    observations in equal order give equal coefficients, in any process.

    Attributes:
        observations: The latest calls, at most 12: features and billed tokens.
        errors: How far each bill was above the estimate made before it, as a ratio of the estimate (4 digits).
        coefficients: Billed tokens for each token of results, each other token and each message (4 digits).

    Example:
        >>> features = Features(result_tokens=8_000, other_tokens=2_000, messages=10)
        >>> Calibration().estimate(features)
        10000
        >>> Calibration().observe(features, {"inputTokens": 12_000}).estimate(features)
        12000
    """

    observations: tuple[tuple[Features, int], ...] = ()
    errors: tuple[float, ...] = ()
    coefficients: _Triple = UNCALIBRATED

    def estimate(self, features: Features) -> int:
        """Estimate what a prompt will be billed, in tokens, rounded up."""
        return ceil(_times(self.coefficients, _inputs(features)))

    @property
    def margin_ratio(self) -> float:
        """How much of an estimate to leave free above it: 0 before a bill, then 0.02 to 0.25 by recent errors."""
        if not self.observations:
            return 0.0
        if len(self.errors) < 2:
            return EARLY_MARGIN_RATIO
        weights = [ERROR_DECAY_RATIO**age for age in reversed(range(len(self.errors)))]
        squares = sum(weight * max(error, 0.0) ** 2 for weight, error in zip(weights, self.errors, strict=True))
        low, high = MARGIN_BOUNDS
        return round(min(high, max(low, MARGIN_DEVIATIONS * sqrt(squares / sum(weights)))), 4)

    def observe(self, features: Features, usage: Mapping[str, Any] | None) -> Calibration:
        """Learn from one call.

        Args:
            features: The prompt of the call.
            usage: What the provider reported; see ``prompt_tokens``.

        Returns:
            The calibration with this call; itself where the usage is absent or 0, or is more than 4 times off the
            uncalibrated estimate in either direction.
        """
        expected = max(1, self.estimate(features))
        billed = prompt_tokens(usage, near_tokens=expected)
        uncalibrated = _times(UNCALIBRATED, _inputs(features))
        if billed is None or not uncalibrated / MAX_RATIO <= billed <= uncalibrated * MAX_RATIO:
            return self
        errors = self.errors
        if self.observations:
            errors = (*errors, round((billed - expected) / expected, 4))
        observations = (*self.observations, (features, billed))[-MAX_OBSERVATIONS:]
        return Calibration(observations, errors[-MAX_OBSERVATIONS:], _fit(observations, self.coefficients))

    def to_state(self) -> dict[str, Any]:
        """Write the calibration as small JSON, under 1 KB."""
        return {
            "version": STATE_VERSION,
            "observations": [[*map(int, _inputs(features)), billed] for features, billed in self.observations],
            "errors": list(self.errors),
            "coefficients": list(self.coefficients),
        }

    @classmethod
    def from_state(cls, state: object) -> Calibration:
        """Read what ``to_state`` wrote; anything else gives a calibration that has learnt nothing."""
        if not isinstance(state, Mapping) or state.get("version") != STATE_VERSION:
            return cls()
        numbers = [_numbers(row) for row in _items(state.get("observations"))]
        errors, coefficients = _numbers(state.get("errors")), _numbers(state.get("coefficients"))
        if errors is None or coefficients is None or not _within_bounds(coefficients):
            return cls()
        observations = []
        for row in numbers[-MAX_OBSERVATIONS:]:
            if row is None or len(row) != 4 or not all(0 <= value < _MAX_TOKENS for value in row) or row[3] < 1:
                return cls()
            result, other, messages, billed = map(int, row)
            observations.append((Features(result, other, messages), billed))
        first, second, third = coefficients
        return cls(tuple(observations), tuple(errors[-MAX_OBSERVATIONS:]), (first, second, third))


def _fit(observations: Sequence[tuple[Features, int]], carried: _Triple) -> _Triple:
    """Fit the coefficients to the observations, toward the ones carried from before, scaled to the latest bill.

    Once calls have been forgotten, only the carried coefficients know what those showed, such as the results of a run
    that only talks by now; from then on the prior is held tight.
    """
    latest, billed = observations[-1]
    ratio = billed / max(1.0, _times(carried, _inputs(latest)))
    certainty = _CARRIED_RATIO if len(observations) == MAX_OBSERVATIONS else 1.0
    rows = [
        Row((1.0, 0.0, 0.0), ratio * carried[0], certainty * _PRIOR_DEVIATIONS[0]),
        Row((0.0, 1.0, 0.0), ratio * carried[1], certainty * _PRIOR_DEVIATIONS[1]),
        Row((0.0, 0.0, 1.0), carried[2], certainty * _PRIOR_DEVIATIONS[2]),
    ]
    for age, (features, bill) in enumerate(reversed(observations)):
        rows.append(Row(_inputs(features), bill, (_LEVEL_RATIO * bill + _FLOOR_TOKENS) * _AGE_RATIO**age))
    first, second, third = (round(value, 4) for value in fit_bounded(rows, BOUNDS))
    return first, second, third


def _inputs(features: Features) -> _Triple:
    return float(features.result_tokens), float(features.other_tokens), float(features.messages)


def _times(coefficients: _Triple, inputs: _Triple) -> float:
    return coefficients[0] * inputs[0] + coefficients[1] * inputs[1] + coefficients[2] * inputs[2]


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _numbers(value: object) -> list[float] | None:
    """The numbers of a list, or None where anything else is in it."""
    if not isinstance(value, list | tuple):
        return None
    return [float(item) for item in value] if all(map(_is_number, value)) else None


def _is_number(item: object) -> bool:
    return isinstance(item, int | float) and not isinstance(item, bool) and abs(item) < _MAX_TOKENS


def _within_bounds(coefficients: Sequence[float]) -> bool:
    return len(coefficients) == len(BOUNDS) and all(
        low <= value <= high for value, (low, high) in zip(coefficients, BOUNDS, strict=True)
    )
