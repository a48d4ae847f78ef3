"""The ledger of one log: it counts what is new or changed, and answers for any range and level of caps.

The host hands every model call a fresh deep copy of the log. Strings survive a deep copy as the same objects, so
comparing the copy with the last one costs next to nothing, and only messages that are new or were changed in place
are counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from strands_ctx.capping.media import without_media
from strands_ctx.capping.messages import cap_message, cap_texts
from strands_ctx.capping.rules import Cap, CapRules, recall_text
from strands_ctx.messages import Shape, opens_cycle, pair_partners, rule_broken, shape_of, tool_names
from strands_ctx.plans import Stretch
from strands_ctx.tokens.features import Features, message_features, text_features
from strands_ctx.types import Message, Messages, TokenCounter

from .call_ids import CallIds
from .capped import Capped, CappedMessages
from .feature_sums import FeatureSums
from .media_line import MediaLine, shown_media
from .sums import Sums

MAX_NOTES = 256
"""Notes of omission whose features are remembered."""

_NO_MESSAGE: Message = {"role": "user", "content": []}


class Ledger:
    """Counts and shapes of one log, by index.

    Attributes:
        media: Which images and documents are replaced by texts.
        given: The log as last seen. It is never changed.
        messages: The same, images and documents beyond the limit replaced by texts.
        shapes: A shape a message.
        starts: Indices at which a view may begin: prompts and cycles, in order.
        prompts: Indices of the prompts among them.
        pins: Indices of the messages that are pinned or share a tool call with one that is.
        problems: Indices at which the log is not legal.
        illustrated: Indices of the messages with images or documents.
        inner: Indices of prompts that are known to lie inside an invocation, and so open no turn.
    """

    def __init__(self, counter: TokenCounter, *, rules: CapRules | None = None, max_media: int | None = None) -> None:
        """Start with an empty log.

        Args:
            counter: Counts texts.
            rules: What an app said of caps.
            max_media: How many images and documents stay, the newest; None for all.
        """
        self.counter = counter
        self.rules = rules or CapRules()
        self.media = MediaLine(max_media)
        self.given: Messages = []
        self.messages: Messages = []
        self.shapes: list[Shape] = []
        self.starts: list[int] = []
        self.prompts: list[int] = []
        self.pins: list[int] = []
        self.problems: list[int] = []
        self.illustrated: list[int] = []
        self.inner: set[int] = set()
        self._features = FeatureSums()
        self._result_counts = Sums()
        self._cache_points = Sums()
        self._stand_ins = Sums()
        self._calls = CallIds()
        self._derived = 0
        self._notes: dict[str, Features] = {}
        self._capped = CappedMessages(self._cap)

    def __len__(self) -> int:
        return len(self.messages)

    def update(self, messages: Messages, *, unchanged_before: int = 0, watched: Sequence[int] = ()) -> None:
        """Bring the ledger up to date with a log.

        Args:
            messages: The whole log. The ledger keeps the message objects, so they must not change afterwards.
            unchanged_before: Messages before this index are not compared with what is known of them.
            watched: Indices before it that are compared.

        Raises:
            HistoryError: If a message is no Converse message; nothing has changed then.
        """
        known, start = len(self.given), unchanged_before
        same = (
            len(messages) >= known
            and messages[start:known] == self.given[start:known]
            and all(messages[index] == self.given[index] for index in watched)
        )
        changed: Sequence[int] = range(known, len(messages))
        if not same:
            changed = [i for i, message in enumerate(messages) if i >= known or message != self.given[i]]
        shapes = {index: shape_of(messages[index], index) for index in changed}
        try:
            self._take(messages, shapes, known if same else 0)
        except BaseException:  # a counter raised: what is half known is not known
            inner = self.inner
            self._take([], {}, 0)
            self.inner = inner
            raise

    def _take(self, messages: Messages, shapes: dict[int, Shape], known: int) -> None:
        """Enter new and changed messages."""
        self._resize(len(messages))
        self.given[known:] = messages[known:]
        first = min(shapes, default=len(messages))
        for index, shape in shapes.items():
            self._enter(index, shape)
        self._derive(first)
        for sums in self._sums():
            sums.refresh(max(first - 1, 0))

    def limit_media(self, stretches: tuple[Stretch, ...], lead: Sequence[int]) -> bool:
        """Replace the oldest images and documents that a view would show beyond the limit; tell if that is a change.

        The view shows the stretches, each at its level, and of what is before them only the lead.
        """
        most, total = self.media.max_media, sum(self.shapes[index].media for index in self.illustrated)
        shown = shown_media(self, stretches, lead) if most is not None and total > most else ()
        changed = self.media.draw(shown)
        for index in changed:
            self._enter(index, self.shapes[index])
        return bool(changed)

    def _sums(self) -> tuple[Sums, ...]:
        return self._result_counts, self._cache_points, self._stand_ins

    def _resize(self, length: int) -> None:
        shrunk = length < len(self.shapes)
        for sums in self._sums():
            sums.values[length:] = [0] * (length - len(sums.values))
        self._features.resize(length)
        self._capped.resize(length)
        self.shapes[length:] = [Shape("")] * (length - len(self.shapes))
        self.messages[length:] = [_NO_MESSAGE] * (length - len(self.messages))
        if shrunk:
            self.media.cut_back(length)
            self.inner = {index for index in self.inner if index < length}

    def _enter(self, index: int, shape: Shape) -> None:
        replaced = self.media.replaced(index)
        message = without_media(self.given[index], replaced) if replaced else self.given[index]
        self.messages[index] = message
        self.shapes[index] = shape
        self._features[index] = message_features(self.counter, message)
        self._result_counts.values[index] = len(shape.result_ids)
        self._cache_points.values[index] = shape.cache_points
        self._capped.forget(index)
        self._capped.forget(index + 1)  # its results are capped by the names of these calls

    def _derive(self, first: int) -> None:
        """Derive what depends on neighbours, from the message before the first changed one."""
        first = max(first - 1, 0)
        for column in (self.starts, self.prompts, self.pins, self.problems, self.illustrated):
            del column[bisect_left(column, first) :]
        if first < self._derived - 1:  # not only appended to
            self._calls.cut_back(self.shapes, first)
        self._derived = len(self.shapes)
        for index in range(first, len(self.shapes)):
            shape = self.shapes[index]
            if shape.media:
                self.illustrated.append(index)
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
            self._stand_ins.values[index] = max(broken, shape.bare_results) + len(missing)

    def _reuses(self, shape: Shape, index: int) -> bool:
        """Enter the calls of a message; tell whether an earlier message has used one of their ids."""
        again = self._calls.enter(shape, index)
        for call in again:
            self._capped.forget(self._calls.first(call) + 1)  # it may name the id
        return bool(again)

    def legal_after(self, start: int) -> bool:
        """Tell whether every message after an index is legal where it stands in the log."""
        return bisect_left(self.problems, start + 1) == len(self.problems)

    def cache_points(self, start: int, lead: Sequence[int] = ()) -> int:
        """Count the cache points from an index on, and those of a lead."""
        points = self._cache_points
        return points.total(start, len(self)) + sum(points.values[index] for index in lead)

    def stand_ins(self, start: int, lead: Sequence[int] = ()) -> int:
        """Count at most how many blocks a repair would add from an index on, and in a lead."""
        return self._stand_ins.total(start, len(self)) + sum(self._stand_ins.values[index] for index in lead)

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
        """Find where the newest cycle or turn begins."""
        return next((i for i in reversed(self.starts) if i not in self.inner), 0)

    def starts_backwards(self, stop: int) -> Iterator[int]:
        """Yield where a view may begin, newest first, down to an index."""
        for start in reversed(self.starts):
            if start < stop:
                return
            if start not in self.inner:
                yield start

    def features(self, start: int, stop: int) -> Features:
        """Sum the features of a range, as the log has it."""
        return self._features.total(start, stop)

    def note_features(self, note: str) -> Features:
        """Return the features of a note of omission; the latest are remembered."""
        if note not in self._notes:
            if len(self._notes) >= MAX_NOTES:
                self._notes.clear()
            self._notes[note] = text_features(self.counter, note)
        return self._notes[note]

    def result_count(self, start: int, stop: int) -> int:
        """Count tool results."""
        return self._result_counts.total(start, stop)

    def last_result_ids(self, stop: int, lead: Sequence[int], most: int) -> list[str]:
        """Return the ids of the last results before an index, those of a lead apart."""
        counts, ids = self._result_counts, list[str]()
        left = counts.total(0, stop)
        while left > 0 and len(ids) < most:
            index, _ = counts.reach(left - 1)
            left -= counts.values[index]
            if index not in lead:
                ids = [*self._named_ids(index), *ids]
        return ids[-most:]

    def _named_ids(self, index: int) -> list[str]:
        """Return the ids of results that a recall tool reads: those of its own, and repeated ones, it does not."""
        names, recall_tool = self.names(index), self.rules.recall_tool
        ids = self.shapes[index].result_ids
        return [call for call in ids if names.get(call) != recall_tool and call not in self._calls.repeated]

    def shown_features(self, start: int, stop: int, cap: Cap | None) -> Features:
        """Sum the features of a range that is shown at one level."""
        if cap is None:
            return self.features(start, stop)
        return self._capped.features(start, stop, cap)

    def capped(self, index: int, cap: Cap) -> Capped:
        """Return one message at a level, made once."""
        return self._capped.at(index, cap)

    def _cap(self, index: int, cap: Cap) -> Capped:
        given, rules = self.messages[index], self.rules
        caps = rules.result_caps(self.shapes[index], self.names(index), cap)
        message, count, dropped = cap_message(
            given, caps, keep=rules.keep, input_max_bytes=cap.input_max_bytes, recall=self._recall
        )
        features = self._features[index] if message is given else message_features(self.counter, message)
        return Capped(message, features, count, dropped)

    def shown(self, index: int, cap: Cap | None, texts_max_bytes: int | None = None) -> Message:
        """Return one message at a level, its texts and media within a cap together; the log's own if none applies."""
        message = self.messages[index] if cap is None else self.capped(index, cap).message
        if texts_max_bytes is None:
            return message
        ids = self.shrinkable(index)
        return cap_texts(message, texts_max_bytes, ids, keep=self.rules.keep, recall=self._recall)

    def _recall(self, call: str) -> str:
        """Name an id, unless it was used again: then it says nothing of this result."""
        return "" if call in self._calls.repeated else recall_text(self.rules.recall_tool, call)

    def shrinkable(self, index: int) -> frozenset[str]:
        """Return the ids of a message's results that may be capped at all."""
        return self.rules.shrinkable(self.shapes[index], self.names(index))

    def names(self, index: int) -> dict[str, str]:
        """Map the ids of a message's results to the names of the tools, where caps depend on them."""
        if not self.rules.name_tools or not index or not self.shapes[index].result_ids:
            return {}
        return tool_names(self.messages[index - 1])
