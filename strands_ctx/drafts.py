"""What a view would take and hold, for boundaries that are only being considered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .capping import text_bytes
from .errors import BudgetError
from .ledger import Capped, Ledger
from .plans import Boundaries, Plan, Policy, Reason, Shrinks
from .selection import lead_of
from .tokens.calibration import Calibration
from .tokens.features import Features, message_features
from .types import Message
from .view import note_text

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
    def fixed_tokens(self) -> int:
        """Estimate of the system prompt and the tools, with the margin."""
        return self.tokens(Features(fixed_tokens=self.system_tokens + self.tools_tokens))


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

    def cut_at(self, boundaries: Boundaries, start: int) -> Boundaries:
        """Move the cut of boundaries to an index; the cap line is never before it."""
        return Boundaries(start, max(boundaries.cap_line, start), boundaries.old_max_bytes)

    def tokens(self, boundaries: Boundaries, shrinks: Shrinks = ()) -> int:
        """Estimate the tokens of a view with system prompt and tools, margin included."""
        return self.load.tokens(self.features(boundaries, shrinks))

    def whole_tokens(self, boundaries: Boundaries, stop: int) -> int:
        """Estimate the tokens of the results that stand whole between the cap line and an index."""
        start = max(boundaries.cut, boundaries.cap_line)
        return self.load.tokens(self._results(start, stop))

    def _results(self, start: int, stop: int) -> Features:
        """Sum the features of messages at first sight, without what is no result."""
        features = self.ledger.shown_features(start, max(start, stop), self.policy.first_sight_max_bytes)
        return replace(features, other_tokens=0, messages=0)

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

    def _newest(self, boundaries: Boundaries) -> Features:
        return self._results(max(self.ledger.newest_start(), boundaries.cut), len(self.ledger))

    def features(self, boundaries: Boundaries, shrinks: Shrinks = ()) -> Features:
        """Sum what the estimate of a view is made from."""
        ledger, policy, end = self.ledger, self.policy, len(self.ledger)
        cut, line = boundaries.cut, min(max(boundaries.cut, boundaries.cap_line), end)
        lead = self.lead(cut)
        features = ledger.shown_features(cut, line, boundaries.old_max_bytes)
        features += ledger.shown_features(line, end, policy.first_sight_max_bytes)
        for index in lead:
            features += ledger.features(index, index + 1)
        for index, max_bytes in shrinks:
            features -= self._saved(index, max_bytes, boundaries)
        fixed, other = self.load.system_tokens + self.load.tools_tokens, 0
        if omitted := cut - len(lead):
            other = ledger.counter.count_text(note_text(omitted, self._omitted_results(cut, lead)))
        repairs = self._repairs(cut, lead)
        return features + Features(REPAIR_TOKENS // 2 * repairs, other + REPAIR_TOKENS * repairs, fixed_tokens=fixed)

    def _repairs(self, cut: int, lead: tuple[int, ...]) -> int:
        """Count at most how many blocks the repair of a view adds, a stand-in for its first message among them."""
        first = lead[0] if lead else cut
        headless = first < len(self.ledger) and self.ledger.shapes[first].role != "user"
        shapes = self.ledger.shapes
        unanswered = sum(
            len(set(shapes[i].use_ids) - set(shapes[i + 1].result_ids)) for i in lead if i + 1 < len(shapes)
        )
        return self.ledger.stand_ins(cut) + unanswered + headless

    def lead(self, cut: int) -> tuple[int, ...]:
        """Find what stays from before a cut."""
        return lead_of(self.ledger, cut, pin_first=self.policy.pin_first)

    def _saved(self, index: int, max_bytes: int, boundaries: Boundaries) -> Features:
        """Return what a message loses when its texts are capped."""
        shown = self.ledger.shown_features(index, index + 1, self._cap_at(index, boundaries))
        return shown - message_features(self.ledger.counter, self._shrunk(index, max_bytes, boundaries))

    def _shrunk(self, index: int, max_bytes: int, boundaries: Boundaries) -> Message:
        return self.ledger.shown(index, self._cap_at(index, boundaries), max_bytes)

    def _cap_at(self, index: int, boundaries: Boundaries) -> int | None:
        if index < boundaries.cut:
            return None
        return boundaries.old_max_bytes if index < boundaries.cap_line else self.policy.first_sight_max_bytes

    def shrinkable(self, boundaries: Boundaries) -> Iterator[int]:
        """Yield the messages whose texts may be capped when nothing else helps: prompts, and the newest results."""
        ledger, newest = self.ledger, self.ledger.newest_start()
        kept = set(ledger.pins)
        for index in (*self.lead(boundaries.cut), *range(boundaries.cut, len(ledger))):
            shape = ledger.shapes[index]
            if index in kept or shape.role != "user" or not (shape.prompt or index >= newest):
                continue
            if text_bytes(ledger.messages[index], ledger.caps_for(index, 0)):
                yield index

    def _omitted_results(self, cut: int, lead: tuple[int, ...]) -> int:
        count = self.ledger.result_count
        return count(0, cut) - sum(count(index, index + 1) for index in lead)

    def plan(self, boundaries: Boundaries, reason: Reason, shrinks: Shrinks = ()) -> Plan:
        """Freeze a decision."""
        ledger, calibration = self.ledger, self.load.calibration
        lead = self.lead(boundaries.cut)
        features = self.features(boundaries, shrinks)
        capped = list(self._capped(boundaries))
        log = ledger.features(0, len(ledger)) + Features(fixed_tokens=self.load.system_tokens + self.load.tools_tokens)
        return Plan(
            reason=reason,
            boundaries=boundaries,
            first_sight_max_bytes=self.policy.first_sight_max_bytes,
            lead=lead,
            shrinks=shrinks,
            log_messages=len(ledger),
            omitted_messages=boundaries.cut - len(lead),
            omitted_results=self._omitted_results(boundaries.cut, lead),
            capped_results=sum(entry.results for entry in capped) + self._shrunk_results(shrinks),
            dropped_bytes=sum(entry.dropped_bytes for entry in capped) + self._shrunk_bytes(shrinks, boundaries),
            features=features,
            log_tokens=calibration.estimate(log),
            view_tokens=calibration.estimate(features),
        )

    def _capped(self, boundaries: Boundaries) -> Iterator[Capped]:
        """Yield the messages of a view whose results are capped."""
        ledger, end = self.ledger, len(self.ledger)
        line = min(max(boundaries.cut, boundaries.cap_line), end)
        parts = (boundaries.cut, line, boundaries.old_max_bytes), (line, end, self.policy.first_sight_max_bytes)
        for start, stop, max_bytes in parts:
            if max_bytes is not None:
                yield from (ledger.capped(i, max_bytes) for i in range(start, stop) if ledger.shapes[i].result_ids)

    def _shrunk_results(self, shrinks: Shrinks) -> int:
        return sum(len(self.ledger.shapes[index].result_ids) for index, _ in shrinks)

    def shown_bytes(self, index: int, boundaries: Boundaries) -> int:
        """Count the bytes of a message's texts that may be capped, as the view shows them so far."""
        ids = self.ledger.caps_for(index, 0)
        return text_bytes(self.ledger.shown(index, self._cap_at(index, boundaries)), ids)

    def _shrunk_bytes(self, shrinks: Shrinks, boundaries: Boundaries) -> int:
        return sum(
            self.shown_bytes(index, boundaries) - text_bytes(self._shrunk(index, max_bytes, boundaries))
            for index, max_bytes in shrinks
        )

    def error(self, boundaries: Boundaries, shrinks: Shrinks, budget_tokens: int) -> BudgetError:
        """Make the error that says what does not fit."""
        load = self.load
        system = load.tokens(Features(fixed_tokens=load.system_tokens))
        tools = load.tokens(Features(fixed_tokens=load.tools_tokens))
        newest = max(self.tokens(boundaries, shrinks) - system - tools, 0)
        return BudgetError(budget_tokens=budget_tokens, system_tokens=system, tools_tokens=tools, newest_tokens=newest)
