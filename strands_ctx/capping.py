"""Caps: a lossy, marked shortening of one text or one tool result to a number of bytes.

A cap holds whatever the text: the result is never larger than the cap nor than what it replaces, is valid UTF-8, is
never blank, says how much of how much is shown, and capping it again changes nothing. Sizes are UTF-8 bytes; a lone
surrogate counts three bytes, and is replaced where a text is cut.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, get_args

from .errors import ConfigError
from .shares import fair_shares
from .types import Block, Keep, Message

MIN_CAP_BYTES = 64
"""The smallest cap: room for the marker with any size that a text can have, and a few bytes of text."""


def check_cap(parameter: str, value: int | None) -> None:
    """Refuse a cap that no marker fits in.

    Args:
        parameter: Name of the argument, for the error.
        value: The cap in bytes, or None for no cap.

    Raises:
        ConfigError: If the cap is not a whole number of at least 64.
    """
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < MIN_CAP_BYTES:
        raise ConfigError(parameter, value, f"must be a whole number of at least {MIN_CAP_BYTES} bytes")


def check_keep(keep: object) -> None:
    """Refuse an unknown end to keep.

    Raises:
        ConfigError: If it is not ``head_tail``, ``head`` or ``tail``.
    """
    if keep not in get_args(Keep):
        raise ConfigError("keep", keep, f"must be one of {', '.join(get_args(Keep))}")


def count_bytes(text: str) -> int:
    """Count the UTF-8 bytes of a text, three for a lone surrogate."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def cap_text(text: str, max_bytes: int, *, keep: Keep = "head_tail") -> str:
    r"""Shorten a text to a number of bytes, with a marker that says how much is shown.

    Args:
        text: Any text.
        max_bytes: The cap, at least 64.
        keep: Which end stays.

    Returns:
        The text itself if it fits, else a text of at most ``max_bytes`` bytes.

    Example:
        >>> cap_text("x" * 1_000, 64)
        'xxxxxxxxxxxxxxx\n[... 29 of 1,000 bytes shown ...]\nxxxxxxxxxxxxxx'
    """
    total = count_bytes(text)
    if total <= max_bytes:
        return text
    room = max_bytes - len(_marker(max_bytes, total))
    head_room = {"head_tail": (room + 1) // 2, "head": room, "tail": 0}[keep]
    head = _head(text, head_room)
    tail = _tail(text, room - head_room)
    shown = count_bytes(head) + count_bytes(tail)
    return f"{head}{_marker(shown, total)}{tail}"


def _marker(shown: int, total: int) -> str:
    return f"\n[... {shown:,} of {total:,} bytes shown ...]\n"


def _head(text: str, max_bytes: int) -> str:
    return text[:max_bytes].encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")


def _tail(text: str, max_bytes: int) -> str:
    if not max_bytes:
        return ""
    return text[-max_bytes:].encode("utf-8", "replace")[-max_bytes:].decode("utf-8", "ignore")


def cap_tool_result(result: Mapping[str, Any], max_bytes: int, *, keep: Keep = "head_tail") -> dict[str, Any] | None:
    """Shorten the content of one toolResult; its id, status and other keys stay.

    Texts share the cap fairly, small ones whole. A JSON item that is larger than its share becomes a text that shows
    its compact form. Images, documents and video stay as they are.

    Args:
        result: The value of a ``toolResult`` block.
        max_bytes: The cap of all its texts and JSON together, at least 64.
        keep: Which end of a text stays.

    Returns:
        A new toolResult, or None where the cap is kept already.
    """
    items = result.get("content")
    if not isinstance(items, list):
        return None
    texts = [_text_of(item) for item in items]
    sizes = [count_bytes(text) for text in texts if text is not None]
    if sum(sizes) <= max_bytes:
        return None
    if len(sizes) * MIN_CAP_BYTES > max_bytes:
        return {**result, "content": _merged(items, texts, max_bytes, keep)}
    shares = iter(fair_shares(sizes, max_bytes))
    content = [
        item if text is None else _capped_item(item, text, next(shares), keep)
        for item, text in zip(items, texts, strict=True)
    ]
    return {**result, "content": content}


def _text_of(item: Any) -> str | None:
    if not isinstance(item, dict):
        return None
    text = item.get("text")
    if isinstance(text, str):
        return text
    if "json" in item:
        return json.dumps(item["json"], ensure_ascii=False, separators=(",", ":"), default=str)
    return None


def _capped_item(item: Block, text: str, max_bytes: int, keep: Keep) -> Block:
    if count_bytes(text) <= max_bytes:
        return item
    kept = {key: value for key, value in item.items() if key not in ("text", "json")}
    return {**kept, "text": cap_text(text, max_bytes, keep=keep)}


def _merged(items: Sequence[Any], texts: Sequence[str | None], max_bytes: int, keep: Keep) -> list[Any]:
    """Join texts that are too many to keep a floor each."""
    media = [item for item, text in zip(items, texts, strict=True) if text is None]
    joined = "\n".join(text for text in texts if text is not None)
    return [{"text": cap_text(joined, max_bytes, keep=keep)}, *media]


def cap_message(message: Message, caps: Mapping[str, int], *, keep: Keep = "head_tail") -> tuple[Message, int, int]:
    """Shorten the tool results of one message.

    Args:
        message: A message; it is left as it is.
        caps: The cap in bytes by tool use id; results with other ids stay whole.
        keep: Which end of a text stays.

    Returns:
        The message (the same object if nothing was capped), the number of capped results, and the bytes left out.
    """
    content: list[Block] = []
    capped = dropped = 0
    for block in message["content"]:
        result = block.get("toolResult")
        cap = caps.get(str(result.get("toolUseId", ""))) if isinstance(result, dict) else None
        shorter = None if result is None or cap is None else cap_tool_result(result, cap, keep=keep)
        if result is None or shorter is None:
            content.append(block)
            continue
        capped += 1
        dropped += result_bytes(result) - result_bytes(shorter)
        content.append({**block, "toolResult": shorter})
    if not capped:
        return message, 0, 0
    return {**message, "content": content}, capped, dropped


def result_bytes(result: Mapping[str, Any]) -> int:
    """Count the bytes of the texts and JSON of one toolResult."""
    return sum(count_bytes(text) for item in result.get("content") or () if (text := _text_of(item)) is not None)


def text_bytes(message: Message, ids: Collection[str] | None = None) -> int:
    """Count the bytes of the texts of one message that a cap can shorten.

    Args:
        message: A message.
        ids: Ids of the results that may be capped; None for all.

    Returns:
        Bytes of its text blocks and of the texts and JSON of those results.
    """
    return sum(_block_bytes(block, ids) for block in message["content"])


def _block_bytes(block: Block, ids: Collection[str] | None) -> int:
    if isinstance(block.get("text"), str):
        return count_bytes(block["text"])
    result = block.get("toolResult")
    if isinstance(result, dict) and (ids is None or str(result.get("toolUseId", "")) in ids):
        return result_bytes(result)
    return 0


def cap_texts(message: Message, max_bytes: int, ids: Collection[str], *, keep: Keep = "head_tail") -> Message:
    """Cap all texts of one message together, sharing fairly: its own text blocks and the results with some ids.

    Args:
        message: A message; it is left as it is.
        max_bytes: The cap of the texts together; each keeps at least 64 bytes.
        ids: Ids of the results that may be capped.
        keep: Which end of a text stays.

    Returns:
        The message, the same object if nothing was capped.
    """
    sizes = [_block_bytes(block, ids) for block in message["content"]]
    if sum(sizes) <= max_bytes:
        return message
    content: list[Block] = []
    for block, size, share in zip(message["content"], sizes, fair_shares(sizes, max_bytes), strict=True):
        cap = max(share, MIN_CAP_BYTES)
        if size <= cap:
            content.append(block)
        elif "text" in block:
            content.append({**block, "text": cap_text(block["text"], cap, keep=keep)})
        else:
            content.append({**block, "toolResult": cap_tool_result(block["toolResult"], cap, keep=keep)})
    return {**message, "content": content}
