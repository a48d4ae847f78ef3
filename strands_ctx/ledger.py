"""What is known of each message of one log, kept between calls: work per call grows with what is new.

The host hands every model call a fresh deep copy of the log. Strings survive a deep copy as the same objects, so
comparing the copy with the last one costs next to nothing, and only messages that are new or were changed in place
are counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from .capping import cap_message, cap_texts
from .feature_sums import FeatureSums
from .messages import (
    Shape,
    opens_cycle,
    pair_partners,
    rule_broken,
    shape_of,
    tool_names,
)
from .tokens.features import Features, message_features
from .types import Keep, Message, Messages, TokenCounter


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


class _Sums:
    """A column of numbers that sums any range in constant time."""

    __slots__ = ("_totals", "values")

    def __init__(self) -> None:
        self.values: list[int] = []
        self._totals = [0]

    def refresh(self, first: int) -> None:
        """Sum anew from the first changed index on."""
        del self._totals[first + 1 :]
        self._totals.extend(accumulate(self.values[first:], initial=self._totals.pop()))

    def total(self, start: int, stop: int) -> int:
        """Sum a range."""
        return self._totals[stop] - self._totals[start]


class Ledger:
    """Counts and shapes of one log, by index.

    Attributes:
        messages: The log as last seen. It is never changed.
        shapes: A shape a message.
        starts: Indices at which a view may begin: prompts and cycles, in order.
        prompts: Indices of the prompts among them.
        pins: Indices of the messages that are pinned or share a tool call with one that is.
        problems: Indices at which the log is not legal.
        inner: Indices of prompts that are known to lie inside an invocation, and so open no turn.
    """

    def __init__(self, counter: TokenCounter, *, exempt_tools: Collection[str] = (), keep: Keep = "head_tail") -> None:
        """Start with an empty log.

        Args:
            counter: Counts messages and texts.
            exempt_tools: Names of tools whose results are never capped.
            keep: Which end of a capped text stays.
        """
        self.counter = counter
        self.keep: Keep = keep
        self.messages: Messages = []
        self.shapes: list[Shape] = []
        self.starts: list[int] = []
        self.prompts: list[int] = []
        self.pins: list[int] = []
        self.problems: list[int] = []
        self.inner: set[int] = set()
        self._exempt = frozenset(exempt_tools)
        self._features = FeatureSums()
        self._result_counts = _Sums()
        self._cache_points = _Sums()
        self._stand_ins = _Sums()
        self._calls: dict[str, int] = {}
        self._derived = 0
        self._capped: dict[tuple[int, int], Capped] = {}
        self._capped_features: dict[int, FeatureSums] = {}

    def __len__(self) -> int:
        """Return the number of messages."""
        return len(self.messages)

    def update(self, messages: Messages, *, unchanged_before: int = 0, watched: Sequence[int] = ()) -> None:
        """Bring the ledger up to date with a log.

        Args:
            messages: The whole log. The ledger keeps the message objects, so they must not change afterwards.
            unchanged_before: Messages before this index are not compared with what is known of them.
            watched: Indices before it that are compared all the same.

        Raises:
            HistoryError: If a message is not a Converse message; the ledger then stays as it was.
        """
        known, start = len(self.messages), unchanged_before
        same = (
            len(messages) >= known
            and messages[start:known] == self.messages[start:known]
            and all(messages[index] == self.messages[index] for index in watched)
        )
        changed: Sequence[int] = range(known, len(messages))
        if not same:
            changed = [i for i, message in enumerate(messages) if i >= known or message != self.messages[i]]
        rows = {index: self._row(messages[index], index) for index in changed}  # all that can raise, before any change
        first = min(changed[0] if changed else known, len(messages))
        self._resize(len(messages))
        if same:
            self.messages += messages[known:]
        else:
            self.messages = list(messages)
        for index, row in rows.items():
            self._enter(index, row)
        self._derive(first)
        for sums in self._sums():
            sums.refresh(max(first - 1, 0))

    def _sums(self) -> tuple[_Sums, ...]:
        return self._result_counts, self._cache_points, self._stand_ins

    def _resize(self, length: int) -> None:
        shrunk = length < len(self.shapes)
        for sums in self._sums():
            sums.values[length:] = [0] * (length - len(sums.values))
        for column in (self._features, *self._capped_features.values()):
            column.resize(length)
        self.shapes[length:] = [Shape("")] * (length - len(self.shapes))
        if shrunk:
            self._capped = {key: value for key, value in self._capped.items() if key[0] < length}
            self.inner = {index for index in self.inner if index < length}

    def _row(self, message: Message, index: int) -> tuple[Shape, Features]:
        """Return the shape of a message, and what its tokens are estimated from."""
        return shape_of(message, index), message_features(self.counter, message)

    def _enter(self, index: int, row: tuple[Shape, Features]) -> None:
        shape, features = row
        self.shapes[index] = shape
        self._features[index] = features
        self._result_counts.values[index] = len(shape.result_ids)
        self._cache_points.values[index] = shape.cache_points
        for cap, column in self._capped_features.items():
            for place in range(index, min(index + 2, len(self.shapes))):
                column[place] = None  # the next message's results are capped by the names of these calls
                self._capped.pop((place, cap), None)

    def _derive(self, first: int) -> None:
        """Derive what depends on neighbours, from the message before the first changed one."""
        first = max(first - 1, 0)
        for column in (self.starts, self.prompts, self.pins, self.problems):
            del column[bisect_left(column, first) :]
        if first < self._derived - 1:  # not only appended to
            self._calls = {call: index for call, index in self._calls.items() if index < first}
        self._derived = len(self.shapes)
        for index in range(first, len(self.shapes)):
            shape = self.shapes[index]
            if shape.prompt:
                self.prompts.append(index)
            if shape.prompt or opens_cycle(shape):
                self.starts.append(index)
            if shape.pinned or any(self.shapes[partner].pinned for partner in pair_partners(self.shapes, index)):
                self.pins.append(index)
            before = self.shapes[index - 1] if index else None
            broken = bool(rule_broken(before, shape)) or self._reuses(shape, index)
            if broken:
                self.problems.append(index)
            missing = set(before.use_ids) - set(shape.result_ids) if before is not None else ()
            self._stand_ins.values[index] = broken + len(missing)

    def _reuses(self, shape: Shape, index: int) -> bool:
        """Enter the calls of a message; tell whether an earlier message has used one of their ids."""
        firsts = [self._calls.setdefault(call, index) for call in shape.use_ids]
        return any(first != index for first in firsts)

    def legal_after(self, start: int) -> bool:
        """Tell whether every message after an index is legal where it stands in the log."""
        return bisect_left(self.problems, start + 1) == len(self.problems)

    def cache_points(self, start: int, lead: Sequence[int] = ()) -> int:
        """Count the cache points from an index on, and those of a lead."""
        points = self._cache_points
        return points.total(start, len(self)) + sum(points.values[index] for index in lead)

    def stand_ins(self, start: int) -> int:
        """Count at most how many blocks a repair would add from an index on."""
        return self._stand_ins.total(start, len(self))

    def opens_turn(self, index: int) -> bool:
        """Tell whether a message opens a turn."""
        return self.shapes[index].prompt and index not in self.inner

    def turn_of(self, index: int) -> int | None:
        """Find the message that opens the turn in which an index lies, or None."""
        for place in range(bisect_left(self.prompts, index + 1) - 1, -1, -1):
            if self.prompts[place] not in self.inner:
                return self.prompts[place]
        return None

    def newest_start(self) -> int:
        """Find where the newest cycle or, when it is newer, the newest turn begins."""
        return next((i for i in reversed(self.starts) if i not in self.inner), 0)

    def starts_backwards(self, stop: int) -> Iterator[int]:
        """Yield where a view may begin, newest first, down to an index."""
        for start in reversed(self.starts):
            if start < stop:
                return
            if start not in self.inner:
                yield start

    def features(self, start: int, stop: int) -> Features:
        """Sum what the tokens of a range are estimated from, as the log has it."""
        return self._features.total(start, stop)

    def result_count(self, start: int, stop: int) -> int:
        """Count the tool results in a range."""
        return self._result_counts.total(start, stop)

    def shown_features(self, start: int, stop: int, max_bytes: int | None) -> Features:
        """Sum the same, each result capped; as the log has it where the cap is None."""
        if max_bytes is None:
            return self.features(start, stop)
        column = self._capped_features.setdefault(max_bytes, FeatureSums())
        column.resize(len(self.messages))
        for index in column.unknown(start, stop):
            column[index] = self.capped(index, max_bytes).features
        return column.total(start, stop)

    def capped(self, index: int, max_bytes: int) -> Capped:
        """Return one message with its results capped, made once."""
        key = index, max_bytes
        if key not in self._capped:
            message, results, dropped = cap_message(
                self.messages[index], self.caps_for(index, max_bytes), keep=self.keep
            )
            features = message_features(self.counter, message) if results else self._features[index]
            self._capped[key] = Capped(message, features, results, dropped)
        return self._capped[key]

    def shown(self, index: int, max_bytes: int | None, texts_max_bytes: int | None = None) -> Message:
        """Return one message as a view shows it.

        Args:
            index: Its index.
            max_bytes: The cap of each of its results, or None.
            texts_max_bytes: The cap of all its texts together, or None.

        Returns:
            The log's own object where no cap applies.
        """
        message = self.messages[index] if max_bytes is None else self.capped(index, max_bytes).message
        if texts_max_bytes is None:
            return message
        return cap_texts(message, texts_max_bytes, self.caps_for(index, texts_max_bytes), keep=self.keep)

    def caps_for(self, index: int, max_bytes: int) -> dict[str, int]:
        """Map the ids of a message's results to a cap, those of exempt tools apart."""
        ids: Sequence[str] = self.shapes[index].result_ids
        if not self._exempt or not ids or not index:
            return dict.fromkeys(ids, max_bytes)
        names = tool_names(self.messages[index - 1])
        return {result_id: max_bytes for result_id in ids if names.get(result_id) not in self._exempt}
