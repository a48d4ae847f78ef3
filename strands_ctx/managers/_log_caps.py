"""The only edit of a log: capping the content of tool results of finished runs, where that was asked for."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from strands_ctx.capping import cap_message
from strands_ctx.messages import seen_before, shape_of, tool_names
from strands_ctx.types import Keep, Messages

from ._state import AgentState

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LogCaps:
    """What a manager was asked to cap in logs.

    Attributes:
        max_bytes: The cap of each result, or None for no caps.
        exempt_tools: Names of tools whose results stay whole.
        keep: Which end of a text stays.
    """

    max_bytes: int | None
    exempt_tools: frozenset[str]
    keep: Keep

    def apply(self, state: AgentState, messages: Any, stop: int) -> None:
        """Cap what a model call has carried, up to an index, once; what is capped already is not looked at again."""
        done = state.log_capped_to
        known = 0 < done <= len(messages) and messages[done - 1] is state.log_capped_last
        end, results, dropped = self._cap(messages, done if known else 0, stop)
        state.log_capped_to, state.log_capped_last = end, messages[end - 1] if end else None
        if results:
            state.log_capped_results += results
            logger.info("results=<%d>, bytes=<%d> | capped results of finished runs in the log", results, dropped)

    def preview(self, messages: Messages, stop: int) -> None:
        """Cap in a copy of a log what the next call would cap in the log first."""
        self._cap(messages, 0, stop)

    def _cap(self, messages: Messages, start: int, stop: int) -> tuple[int, int, int]:
        """Return where the capped part ends, and how many results and bytes were capped."""
        if self.max_bytes is None:
            return start, 0, 0
        seen = start + seen_before([shape_of(message) for message in messages[start:]])
        stop = max(min(stop, seen), start)
        results, dropped = cap_log(
            messages, start, stop, max_bytes=self.max_bytes, exempt_tools=self.exempt_tools, keep=self.keep
        )
        return stop, results, dropped


def cap_log(
    messages: Messages, start: int, stop: int, *, max_bytes: int, exempt_tools: Collection[str], keep: Keep
) -> tuple[int, int]:
    """Cap the tool results of a range of a log in place.

    Messages and their content lists stay the same objects. The dictionary of a capped result is replaced and not
    changed, because whoever recorded the result may hold it.

    Args:
        messages: The log.
        start: First index.
        stop: Index after the last.
        max_bytes: The cap of each result.
        exempt_tools: Names of tools whose results stay whole.
        keep: Which end of a text stays.

    Returns:
        How many results were capped, and how many bytes are gone.
    """
    capped = dropped = 0
    for index in range(start, min(stop, len(messages))):
        message = messages[index]
        ids = [str(b["toolResult"].get("toolUseId", "")) for b in message["content"] if "toolResult" in b]
        if not ids:
            continue
        names = tool_names(messages[index - 1]) if index and exempt_tools else {}
        caps = {result_id: max_bytes for result_id in ids if names.get(result_id) not in exempt_tools}
        shorter, results, lost = cap_message(message, caps, keep=keep)
        if results:
            message["content"][:] = shorter["content"]
            capped, dropped = capped + results, dropped + lost
    return capped, dropped
