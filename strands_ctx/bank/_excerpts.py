"""Bounded parts of a text: by lines, or around the places where a pattern is found.

A line here ends at a newline or after 400 characters, so that any part of any text can be asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from strands_ctx.capping.text import count_bytes

MAX_LINE_CHARS = 400
MIN_BODY_BYTES = 4 * MAX_LINE_CHARS + 16
"""Room for the largest line with its number."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text that fits a number of bytes.

    Attributes:
        body: The part.
        first: Its first line, counted from 1; 0 where it is empty.
        last: Its last line.
        next: The line to go on with; None where nothing is left.
    """

    body: str
    first: int
    last: int
    next: int | None


class Lines:
    """A text by its lines."""

    def __init__(self, text: str) -> None:
        """Find where the lines start."""
        self.text = text if text.isascii() else text.encode("utf-8", "replace").decode()
        self.starts = _starts(self.text)

    def __len__(self) -> int:
        return len(self.starts)

    def _end(self, line: int) -> int:
        return self.starts[line] if line < len(self.starts) else len(self.text)

    def line(self, line: int) -> str:
        """Return one line, counted from 1, without its newline."""
        return self.text[self.starts[line - 1] : self._end(line)].removesuffix("\n")

    def window(self, first: int, last: int, max_bytes: int) -> Excerpt:
        """Return whole lines, as they are, from the first on.

        Args:
            first: The first line, within the text.
            last: The last line that is wanted.
            max_bytes: The largest part, with room for one line.
        """
        used, line = 0, first
        while line <= min(last, len(self)):
            used += count_bytes(self.text[self.starts[line - 1] : self._end(line)])
            if used > max_bytes:
                break
            line += 1
        body = self.text[self.starts[first - 1] : self._end(line - 1)]
        return Excerpt(body.removesuffix("\n"), first, line - 1, line if line <= min(last, len(self)) else None)

    def count(self, pattern: str, first: int, last: int) -> int:
        """Count the places where a pattern is found, not overlapping, within lines."""
        return self.text.count(pattern, self.starts[first - 1], self._end(last))

    def search(self, pattern: str, first: int, last: int, around: int, max_bytes: int) -> Excerpt:
        """Return numbered lines around the places where a pattern is found, literally.

        Args:
            pattern: What to find, in this spelling; not blank.
            first: The first line to search.
            last: The last line to search.
            around: Lines to show before and after a place.
            max_bytes: The largest part, with room for one line.
        """
        shown: list[str] = []
        used, done, start, end = 0, first - 1, self.starts[first - 1], self._end(last)
        while (place := self.text.find(pattern, start, end)) >= 0:
            line = bisect_right(self.starts, place)
            through = bisect_right(self.starts, place + len(pattern) - 1)
            for number in range(max(done + 1, line - around, first), min(through + around, last) + 1):
                row = f"{number}: {self.line(number)}\n"
                gap = "" if number == done + 1 or not shown else "...\n"
                used += count_bytes(gap + row)
                if used > max_bytes:
                    return Excerpt("".join(shown).removesuffix("\n"), first, done, number)
                shown.append(gap + row)
                done = number
            start = max(place + 1, self._end(through))
        return Excerpt("".join(shown).removesuffix("\n"), first if shown else 0, done, None)


def _starts(text: str) -> list[int]:
    starts, start = [], 0
    while start < len(text):
        newline = text.find("\n", start, start + MAX_LINE_CHARS)
        starts.append(start)
        start = newline + 1 if newline >= 0 else start + MAX_LINE_CHARS
    return starts or [0]
