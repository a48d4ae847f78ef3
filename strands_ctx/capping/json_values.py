"""Caps of JSON: a smaller value of the same outer type, whose size is that of its compact UTF-8 text.

- An object keeps its first keys, as many as fit; ``"..."`` counts what is left out.
- An array keeps its head and its tail; a text between them counts what is shown.
- A text is cut as any text is. Whatever else is too large, or lies too deep, becomes a cut text of its JSON.

Work grows with the cap and, once, with the size of the value; no depth exhausts the stack.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any

from strands_ctx.shares import fair_shares
from strands_ctx.tokens.counting import json_text
from strands_ctx.types import Keep

from .text import MIN_CAP_BYTES, count_bytes, cut_text

MAX_DEPTH = 16
"""Levels that a cap opens; what lies deeper and is too large becomes a text."""

ITEM_RATIO = 0.25
"""The share of an array's room up to which its items are kept whole: at most four are cut."""

LEAST_SHARE_BYTES = MIN_CAP_BYTES + 4
"""What a value that is cut keeps: the smallest cap, quotes, and the two escapes of the marker."""

MAX_WALKED = 2_000_000
"""Most values that are visited to size one that can't be written as JSON, such as one that holds itself."""

COUNT_KEY = "..."
"""The key under which a capped object counts its keys; more dots where an object has that key."""

_UNFIT = object()
"""What a cap answers where it is too small for the type; every JSON value is a possible answer."""

_FAULTS = (RecursionError, TypeError, ValueError)
"""What writing and reading JSON raise: for a depth, a key, and a cycle or an enormous number."""


def shown_json(value: Any) -> tuple[str, int]:
    """Write a value as text and size it.

    Args:
        value: Anything.

    Returns:
        Its compact JSON, or its type and size where it has none, and the bytes of its JSON.
    """
    try:
        text = json_text(value)
    except _FAULTS:
        size = _walked_bytes(value)
        return f"<{type(value).__name__} of {size:,} bytes>", size
    return text, count_bytes(text)


def cap_json(value: Any, max_bytes: int, *, keep: Keep = "head_tail") -> tuple[Any] | None:
    """Shorten a JSON value that is larger than a number of bytes.

    Args:
        value: The value; it is left as it is, and nothing of it is in the result.
        max_bytes: The cap, at least 64.
        keep: Which end of an array or a text stays.

    Returns:
        A value of the same outer type, alone in a tuple, or None where the cap is too small for the type.
    """
    capped = _fit(value, _measured(value, max_bytes), max_bytes, 0, keep)
    if capped is _UNFIT:
        return None
    return (capped,) if count_bytes(json_text(capped)) <= max_bytes else None


def _measured(value: Any, limit: int) -> tuple[int, str]:
    """Size and write a value; ``limit + 1`` and no text where it is larger or can't be written."""
    if _walked_bytes(value, limit) <= limit:
        try:
            text = json_text(value)
        except _FAULTS:
            return limit + 1, ""
        if (size := count_bytes(text)) <= limit:
            return size, text
    return limit + 1, ""


def _fit(value: Any, measured: tuple[int, str], room: int, depth: int, keep: Keep) -> Any:
    """Return a plain copy of a value that was measured, shortened where it is larger than the room."""
    size, text = measured
    if size <= room:
        try:
            return json.loads(text)
        except RecursionError:  # it was written a few frames further up
            pass
    if isinstance(value, str):
        return _cut_string(value, count_bytes(value), room, depth, keep)
    fitted: Any = _UNFIT
    if depth < MAX_DEPTH and isinstance(value, dict):
        fitted = _fit_object(value, room, depth, keep)
    elif depth < MAX_DEPTH and isinstance(value, list | tuple):
        fitted = _fit_array(value, room, depth, keep)
    if fitted is not _UNFIT or not depth:
        return fitted
    return _cut_string(*shown_json(value), room, depth, keep)


