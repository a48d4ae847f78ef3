"""Every tool result at emission, whatever becomes of the log, and a tool that reads them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strands_ctx._lazy import facade

if TYPE_CHECKING:
    from .recall import RecallTool
    from .records import BankedResult, BankedResults
    from .tool_result_bank import ToolResultBank

__all__ = ["BankedResult", "BankedResults", "RecallTool", "ToolResultBank"]

_HOMES = {
    "BankedResult": "records",
    "BankedResults": "records",
    "RecallTool": "recall",
    "ToolResultBank": "tool_result_bank",
}

__getattr__, __dir__ = facade(globals(), _HOMES)
