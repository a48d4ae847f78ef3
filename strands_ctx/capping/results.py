"""Caps of one tool result: its items share the cap fairly, small ones whole, each shortened in its own shape.

Media whose bytes exceed their share become a line of text. A cap holds whatever the content: what is capped is never
larger than the cap nor than what it replaces, is never blank, and says what is missing. Capping it again changes
nothing. Ids, status and other keys stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from strands_ctx.errors import ConfigError
from strands_ctx.shares import fair_shares
from strands_ctx.types import Keep

from .json_values import cap_json, shown_json
from .media import media_bytes, media_of, replaced
from .text import MIN_CAP_BYTES, count_bytes, cut_text

Weigh: TypeAlias = Callable[[str, Mapping[str, Any]], int]
"""How many bytes media count for, from kind and value."""


def check_cap(parameter: str, value: int | None, *, optional: bool = False) -> None:
    """Refuse a cap that no marker fits in.

    Args:
        parameter: Name of the argument, for the error.
        value: The cap in bytes.
        optional: Whether None is allowed too, for no cap.

    Raises:
        ConfigError: If the cap is not a whole number of at least 64.
    """
    if value is None and optional:
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


@dataclass(frozen=True, slots=True)
class _Part:
    """One item of a result and its size; ``text`` is its text or JSON, ``media`` its kind and value."""

    item: Any
    size: int = 0
    text: str | None = None
    media: tuple[str, Mapping[str, Any]] | None = None


def _parts(result: Mapping[str, Any], weigh: Weigh) -> list[_Part]:
    items = result.get("content")
    return [_part(item, weigh) for item in items] if isinstance(items, list) else []


def _part(item: Any, weigh: Weigh) -> _Part:
    if not isinstance(item, dict):
        return _Part(item)
    text = item.get("text")
    if isinstance(text, str):
        return _Part(item, count_bytes(text), text)
    if "json" in item:
        text, size = shown_json(item["json"])
        return _Part(item, size, text)
    media = media_of(item)
    return _Part(item) if media is None else _Part(item, weigh(*media), media=media)


def _size(parts: Sequence[_Part]) -> int:
    return sum(part.size for part in parts)


def cap_tool_result(
    result: Mapping[str, Any], max_bytes: int, *, keep: Keep = "head_tail", weigh: Weigh = media_bytes
) -> dict[str, Any] | None:
    """Shorten the content of one toolResult; its id, status and other keys stay.

    The items share the cap fairly, small ones whole. JSON stays valid JSON of its outer type, or becomes a text where
    its share is too small for that. Media that exceed their share become a text with kind, format, name and size.

    Args:
        result: The value of a ``toolResult`` block.
        max_bytes: The cap of all its texts, JSON and media together, at least 64.
        keep: Which end of a text or an array stays.
        weigh: Gives the bytes that media count for, from kind and value.

    Returns:
        A new toolResult, or None where the cap is kept already.

    Raises:
        ConfigError: If the cap is under 64 bytes.
    """
    check_cap("max_bytes", max_bytes)
    parts = _parts(result, weigh)
    return None if _size(parts) <= max_bytes else {**result, "content": _capped_items(parts, max_bytes, keep)}


def _capped_items(parts: Sequence[_Part], max_bytes: int, keep: Keep) -> list[Any]:
    if sum(part.size > 0 for part in parts) * MIN_CAP_BYTES > max_bytes:
        return _merged(parts, max_bytes, keep)
    shares = fair_shares([part.size for part in parts], max_bytes)
    shown = [_described(part, share) for part, share in zip(parts, shares, strict=True)]
    shares = fair_shares([part.size for part in shown], max_bytes)
    return [_capped_item(part, share, keep) for part, share in zip(shown, shares, strict=True)]


def _described(part: _Part, max_bytes: int) -> _Part:
    """Replace media that exceed their share."""
    if part.media is None or part.size <= max_bytes:
        return part
    item = replaced(part.item, max_bytes)
    return _Part(item, count_bytes(item["text"]), item["text"])


def _capped_item(part: _Part, max_bytes: int, keep: Keep) -> Any:
    if part.size <= max_bytes or part.text is None:
        return part.item
    kept = {key: value for key, value in part.item.items() if key not in ("text", "json")}
    if "text" not in part.item and (capped := cap_json(part.item["json"], max_bytes, keep=keep)):
        return {**kept, "json": capped[0]}
    return {**kept, "text": cut_text(part.text, part.size, max_bytes, keep)}


def _merged(parts: Sequence[_Part], max_bytes: int, keep: Keep) -> list[Any]:
    """Join items that are too many to keep a floor each, media by their descriptions."""
    texts = [shown for part in parts if (shown := _described(part, -1)).text is not None]
    joined = "\n".join(str(part.text) for part in texts)
    others = [part.item for part in parts if part.text is None and part.media is None]
    return [{"text": cut_text(joined, _size(texts) + len(texts) - 1, max_bytes, keep)}, *others]


def result_bytes(result: Mapping[str, Any], weigh: Weigh = media_bytes) -> int:
    """Count the bytes of the texts, JSON and media of one toolResult, as a cap counts them."""
    return _size(_parts(result, weigh))
