"""Messages, budget, state and counter to a plan. Every decision about a view is made here, by pure functions.

The tiers, each only if the one before was not enough: the log; results before the cap line shown capped; older
messages left out; texts of the newest messages capped; :class:`~strands_ctx.errors.BudgetError`.
"""

from __future__ import annotations

from dataclasses import replace

from .capping.text import MIN_CAP_BYTES
from .drafts import Drafts, Load
from .ledger.ledger import Ledger
from .plans import Boundaries, Limits, Plan, Policy, Reason, Shrinks
from .selection import select_cut
from .shares import fair_shares

KEPT_RATIO = 0.75
"""Share of a hard limit that older messages may fill before they give way to a large newest result."""

UNSEEN_RATIO = 0.05
"""Share of the newest results left free when they are capped to fill a limit, beside the margin of the estimate."""

MAX_ROUNDS = 4
"""How often a plan is made anew because other images and documents are shown than it was made for."""

RETURN_RATIO = 0.85
"""Share of the trigger below which a log that was cut is sent whole again: a scale that wavers must not undo a cut."""


def plan_view(
    ledger: Ledger, load: Load, policy: Policy, limits: Limits, standing: Boundaries, *, may_move: bool = True
) -> Plan:
    """Decide what one model call is sent.

    The same arguments give the same plan; a plan's boundaries, given back as ``standing``, give it again. Boundaries
    never move back until the log is clearly under the trigger again, as after its results were capped.

    Args:
        ledger: The log.
        load: What is sent besides it, and the model's scale.
        policy: What the manager was asked for.
        limits: The limits of this call.
        standing: The boundaries of the last plan for this log.
        may_move: Whether boundaries may move although the standing view fits the hard limit.

    Returns:
        The plan; its estimate is within ``limits.hard_tokens``.

    Raises:
        BudgetError: If the task and the newest cycle, capped as far as they can be, do not fit.
    """
    drafts, everything = Drafts(ledger, load, policy), Boundaries()
    standing = _under(policy, standing, len(ledger))
    _limit_media(drafts, everything)
    enough = limits.trigger_tokens if standing == everything else int(limits.trigger_tokens * RETURN_RATIO)
    if drafts.tokens(everything) <= enough:
        return drafts.plan(everything, "log")
    _limit_media(drafts, standing)
    plan = _plan(drafts, limits, standing, may_move=may_move)
    for _ in range(MAX_ROUNDS):
        if not _limit_media(drafts, plan.boundaries):
            break
        plan = replace(_plan(drafts, limits, plan.boundaries, may_move=may_move), reason=plan.reason)
    return plan


def _limit_media(drafts: Drafts, boundaries: Boundaries) -> bool:
    """Replace what is too many of the images and documents that boundaries show; tell whether that changed anything."""
    return drafts.ledger.limit_media(drafts.policy.stretches(boundaries), drafts.lead(boundaries.cut))


def _plan(drafts: Drafts, limits: Limits, standing: Boundaries, *, may_move: bool) -> Plan:
    if not may_move and drafts.tokens(standing) <= limits.hard_tokens:
        return drafts.plan(standing, "standing")
    boundaries = _under(drafts.policy, _advance(drafts, limits, standing), len(drafts.ledger))
    if drafts.tokens(boundaries) <= limits.hard_tokens:
        return drafts.plan(boundaries, _moved(standing, boundaries))
    shrinks = _shrink(drafts, boundaries, limits)
    return drafts.plan(boundaries, "newest" if shrinks else _moved(standing, boundaries), shrinks)


def _under(policy: Policy, standing: Boundaries, end: int) -> Boundaries:
    """Bring boundaries that another policy may have drawn under this one: the arguments of today hold."""
    cut = min(standing.cut, end) if policy.cuts else 0
    line, own, level = min(standing.cap_line, end), policy.old_result_max_bytes, standing.old_max_bytes
    if own is None or line <= cut or level is None:
        return Boundaries(cut, cut, said=standing.said if cut else "")
    errors = min(standing.error_line, line)
    return Boundaries(cut, line, own if policy.cuts else max(min(level, own), MIN_CAP_BYTES), errors, standing.said)


def _moved(standing: Boundaries, boundaries: Boundaries) -> Reason:
    if boundaries == standing:
        return "standing"
    return "cut" if boundaries.cut > standing.cut else "cap_line"


