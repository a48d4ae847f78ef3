"""Caps of whole messages: each result by itself, or all that a message holds together, shared fairly.

Where a message is capped as a whole, results that report an error are cut last.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from strands_ctx.messages import id_of
from strands_ctx.shares import sparing_shares
from strands_ctx.types import Block, Keep, Message

from .json_values import COUNT_KEY, cap_json, shown_json
from .media import media_bytes, media_of, media_weight, replaced
from .results import Weigh, cap_tool_result, result_bytes
from .rules import Recall, no_recall
from .text import MIN_CAP_BYTES, cap_text, count_bytes


def cap_message(
    message: Message,
    caps: Mapping[str, int],
    *,
    keep: Keep = "head_tail",
    input_max_bytes: int | None = None,
    recall: Recall = no_recall,
) -> tuple[Message, int, int]:
    """Shorten the tool results of one message, and the inputs of its tool calls.

    Args:
        message: A message; it is left as it is.
        caps: The cap in bytes by tool use id; results with other ids stay whole.
        keep: Which end of a text stays.
        input_max_bytes: The cap of the input of each tool call, at least 64; None for no cap.
        recall: Words the line of a capped result that says how all of it can be read.

    Returns:
        The message (the same object if nothing was capped), the number of capped results, and the bytes left out,
        those of inputs included.
    """
    content: list[Block] = []
    capped = dropped = 0
    for block in message["content"]:
        shorter, lost = block, 0
        if isinstance(block.get("toolResult"), dict):
            shorter, lost = _capped_result(block, caps, keep, recall)
            capped += shorter is not block
        elif input_max_bytes is not None and isinstance(block.get("toolUse"), dict):
            shorter, lost = _capped_input(block, input_max_bytes, keep)
        dropped += lost
        content.append(shorter)
    if all(new is old for new, old in zip(content, message["content"], strict=True)):
        return message, 0, 0
    return {**message, "content": content}, capped, dropped


def _cap_result(
    result: dict[str, Any], max_bytes: int, keep: Keep, recall: Recall, weigh: Weigh = media_bytes
) -> dict[str, Any] | None:
    """Shorten one result; where there is room, its last item then says by which id a tool reads all of it."""
    if result_bytes(result, weigh) <= max_bytes:
        return None
    named = recall(id_of(result))
    room = max_bytes - len(named)
    if not named or room < MIN_CAP_BYTES:
        return cap_tool_result(result, max_bytes, keep=keep, weigh=weigh)
    shorter = cap_tool_result(result, room, keep=keep, weigh=weigh) or result
    return {**shorter, "content": [*shorter["content"], {"text": named}]}


def _capped_result(block: Block, caps: Mapping[str, int], keep: Keep, recall: Recall) -> tuple[Block, int]:
    result = block["toolResult"]
    cap = caps.get(id_of(result))
    shorter = None if cap is None else _cap_result(result, cap, keep, recall)
    if shorter is None:
        return block, 0
    return {**block, "toolResult": shorter}, result_bytes(result) - result_bytes(shorter)


def _capped_input(block: Block, max_bytes: int, keep: Keep) -> tuple[Block, int]:
    """Shorten the input of a tool call to a smaller object; what is no object stays."""
    value = block["toolUse"].get("input")
    size = shown_json(value)[1] if isinstance(value, dict) else 0
    if size <= max_bytes:
        return block, 0
    capped = cap_json(value, max_bytes, keep=keep)
    shorter = {COUNT_KEY: f"0 of {len(value):,} keys shown"} if capped is None else capped[0]
    return {**block, "toolUse": {**block["toolUse"], "input": shorter}}, size - shown_json(shorter)[1]


def text_bytes(message: Message, ids: Collection[str] | None = None, weigh: Weigh = media_bytes) -> int:
    """Count the bytes of one message that a cap can shorten.

    Args:
        message: A message.
        ids: Ids of the results that may be capped; None for all.
        weigh: Gives the bytes that media count for.

    Returns:
        Bytes of its text blocks, its media, and of the texts, JSON and media of those results.
    """
    return sum(_block_bytes(block, ids, weigh) for block in message["content"])


def _block_bytes(block: Block, ids: Collection[str] | None, weigh: Weigh) -> int:
    if isinstance(block.get("text"), str):
        return count_bytes(block["text"])
    result = block.get("toolResult")
    if isinstance(result, dict):
        return result_bytes(result, weigh) if ids is None or id_of(result) in ids else 0
    media = media_of(block)
    return 0 if media is None else weigh(*media)


def cap_texts(
    message: Message,
    max_bytes: int,
    ids: Collection[str],
    *,
    keep: Keep = "head_tail",
    weigh: Weigh = media_weight,
    recall: Recall = no_recall,
) -> Message:
    """Cap one message as a whole, sharing fairly: its own texts and media, and the results with some ids.

    Args:
        message: A message; it is left as it is.
        max_bytes: The cap of all of them together; each keeps at least 64 bytes.
        ids: Ids of the results that may be capped.
        keep: Which end of a text stays.
        weigh: Gives the bytes that media count for; by default what they weigh in tokens.
        recall: Words the line of a capped result that says how all of it can be read.

    Returns:
        The message, the same object if nothing was capped.
    """

    def caps_of(blocks: list[Block]) -> list[tuple[Block, int, int]]:
        sizes = [_block_bytes(block, ids, weigh) for block in blocks]
        errors = [bool(size) and _reports_error(block) for block, size in zip(blocks, sizes, strict=True)]
        shares = sparing_shares(sizes, max_bytes, errors, floor=MIN_CAP_BYTES)
        caps = [max(share, MIN_CAP_BYTES) for share in shares]
        return list(zip(blocks, sizes, caps, strict=True))

    parts = caps_of(message["content"])
    if sum(size for _, size, _ in parts) <= max_bytes:
        return message
    described = [replaced(block, cap) if size > cap else block for block, size, cap in parts]
    content = [
        _capped_block(block, cap, keep, weigh, recall) if size > cap else block
        for block, size, cap in caps_of(described)
    ]
    return {**message, "content": content}


def _reports_error(block: Block) -> bool:
    result = block.get("toolResult")
    return isinstance(result, dict) and result.get("status") == "error"


def _capped_block(block: Block, max_bytes: int, keep: Keep, weigh: Weigh, recall: Recall) -> Block:
    if isinstance(block.get("text"), str):
        return {**block, "text": cap_text(block["text"], max_bytes, keep=keep)}
    result = block["toolResult"]
    return {**block, "toolResult": _cap_result(result, max_bytes, keep, recall, weigh) or result}
