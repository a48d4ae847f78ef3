"""The shapes that cross module borders: Converse messages, tool specifications, token counters.

Messages are the host's plain dictionaries. They are described here, and not imported, so that the pure layers can be
used and tested without an agent.

Source: the Converse API's message types as Strands 1.51 to 1.62 spells them (``strands.types.content``, read
2026-11-30).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, runtime_checkable

Role: TypeAlias = Literal["user", "assistant"]

Block: TypeAlias = dict[str, Any]
"""One content block: a dictionary with one key that names its kind, such as ``text`` or ``toolUse``."""

ToolSpec: TypeAlias = dict[str, Any]
"""A tool's name, description and input schema, as the host hands it to a model."""

SystemPrompt: TypeAlias = str | list[Block] | None
"""A system prompt as text, as content blocks, or none."""


class _MessageBase(TypedDict):
    role: Role
    content: list[Block]


class Message(_MessageBase, total=False):
    """One message of a log or a view."""

    tracking_id: str
    metadata: dict[str, Any]


Messages: TypeAlias = list[Message]
"""A log or a view: the messages in order."""

Keep: TypeAlias = Literal["head_tail", "head", "tail"]
"""Which end of a capped text stays."""


@runtime_checkable
class TokenCounter(Protocol):
    """Counts tokens of what a model is sent.

    Attributes:
        exact: Whether the numbers are exact in the encoding that the counter names, or estimates.
    """

    @property
    def exact(self) -> bool:
        """Whether the numbers are exact in the counter's own encoding."""
        ...

    def count_text(self, text: str) -> int:
        """Count the tokens of a text."""
        ...

    def count_message(self, message: Message) -> int:
        """Count the tokens of one whole message."""
        ...

    def count_tools(self, specs: Sequence[ToolSpec]) -> int:
        """Count the tokens of the tool specifications of one call."""
        ...
