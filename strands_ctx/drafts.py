"""What a view would take and hold, for boundaries that are only being considered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .capping.media import media_weight
from .capping.messages import text_bytes
from .capping.rules import Cap
from .errors import BudgetError
from .ledger.capped import Capped
from .ledger.ledger import Ledger
from .notes import MAX_NAMED_IDS, note_text
from .plans import Boundaries, Plan, Policy, Reason, Shrinks, Stretch, cap_at
from .selection import lead_of
from .tokens.calibration import Calibration
from .tokens.features import Features, message_features

REPAIR_TOKENS = 48
"""Raw tokens that a block takes at most which a repair adds: a stand-in prompt, or a result, half of it its text."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a call carries besides messages, and how its model counts.

    Attributes:
        system_tokens: Raw tokens of the system prompt.
        tools_tokens: Raw tokens of the tool specifications.
        calibration: Turns raw tokens into the model's.
    """

    system_tokens: int
    tools_tokens: int
    calibration: Calibration

    def tokens(self, features: Features) -> int:
        """Estimate tokens, with the margin that the calibration has shown to need."""
        return self.calibration.bound(features)

    @property
    def features(self) -> Features:
        """A prompt without messages."""
        return Features(fixed_tokens=self.system_tokens + self.tools_tokens, prompts=1)

    @property
    def fixed_tokens(self) -> int:
        """Estimate of the system prompt and the tools, with the margin."""
        return self.tokens(self.features)


@dataclass(frozen=True, slots=True)
class Drafts:
    """Estimates of the views of one log for one call.

    Attributes:
        ledger: The log.
        load: What is sent besides it, and the model's scale.
        policy: What the manager was asked for.
    """

    ledger: Ledger
    load: Load
    policy: Policy

    def tokens(self, boundaries: Boundaries, shrinks: Shrinks = ()) -> int:
        """Estimate the tokens of a view with system prompt and tools, margin included."""
        return self.load.tokens(self.features(boundaries, shrinks))

    def whole_tokens(self, boundaries: Boundaries, stop: int) -> int:
        """Estimate the tokens of the results that stand whole between the cap line and an index."""
        start = max(boundaries.cut, boundaries.cap_line)
        return self.load.tokens(self._results(boundaries, start, stop))

    def _results(self, boundaries: Boundaries, start: int, stop: int) -> Features:
        """Sum the features of messages that are shown at first sight, without what is no result."""
        features = self._part(self.policy.stretches(boundaries)[-1], start, stop)
        return replace(features, other_tokens=0, messages=0, call_tokens=0)

    def _part(self, stretch: Stretch, start: int, stop: int) -> Features:
        """Sum the features where a stretch and a range overlap."""
        first, last = max(stretch.start, start), min(stretch.stop, stop)
        return self.ledger.shown_features(first, last, stretch.cap) if first < last else Features()

    def _newest(self, boundaries: Boundaries) -> Features:
        return self._results(boundaries, max(self.ledger.newest_start(), boundaries.cut), len(self.ledger))

    def settled(self, boundaries: Boundaries) -> Boundaries:
        """Return boundaries as they would stand once the newest results have been seen."""
        if self.policy.old_result_max_bytes is None:
            return boundaries
        return replace(boundaries, cap_line=len(self.ledger))

    def rest_tokens(self, boundaries: Boundaries) -> int:
        """Estimate what a view takes beside its newest results; with a cap line, these shown as they will be later."""
        features = self.features(self.settled(boundaries))
        if self.policy.old_result_max_bytes is None:
            features -= self._newest(boundaries)
        return self.load.tokens(features)

    def unseen_tokens(self, boundaries: Boundaries, limit_tokens: int) -> int:
        """Estimate the newest results, at most what a limit leaves beside the rest of the view."""
        newest = self.load.tokens(self._newest(boundaries))
        return min(newest, max(limit_tokens - self.rest_tokens(boundaries), 0))

    def features(self, boundaries: Boundaries, shrinks: Shrinks = ()) -> Features:
        """Sum what the estimate of a view is made from."""
        ledger, cut, end = self.ledger, boundaries.cut, len(self.ledger)
        lead, stretches = self.lead(cut), self.policy.stretches(boundaries)
        parts = [self._part(stretch, cut, end) for stretch in stretches]
        features = sum((ledger.features(index, index + 1) for index in lead), start=sum(parts, start=Features()))
        for index, max_bytes in shrinks:
            features -= self._saved(index, max_bytes, cap_at(stretches, index))
        note, repairs = self._note(boundaries, lead), self._repairs(cut, lead)
        if note:
            features += ledger.note_features(note)
        added = Features(
            result_tokens=REPAIR_TOKENS // 2 * repairs, other_tokens=REPAIR_TOKENS * repairs, messages=repairs
        )
        return features + added + self.load.features

    def _repairs(self, cut: int, lead: tuple[int, ...]) -> int:
        """Count at most how many blocks the repair of a view adds, a stand-in for its first message among them."""
        first = lead[0] if lead else cut
        headless = first < len(self.ledger) and self.ledger.shapes[first].role != "user"
        shapes = self.ledger.shapes
        unanswered = sum(
            len(set(shapes[i].use_ids) - set(shapes[i + 1].result_ids)) for i in lead if i + 1 < len(shapes)
        )
        return self.ledger.stand_ins(cut, lead) + unanswered + headless

    def lead(self, cut: int) -> tuple[int, ...]:
        """Find what stays from before a cut."""
        return lead_of(self.ledger, cut, pin_first=self.policy.pin_first)

    def _saved(self, index: int, max_bytes: int, cap: Cap | None) -> Features:
        """Return what a message loses when its texts are capped."""
        short = message_features(self.ledger.counter, self.ledger.shown(index, cap, max_bytes))
        return self.ledger.shown_features(index, index + 1, cap) - short

    def shrinkable(self, boundaries: Boundaries) -> Iterator[int]:
        """Yield the messages whose texts may be capped when nothing else helps: prompts, and the newest results."""
        ledger, newest = self.ledger, self.ledger.newest_start()
        kept = set(ledger.pins)
        for index in (*self.lead(boundaries.cut), *range(boundaries.cut, len(ledger))):
            shape = ledger.shapes[index]
            if index in kept or shape.role != "user" or not (shape.prompt or index >= newest):
                continue
            if text_bytes(ledger.messages[index], ledger.shrinkable(index)):
                yield index

    def _note(self, boundaries: Boundaries, lead: tuple[int, ...]) -> str:
        """Word the note of omission, empty where nothing is left out."""
        cut, recall_tool = boundaries.cut, self.ledger.rules.recall_tool
        if cut == len(lead):
            return ""
        ids = self.ledger.last_result_ids(cut, lead, MAX_NAMED_IDS) if recall_tool else ()
        results = self._omitted_results(cut, lead)
        return note_text(cut - len(lead), results, ids=ids, recall_tool=recall_tool, said=boundaries.said)

    def _omitted_results(self, cut: int, lead: tuple[int, ...]) -> int:
        count = self.ledger.result_count
        return count(0, cut) - sum(count(index, index + 1) for index in lead)

    def plan(self, boundaries: Boundaries, reason: Reason, shrinks: Shrinks = ()) -> Plan:
        """Freeze a decision."""
        ledger, calibration = self.ledger, self.load.calibration
        lead = self.lead(boundaries.cut)
        features = self.features(boundaries, shrinks)
        stretches = self.policy.stretches(boundaries)
        capped = list(self._capped(stretches))
        log = ledger.features(0, len(ledger)) + self.load.features
        return Plan(
            reason=reason,
            boundaries=boundaries,
            stretches=stretches,
            lead=lead,
            shrinks=shrinks,
            log_messages=len(ledger),
            omitted_messages=boundaries.cut - len(lead),
            omitted_results=self._omitted_results(boundaries.cut, lead),
            note=self._note(boundaries, lead),
            capped_results=sum(entry.results for entry in capped) + self._shrunk_results(shrinks),
            dropped_bytes=sum(entry.dropped_bytes for entry in capped) + self._shrunk_bytes(shrinks, stretches),
            replaced_media=ledger.media.total_replaced(boundaries.cut, lead),
            features=features,
            log_tokens=calibration.estimate(log),
            view_tokens=calibration.estimate(features),
        )

    def _capped(self, stretches: tuple[Stretch, ...]) -> Iterator[Capped]:
        """Yield the messages of a view that have results or calls at a level."""
        ledger = self.ledger
        for part in stretches:
            if (cap := part.cap) is None:
                continue
            for index in range(part.start, min(part.stop, len(ledger))):
                shape = ledger.shapes[index]
                if shape.result_ids or (shape.use_ids and cap.input_max_bytes is not None):
                    yield ledger.capped(index, cap)

    def _shrunk_results(self, shrinks: Shrinks) -> int:
        return sum(len(self.ledger.shapes[index].result_ids) for index, _ in shrinks)

    def shown_weight(self, index: int, boundaries: Boundaries) -> int:
        """Weigh what of a message may be capped, as the view shows it so far: texts in bytes, media by their tokens."""
        cap = cap_at(self.policy.stretches(boundaries), index)
        return text_bytes(self.ledger.shown(index, cap), self.ledger.shrinkable(index), media_weight)

    def _shrunk_bytes(self, shrinks: Shrinks, stretches: tuple[Stretch, ...]) -> int:
        shown, total = self.ledger.shown, 0
        for index, max_bytes in shrinks:
            cap, ids = cap_at(stretches, index), self.ledger.shrinkable(index)
            saved = text_bytes(shown(index, cap), ids) - text_bytes(shown(index, cap, max_bytes), ids)
            total += max(saved, 0)  # an image of a few bytes takes hundreds of tokens, and its line more bytes
        return total

    def error(self, boundaries: Boundaries, shrinks: Shrinks, budget_tokens: int) -> BudgetError:
        """Make the error that says what does not fit."""
        load = self.load
        system = load.tokens(Features(fixed_tokens=load.system_tokens))
        tools = load.tokens(Features(fixed_tokens=load.tools_tokens))
        newest = max(self.tokens(boundaries, shrinks) - system - tools, 0)
        return BudgetError(budget_tokens=budget_tokens, system_tokens=system, tools_tokens=tools, newest_tokens=newest)
