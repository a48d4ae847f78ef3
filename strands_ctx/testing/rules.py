"""The rules of the strictest providers, as they refuse a request for its messages.

Each rule here makes a real session fail for ever, because the host sends the same history again. They are written from
the providers' sentences alone and share nothing with this library's own check, so that each can find the other wrong.

Source: the Converse and Messages APIs' refusals as users reported them (read 2026-11-30).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from strands_ctx.types import Block, Message

MAX_MEDIA = 20
"""Images and documents that one request may hold."""

MAX_CACHE_POINTS = 4
"""Cache points that one request may hold."""


class ProviderRuleError(Exception):
    """A provider refuses a request for the shape of its messages.

    It is no overflow: sending less does not help, and neither does a retry.

    Attributes:
        violations: Every rule that is broken, the one in the error's message first.
    """

    def __init__(self, violations: Sequence[str]) -> None:
        """Take the provider's sentences."""
        super().__init__(f"ValidationException: {violations[0]}")
        self.violations = list(violations)

    def __reduce__(self) -> tuple[type[ProviderRuleError], tuple[list[str]]]:
        """Pickle by the violations and not by the message."""
        return type(self), (self.violations,)


def strict_violations(messages: Sequence[Message]) -> list[str]:
    """List every rule of a strict provider that the messages of one request break.

    Args:
        messages: The messages of the request, in order.

    Returns:
        The provider's sentences, in the order of the rules; empty for a request that every provider accepts.

    Example:
        >>> strict_violations([{"role": "user", "content": []}])
        ['The content field in the Message object at messages.0 is empty.']
    """
    return [*_order(messages), *_pairs(messages), *_text(messages), *_media(messages), *_cache_points(messages)]


def _order(messages: Sequence[Message]) -> Iterator[str]:
    if not messages or messages[0]["role"] != "user":
        yield (
            "A conversation must start with a user message. "
            "Try again with a conversation that starts with a user message."
        )
    for index in range(1, len(messages)):
        if messages[index]["role"] == messages[index - 1]["role"]:
            yield (
                f'messages: roles must alternate between "user" and "assistant", but found multiple '
                f'"{messages[index]["role"]}" roles in a row at messages.{index}'
            )


def _ids(message: Message, kind: str) -> list[str]:
    return [block[kind]["toolUseId"] for block in message["content"] if kind in block]


def _pairs(messages: Sequence[Message]) -> Iterator[str]:
    seen: set[str] = set()
    asked: list[str] = []
    for index, message in enumerate(messages):
        calls, answers = _ids(message, "toolUse"), _ids(message, "toolResult")
        if message["role"] == "user":
            yield from _answers(index, asked, answers)
            if calls:
                yield f"messages.{index}: `tool_use` blocks can only be in `assistant` messages"
            asked = []
            continue
        if asked:
            yield _unanswered(index, asked)
        if answers:
            yield f"messages.{index}: `tool_result` blocks can only be in `user` messages"
        repeated = [name for position, name in enumerate(calls) if name in seen or name in calls[:position]]
        if repeated:
            yield f"messages.{index}: `tool_use` ids must be unique, repeated: {', '.join(repeated)}"
        seen.update(calls)
        asked = calls
    if asked:
        yield _unanswered(len(messages), asked)


def _answers(index: int, asked: Sequence[str], answers: Sequence[str]) -> Iterator[str]:
    missing = [name for name in asked if name not in answers]
    if missing and answers:
        yield f"Expected toolResult blocks at messages.{index}.content for the following Ids: {', '.join(missing)}"
    elif missing:
        yield _unanswered(index, missing)
    if len(answers) > len(asked):
        yield (
            f"The number of toolResult blocks at messages.{index}.content exceeds the number of toolUse blocks "
            "of previous turn."
        )
    strangers = [name for name in answers if name not in asked]
    if strangers:
        yield (
            f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {', '.join(strangers)}. Each "
            "`tool_result` block must have a corresponding `tool_use` block in the previous message."
        )
    if len(set(answers)) < len(answers):
        yield f"messages.{index}: each tool_use must have a single result"


def _unanswered(index: int, names: Sequence[str]) -> str:
    return (
        f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(names)}"
    )


def _texts(block: Block) -> Iterator[tuple[str, Any]]:
    if "text" in block:
        yield "", block["text"]
    if "toolResult" in block:
        for index, item in enumerate(block["toolResult"]["content"]):
            if "text" in item:
                yield f".toolResult.content.{index}", item["text"]


def _text(messages: Sequence[Message]) -> Iterator[str]:
    for index, message in enumerate(messages):
        if not message["content"]:
            yield f"The content field in the Message object at messages.{index} is empty."
        for position, block in enumerate(message["content"]):
            for suffix, text in _texts(block):
                if not text or not text.strip():
                    yield (
                        f"The text field in the ContentBlock object at messages.{index}.content.{position}{suffix} "
                        "is blank. Add text to the text field, and try again."
                    )


def _blocks(messages: Sequence[Message]) -> Iterator[Block]:
    for message in messages:
        for block in message["content"]:
            yield block
            if "toolResult" in block:
                yield from block["toolResult"]["content"]


def _media(messages: Sequence[Message]) -> Iterator[str]:
    count = sum("image" in block or "document" in block for block in _blocks(messages))
    if count > MAX_MEDIA:
        yield f"too many images and documents: {count} + 0 > {MAX_MEDIA}"


def _cache_points(messages: Sequence[Message]) -> Iterator[str]:
    count = sum("cachePoint" in block for block in _blocks(messages))
    if count > MAX_CACHE_POINTS:
        yield f"A maximum of {MAX_CACHE_POINTS} blocks with cache_control may be provided. Found {count}."
    for index, message in enumerate(messages):
        if message["content"] and "cachePoint" in message["content"][0]:
            yield f"messages.{index}.content.0: a cachePoint must come after the content that it caches"