def _advance(drafts: Drafts, limits: Limits, standing: Boundaries) -> Boundaries:
    """Move the boundaries as little as the limits and the policy ask."""
    policy, capped = drafts.policy, standing
    newest = max(drafts.ledger.newest_start(), standing.cut)
    if policy.old_result_max_bytes is not None:
        level = standing.old_max_bytes or policy.old_result_max_bytes
        follow = drafts.whole_tokens(standing, newest) > policy.recent_tokens
        if follow or drafts.tokens(standing) > limits.trigger_tokens:
            capped = replace(standing, cap_line=max(newest, standing.cap_line), old_max_bytes=level)
    if _is_enough(drafts, limits, capped):
        return capped
    if policy.old_result_max_bytes is not None:
        capped = replace(capped, error_line=capped.cap_line)
    if _is_enough(drafts, limits, capped):
        return capped
    return _cut(drafts, limits, capped) if policy.cuts else _lower(drafts, limits, capped)


def _is_enough(drafts: Drafts, limits: Limits, capped: Boundaries) -> bool:
    """Tell whether boundaries do without leaving messages out."""
    fits = drafts.tokens(capped) <= limits.trigger_tokens
    return fits or drafts.rest_tokens(capped) <= _keepable(drafts.policy, limits)


def _keepable(policy: Policy, limits: Limits) -> int:
    """Return up to which size older messages are kept, although the newest results push the view over its limit.

    A large newest result is no reason to lose older messages for good: with a cap line it is small in the next call,
    and where it is larger than everything else, a cut would hardly help. What still exceeds the hard limit is then
    capped in the newest results.
    """
    if policy.old_result_max_bytes is None:
        return min(limits.target_tokens, limits.trigger_tokens // 2)
    if limits.trigger_tokens < limits.hard_tokens:
        return limits.trigger_tokens
    return int(limits.trigger_tokens * KEPT_RATIO)


def _cut(drafts: Drafts, limits: Limits, capped: Boundaries) -> Boundaries:
    """Leave out older messages, down to the target: its share of the room that system prompt and tools leave."""
    fixed = drafts.load.fixed_tokens
    cut = select_cut(
        drafts.ledger,
        lambda start: drafts.tokens(drafts.settled(capped.from_cut(start))) - fixed,
        stop=capped.cut,
        target_tokens=limits.target_tokens - fixed * limits.target_tokens // max(limits.trigger_tokens, 1),
        max_user_turns=drafts.policy.max_user_turns,
    )
    return capped.from_cut(cut)


def _lower(drafts: Drafts, limits: Limits, capped: Boundaries) -> Boundaries:
    """Halve the cap of old results until they fit, where nothing may be left out."""
    while capped.old_max_bytes is not None and drafts.tokens(capped) > limits.trigger_tokens:
        if capped.old_max_bytes == MIN_CAP_BYTES:
            break
        capped = replace(capped, old_max_bytes=max(capped.old_max_bytes // 2, MIN_CAP_BYTES))
    return capped


def _shrink(drafts: Drafts, boundaries: Boundaries, limits: Limits) -> Shrinks:
    """Share what is left among the texts of the newest messages and the prompts, small ones whole.

    What is filled up to the limit is text that no bill has covered yet, so some of its size is left free.
    """
    goal = limits.hard_tokens - int(drafts.unseen_tokens(boundaries, limits.hard_tokens) * UNSEEN_RATIO)
    candidates = tuple(drafts.shrinkable(boundaries))
    sizes = [drafts.shown_weight(index, boundaries) for index in candidates]
    total, least = sum(sizes), MIN_CAP_BYTES * len(candidates)
    smallest = tuple((index, MIN_CAP_BYTES) for index in candidates)
    least_tokens = drafts.tokens(boundaries, smallest)
    if least_tokens > limits.hard_tokens:
        raise drafts.error(boundaries, smallest, limits.hard_tokens)
    tokens = drafts.tokens(boundaries)
    while total > least and least_tokens <= goal:
        total = int(total * min(goal / tokens, 0.95))
        shares = fair_shares(sizes, total)
        shrinks = tuple(
            (index, max(share, MIN_CAP_BYTES))
            for index, size, share in zip(candidates, sizes, shares, strict=True)
            if share < size
        )
        tokens = drafts.tokens(boundaries, shrinks)
        if tokens <= goal:
            return shrinks
    return smallest
