"""The longest suffix of the log that fits a budget."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from strands_ctx.capping.results import check_cap
from strands_ctx.plans import Policy
from strands_ctx.types import TokenCounter

from ._base import OnReceipt, ViewManager
from ._limits import Budget, check_target, count, positive, threshold_ratio
from ._log_caps import LogCaps
from ._omitting import OnOmit
from ._tool_rules import MAX_MEDIA, cap_rules


class BudgetSuffixManager(ViewManager):
    """Sends the longest suffix of turns, and inside a long turn of cycles, that fits a budget of tokens.

    While the log fits, it is sent as it is, byte for byte. When it does not, the view is cut down to the target once
    and then grows again, so that a prompt cache is rewritten rarely. The task of a turn that is cut stays, and a
    note says how much is not shown. The log is never touched, unless ``max_bytes_per_result`` asks for caps of
    finished runs.

    Args:
        budget_tokens: The hard limit of view, system prompt and tools together, in tokens. None: the model's window
            less its configured output less 2 %.
        target_tokens: What a cut leaves, in tokens. None: 0.3 of the budget. Above 0.7 of it a warning names the
            price.
        max_user_turns: How many turns a cut leaves at most; it forces no cut by itself.
        pin_first: How many messages at the start stay in every view.
        max_bytes_per_result: Cap in bytes of tool results in the log, after the run that they belong to. None: no
            cap.
        max_bytes_per_message: Cap in bytes of the results of parallel calls together, in the log, after the run.
        per_tool_max_bytes: Caps in bytes by name of tool, in place of ``max_bytes_per_result``.
        exempt_tools: Names of tools whose results are never capped.
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
        ConfigError: If a size is not positive, a cap is under 64 bytes, or the target is above the budget.

    Example:
        >>> from strands_ctx import BudgetSuffixManager
        >>> manager = BudgetSuffixManager(60_000, max_user_turns=20)
    """

    def __init__(
        self,
        budget_tokens: int | None = None,
        *,
        target_tokens: int | None = None,
        max_user_turns: int | None = None,
        pin_first: int | None = None,
        max_bytes_per_result: int | None = None,
        max_bytes_per_message: int | None = None,
        per_tool_max_bytes: Mapping[str, int] | None = None,
        exempt_tools: Collection[str] = (),
        max_media_per_request: int | None = MAX_MEDIA,
        counter: TokenCounter | None = None,
        recall_tool: str | None = None,
        on_receipt: OnReceipt | None = None,
        on_omit: OnOmit | None = None,
        proactive_compression: bool | Mapping[str, Any] | None = None,
    ) -> None:
        """Check the arguments."""
        check_cap("max_bytes_per_result", max_bytes_per_result, optional=True)
        check_cap("max_bytes_per_message", max_bytes_per_message, optional=True)
        rules = cap_rules(
            max_bytes_per_result,
            exempt_tools=exempt_tools,
            per_tool_max_bytes=per_tool_max_bytes,
            recall_tool=recall_tool,
        )
        check_target(positive("budget_tokens", budget_tokens), positive("target_tokens", target_tokens))
        super().__init__(
            policy=Policy(
                max_user_turns=positive("max_user_turns", max_user_turns),
                pin_first=count("pin_first", pin_first),
            ),
            budget=Budget(
                budget_tokens=budget_tokens,
                target_tokens=target_tokens,
                threshold_ratio=threshold_ratio(proactive_compression),
            ),
            counter=counter,
            on_receipt=on_receipt,
            on_omit=on_omit,
            log_caps=LogCaps(rules, max_bytes_per_result, max_bytes_per_message),
            max_media=max_media_per_request,
        )
