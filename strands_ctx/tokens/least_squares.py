"""Weighted least squares with bounded coefficients, small enough for pure Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Bounds = tuple[float, float]


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


def fit_bounded(rows: Sequence[Row], bounds: Sequence[Bounds]) -> tuple[float, ...]:
    """Find the coefficients of least squared error, each within its bounds.

    A coefficient that leaves its bounds is fixed at the one it left, the worst first, and the rest is fitted again.

    Args:
        rows: Equations that determine every coefficient; a prior on each makes sure of that.
        bounds: Lowest and highest value of each coefficient.

    Returns:
        One coefficient for each bound.
    """
    fixed: dict[int, float] = {}
    while True:
        free = [index for index in range(len(bounds)) if index not in fixed]
        fitted = {**fixed, **dict(zip(free, _solve(_normal_equations(rows, free, fixed)), strict=True))}
        clamped = {index: min(max(fitted[index], bounds[index][0]), bounds[index][1]) for index in free}
        worst = max(free, key=lambda index: abs(fitted[index] - clamped[index]), default=None)
        if worst is None or fitted[worst] == clamped[worst]:
            return tuple(fitted[index] for index in range(len(bounds)))
        fixed[worst] = clamped[worst]


def _normal_equations(rows: Sequence[Row], free: Sequence[int], fixed: dict[int, float]) -> list[list[float]]:
    """One equation for each free coefficient, its last number the right side."""
    equations = [[0.0] * (len(free) + 1) for _ in free]
    for row in rows:
        weight = 1.0 / row.deviation**2
        output = row.output - sum(row.inputs[index] * value for index, value in fixed.items())
        terms = [*(row.inputs[index] for index in free), output]
        for equation, factor in zip(equations, terms, strict=False):
            for column, term in enumerate(terms):
                equation[column] += weight * factor * term
    return equations


def _solve(equations: list[list[float]]) -> list[float]:
    """Gaussian elimination; the equations are positive definite, so that no pivot is 0."""
    size = len(equations)
    for pivot, equation in enumerate(equations):
        for other in equations[pivot + 1 :]:
            factor = other[pivot] / equation[pivot]
            for column in range(pivot, size + 1):
                other[column] -= factor * equation[column]
    solution = [0.0] * size
    for index in reversed(range(size)):
        known = sum(equations[index][column] * solution[column] for column in range(index + 1, size))
        solution[index] = (equations[index][size] - known) / equations[index][index]
    return solution