def _fit_object(value: dict[Any, Any], room: int, depth: int, keep: Keep) -> Any:
    count_key = COUNT_KEY
    while count_key in value:
        count_key += "."
    total = len(value)
    reserve = len(f'"{count_key}":"{total:,} of {total:,} keys shown",')
    left = room - 2 - reserve
    measured: dict[Any, tuple[int, str]] = {}
    least = 0
    for key, item in value.items():
        size, text = _measured(item, room)
        cost = _measured(str(key), room)[0] + 2
        if least + cost + min(size, LEAST_SHARE_BYTES) > left:
            break
        left -= cost
        least += min(size, LEAST_SHARE_BYTES)
        measured[key] = size, text
    if not measured:
        return _UNFIT
    kept = len(measured)
    shares = fair_shares([size for size, _ in measured.values()], left + reserve if kept == total else left)
    shown = {
        str(key): _fit(value[key], measured[key], share, depth + 1, keep)
        for key, share in zip(measured, shares, strict=True)
    }
    if kept < total:
        shown[count_key] = f"{kept:,} of {total:,} keys shown"
    return shown


def _fit_array(items: Sequence[Any], room: int, depth: int, keep: Keep) -> Any:
    total = len(items)
    reserve = len(_items_marker(total, total)) + 3
    left = room - 2 - reserve
    floor = max(int(room * ITEM_RATIO), LEAST_SHARE_BYTES)
    measured: dict[int, tuple[int, str]] = {}
    least = 0
    for index in _from_ends(total, keep):
        size, text = _measured(items[index], room)
        if least + min(size, floor) + 1 > left:
            break
        left -= 1
        least += min(size, floor)
        measured[index] = size, text
    if not measured:
        return _UNFIT
    kept = sorted(measured)
    shares = fair_shares([measured[index][0] for index in kept], left + reserve if len(kept) == total else left)
    shown = [
        _fit(items[index], measured[index], share, depth + 1, keep) for index, share in zip(kept, shares, strict=True)
    ]
    if len(kept) < total:
        gap = next((place for place, index in enumerate(kept) if index != place), len(kept))
        shown.insert(gap, _items_marker(len(kept), total))
    return shown


def _from_ends(total: int, keep: Keep) -> Iterable[int]:
    backwards = range(total - 1, -1, -1)
    if keep == "head_tail":
        return islice(chain.from_iterable(zip(range(total), backwards, strict=True)), total)
    return range(total) if keep == "head" else backwards


def _items_marker(shown: int, total: int) -> str:
    return f"[... {shown:,} of {total:,} items shown ...]"


def _cut_string(text: str, total_bytes: int, room: int, depth: int, keep: Keep) -> Any:
    """Cut a text so that its JSON fits, quotes and escapes included."""
    cap = min(room - 2, total_bytes - 1)
    while cap >= MIN_CAP_BYTES:
        cut = cut_text(text, total_bytes, cap, keep)
        size = count_bytes(json_text(cut))
        if size <= room:
            return cut
        cap = min(cap - 1, max(cap * room // size, MIN_CAP_BYTES if cap > MIN_CAP_BYTES else 0))
    return f"[... 0 of {total_bytes:,} bytes shown ...]" if depth else _UNFIT


def _walked_bytes(value: Any, limit: int | None = None) -> int:
    """Size a value from below without recursion, up to a limit."""
    total, walked, stack = 0, 0, [value]
    while stack and walked < MAX_WALKED and (limit is None or total <= limit):
        item = stack.pop()
        walked += 1
        if isinstance(item, str):
            total += len(item) + 2 if limit is not None else count_bytes(item) + 2
        elif isinstance(item, dict | list | tuple):
            total += 2 + max(len(item) - 1, 0) + (len(item) if isinstance(item, dict) else 0)
            if limit is None or total <= limit:
                stack.extend(chain(map(str, item), item.values()) if isinstance(item, dict) else item)
        else:
            total += max(1, item.bit_length() * 3 // 10) if isinstance(item, int) else 1
    return total
