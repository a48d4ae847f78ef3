"""The frozen decision for one call, and what it was decided from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

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


@dataclass(frozen=True, slots=True)
class Boundaries:
    """What stands from one call to the next.

    Attributes:
        cut: Messages before this index are not in the view, the lead apart.
        cap_line: Results before this index are shown capped.
        old_max_bytes: The cap of results before the cap line, in bytes.
    """

    cut: int = 0
    cap_line: int = 0
    old_max_bytes: int | None = None


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
        max_user_turns: How many turns a cut may leave, or None.
        pin_first: How many messages at the start count as pinned.
    """

    cuts: bool = True
    old_result_max_bytes: int | None = None
    recent_tokens: int = 0
    first_sight_max_bytes: int | None = None
    max_user_turns: int | None = None
    pin_first: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """The frozen decision for one call.

    Attributes:
        reason: Why the view is what it is.
        boundaries: What stands for the next call.
        first_sight_max_bytes: The cap of results from the cap line on, or None.
        lead: Indices of the messages before the cut that stay.
        shrinks: Indices of newest messages whose texts are capped, with the bytes that they get.
        log_messages: How many messages the log has.
        omitted_messages: How many of them the view leaves out.
        omitted_results: How many tool results these hold.
        capped_results: How many results of the view are capped.
        dropped_bytes: How many bytes these caps leave out.
        features: What the view's tokens are estimated from.
        log_tokens: Estimate of the whole log with system prompt and tools.
        view_tokens: Estimate of the view with system prompt and tools.
    """

    reason: Reason
    boundaries: Boundaries
    first_sight_max_bytes: int | None
    lead: tuple[int, ...]
    shrinks: Shrinks
    log_messages: int
    omitted_messages: int
    omitted_results: int
    capped_results: int
    dropped_bytes: int
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

    def cap_at(self, index: int) -> int | None:
        """Return the cap of the results of one message of the view, in bytes, or None."""
        if index < self.boundaries.cut:
            return None
        return self.boundaries.old_max_bytes if index < self.boundaries.cap_line else self.first_sight_max_bytes
