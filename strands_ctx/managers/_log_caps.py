"""The only edit of a log: capping the content of tool results of finished runs, where that was asked for."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from strands_ctx import _host
from strands_ctx.capping.messages import cap_message
from strands_ctx.capping.results import result_bytes
from strands_ctx.capping.rules import Cap, CapRules, Recall, no_recall, recall_text
from strands_ctx.capping.text import MIN_CAP_BYTES
from strands_ctx.messages import Shape, id_of, shape_of, tool_names
from strands_ctx.shares import sparing_shares
from strands_ctx.types import Message, Messages, ToolSpec

from ._state import AgentState

logger = logging.getLogger(__name__)

ENDLESS_BYTES = 2**53
"""The cap of a result that has none."""


@dataclass(frozen=True, slots=True)
class LogCaps:
    """What a manager was asked to cap in logs.

    Attributes:
        rules: What the app said of tools.
        max_bytes: The cap of each result, or None.
        message_max_bytes: The cap of all results of one message together, or None.
    """

    rules: CapRules
    max_bytes: int | None = None
    message_max_bytes: int | None = None

    def apply(self, state: AgentState, messages: Any, stop: int) -> None:
        """Cap what a model call has carried, up to an index, once; what is capped already is not looked at again."""
        done = state.log_capped_to
        known = 0 < done <= len(messages) and messages[done - 1] is state.log_capped_last
        end, results, dropped = self._cap(messages, done if known else 0, stop)
        state.log_capped_to, state.log_capped_last = end, messages[end - 1] if end else None
        if results:
            state.log_capped_results += results
            logger.info("results=<%d>, bytes=<%d> | capped results of finished runs in the log", results, dropped)

    def warn_of_missing_tool(self, state: AgentState, tool_specs: Sequence[ToolSpec]) -> None:
        """Warn once of a recall tool that the agent does not have: what notes and caps name can't be read then."""
        name = self.rules.recall_tool
        if not name or state.tool_looked_for:
            return
        state.tool_looked_for = True
        if all(spec.get("name") != name for spec in tool_specs or ()):
            logger.warning("recall_tool=<%s> | the agent has no tool of this name, its ids can't be read", name)

    def preview(self, messages: Messages, stop: int) -> None:
        """Cap in a copy of a log what the next call would cap in the log first."""
        self._cap(messages, 0, stop)

    def _cap(self, messages: Messages, start: int, stop: int) -> tuple[int, int, int]:
        """Return where the capped part ends, and how many results and bytes were capped."""
        if self.max_bytes is None and self.message_max_bytes is None:
            return start, 0, 0
        stop = min(max(min(stop, _seen_before(messages)), start), len(messages))
        capped = dropped = 0
        recall = self._recall(messages)
        for index in range(start, stop):
            results, lost = self._cap_message(messages, index, recall)
            capped, dropped = capped + results, dropped + lost
        return stop, capped, dropped

    def _cap_message(self, messages: Messages, index: int, recall: Recall) -> tuple[int, int]:
        """Cap the results of one message in place; how many were capped, and how many bytes are gone.

        The message and its content list stay the same objects. The dictionary of a capped result is replaced and not
        changed, because whoever recorded the result may hold it.
        """
        message = messages[index]
        shape = shape_of(message, index)
        if not shape.result_ids:
            return 0, 0
        names = tool_names(messages[index - 1]) if index and self.rules.name_tools else {}
        caps = self._caps(message, shape, names)
        shorter, capped, dropped = cap_message(message, caps, keep=self.rules.keep, recall=recall)
        if capped:
            message["content"][:] = shorter["content"]
        return capped, dropped

    def _caps(self, message: Message, shape: Shape, names: Mapping[str, str]) -> dict[str, int]:
        """Return the cap of each result: its own, and its share of what the results of the message may take."""
        caps: dict[str, int] = {}
        if self.max_bytes is not None:
            rules = replace(self.rules, base_bytes=self.max_bytes)
            caps = rules.result_caps(shape, names, Cap(self.max_bytes))
        if self.message_max_bytes is None:
            return caps
        results = {
            id_of(block["toolResult"]): block["toolResult"] for block in message["content"] if "toolResult" in block
        }
        ids = [call for call in results if call in self.rules.shrinkable(shape, names)]
        sizes = [min(result_bytes(results[call]), caps.get(call, ENDLESS_BYTES)) for call in ids]
        if sum(sizes) <= self.message_max_bytes:
            return caps
        recall_tool = self.rules.recall_tool
        spared = [call in shape.error_ids or bool(recall_tool and names.get(call) == recall_tool) for call in ids]
        shares = sparing_shares(sizes, self.message_max_bytes, spared, floor=MIN_CAP_BYTES)
        return caps | {call: max(share, MIN_CAP_BYTES) for call, share in zip(ids, shares, strict=True)}

    def _recall(self, messages: Messages) -> Recall:
        """Name ids, but not of what was recalled itself, nor those that the log uses more than once."""
        recall_tool = self.rules.recall_tool
        if not recall_tool:
            return no_recall
        named = [pair for message in messages for pair in tool_names(message).items()]
        uses = Counter(call for call, _ in named)
        recalled = {call for call, name in named if name == recall_tool}
        return lambda call: recall_text(recall_tool, call) if uses[call] == 1 and call not in recalled else ""


def _seen_before(messages: Messages) -> int:
    """Find the index before which a model call has carried every result: the last answer of a model."""
    for index in range(len(messages) - 1, -1, -1):
        if shape_of(messages[index], index).role == "assistant" and not _host.notes_direct_call(messages, index):
            return index
    return 0
