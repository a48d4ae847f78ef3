"""A column of numbers that sums any range in constant time, and finds where a sum is reached."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate


class Sums:
    """Numbers by index, and their running sum.

    Attributes:
        values: The numbers; after a change, :meth:`refresh` brings the sums up to date.
    """

    __slots__ = ("_totals", "values")

    def __init__(self) -> None:
        """Start empty."""
        self.values: list[int] = []
        self._totals = [0]

    def refresh(self, first: int) -> None:
        """Sum anew from the first changed index on."""
        del self._totals[first + 1 :]
        self._totals.extend(accumulate(self.values[first:], initial=self._totals.pop()))

    def total(self, start: int, stop: int) -> int:
        """Sum a range."""
        return self._totals[stop] - self._totals[start]

    def reach(self, amount: int) -> tuple[int, int]:
        """Find the last index before which the numbers add up to at most an amount, and what is then left of it."""
        place = bisect_right(self._totals, amount) - 1
        return place, amount - self._totals[place]
