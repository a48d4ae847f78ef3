"""Weighted least squares with bounded coefficients, small enough for pure Python.

Rows are summed up into normal equations, so that any number of them takes the same room and the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

Bounds = tuple[float, float]
Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One equation: the inputs times the coefficients should give the output.

    Attributes:
        inputs: One number for each coefficient.
        output: What they should give.
        deviation: How far off it may be, in units of the output; positive.
    """

    inputs: tuple[float, ...]
    output: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Equations:
    """Rows summed up: one equation for each coefficient.

    Attributes:
        matrix: What the coefficients are multiplied by; symmetric.
        outputs: What they should give.
    """

    matrix: Matrix
    outputs: tuple[float, ...]

    @classmethod
    def none(cls, size: int) -> Equations:
        """Return the sum of no row, for a number of coefficients."""
        return cls(((0.0,) * size,) * size, (0.0,) * size)

    def plus(self, row: Row, *, weight_ratio: float = 1.0) -> Equations:
        """Add a row; what was summed up before counts that much of what it did."""
        weight, inputs = 1.0 / row.deviation**2, row.inputs
        matrix = tuple(
            tuple(weight_ratio * known + weight * one * other for known, other in zip(line, inputs, strict=True))
            for line, one in zip(self.matrix, inputs, strict=True)
        )
        scaled = (weight_ratio * known for known in self.outputs)
        outputs = tuple(known + weight * row.output * one for known, one in zip(scaled, inputs, strict=True))
        return Equations(matrix, outputs)

    def __add__(self, other: Equations) -> Equations:
        """Sum up the rows of both."""
        matrix = tuple(
            tuple(map(sum, zip(*lines, strict=True))) for lines in zip(self.matrix, other.matrix, strict=True)
        )
        return Equations(matrix, tuple(map(sum, zip(self.outputs, other.outputs, strict=True))))


def fit_bounded(equations: Equations, covariance: Matrix, bounds: Sequence[Bounds]) -> tuple[float, ...]:
    """Find the coefficients of least squared error, each within its bounds.

    A coefficient that leaves its bounds is fixed at the one it left, the worst first, and the rest is fitted again.

    Args:
        equations: Equations that determine every coefficient; a prior on each makes sure of that.
        covariance: The inverse of their matrix.
        bounds: Lowest and highest value of each coefficient.

    Returns:
        One coefficient for each bound.
    """
    values = [sum(map(mul, line, equations.outputs)) for line in covariance]
    left = [list(line) for line in covariance]
    while True:
        clamped = [min(max(value, low), high) for value, (low, high) in zip(values, bounds, strict=True)]
        misses = [abs(value - bound) for value, bound in zip(values, clamped, strict=True)]
        worst = max(range(len(values)), key=misses.__getitem__, default=0)
        if not any(misses):
            return tuple(values)
        _hold(values, left, worst, clamped[worst])


def _hold(values: list[float], covariance: list[list[float]], index: int, value: float) -> None:
    """Fix one coefficient: the others follow as far as they go together with it, and it varies no more."""
    line = covariance[index]
    gains = [row[index] / line[index] for row in covariance]
    off = value - values[index]
    for other, gain in enumerate(gains):
        if gain:
            values[other] += gain * off
            covariance[other] = [entry - gain * held for entry, held in zip(covariance[other], line, strict=True)]
    values[index] = value
    covariance[index] = [0.0] * len(values)
    for row in covariance:
        row[index] = 0.0


def inverse(matrix: Matrix) -> Matrix:
    """Invert a positive definite matrix.

    Args:
        matrix: The matrix of equations that determine every coefficient.

    Returns:
        The covariance of the coefficients.
    """
    rows = [list(line) for line in matrix]
    for pivot, line in enumerate(rows):
        scale = 1.0 / line[pivot]
        line[pivot] = 1.0
        for column, entry in enumerate(line):
            line[column] = entry * scale
        for other, row in enumerate(rows):
            if other != pivot and (factor := row[pivot]):
                row[pivot] = 0.0
                rows[other] = [entry - factor * eliminated for entry, eliminated in zip(row, line, strict=True)]
    return tuple(map(tuple, rows))


def quadratic(matrix: Matrix, inputs: Sequence[float]) -> float:
    """Multiply a matrix by the same inputs from both sides: the variance of an output, from a covariance."""
    products: list[float] = [one * sum(map(mul, line, inputs)) for line, one in zip(matrix, inputs, strict=True)]
    return sum(products)
