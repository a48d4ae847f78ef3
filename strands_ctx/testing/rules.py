"""The rules of the strictest providers, as they refuse a request for its messages.

Each rule here makes a real session fail for ever, because the host sends the same history again. They are written from
the providers' sentences alone and share nothing with this library's own check, so that each can find the other wrong.

Source: the Converse and Messages APIs' refusals as users reported them (read 2026-11-30).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from strands_ctx.types import Block, Message, SystemPrompt

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


def strict_violations(
    messages: Sequence[Message], *, system_prompt: SystemPrompt = None, tools: Sequence[Block] = ()
) -> list[str]:
    """List every rule of a strict provider that one request breaks.

    Args:
        messages: The messages of the request, in order.
        system_prompt: Its system prompt, since its cache points are counted with those of the messages.
        tools: The tools of its ``toolConfig``, for their cache points.

    Returns:
        The provider's sentences, in the order of the rules; empty for a request that every provider accepts.

    Example:
        >>> strict_violations([{"role": "user", "content": []}])
        ['The content field in the Message object at messages.0 is empty.']
    """
    text = [{"text": system_prompt}] if system_prompt else []
    system = text if isinstance(system_prompt, str) else list(system_prompt or ())
    return [
        *_order(messages),
        *_pairs(messages),
        *_empty(messages),
        *_blank(messages, system),
        *_media(messages),
        *_cache_points(messages, system, tools),
    ]


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


def _contents(messages: Sequence[Message]) -> Iterator[tuple[str, str, Sequence[Block]]]:
    """Each list of blocks with the name of what holds it and its place: messages and the tool results in them."""
    for index, message in enumerate(messages):
        yield "Message", f"messages.{index}", message["content"]
        for position, block in enumerate(message["content"]):
            if "toolResult" in block:
                content = block["toolResult"].get("content") or ()
                yield "ToolResultBlock", f"messages.{index}.content.{position}.toolResult", content


def _empty(messages: Sequence[Message]) -> Iterator[str]:
    for holder, place, content in _contents(messages):
        if not content:
            yield f"The content field in the {holder} object at {place} is empty."


def _blank(messages: Sequence[Message], system: Sequence[Block]) -> Iterator[str]:
    lists = [(f"{place}.content", content) for _, place, content in _contents(messages)]
    for place, content in [("system", system), *lists]:
        for position, block in enumerate(content):
            if "text" in block and not (block["text"] or "").strip():
                yield (
                    f"The text field in the ContentBlock object at {place}.{position} is blank. Add text to the text "
                    "field, and try again."
                )


def _blocks(messages: Sequence[Message]) -> Iterator[Block]:
    for _, _, content in _contents(messages):
        yield from content


def _media(messages: Sequence[Message]) -> Iterator[str]:
    count = sum("image" in block or "document" in block for block in _blocks(messages))
    if count > MAX_MEDIA:
        yield f"too many images and documents: {count} + 0 > {MAX_MEDIA}"


def _cache_points(messages: Sequence[Message], system: Sequence[Block], tools: Sequence[Block]) -> Iterator[str]:
    count = sum("cachePoint" in block for block in (*tools, *system, *_blocks(messages)))
    if count > MAX_CACHE_POINTS:
        yield f"A maximum of {MAX_CACHE_POINTS} blocks with cache_control may be provided. Found {count}."
    lists = [(f"{place}.content", content) for _, place, content in _contents(messages)]
    for place, content in [("toolConfig.tools", tools), ("system", system), *lists]:
        if content and "cachePoint" in content[0]:
            yield f"{place}.0: a cachePoint must come after the content that it caches"
