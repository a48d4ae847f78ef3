"""Messages at a level, each made once, and what their tokens are estimated from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from strands_ctx.capping.rules import Cap
from strands_ctx.tokens.features import Features
from strands_ctx.types import Message

from .feature_sums import FeatureSums


@dataclass(frozen=True, slots=True)
class Capped:
    """One message with its results capped.

    Attributes:
        message: The message; the log's own object where nothing was capped.
        features: What its tokens are estimated from.
        results: How many results were capped.
        dropped_bytes: How many bytes of them are left out.
    """

    message: Message
    features: Features
    results: int
    dropped_bytes: int


class CappedMessages:
    """Remembers messages by index and level."""

    def __init__(self, make: Callable[[int, Cap], Capped]) -> None:
        """Take what makes a message that is not known yet."""
        self._make = make
        self._length = 0
        self._made: dict[tuple[int, Cap], Capped] = {}
        self._sums: dict[Cap, FeatureSums] = {}

    def resize(self, length: int) -> None:
        """Forget what is beyond a length, or grow to it."""
        if length < self._length:
            self._made = {key: value for key, value in self._made.items() if key[0] < length}
        for sums in self._sums.values():
            sums.resize(length)
        self._length = length

    def forget(self, index: int) -> None:
        """Forget one message, if there is one at the index."""
        for cap, sums in self._sums.items():
            if index < self._length:
                sums[index] = None
            self._made.pop((index, cap), None)

    def at(self, index: int, cap: Cap) -> Capped:
        """Return one message at a level."""
        key = index, cap
        if key not in self._made:
            self._made[key] = self._make(index, cap)
        return self._made[key]

    def features(self, start: int, stop: int, cap: Cap) -> Features:
        """Sum the features of a range at a level."""
        if cap not in self._sums:
            self._sums[cap] = FeatureSums()
            self._sums[cap].resize(self._length)
        sums = self._sums[cap]
        for index in sums.unknown(start, stop):
            sums[index] = self.at(index, cap).features
        return sums.total(start, stop)
