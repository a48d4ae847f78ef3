"""The token rule of the model under test, made to differ in kind from every counter that a manager could use.

A provider bills by a tokenizer that its callers don't have. The rule here weighs characters by class, so its ratio to a
byte-pair count drifts with the content, and bills tool results, other text and message frames at different rates, so no
single ratio fits a whole run. It is deterministic, and texts that were counted before are free.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from strands_ctx.types import Block, Message, ToolSpec

MESSAGE_TOKENS = 5
"""Tokens that the frame of a message costs."""

TOOL_USE_TOKENS = 14
"""Tokens that the frame of a tool call costs."""

TOOL_RESULT_TOKENS = 9
"""Tokens that the frame of a tool result costs."""

IMAGE_TOKENS = 1_300
"""Tokens of an image, whatever its size in bytes."""

DOCUMENT_BYTES_PER_TOKEN = 6
"""Bytes of a document or video for each of its tokens; one costs at least as much as an image."""

_RESULT_RATE = 1.0
_PROSE_RATE = 1.12
_LETTER, _CAPITAL, _DIGIT, _SPACE, _SIGN, _MARKED, _IDEOGRAPH, _OTHER = 0.219, 0.39, 0.61, 0.07, 0.68, 0.45, 0.84, 0.7


@cache
def _weight(character: str) -> float:
    if character.isascii():
        if character.isalpha():
            return _LETTER if character.islower() else _CAPITAL
        if character.isdigit():
            return _DIGIT
        return _SPACE if character in " \t" else _SIGN
    if unicodedata.category(character) == "Lo":
        return _IDEOGRAPH
    return _MARKED if character.isalpha() else _OTHER


@lru_cache(maxsize=8_192)
def _text_weight(text: str) -> float:
    return math.fsum(_weight(character) * times for character, times in Counter(text).items())


def count_prompt_text(text: str) -> int:
    """Count the tokens of a text that is no tool result.

    Args:
        text: Any text.

    Returns:
        Tokens, at least 1 for a text that isn't empty.
    """
    return math.ceil(_text_weight(text) * _PROSE_RATE)


def count_result_text(text: str) -> int:
    """Count the tokens of a text inside a tool result.

    Args:
        text: Any text.

    Returns:
        Tokens, at least 1 for a text that isn't empty.
    """
    return math.ceil(_text_weight(text) * _RESULT_RATE)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)


def _media_tokens(block: Mapping[str, Any]) -> int:
    if "image" in block:
        return IMAGE_TOKENS
    media = block.get("document") or block.get("video") or {}
    data = media.get("source", {}).get("bytes", b"")
    return max(IMAGE_TOKENS, len(data) // DOCUMENT_BYTES_PER_TOKEN)


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item)


def _result_item_tokens(item: Mapping[str, Any]) -> int:
    if "text" in item:
        return count_result_text(item["text"])
    if "json" in item:
        return count_result_text(_as_json(item["json"]))
    return _media_tokens(item)


def _tool_use_tokens(tool_use: Mapping[str, Any]) -> int:
    return TOOL_USE_TOKENS + count_prompt_text(tool_use["name"]) + count_prompt_text(_as_json(tool_use["input"]))


def _tool_result_tokens(result: Mapping[str, Any]) -> int:
    return TOOL_RESULT_TOKENS + sum(_result_item_tokens(item) for item in result["content"])


_KINDS: dict[str, Callable[[Any], int]] = {
    "text": count_prompt_text,
    "toolUse": _tool_use_tokens,
    "toolResult": _tool_result_tokens,
    "cachePoint": lambda _: 0,
}


def count_block(block: Block) -> int:
    """Count the tokens of one content block.

    Args:
        block: A Converse content block.

    Returns:
        Tokens; media cost by kind and size, and never 0.
    """
    if "image" in block or "document" in block or "video" in block:
        return _media_tokens(block)
    tokens = 0
    for kind, value in block.items():
        count = _KINDS.get(kind)
        tokens += count(value) if count else sum(count_prompt_text(text) for text in _strings(value))
    return tokens


def count_message(message: Message) -> int:
    """Count the tokens of one message with its frame.

    Args:
        message: A Converse message.

    Returns:
        Tokens that the model is billed for it.
    """
    return MESSAGE_TOKENS + sum(count_block(block) for block in message["content"])


def count_tool_specs(specs: Sequence[ToolSpec]) -> int:
    """Count the tokens of the tool specifications of a request.

    Args:
        specs: What the host hands to the model, possibly none.

    Returns:
        Tokens that the model is billed for them.
    """
    return sum(TOOL_USE_TOKENS + count_prompt_text(_as_json(spec)) for spec in specs)
