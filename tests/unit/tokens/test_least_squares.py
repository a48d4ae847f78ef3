"""Bounded least squares, against fits that are known."""

from __future__ import annotations

import pytest

from strands_ctx.tokens.least_squares import Row, fit_bounded

FREE = ((-1e9, 1e9), (-1e9, 1e9))
POINTS = [Row((1.0, x), 3.0 + 2.0 * x, 1.0) for x in (0.0, 1.0, 5.0)]


def test_an_exact_line_is_found():
    """Points on a line give the line."""
    assert (3.0, 2.0) == pytest.approx(fit_bounded(POINTS, FREE))


def test_a_coefficient_at_its_bound_leaves_the_rest_to_fit():
    """With the slope held at 1, the best intercept is the mean of what remains: 3, 4 and 8."""
    assert (5.0, 1.0) == pytest.approx(fit_bounded(POINTS, ((-1e9, 1e9), (0.0, 1.0))))


def test_all_coefficients_can_be_at_their_bounds():
    """Bounds hold even where every one is too tight."""
    assert (1.0, 1.0) == fit_bounded(POINTS, ((0.0, 1.0), (0.0, 1.0)))


def test_a_certain_row_weighs_more():
    """A row of a tenth of the deviation counts a hundred times."""
    assert (100 * 2.0 + 5.0) / 101 == pytest.approx(
        fit_bounded([Row((1.0,), 2.0, 0.1), Row((1.0,), 5.0, 1.0)], FREE[:1])[0]
    )
