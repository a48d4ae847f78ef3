"""What is capped, and how far: the levels of a view and the exceptions that an app makes for tools.

A :class:`Cap` is the level that applies to a stretch of the log; :class:`CapRules` are what an app said once. From
both follows the cap of each single result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from strands_ctx.messages import Shape
from strands_ctx.types import Keep

from .text import MIN_CAP_BYTES

Recall: TypeAlias = Callable[[str], str]
"""Words the line that says how all of a capped result can be read, from its id; an empty text for none."""

PLAIN_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
"""An id of a call that may be named to a model: it can neither break a line nor look like a note."""


@dataclass(frozen=True, slots=True)
class Cap:
    """The level at which the messages of a stretch are shown.

    Attributes:
        max_bytes: The cap of each tool result, in bytes.
        spares_errors: Whether results that report an error stay whole.
        input_max_bytes: The cap of the input of each tool call, in bytes, or None.
    """

    max_bytes: int
    spares_errors: bool = False
    input_max_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class CapRules:
    """What an app said of caps.

    Attributes:
        keep: Which end of a capped text stays.
        exempt_tools: Names of tools whose results are never capped.
        tool_max_bytes: Caps in bytes by name of tool, in place of the manager's own.
        base_bytes: The manager's own cap; where results are capped lower than that, those of ``tool_max_bytes`` are
            too, in proportion.
        recall_tool: The tool that reads whole results by id, which notes and capped results then name; empty for none.
            What it answers is capped only where the newest messages have to share what a limit leaves.
    """

    keep: Keep = "head_tail"
    exempt_tools: frozenset[str] = frozenset()
    tool_max_bytes: Mapping[str, int] = field(default_factory=dict)
    base_bytes: int = MIN_CAP_BYTES
    recall_tool: str = ""

    @property
    def name_tools(self) -> bool:
        """Whether caps depend on the name of the tool."""
        return bool(self.exempt_tools or self.tool_max_bytes or self.recall_tool)

    def tool_cap(self, name: str | None, max_bytes: int) -> int | None:
        """Return the cap of the results of one tool where others are capped at a number of bytes, or None."""
        if name in self.exempt_tools or (name is not None and name == self.recall_tool):
            return None
        own = self.tool_max_bytes.get(name) if name is not None else None
        if own is None:
            return max_bytes
        return own if max_bytes >= self.base_bytes else max(own * max_bytes // self.base_bytes, MIN_CAP_BYTES)

    def result_caps(self, shape: Shape, names: Mapping[str, str], cap: Cap) -> dict[str, int]:
        """Map the ids of a message's results to their caps; those that stay whole are not in it.

        Args:
            shape: The message.
            names: The names of the tools by id of the call.
            cap: The level.

        Returns:
            Bytes by tool use id.
        """
        spared: Sequence[str] = shape.error_ids if cap.spares_errors else ()
        if not self.name_tools and not spared:
            return dict.fromkeys(shape.result_ids, cap.max_bytes)
        caps = {call: self.tool_cap(names.get(call), cap.max_bytes) for call in shape.result_ids if call not in spared}
        return {call: max_bytes for call, max_bytes in caps.items() if max_bytes is not None}

    def shrinkable(self, shape: Shape, names: Mapping[str, str]) -> frozenset[str]:
        """Return the ids of the results that may be capped at all."""
        if not self.exempt_tools:
            return frozenset(shape.result_ids)
        return frozenset(call for call in shape.result_ids if names.get(call) not in self.exempt_tools)


def recall_text(recall_tool: str, tool_use_id: str) -> str:
    """Word the line that names the id of a capped result; empty where the id is not plain or no tool reads it."""
    if not recall_tool or not PLAIN_ID.fullmatch(tool_use_id):
        return ""
    return f"[strands_ctx: all of it can be read with {recall_tool} by id {tool_use_id}]"


def no_recall(_tool_use_id: str) -> str:
    """Say nothing of how a capped result can be read."""
    return ""
