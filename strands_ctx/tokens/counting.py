"""The walk over messages that all counters share: what each kind of content block costs.

Only how a text is counted differs between counters. A block that is malformed or of an unknown kind is counted by its
JSON; nothing here raises for it, because a count must not end a model call.
"""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import islice
from typing import Any

from strands_ctx.tokens.media import MEDIA_TOKENS, UNKNOWN_MEDIA_TOKENS, sampled_tokens
from strands_ctx.types import Message, TokenCounter, ToolSpec

MESSAGE_TOKENS = 4
"""A message's role and delimiters. Source: OpenAI's cookbook counts 3 to 4 a message (read 2026-11-30)."""

TOOL_USE_TOKENS = 8
"""A tool call's id and wrapping, an assumption that calibration corrects."""

TOOL_RESULT_TOKENS = 8
"""A tool result's id, status and wrapping, an assumption that calibration corrects."""

TOOL_SPEC_TOKENS = 8
"""A tool specification's wrapping, an assumption that calibration corrects."""

REDACTED_BYTES_PER_TOKEN = 4
"""Redacted reasoning is ciphertext of about the length of the text it hides, so it counts as text would."""

MEMO_TEXTS = 65_536
"""Most counts that a counter remembers, about 10 MB."""


class CountMemo:
    """Remembers the count of each text, so that counting an unchanged message again costs next to nothing.

    Texts are known by hash and length: Python keeps a string's hash with it, also through a deep copy of the message,
    and no text is kept alive. Oldest first, a quarter is forgotten at ``MEMO_TEXTS``. Safe for threads.
    """

    __slots__ = ("_counts", "_lock")

    def __init__(self) -> None:
        """Start empty."""
        self._counts: dict[tuple[int, int], int] = {}
        self._lock = threading.Lock()

    def get(self, text: str, count: Callable[[str], int]) -> int:
        """Return the count of a text, counting it if it was not seen before."""
        key = (hash(text), len(text))
        known = self._counts.get(key)
        if known is None:
            known = count(text)
            with self._lock:
                if len(self._counts) >= MEMO_TEXTS:
                    for old in list(islice(self._counts, MEMO_TEXTS // 4)):
                        del self._counts[old]
                self._counts[key] = known
        return known


class BlockCounter(ABC):
    """A ``TokenCounter`` that needs only a way to count a text.

    A message costs 4 tokens and its blocks: text, the name and compact JSON input of a tool call, the items of a tool
    result, reasoning, guarded and cited text; media by kind and size; a cache point nothing. Tool calls and results
    cost 8 more each.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether the numbers are exact in the counter's own encoding."""

    @abstractmethod
    def count_text(self, text: str) -> int:
        """Count the tokens of a text."""

    def count_message(self, message: Message) -> int:
        """Count the tokens of one whole message, whatever it holds."""
        content: Any = message.get("content") if isinstance(message, dict) else message
        if isinstance(content, (list, tuple)):
            return MESSAGE_TOKENS + sum(block_tokens(self, block) for block in content)
        return MESSAGE_TOKENS + _value_tokens(self, content)

    def count_tools(self, specs: Sequence[ToolSpec]) -> int:
        """Count the tokens of the tool specifications of one call: each one's compact JSON and 8 more."""
        return sum(TOOL_SPEC_TOKENS + _value_tokens(self, spec) for spec in specs or ())


def block_tokens(counter: TokenCounter, block: Any) -> int:
    """Count one content block of a message, of any kind.

    Args:
        counter: Counts the texts in it.
        block: The block; a malformed one is counted by its JSON.

    Returns:
        Tokens, without the overhead of the message around it.
    """
    if not isinstance(block, dict):
        return _value_tokens(counter, block)
    total = 0
    for kind, value in block.items():
        count = _KINDS.get(kind)
        total += _unknown_tokens(counter, kind, value) if count is None else count(counter, value)
    return total


def result_tokens(counter: TokenCounter, message: Message) -> int:
    """Count the payloads of a message's tool results: their text, JSON and media.

    Args:
        counter: Any counter; only its ``count_text`` is used.
        message: Any message.

    Returns:
        Tokens of the payloads alone, without ids, wrapping and the message's other blocks; 0 where it has no tool
        result.
    """
    return sum(_items_tokens(counter, result) for result in _values_of(message, "toolResult"))


def call_tokens(counter: TokenCounter, message: Message) -> int:
    """Count what a message's tool calls take: their names, inputs and wrapping, and the wrapping of their results.

    Args:
        counter: Any counter; only its ``count_text`` is used.
        message: Any message.

    Returns:
        Tokens; 0 where it has neither a tool call nor a tool result.
    """
    calls = sum(_tool_use_tokens(counter, call) for call in _values_of(message, "toolUse"))
    return calls + TOOL_RESULT_TOKENS * sum(1 for _ in _values_of(message, "toolResult"))


def media_tokens(counter: TokenCounter, message: Message) -> int:
    """Count a message's images, videos, audio and documents that are no text, those inside of tool results included.

    Args:
        counter: Any counter; only its ``count_text`` is used, for the labels of documents.
        message: Any message.

    Returns:
        Tokens; 0 where it has none.
    """
    content: Any = message.get("content") if isinstance(message, dict) else None
    blocks = list(content) if isinstance(content, (list, tuple)) else []
    for result in _values_of(message, "toolResult"):
        items = result.get("content") if isinstance(result, dict) else None
        blocks += items if isinstance(items, (list, tuple)) else ()
    return sum(
        sampled_tokens(counter, kind, value)
        for block in blocks
        if isinstance(block, dict)
        for kind, value in block.items()
    )


def _values_of(message: Message, kind: str) -> Iterator[Any]:
    """Yield what a message's blocks have of one kind."""
    content: Any = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, (list, tuple)):
        yield from (block[kind] for block in content if isinstance(block, dict) and kind in block)


def json_text(value: Any) -> str:
    """Write a value as compact JSON, the same in every process.

    What JSON can't hold is written as text: bytes as their number, sets in order, dates and numbers of other kinds as
    they print, other objects by the name of their class. NaN and the infinities are null.

    Raises:
        RecursionError: If it is nested too deep.
        TypeError: If a key can't be one of JSON.
        ValueError: If it holds itself, or a number of thousands of digits.
    """
    text = _ENCODER.encode(value)
    if "NaN" in text or "Infinity" in text:
        text = _ENCODER.encode(json.loads(text, parse_constant=lambda _name: None))
    return text


def compact_json(value: Any) -> str:
    """Write a value as compact JSON, or as Python prints it where it has none. Never raises."""
    try:
        return json_text(value)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return repr(value)
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__name__}>"


