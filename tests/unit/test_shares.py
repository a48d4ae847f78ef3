"""Fair shares: small ones whole, the rest equal, nothing lost."""

from __future__ import annotations

import pytest

from strands_ctx.shares import fair_shares


@pytest.mark.parametrize(
    ("sizes", "total", "expected"),
    [
        ([], 100, []),
        ([10, 1_000, 400], 500, [10, 245, 245]),
        ([10, 20, 30], 60, [10, 20, 30]),
        ([10, 20, 30], 1_000, [10, 20, 30]),
        ([50, 50, 50], 100, [33, 33, 34]),
        ([7, 0, 7], 0, [0, 0, 0]),
        ([100, 1, 100], 52, [25, 1, 26]),
    ],
)
def test_shares_are_worked_out_by_hand(sizes, total, expected):
    """Each row was worked out without the code; the odd unit goes to the last."""
    assert expected == fair_shares(sizes, total)


def test_ten_parallel_results_keep_a_floor_and_the_small_stay_whole():
    """Two small results beside eight large ones: the small stay whole, each large one gets the same."""
    sizes = [9_000, 100, 9_000, 9_000, 200, 9_000, 9_000, 9_000, 9_000, 9_000]
    assert [2_000, 100, 2_000, 2_000, 200, 2_000, 2_000, 2_000, 2_000, 2_000] == fair_shares(sizes, 16_300)
