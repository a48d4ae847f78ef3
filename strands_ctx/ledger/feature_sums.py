"""A column of features that sums any range in constant time, once each of its messages was counted."""

from __future__ import annotations

from collections.abc import Iterator
from operator import add, sub

from strands_ctx.tokens.features import Features, Values, values_of

_ZERO = values_of(Features())


class FeatureSums:
    """Features by index of a message, each known or not yet; what is not known counts nothing."""

    __slots__ = ("_known", "_totals", "_values")

    def __init__(self) -> None:
        """Start empty."""
        self._values: list[Values] = []
        self._known = bytearray()
        self._totals = [_ZERO]  # as far as they hold

    def __getitem__(self, index: int) -> Features:
        """Return the features at an index."""
        return Features(*self._values[index])

    def __setitem__(self, index: int, features: Features | None) -> None:
        """Enter the features at an index, or forget them."""
        self._values[index] = _ZERO if features is None else values_of(features)
        self._known[index] = features is not None
        del self._totals[index + 1 :]

    def resize(self, length: int) -> None:
        """Forget what is beyond a length, or grow to it."""
        del self._totals[length + 1 :]
        self._values[length:] = [_ZERO] * (length - len(self._values))
        self._known[length:] = bytes(length - len(self._known)) if length > len(self._known) else b""

    def unknown(self, start: int, stop: int) -> Iterator[int]:
        """Yield the indices in a range at which nothing was entered."""
        index = self._known.find(0, start, stop)
        while index >= 0:
            yield index
            index = self._known.find(0, index + 1, stop)

    def total(self, start: int, stop: int) -> Features:
        """Sum a range."""
        totals = self._totals
        for values in self._values[len(totals) - 1 : stop]:
            totals.append(tuple(map(add, totals[-1], values)))
        return Features(*map(sub, totals[stop], totals[start]))