def _plain(value: Any) -> Any:
    """Write what JSON can't hold."""
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value):,} bytes>"
    if isinstance(value, Set):
        return sorted(map(str, value))
    kind: Any = type(value)
    has_words = kind.__str__ is not object.__str__ or kind.__repr__ is not object.__repr__
    return str(value) if has_words else f"<{kind.__name__}>"


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)


def _value_tokens(counter: TokenCounter, value: Any) -> int:
    if value is None:
        return 0
    return counter.count_text(value if isinstance(value, str) else compact_json(value))


def _texts_tokens(counter: TokenCounter, items: Any) -> int:
    if not isinstance(items, (list, tuple)):
        return _value_tokens(counter, items)
    return sum(block_tokens(counter, item) for item in items)


def _tool_use_tokens(counter: TokenCounter, value: Any) -> int:
    if not isinstance(value, dict):
        return TOOL_USE_TOKENS + _value_tokens(counter, value)
    name, arguments = value.get("name"), value.get("input")
    return TOOL_USE_TOKENS + _value_tokens(counter, name) + _value_tokens(counter, arguments)


def _tool_result_tokens(counter: TokenCounter, value: Any) -> int:
    return TOOL_RESULT_TOKENS + _items_tokens(counter, value)


def _items_tokens(counter: TokenCounter, result: Any) -> int:
    return _texts_tokens(counter, result.get("content") if isinstance(result, dict) else result)


def _reasoning_tokens(counter: TokenCounter, value: Any) -> int:
    if not isinstance(value, dict):
        return _value_tokens(counter, value)
    text, redacted = value.get("reasoningText"), value.get("redactedContent")
    total = _value_tokens(counter, text.get("text") if isinstance(text, dict) else text)
    if isinstance(redacted, bytes | bytearray | str):
        total += -(-len(redacted) // REDACTED_BYTES_PER_TOKEN)
    return total


def _guard_tokens(counter: TokenCounter, value: Any) -> int:
    if not isinstance(value, dict):
        return _value_tokens(counter, value)
    text = value.get("text")
    total = _value_tokens(counter, text.get("text") if isinstance(text, dict) else text)
    return total + (block_tokens(counter, {"image": value["image"]}) if "image" in value else 0)


def _citations_tokens(counter: TokenCounter, value: Any) -> int:
    return _texts_tokens(counter, value.get("content") if isinstance(value, dict) else value)


def _cache_point_tokens(_counter: TokenCounter, _value: Any) -> int:
    return 0


def _unknown_tokens(counter: TokenCounter, kind: Any, value: Any) -> int:
    if isinstance(value, dict) and isinstance(value.get("source"), dict):
        return UNKNOWN_MEDIA_TOKENS
    return max(1, _value_tokens(counter, compact_json({str(kind): value})))


_KINDS: dict[str, Callable[[TokenCounter, Any], int]] = {
    "text": _value_tokens,
    "json": _value_tokens,
    "toolUse": _tool_use_tokens,
    "toolResult": _tool_result_tokens,
    "reasoningContent": _reasoning_tokens,
    "guardContent": _guard_tokens,
    "citationsContent": _citations_tokens,
    "cachePoint": _cache_point_tokens,
    **MEDIA_TOKENS,
}
