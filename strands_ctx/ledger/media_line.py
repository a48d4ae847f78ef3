"""Which images and documents of a log are replaced: all but the newest, as many as a request may hold."""

from __future__ import annotations

from collections.abc import Sequence

from .sums import Sums


class MediaLine:
    """Counts images and documents by message, and draws the line before which they are replaced.

    Attributes:
        max_media: How many stay, the newest; None for all.
        counts: How many each message has.
    """

    def __init__(self, max_media: int | None) -> None:
        """Start with an empty log."""
        self.max_media = max_media
        self.counts = Sums()
        self._line = self._surplus = 0

    def move(self) -> list[int]:
        """Draw the line anew; the messages of which another number than before is replaced."""
        counts, before = self.counts, (self._line, self._surplus)
        total = counts.total(0, len(counts.values))
        self._line, self._surplus = (
            counts.reach(max(total - self.max_media, 0)) if self.max_media is not None else (0, 0)
        )
        if before == (self._line, self._surplus):
            return []
        start, stop = sorted((before[0], self._line))
        return [index for index in range(start, min(stop + 1, len(counts.values))) if counts.values[index]]

    def replaced(self, index: int) -> int:
        """Count what is replaced in one message: its first ones, where the line runs through it."""
        return self.counts.values[index] if index < self._line else self._surplus if index == self._line else 0

    def total_replaced(self, start: int, lead: Sequence[int] = ()) -> int:
        """Count what is replaced from an index on, and in the messages of a lead."""
        after = self.counts.total(start, self._line) + self._surplus if start <= self._line else 0
        return after + sum(map(self.replaced, lead))
