"""What Bedrock Runtime refuses a request for, judged by the JSON on the wire.

Written from the service's sentences alone: it shares nothing with the rules that the package ships, so that each can
find the other wrong. Strict is the sum of what its models refuse; relaxed is what all of them refuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

MAX_MEDIA = 20
MAX_CACHE_POINTS = 4

Wire = Mapping[str, Any]

_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_DOCUMENT_NAME = re.compile(r"(?!.*\s\s)[a-zA-Z0-9\s()\[\]-]{1,200}")


def wire_violations(body: Wire, *, strict: bool = True) -> list[str]:
    """Every sentence that a request is refused with, the one that the service says first coming first.

    Relaxed models join neighbours of one role before they look, take cache points anywhere and any number of images.
    """
    messages = body.get("messages") or []
    if not strict:
        messages = _joined(messages)
    found = [*_roles(messages), *_contents(body, messages), *_tools(body, messages), *_names(messages)]
    return [*found, *_media(messages), *_cache_points(body, messages)] if strict else found


def _joined(messages: Sequence[Wire]) -> list[Wire]:
    joined: list[Wire] = []
    for message in messages:
        if joined and joined[-1]["role"] == message["role"]:
            joined[-1] = {"role": message["role"], "content": [*joined[-1]["content"], *message["content"]]}
        else:
            joined.append(message)
    return joined


def _roles(messages: Sequence[Wire]) -> Iterator[str]:
    if not messages or messages[0]["role"] != "user":
        yield (
            "A conversation must start with a user message. "
            "Try again with a conversation that starts with a user message."
        )
    for before, after in pairwise(messages):
        if before["role"] == after["role"]:
            yield f'messages: roles must alternate between "user" and "assistant", but found multiple "{after["role"]}"'
    for index, message in enumerate(messages):
        if message["role"] == "user" and any("reasoningContent" in block for block in message["content"]):
            yield f"User messages cannot contain reasoning content. Remove it at messages.{index} and try again."


def _places(messages: Sequence[Wire]) -> Iterator[tuple[str, Wire]]:
    """Each block with its place, those inside tool results too."""
    for index, message in enumerate(messages):
        for position, block in enumerate(message["content"]):
            place = f"messages.{index}.content.{position}"
            yield place, block
            for number, item in enumerate(block.get("toolResult", {}).get("content", ())):
                yield f"{place}.toolResult.content.{number}", item


def _contents(body: Wire, messages: Sequence[Wire]) -> Iterator[str]:
    for index, message in enumerate(messages):
        if not message["content"]:
            yield f"The content field in the Message object at messages.{index} is empty. Add a ContentBlock to it."
    system = [(f"system.{number}", block) for number, block in enumerate(body.get("system") or ())]
    for place, block in [*system, *_places(messages)]:
        if "text" in block and not block["text"].strip():
            yield f"The text field in the ContentBlock object at {place} is blank. Add text to the text field."
        if "toolResult" in block and not block["toolResult"]["content"]:
            yield f"The content field in the ToolResultBlock object at {place} is empty."


def _ids(message: Wire, kind: str) -> list[str]:
    return [block[kind]["toolUseId"] for block in message["content"] if kind in block]


def _tools(body: Wire, messages: Sequence[Wire]) -> Iterator[str]:
    calls = [name for message in messages for name in _ids(message, "toolUse")]
    if calls and not (body.get("toolConfig") or {}).get("tools"):
        yield "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    for name in calls:
        if not _ID.fullmatch(name):
            yield f"Value '{name}' at 'toolUseId' failed to satisfy constraint: [a-zA-Z0-9_-]+, 64 at most"
    if len(set(calls)) < len(calls):
        yield "messages: `tool_use` ids must be unique"
    nobody: Wire = {"role": "", "content": []}
    for index, (before, message) in enumerate(zip([nobody, *messages], [*messages, nobody], strict=True)):
        yield from _answers(index, before, message)


def _answers(index: int, before: Wire, message: Wire) -> Iterator[str]:
    asked, answered = _ids(before, "toolUse"), _ids(message, "toolResult")
    missing = [name for name in asked if name not in answered]
    if before["role"] == "user" and asked:
        yield f"messages.{index - 1}: `tool_use` blocks can only be in `assistant` messages"
    if message["role"] == "assistant" and answered:
        yield f"messages.{index}: `tool_result` blocks can only be in `user` messages"
    if missing and not answered:
        names = ", ".join(missing)
        yield f"`tool_use` ids were found without `tool_result` blocks immediately after: {names}"
    elif missing:
        yield f"Expected toolResult blocks at messages.{index}.content for the following Ids: {', '.join(missing)}"
    if len(answered) > len(asked):
        yield (
            f"The number of toolResult blocks at messages.{index}.content exceeds the number of toolUse blocks of "
            "previous turn."
        )
    elif set(answered) - set(asked):
        yield f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks"
    elif len(set(answered)) < len(answered):
        yield f"messages.{index}: each tool_use must have a single result"


def _names(messages: Sequence[Wire]) -> Iterator[str]:
    for place, block in _places(messages):
        if "document" in block and not _DOCUMENT_NAME.fullmatch(block["document"].get("name", "")):
            yield (
                f"The document file name at {place} can only contain alphanumeric characters, whitespace characters, "
                "hyphens, parentheses, and square brackets, and no more than one consecutive whitespace character."
            )


def _media(messages: Sequence[Wire]) -> Iterator[str]:
    count = sum("image" in block or "document" in block for _, block in _places(messages))
    if count > MAX_MEDIA:
        yield f"too many images and documents: {count} + 0 > {MAX_MEDIA}"


def _cache_points(body: Wire, messages: Sequence[Wire]) -> Iterator[str]:
    tools = (body.get("toolConfig") or {}).get("tools") or []
    everything = [*tools, *(body.get("system") or ()), *(block for _, block in _places(messages))]
    count = sum("cachePoint" in block for block in everything)
    if count > MAX_CACHE_POINTS:
        yield f"A maximum of {MAX_CACHE_POINTS} blocks with cache_control may be provided. Found {count}."
    leading = [f"messages.{index}" for index, message in enumerate(messages) if "cachePoint" in _first(message)]
    if "cachePoint" in _first({"content": body.get("system") or []}):
        leading.append("system")
    for place in leading:
        yield f"{place}: cachePoint cannot be first, it must come after the content that it caches"


def _first(message: Wire) -> Wire:
    return message["content"][0] if message["content"] else {}
