"""Which images and documents of a view are replaced: all but the newest, as many as a request may hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from strands_ctx.capping.media import limited_count
from strands_ctx.plans import Stretch, cap_at

if TYPE_CHECKING:
    from .ledger import Ledger


class MediaLine:
    """Tells how many images and documents of which messages are replaced.

    Attributes:
        max_media: How many stay, the newest; None for all.
    """

    def __init__(self, max_media: int | None) -> None:
        """Start with an empty log."""
        self.max_media = max_media
        self._replaced: dict[int, int] = {}

    def draw(self, shown: Iterable[tuple[int, int, int]]) -> list[int]:
        """Decide what is replaced.

        Args:
            shown: Indices of messages, how many of their images and documents the view would show, and how many they
                have, newest first.

        Returns:
            The messages of which another number than before is replaced, in order.
        """
        before, left = self._replaced, self.max_media
        self._replaced = {}
        for index, count, total in shown if left is not None else ():
            kept = min(count, left or 0)
            left = (left or 0) - kept
            if kept < count:
                self._replaced[index] = count - kept if count == total else total  # caps leave any of them
        changed = {*before, *self._replaced}
        return sorted(index for index in changed if before.get(index) != self._replaced.get(index))

    def cut_back(self, length: int) -> None:
        """Forget what is beyond a length."""
        self._replaced = {index: count for index, count in self._replaced.items() if index < length}

    def replaced(self, index: int) -> int:
        """Count what is replaced in one message: its first ones."""
        return self._replaced.get(index, 0)

    def total_replaced(self, start: int, lead: Sequence[int] = ()) -> int:
        """Count what is replaced from an index on, and in the messages of a lead."""
        return sum(count for index, count in self._replaced.items() if index >= start or index in lead)


def shown_media(ledger: Ledger, stretches: tuple[Stretch, ...], lead: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Count the images and documents that a view would show, of how many, by message, newest first."""
    for index in reversed(ledger.illustrated):
        if index < stretches[0].start and index not in lead:
            continue
        cap, names = cap_at(stretches, index), ledger.names(index)
        caps = ledger.rules.result_caps(ledger.shapes[index], names, cap) if cap is not None else {}
        if count := limited_count(ledger.given[index], caps):
            yield index, count, ledger.shapes[index].media
