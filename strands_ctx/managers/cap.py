"""Bound what is stored and carried into later turns."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from strands_ctx.capping.results import check_cap, check_keep
from strands_ctx.plans import UNLIMITED_TOKENS, Policy
from strands_ctx.types import Keep

from ._base import ViewManager
from ._limits import Budget
from ._log_caps import LogCaps
from ._tool_rules import MAX_MEDIA, cap_rules


class CapToolResultsManager(ViewManager):
    """Caps the tool results of finished runs in the log; a run in progress sees all of its results whole.

    This is the only manager whose purpose is to edit the log, and all that it edits is the content of tool results:
    the number of messages, their roles, ids and status stay. Results of a run are capped when it has ended, those of
    loaded history before the first model call. If the provider refuses a view, results that were seen already are
    capped in the view, as far as it takes.

    Args:
        max_bytes_per_result: The cap of each result, in UTF-8 bytes, at least 64.
        max_bytes_per_message: The cap of the results of parallel calls together, in UTF-8 bytes, at least 64: small
            ones stay whole, errors are cut last. None: no cap.
        per_tool_max_bytes: Caps in bytes by name of tool, in place of ``max_bytes_per_result``.
        keep: Which end of a capped text stays: ``head_tail``, ``head`` or ``tail``.
        exempt_tools: Names of tools whose results are never capped.
        max_media_per_request: How many images and documents a view holds at most; the newest stay, older ones become
            a line of text. None: no limit.
        recall_tool: Name of a tool that reads whole results by id, such as ``ToolResultBank.as_tool`` makes: its own
            results are capped last of all, and notes and capped results name the ids that it takes.

    Raises:
        ConfigError: If a cap is under 64 bytes or ``keep`` is unknown.

    Example:
        >>> from strands_ctx import CapToolResultsManager
        >>> manager = CapToolResultsManager(4_000, exempt_tools=("read_contract",))
    """

    def __init__(
        self,
        max_bytes_per_result: int = 8_000,
        *,
        max_bytes_per_message: int | None = None,
        per_tool_max_bytes: Mapping[str, int] | None = None,
        keep: Keep = "head_tail",
        exempt_tools: Collection[str] = (),
        max_media_per_request: int | None = MAX_MEDIA,
        recall_tool: str | None = None,
    ) -> None:
        """Check the arguments."""
        check_cap("max_bytes_per_result", max_bytes_per_result)
        check_cap("max_bytes_per_message", max_bytes_per_message, optional=True)
        check_keep(keep)
        rules = cap_rules(
            max_bytes_per_result,
            exempt_tools=exempt_tools,
            per_tool_max_bytes=per_tool_max_bytes,
            keep=keep,
            recall_tool=recall_tool,
        )
        super().__init__(
            policy=Policy(cuts=False, old_result_max_bytes=max_bytes_per_result, recent_tokens=UNLIMITED_TOKENS),
            budget=Budget(unlimited=True),
            log_caps=LogCaps(rules, max_bytes_per_result, max_bytes_per_message),
            max_media=max_media_per_request,
        )
