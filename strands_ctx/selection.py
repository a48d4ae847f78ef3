"""Where a view may begin, and the longest unbroken suffix of a log that fits a number of tokens.

Nothing is decided here about when to cut: that is :mod:`strands_ctx.policies`.
"""

from __future__ import annotations

from collections.abc import Callable

from .ledger.ledger import Ledger
from .messages import pair_partners

Measure = Callable[[int], int]
"""Estimates the tokens of the view that begins at an index: its lead, its note, and what is sent besides messages."""


def lead_of(ledger: Ledger, cut: int, *, pin_first: int = 0) -> tuple[int, ...]:
    """Find what a view keeps from before a cut: pinned messages, and the task when the cut falls inside its turn.

    Args:
        ledger: The log.
        cut: The index before which messages are left out.
        pin_first: How many messages at the start count as pinned.

    Returns:
        Indices below ``cut``, in order.
    """
    if not cut:
        return ()
    kept = {index for index in ledger.pins if index < cut}
    for index in range(min(pin_first, cut)):
        kept.update((index, *(partner for partner in pair_partners(ledger.shapes, index) if partner < cut)))
    if cut < len(ledger) and not ledger.opens_turn(cut) and (task := ledger.turn_of(cut)) is not None:
        kept.add(task)
    return tuple(sorted(kept))


def select_cut(
    ledger: Ledger, measure: Measure, *, stop: int, target_tokens: int, max_user_turns: int | None = None
) -> int:
    """Select the cut whose view is the longest within a target.

    Whole turns are left out. Where that would leave less than half of the target used, the cut falls inside the
    oldest kept turn instead. The newest cycle always stays, whatever it takes.

    Args:
        ledger: The log.
        measure: Tokens of the view that begins at an index.
        stop: The standing cut; a cut never moves back.
        target_tokens: What the view may take.
        max_user_turns: How many turns may stay, or None.

    Returns:
        An index at which a view may begin, at least ``stop``.
    """
    newest = max(ledger.newest_start(), stop)
    best, best_turn, turn_tokens, turns = newest, None, 0, 0
    for start in ledger.starts_backwards(stop):
        opens = ledger.opens_turn(start)
        tokens = measure(start)
        if tokens > target_tokens:
            break
        best = start
        if opens:
            best_turn, turn_tokens, turns = start, tokens, turns + 1
            if max_user_turns is not None and turns >= max_user_turns:
                break
    if best_turn is not None and (2 * turn_tokens >= target_tokens or turns == max_user_turns):
        return best_turn
    return best
