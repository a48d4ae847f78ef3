"""Bounded least squares, against fits that are known."""

from __future__ import annotations

import random
from operator import mul

import pytest

from strands_ctx.tokens.least_squares import Equations, Row, fit_bounded, inverse, quadratic

FREE = ((-1e9, 1e9), (-1e9, 1e9))


def summed(*rows):
    """Rows as equations."""
    equations = Equations.none(len(rows[0].inputs))
    for row in rows:
        equations = equations.plus(row)
    return equations


POINTS = summed(*(Row((1.0, x), 3.0 + 2.0 * x, 1.0) for x in (0.0, 1.0, 5.0)))


def test_an_exact_line_is_found():
    """Points on a line give the line."""
    assert (3.0, 2.0) == pytest.approx(fit_bounded(POINTS, inverse(POINTS.matrix), FREE))


def test_a_coefficient_at_its_bound_leaves_the_rest_to_fit():
    """With the slope held at 1, the best intercept is the mean of what remains: 3, 4 and 8."""
    assert (5.0, 1.0) == pytest.approx(fit_bounded(POINTS, inverse(POINTS.matrix), ((-1e9, 1e9), (0.0, 1.0))))


def test_all_coefficients_can_be_at_their_bounds():
    """Bounds hold even where every one is too tight."""
    assert (1.0, 1.0) == fit_bounded(POINTS, inverse(POINTS.matrix), ((0.0, 1.0), (0.0, 1.0)))


@pytest.mark.parametrize("seed", range(50))
def test_what_is_free_solves_its_equations_beside_what_is_held(seed):
    """Of ten coefficients, each within narrow bounds: those inside of them are the best fit to the rest."""
    chance, size = random.Random(seed), 10
    rows = [Row(tuple(chance.uniform(-1, 1) for _ in range(size)), chance.uniform(-3, 3), 1.0) for _ in range(30)]
    equations, bounds = summed(*rows), ((-0.3, 0.3),) * size
    found = fit_bounded(equations, inverse(equations.matrix), bounds)
    free = [index for index, value in enumerate(found) if -0.3 < value < 0.3]
    sides = [sum(map(mul, equations.matrix[index], found)) for index in free]
    assert ([equations.outputs[index] for index in free], True) == (pytest.approx(sides), len(free) < size)


def test_a_certain_row_weighs_more():
    """A row of a tenth of the deviation counts a hundred times."""
    rows = summed(Row((1.0,), 2.0, 0.1), Row((1.0,), 5.0, 1.0))
    assert (100 * 2.0 + 5.0) / 101 == pytest.approx(fit_bounded(rows, inverse(rows.matrix), FREE[:1])[0])


def test_what_was_summed_before_can_weigh_less():
    """One row at a quarter of its weight, and a new one."""
    rows = summed(Row((1.0,), 2.0, 1.0)).plus(Row((1.0,), 5.0, 1.0), weight_ratio=0.25)
    assert (0.25 * 2.0 + 5.0) / 1.25 == pytest.approx(fit_bounded(rows, inverse(rows.matrix), FREE[:1])[0])


def test_sums_of_rows_add_up():
    """Two sums are the sum of all their rows."""
    parts = [summed(Row((1.0, 2.0), 3.0, 1.0)), summed(Row((4.0, 5.0), 6.0, 1.0))]
    assert summed(Row((1.0, 2.0), 3.0, 1.0), Row((4.0, 5.0), 6.0, 1.0)) == parts[0] + parts[1]


def test_an_inverse_undoes_its_matrix():
    """Of two equations; and from both sides it gives the variance of an output."""
    found = inverse(((4.0, 1.0), (1.0, 2.0)))
    assert [2 / 7, -1 / 7, -1 / 7, 4 / 7] == pytest.approx([*found[0], *found[1]])
    assert 2 / 7 - 2 * 3 / 7 + 9 * 4 / 7 == pytest.approx(quadratic(found, (1.0, 3.0)))
