"""The ids of a log's tool calls: where each was used first, and which were used again."""

from __future__ import annotations

from collections.abc import Sequence

from strands_ctx.messages import Shape


class CallIds:
    """Ids by the message that used them first.

    Attributes:
        repeated: Ids that more than one message has used.
    """

    def __init__(self) -> None:
        """Start with an empty log."""
        self.repeated: set[str] = set()
        self._first: dict[str, int] = {}

    def enter(self, shape: Shape, index: int) -> list[str]:
        """Enter the calls of a message; return the ids that an earlier message has used."""
        again = [call for call in shape.use_ids if self._first.setdefault(call, index) != index]
        self.repeated.update(again)
        return again

    def first(self, call: str) -> int:
        """Return the index of the message that used an id first."""
        return self._first[call]

    def cut_back(self, shapes: Sequence[Shape], stop: int) -> None:
        """Forget all calls from an index on."""
        self._first = {call: index for call, index in self._first.items() if index < stop}
        self.repeated.clear()
        for index in range(stop):
            self.enter(shapes[index], index)
