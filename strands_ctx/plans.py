"""The frozen decision for one call, and what it was decided from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from .capping.rules import Cap
from .tokens.features import Features

Reason: TypeAlias = Literal["log", "standing", "cap_line", "cut", "newest", "overflow"]
"""Why a view is what it is.

``log``: everything fits. ``standing``: nothing moved. ``cap_line``, ``cut``: that boundary moved. ``newest``:
content of the newest messages had to be capped. ``overflow``: the provider refused the view before.
"""

Shrinks: TypeAlias = tuple[tuple[int, int], ...]
"""Indices of messages whose texts are capped together, with the bytes that they get."""

UNLIMITED_TOKENS = 2**53
"""A limit that no view reaches, for managers without a budget."""

ENDLESS = 2**53
"""The index after the last message of a log that may still grow."""


@dataclass(frozen=True, slots=True)
class Boundaries:
    """What stands from one call to the next.

    Attributes:
        cut: Messages before this index are not in the view, the lead apart.
        cap_line: Results before this index are shown capped.
        old_max_bytes: The cap of results before the cap line, in bytes.
        error_line: Before this index results that report an error are capped too; at most the cap line.
        said: What the app said of the messages before the cut; it stands in the note.
    """

    cut: int = 0
    cap_line: int = 0
    old_max_bytes: int | None = None
    error_line: int = 0
    said: str = ""

    def from_cut(self, cut: int) -> Boundaries:
        """Move the cut; the cap line is never before it."""
        return replace(self, cut=cut, cap_line=max(self.cap_line, cut))


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one call, in tokens of its model.

    Attributes:
        trigger_tokens: Above this a boundary moves.
        target_tokens: What a cut leaves at most, when it moves.
        hard_tokens: Above this the call can't be made.
    """

    trigger_tokens: int
    target_tokens: int
    hard_tokens: int

    @property
    def known_hard_tokens(self) -> int | None:
        """The hard limit, None where only what the provider refuses is too large."""
        return self.hard_tokens if self.hard_tokens < UNLIMITED_TOKENS else None

    def within(self, tokens: int) -> Limits:
        """Return the limits lowered to a number of tokens, the target in proportion."""
        if tokens >= self.hard_tokens:
            return self
        trigger = min(self.trigger_tokens, tokens)
        target = max(self.target_tokens * trigger // max(self.trigger_tokens, 1), 1)
        return Limits(trigger, target, tokens)


@dataclass(frozen=True, slots=True)
class Policy:
    """What a manager's arguments ask of a plan.

    Attributes:
        cuts: Whether messages may be left out.
        old_result_max_bytes: The cap of results before the cap line; None where no cap line is drawn.
        recent_tokens: How much of results that were seen may stay whole before the cap line follows.
        first_sight_max_bytes: The cap of results that no call has carried yet, or None.
        old_input_max_bytes: The cap of the inputs of tool calls before the cap line, or None.
        max_user_turns: How many turns a cut may leave, or None.
        pin_first: How many messages at the start count as pinned.
    """

    cuts: bool = True
    old_result_max_bytes: int | None = None
    recent_tokens: int = 0
    first_sight_max_bytes: int | None = None
    old_input_max_bytes: int | None = None
    max_user_turns: int | None = None
    pin_first: int = 0

    def stretches(self, boundaries: Boundaries) -> tuple[Stretch, ...]:
        """Divide a view at its boundaries; the last stretch goes on for ever."""
        cut, line, old = boundaries.cut, max(boundaries.cut, boundaries.cap_line), boundaries.old_max_bytes
        errors = min(max(boundaries.error_line, cut), line)
        inputs, first = self.old_input_max_bytes, self.first_sight_max_bytes
        return (
            Stretch(cut, errors, None if old is None else Cap(old, input_max_bytes=inputs)),
            Stretch(errors, line, None if old is None else Cap(old, spares_errors=True, input_max_bytes=inputs)),
            Stretch(line, ENDLESS, None if first is None else Cap(first, spares_errors=True)),
        )


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive messages of a log that a view shows at one level.

    Attributes:
        start: Index of the first.
        stop: Index after the last.
        cap: The level, or None where they are shown whole.
    """

    start: int
    stop: int
    cap: Cap | None


@dataclass(frozen=True, slots=True)
class Plan:
    """The frozen decision for one call.

    Attributes:
        reason: Why the view is what it is.
        boundaries: What stands for the next call.
        stretches: At which level each part of the view from the cut on is shown.
        lead: Indices of the messages before the cut that stay.
        shrinks: Indices of newest messages whose texts are capped, with the bytes that they get.
        log_messages: How many messages the log has.
        omitted_messages: How many of them the view leaves out.
        omitted_results: How many tool results these hold.
        note: What the view says of that; empty where nothing is left out.
        capped_results: How many results of the view are capped.
        dropped_bytes: How many bytes these caps leave out.
        replaced_media: How many images and documents are shown as a line of text, so that there are not too many.
        features: What the view's tokens are estimated from.
        log_tokens: Estimate of the whole log with system prompt and tools.
        view_tokens: Estimate of the view with system prompt and tools.
    """

    reason: Reason
    boundaries: Boundaries
    stretches: tuple[Stretch, ...]
    lead: tuple[int, ...]
    shrinks: Shrinks
    log_messages: int
    omitted_messages: int
    omitted_results: int
    note: str
    capped_results: int
    dropped_bytes: int
    replaced_media: int
    features: Features
    log_tokens: int
    view_tokens: int

    @property
    def cut(self) -> int:
        """The index before which messages are left out."""
        return self.boundaries.cut

    @property
    def cap_line(self) -> int:
        """The index before which results are shown capped."""
        return self.boundaries.cap_line

    def cap_at(self, index: int) -> Cap | None:
        """Return the level at which one message of the view is shown, or None where it is shown whole."""
        return cap_at(self.stretches, index)


def cap_at(stretches: tuple[Stretch, ...], index: int) -> Cap | None:
    """Find the level of a message; what lies before all stretches is shown whole."""
    return next((stretch.cap for stretch in stretches if stretch.start <= index < stretch.stop), None)
