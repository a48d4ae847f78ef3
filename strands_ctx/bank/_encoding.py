"""Tool inputs and results as bytes and back: compact JSON in UTF-8, with bytes as base64.

What JSON holds comes back equal, lone surrogates, NaN and long numbers too; tuples come back as lists, keys that are
no text as text, and ``bytearray`` as ``bytes``. What JSON does not hold is kept as a text, and that is said.

Bytes become ``{marker: base64}``. A value may look like that by itself, so the marker is one that the value does not
hold, and stands before the JSON. Most results have no bytes, then nothing stands there and nothing is looked for.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import decimal
import json
import pathlib
import secrets
import uuid
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 100
"""Levels of a value that JSON refused as a whole; deeper ones become a text."""

MAX_INT_BITS = 10_000
"""Python refuses to write numbers of more than 4,300 digits (14,300 bits) in decimal. Source: sys.int_info, 3.11."""

_UTF8 = ("utf-8", "surrogatepass")
_AS_TEXT = (datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, pathlib.PurePath, uuid.UUID)
_MARKED = b"@"
_TEXT_ONLY = {str}
_WITHIN = (dict, list, tuple)
_BYTES = (bytes, bytearray, memoryview)


@dataclass(frozen=True, slots=True)
class Encoded:
    """A value as bytes.

    Attributes:
        data: What :func:`decode` takes.
        json_bytes: Size of the JSON.
        exact: Whether nothing had to be kept as a text that is none.
    """

    data: bytes
    json_bytes: int
    exact: bool


def encode(value: Any) -> Encoded:
    """Turn any value into bytes; fails only where memory does.

    Args:
        value: A tool's input or result; it is left as it is.

    Returns:
        The bytes, their size, and whether they are exact.
    """
    try:
        made = _encode(value, exact=True)
        return Encoded(made.data, made.json_bytes, exact=False) if _merges_keys(value) else made
    except Exception:  # noqa: BLE001 - keys that JSON has not, circles, depth, and whatever a foreign class raises
        return _encode(_plain(value, ()), exact=False)


def decode(data: bytes) -> Any:
    """Turn bytes of :func:`encode` into a new value.

    Raises:
        ValueError: If they are damaged.
    """
    if not data.startswith(_MARKED):
        return json.loads(data.decode(*_UTF8))
    head, _, text = data[1:].partition(b"\t")
    marker = head.decode()

    def restored(found: dict[str, Any]) -> Any:
        payload = found.get(marker)
        return base64.b64decode(payload) if isinstance(payload, str) else found

    try:
        return json.loads(text.decode(*_UTF8), object_hook=restored)
    except binascii.Error as error:
        raise ValueError("damaged bytes") from error


class _Foreign:
    """Turns what JSON does not know; counts the bytes values, and remembers whether anything was lost."""

    def __init__(self, marker: str) -> None:
        self.marker = marker
        self.count = 0
        self.exact = True

    def __call__(self, value: Any) -> Any:
        if isinstance(value, _BYTES):
            self.count += 1
            return {self.marker: base64.b64encode(bytes(value)).decode()}
        self.exact = False
        return _shown(value)


def _encode(value: Any, *, exact: bool) -> Encoded:
    marker = "$bytes"
    while True:
        foreign = _Foreign(marker)
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=foreign)
        data = text.encode(*_UTF8)
        exact = exact and foreign.exact
        if not foreign.count:
            return Encoded(data, len(data), exact)
        if text.count(f'"{marker}"') == foreign.count:
            return Encoded(b"%b%b\t%b" % (_MARKED, marker.encode(), data), len(data), exact)
        marker = f"$bytes-{secrets.token_hex(8)}"


def _merges_keys(value: Any) -> bool:
    """Tell whether keys that differ are the same text in JSON, as 1 and "1"."""
    left = [value] if isinstance(value, _WITHIN) else []
    while left:
        item = left.pop()
        keys = item if isinstance(item, dict) else ()
        if not _TEXT_ONLY.issuperset(map(type, keys)) and len({*map(_key, keys)}) < len(keys):
            return True
        inside = item.values() if isinstance(item, dict) else item
        left += [inner for inner in inside if isinstance(inner, _WITHIN)]
    return False


def _shown(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return list(value)
    return str(value) if isinstance(value, _AS_TEXT) else f"<{type(value).__name__}>"


def _plain(value: Any, outer: tuple[int, ...]) -> Any:
    try:
        return _plainly(value, outer)
    except Exception:  # noqa: BLE001 - a class of the tool's own may raise anything; its neighbours are kept
        return f"<{type(value).__name__}>"


def _plainly(value: Any, outer: tuple[int, ...]) -> Any:
    if isinstance(value, (dict, list, tuple, set, frozenset)):
        if id(value) in outer or len(outer) >= MAX_DEPTH:
            return f"<{type(value).__name__}>"
        inner = (*outer, id(value))
        if isinstance(value, dict):
            return {_key(key): _plain(item, inner) for key, item in list(value.items())}
        return [_plain(item, inner) for item in list(value)]
    if isinstance(value, int) and value.bit_length() > MAX_INT_BITS:
        return hex(value)
    if isinstance(value, _BYTES):
        return bytes(value)
    return value if value is None or isinstance(value, (str, int, float)) else _shown(value)


def _key(key: Any) -> Any:
    """Return the text that a key is in JSON."""
    try:
        if isinstance(key, str):
            return key
        if key is None or isinstance(key, (bool, float)):
            return json.dumps(key)
        if isinstance(key, int):
            return int.__repr__(key) if key.bit_length() <= MAX_INT_BITS else hex(key)
        if isinstance(key, tuple) and all(isinstance(k, str) for k in key):
            return ", ".join(key)
        return str(_shown(key))
    except Exception:  # noqa: BLE001 - as above
        return f"<{type(key).__name__}>"
