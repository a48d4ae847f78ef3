"""Tiers before every model call: for runs of many calls with large results."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from strands_ctx.capping.results import check_cap
from strands_ctx.errors import ConfigError
from strands_ctx.plans import Policy
from strands_ctx.types import TokenCounter

from ._base import OnReceipt, ViewManager
from ._limits import Budget, check_target, count, positive, threshold_ratio
from ._log_caps import LogCaps
from ._omitting import OnOmit
from ._tool_rules import MAX_MEDIA, cap_rules

WORKING_SET_TOKENS = 40_000
"""The soft budget where none is explicit. See docs/benchmarks.md for the measurement that chose it."""


RECENT_TOKENS = 12_000
"""How much of results that were seen stays whole. Chosen by the same measurement."""


class PerTurnManager(ViewManager):
    """Keeps the newest results whole, shows older ones capped, and leaves out the oldest messages last.

    While the log fits, it is sent as it is. Above that, results that a call has carried are shown capped once those
    still whole exceed ``recent_tokens``, so that every result is seen whole once where the hard limit has room for it.
    If that is not enough, older messages are left out down to the target, with a note; then the newest texts are
    capped; then the call fails with a breakdown.

    Args:
        budget_tokens: The hard limit of view, system prompt and tools, in tokens. None: a soft working set of 40,000,
            which the newest cycle, system prompt and tools may exceed up to what the model's window has room for.
        target_tokens: What a cut leaves, in tokens. None: 0.3 of the budget.
        recent_tokens: How much of results that were seen stays whole, in tokens.
        old_result_max_bytes: The cap of older results in the view, in bytes, at least 64.
        first_sight_max_bytes: Cap in bytes of results that no call has carried yet: cheaper, never whole. None: no
            cap.
        old_input_max_bytes: The cap of the inputs of older tool calls in the view, in bytes, at least 64. None: no cap.
        per_tool_max_bytes: Caps in bytes by name of tool, in place of any other cap of a result.
        per_turn: Whether boundaries may move before every model call, or before every n-th.
        max_user_turns: How many turns a cut leaves at most; it forces no cut by itself.
        pin_first: How many messages at the start stay in every view.
        exempt_tools: Names of tools whose results are never capped.
        max_bytes_per_result: Cap in bytes of tool results in the log, after the run that they belong to. None: no
            cap.
        max_bytes_per_message: Cap in bytes of the results of parallel calls together, in the log, after the run.
        max_media_per_request: How many images and documents a view holds at most; the newest stay, older ones become
            a line of text. None: no limit.
        counter: Counts tokens. None: :class:`~strands_ctx.TiktokenCounter`.
        recall_tool: Name of a tool that reads whole results by id, such as ``ToolResultBank.as_tool`` makes: its own
            results are capped last of all, and notes and capped results name the ids that it takes.
        on_receipt: Called with each receipt when its call has ended.
        on_omit: Called once per cut with copies of the messages that the view newly leaves out, as for a summary or a
            long-term memory; it may be async. A text that it returns stands in the note, up to 4,000 bytes of it.
        proactive_compression: As in Strands: a boundary also moves above this share of the window.

    Raises:
        ConfigError: If a size is not positive, a cap is under 64 bytes, sizes contradict each other, or ``per_turn``
            is 0, negative or False.

    Example:
        >>> from strands_ctx import PerTurnManager
        >>> manager = PerTurnManager(30_000, recent_tokens=4_000, old_result_max_bytes=400)
    """

    def __init__(
        self,
        budget_tokens: int | None = None,
        *,
        target_tokens: int | None = None,
        recent_tokens: int = RECENT_TOKENS,
        old_result_max_bytes: int = 600,
        first_sight_max_bytes: int | None = None,
        old_input_max_bytes: int | None = None,
        per_tool_max_bytes: Mapping[str, int] | None = None,
        per_turn: bool | int = True,
        max_user_turns: int | None = None,
        pin_first: int | None = None,
        exempt_tools: Collection[str] = (),
        max_bytes_per_result: int | None = None,
        max_bytes_per_message: int | None = None,
        max_media_per_request: int | None = MAX_MEDIA,
        counter: TokenCounter | None = None,
        recall_tool: str | None = None,
        on_receipt: OnReceipt | None = None,
        on_omit: OnOmit | None = None,
        proactive_compression: bool | Mapping[str, Any] | None = None,
    ) -> None:
        """Check the arguments."""
        check_cap("old_result_max_bytes", old_result_max_bytes)
        check_cap("first_sight_max_bytes", first_sight_max_bytes, optional=True)
        check_cap("old_input_max_bytes", old_input_max_bytes, optional=True)
        check_cap("max_bytes_per_result", max_bytes_per_result, optional=True)
        check_cap("max_bytes_per_message", max_bytes_per_message, optional=True)
        rules = cap_rules(
            old_result_max_bytes,
            exempt_tools=exempt_tools,
            per_tool_max_bytes=per_tool_max_bytes,
            recall_tool=recall_tool,
        )
        if first_sight_max_bytes is not None and first_sight_max_bytes < old_result_max_bytes:
            raise ConfigError(
                "first_sight_max_bytes",
                first_sight_max_bytes,
                f"must be at least old_result_max_bytes ({old_result_max_bytes:,}), or older results would show more",
            )
        check_target(
            positive("budget_tokens", budget_tokens) or WORKING_SET_TOKENS,
            positive("target_tokens", target_tokens),
            "budget_tokens" if budget_tokens else "the working set",
        )
        super().__init__(
            policy=Policy(
                old_result_max_bytes=old_result_max_bytes,
                recent_tokens=_recent(recent_tokens, budget_tokens),
                first_sight_max_bytes=first_sight_max_bytes,
                old_input_max_bytes=old_input_max_bytes,
                max_user_turns=positive("max_user_turns", max_user_turns),
                pin_first=count("pin_first", pin_first),
            ),
            budget=Budget(
                budget_tokens=budget_tokens,
                target_tokens=target_tokens,
                working_set_tokens=WORKING_SET_TOKENS,
                threshold_ratio=threshold_ratio(proactive_compression),
            ),
            per_turn=_every(per_turn),
            counter=counter,
            on_receipt=on_receipt,
            on_omit=on_omit,
            log_caps=LogCaps(rules, max_bytes_per_result, max_bytes_per_message),
            max_media=max_media_per_request,
        )


def _recent(recent_tokens: int, budget_tokens: int | None) -> int:
    """Check the size of what stays whole; a budget that is smaller than the default bounds it by itself."""
    recent = count("recent_tokens", recent_tokens)
    if budget_tokens is not None and recent > budget_tokens and recent != RECENT_TOKENS:
        raise ConfigError("recent_tokens", recent_tokens, f"must be at most budget_tokens ({budget_tokens:,})")
    return recent


def _every(per_turn: bool | int) -> int:
    if per_turn is True:
        return 1
    if isinstance(per_turn, bool) or not isinstance(per_turn, int) or per_turn <= 0:
        raise ConfigError("per_turn", per_turn, "must be True or a whole number above 0")
    return per_turn
