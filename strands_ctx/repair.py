"""Make a view legal: what every provider accepts, from whatever the log holds. The log itself is never repaired.

A raising model, a forced structured output or a restored session leave two messages of one role in a row, calls
without results, or results without calls; each of them makes a provider refuse the session for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .messages import MAX_CACHE_POINTS, check_messages, is_blank, shape_of
from .types import Block, Message, Messages

MISSING_RESULT = "[strands_ctx: no result of this tool call is in the conversation.]"
BLANK_TEXT = "[strands_ctx: blank]"


@dataclass(slots=True)
class Repairs:
    """What was repaired, by kind and number; all zero for a legal view."""

    merged_messages: int = 0
    orphan_results: int = 0
    missing_results: int = 0
    renamed_calls: int = 0
    blank_texts: int = 0
    dropped_messages: int = 0
    cache_points: int = 0
    stand_in_prompts: int = 0

    def __bool__(self) -> bool:
        """Tell whether anything was repaired."""
        return any(getattr(self, name) for name in self.__slots__)


def legal_view(messages: Sequence[Message], *, max_cache_points: int = MAX_CACHE_POINTS) -> tuple[Messages, Repairs]:
    """Make messages legal; the identity on legal ones.

    Results are paired with calls by id. Results without a call, blank texts beside others, misplaced and surplus
    cache points are left out; a call without a result gets a stand-in error result; a call that reuses an earlier id
    is renamed with its result; neighbours of one role become one message; a conversation that starts with the
    assistant gets a stand-in prompt. A trailing unanswered call is left alone.

    Args:
        messages: A view. Neither the list nor its messages are changed.
        max_cache_points: How many cache points may stay; the last ones stay.

    Returns:
        The legal messages, untouched ones as the same objects, and what was repaired.

    Raises:
        HistoryError: If a message is not a Converse message.
    """
    repairs = Repairs()
    if not check_messages(messages, max_cache_points=max_cache_points):
        return list(messages), repairs
    cleaned = [m for message in messages if (m := _cleaned(message, repairs)) is not None]
    merged = _merged(_answered(_merged(cleaned, repairs), repairs), repairs)
    if messages and (not merged or merged[0]["role"] != "user"):
        repairs.stand_in_prompts += 1
        merged.insert(0, {"role": "user", "content": [{"text": BLANK_TEXT}]})
    return _limit_cache_points(merged, max_cache_points, repairs), repairs


def _cleaned(message: Message, repairs: Repairs) -> Message | None:
    """Drop blank texts, tool blocks of the wrong role and leading cache points; None where nothing is left."""
    wrong = "toolResult" if message["role"] == "assistant" else "toolUse"
    content: list[Block] = []
    for block in message["content"]:
        if wrong in block:
            repairs.orphan_results += 1
        elif "text" in block and is_blank(block["text"]):
            repairs.blank_texts += 1
        elif "cachePoint" in block and not content:
            repairs.cache_points += 1
        else:
            content.append(_filled(block, repairs))
    if not content:
        repairs.dropped_messages += 1
        return None
    return message if _same(content, message["content"]) else {**message, "content": content}


def _filled(block: Block, repairs: Repairs) -> Block:
    """Give a toolResult that is empty or blank something to say."""
    result = block.get("toolResult")
    if not isinstance(result, dict):
        return block
    items = result.get("content") or []
    kept = [item for item in items if not ("text" in item and is_blank(item["text"]))]
    leading = next((place for place, item in enumerate(kept) if "cachePoint" not in item), len(kept))
    if items and len(kept) - leading == len(items):
        return block
    repairs.cache_points += leading
    repairs.blank_texts += max(len(items) - len(kept), int(leading == len(kept)))
    kept = kept[leading:]
    return {**block, "toolResult": {**result, "content": kept or [{"text": BLANK_TEXT}]}}


def _same(left: Sequence[Any], right: Sequence[Any]) -> bool:
    return len(left) == len(right) and all(a is b for a, b in zip(left, right, strict=True))


def _answered(messages: Sequence[Message], repairs: Repairs) -> Messages:
    """Give every call exactly one result in the next message, and leave out results without a call."""
    answered: Messages = []
    calls: dict[str, str] = {}
    taken: set[str] = set()
    for message in messages:
        if message["role"] == "assistant":
            answered += _stand_ins(calls.values(), repairs)
            caller, calls = _with_unique_calls(message, taken, repairs)
            answered.append(caller)
            continue
        reply = _without_leading_cache_points(_paired(message, calls, repairs), repairs)
        calls = {}
        if reply["content"]:
            answered.append(reply)
    return answered


def _without_leading_cache_points(message: Message, repairs: Repairs) -> Message:
    content = message["content"]
    leading = next((index for index, block in enumerate(content) if "cachePoint" not in block), len(content))
    repairs.cache_points += leading
    return {**message, "content": content[leading:]} if leading else message


def _with_unique_calls(message: Message, taken: set[str], repairs: Repairs) -> tuple[Message, dict[str, str]]:
    """Drop a call whose id its message has used, rename one whose id an earlier message has; new ids by old ones."""
    calls: dict[str, str] = {}
    content: list[Block] = []
    for block in message["content"]:
        if "toolUse" in block:
            call = str(block["toolUse"].get("toolUseId", ""))
            if call in calls:
                continue
            calls[call] = _free_id(call, taken)
            taken.add(calls[call])
            if calls[call] != call:
                repairs.renamed_calls += 1
                block = {**block, "toolUse": {**block["toolUse"], "toolUseId": calls[call]}}  # noqa: PLW2901
        content.append(block)
    return (message if _same(content, message["content"]) else {**message, "content": content}), calls


def _free_id(call: str, taken: set[str]) -> str:
    """Return an id, or the first free one made of it; providers take at most 64 characters."""
    free, number = call, 2
    while free in taken:
        free, number = f"{call[:56]}-{number}", number + 1
    return free


def _paired(message: Message, calls: Mapping[str, str], repairs: Repairs) -> Message:
    """Keep the first result of each call, add stand-ins for missing ones in front, drop the rest."""
    open_calls = dict(calls)
    content: list[Block] = []
    for block in message["content"]:
        if "toolResult" in block:
            call = str(block["toolResult"].get("toolUseId", ""))
            renamed = open_calls.pop(call, None)
            if renamed is None:
                repairs.orphan_results += 1
                continue
            if renamed != call:
                block = {**block, "toolResult": {**block["toolResult"], "toolUseId": renamed}}  # noqa: PLW2901
        content.append(block)
    repairs.missing_results += len(open_calls)
    content = [*_error_results(open_calls.values()), *content]
    return message if _same(content, message["content"]) else {**message, "content": content}


def _stand_ins(calls: Collection[str], repairs: Repairs) -> Iterable[Message]:
    if calls:
        repairs.missing_results += len(calls)
        yield {"role": "user", "content": _error_results(calls)}


def _error_results(calls: Iterable[str]) -> list[Block]:
    return [
        {"toolResult": {"toolUseId": call, "status": "error", "content": [{"text": MISSING_RESULT}]}} for call in calls
    ]


def _merged(messages: Sequence[Message], repairs: Repairs) -> Messages:
    """Join neighbours of one role; results come first in what is joined, as providers ask."""
    merged: Messages = []
    for message in messages:
        if not merged or merged[-1]["role"] != message["role"]:
            merged.append(message)
            continue
        repairs.merged_messages += 1
        content = [*merged[-1]["content"], *message["content"]]
        content.sort(key=lambda block: "toolResult" not in block)
        merged[-1] = {**merged[-1], "content": content}
    return merged


def _limit_cache_points(messages: Messages, most: int, repairs: Repairs) -> Messages:
    """Leave out all but the last cache points, those inside of tool results included."""
    surplus = sum(shape_of(message).cache_points for message in messages) - most
    limited: Messages = []
    for message in messages:
        content: list[Block] = []
        for block in message["content"]:
            if surplus > 0:
                block, removed = _without_cache_points(block, surplus)  # noqa: PLW2901
                surplus -= removed
                repairs.cache_points += removed
            if block:
                content.append(block)
        limited.append(message if _same(content, message["content"]) else {**message, "content": content})
    return limited


def _without_cache_points(block: Block, most: int) -> tuple[Block, int]:
    """Leave out a block that is a cache point, and the first cache points of a tool result; how many are gone."""
    if "cachePoint" in block:
        return {}, 1
    items = block["toolResult"].get("content") or () if "toolResult" in block else ()
    places = [place for place, item in enumerate(items) if "cachePoint" in item][:most]
    if not places:
        return block, 0
    kept = [item for place, item in enumerate(items) if place not in places]
    return {**block, "toolResult": {**block["toolResult"], "content": kept}}, len(places)
