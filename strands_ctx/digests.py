"""What identifies a message wherever it is stored, as a copy, after a restart, and when its results were capped."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from .messages import id_of
from .types import Message


def digest(message: Message) -> str:
    """Digest what identifies a message: role, texts and tool ids, but not the content of its results.

    A cap of a result does not change the digest, any other edit of text or tools does. Stable over processes and over
    storage as JSON.

    Args:
        message: A message.

    Returns:
        32 hexadecimal digits.
    """
    state = hashlib.blake2b(str(message.get("role")).encode(), digest_size=16)
    for block in message.get("content") or ():
        kind = next(iter(block), "") if isinstance(block, dict) else type(block).__name__
        part = block.get(kind) if isinstance(block, dict) else None
        identity = _identity(kind, part)
        state.update(f"\x00{kind}\x00{identity}".encode("utf-8", "surrogatepass"))
    return state.hexdigest()


def _identity(kind: str, part: Any) -> str:
    if kind == "text":
        return str(part)
    if kind == "toolUse" and isinstance(part, dict):
        given = json.dumps(part.get("input"), sort_keys=True, default=str, skipkeys=True)
        return f"{id_of(part)}\x00{part.get('name')}\x00{given}"
    return id_of(part) if kind == "toolResult" else ""
