"""Media in capped results: what it weighs, and the text that stands in its place.

Images, documents, video and audio can't be shortened, so they stay whole or become a text with kind, format, name and
size. A name was chosen by whoever made the file: only letters, digits and a few signs of it are shown, in quotes.
"""

from __future__ import annotations

import base64
import binascii
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from strands_ctx.messages import id_of, shape_of
from strands_ctx.tokens.characters import CharacterCounter
from strands_ctx.tokens.image_size import image_size
from strands_ctx.tokens.media import (
    DOCUMENT_TOKENS,
    MAX_IMAGE_TOKENS,
    MEDIA_TOKENS,
    UNKNOWN_DURATION_S,
    VIDEO_TOKENS_PER_S,
)
from strands_ctx.types import Block, Message, Messages

from .text import count_bytes

MEDIA_KINDS = ("image", "document", "video", "audio")
"""The kinds of content that become placeholders."""

LIMITED_KINDS = ("image", "document")
"""The kinds of which a request holds a limited number.

Source: Bedrock refuses more than 20 images and documents together in one request (read 2026-11-30).
"""

UNLIMITED_MEDIA = 2**53
"""More images and documents than a log can hold."""

MAX_PLACEHOLDER_BYTES = 600
"""Room for a placeholder with its longest name and location."""

BYTES_PER_TOKEN = 4
"""Turns the estimated tokens of media whose bytes are elsewhere, as in S3, into bytes to hold a cap against."""

MAX_NAME_CHARS = 80
"""Most characters of a name or location that a placeholder shows."""

_ELSEWHERE_TOKENS = {"image": MAX_IMAGE_TOKENS, "video": UNKNOWN_DURATION_S * VIDEO_TOKENS_PER_S}
_CHARACTERS = CharacterCounter()
_HEADER_BYTES = 65_536
_SAFE_SIGNS = frozenset(" ._-/:")


def media_of(item: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """Find the kind and the value of an item that is media, or None."""
    for kind in MEDIA_KINDS:
        if isinstance(value := item.get(kind), dict):
            return kind, value
    return None


def media_bytes(kind: str, media: Mapping[str, Any]) -> int:
    """Weigh media: the bytes or texts of its source; where these are elsewhere, four bytes an estimated token."""
    size = _source_bytes(media.get("source"))
    return _ELSEWHERE_TOKENS.get(kind, DOCUMENT_TOKENS) * BYTES_PER_TOKEN if size is None else size


def media_weight(kind: str, media: Mapping[str, Any]) -> int:
    """Weigh media against texts by what they take: documents that are text by their bytes, else four a token."""
    tokens = MEDIA_TOKENS[kind](_CHARACTERS, media)
    return min(tokens * BYTES_PER_TOKEN, media_bytes(kind, media)) if kind == "document" else tokens * BYTES_PER_TOKEN


def limited_count(message: Message, caps: Mapping[str, int]) -> int:
    """Count a message's images and documents that caps of its results, in bytes by id, do not replace by a line."""
    count = 0
    for block in message["content"]:
        result = block.get("toolResult")
        cap = caps.get(id_of(result)) if isinstance(result, dict) else None
        for item in result.get("content") or () if isinstance(result, dict) else (block,):
            if any(kind in item for kind in LIMITED_KINDS):
                media = media_of(item)
                count += cap is None or media is None or media_bytes(*media) <= cap
    return count


def limited_bytes(message: Message) -> int:
    """Count the bytes of a message's images and documents, those inside of tool results included."""
    results = [block["toolResult"].get("content") or () for block in message["content"] if "toolResult" in block]
    items = [*message["content"], *(item for content in results for item in content)]
    found = [media_of(item) for item in items if any(kind in item for kind in LIMITED_KINDS)]
    return sum(media_bytes(*media) for media in found if media is not None)


def replaced(item: Block, max_bytes: int) -> Block:
    """Put a line of text in the place of an item that is media; its other keys stay."""
    found = media_of(item)
    if found is None:
        return item
    kept = {key: value for key, value in item.items() if key != found[0]}
    return {**kept, "text": placeholder(*found, max_bytes)}


def without_media(message: Message, count: int) -> Message:
    """Put lines of text in the place of the first images and documents of a message.

    Args:
        message: A message; it is left as it is.
        count: How many, those inside of tool results included.

    Returns:
        A new message.
    """
    content: list[Block] = []
    for block in message["content"]:
        result = block.get("toolResult")
        items = result.get("content") or [] if isinstance(result, dict) else [block]
        shown: list[Block] = []
        for item in items:
            limited = count > 0 and any(kind in item for kind in LIMITED_KINDS)
            count -= limited
            shown.append(replaced(item, MAX_PLACEHOLDER_BYTES) if limited else item)
        content.append({**block, "toolResult": {**result, "content": shown}} if isinstance(result, dict) else shown[0])
    return {**message, "content": content}


def newest_media(messages: Sequence[Message], most: int | None) -> Messages:
    """Keep the newest images and documents of messages, and put lines of text in the place of the others."""
    kept, limited = (UNLIMITED_MEDIA if most is None else most), list[Message]()
    for message in reversed(messages):
        found = shape_of(message).media
        limited.append(without_media(message, found - kept) if found > kept else message)
        kept = max(kept - found, 0)
    return limited[::-1]


def placeholder(kind: str, media: Mapping[str, Any], max_bytes: int) -> str:
    """Describe media in one line.

    Args:
        kind: ``image``, ``document``, ``video`` or ``audio``.
        media: The value of the block.
        max_bytes: Where the description would be larger, it goes without the name, at least 64.

    Returns:
        A text such as ``[image: png, 120,331 bytes, 800 x 600]``.
    """
    source = media.get("source")
    size = _source_bytes(source)
    pixels = image_size(_header(source)) if kind == "image" else None
    facts = [
        "".join(sign for sign in str(media.get("format") or "")[:8] if sign.isascii() and sign.isalnum()).lower(),
        _quoted(media.get("name")),
        "" if size is None else f"{size:,} bytes",
        f"{pixels[0]:,} x {pixels[1]:,}" if pixels else "",
        _quoted(_location(source)),
    ]
    text = _listed(kind, facts)
    return text if count_bytes(text) <= max_bytes else _listed(kind, [facts[0], facts[2]])


def _listed(kind: str, facts: list[str]) -> str:
    known = ", ".join(filter(None, facts))
    return f"[{kind}: {known}]" if known else f"[{kind}]"


def _quoted(name: Any) -> str:
    if not isinstance(name, str):
        return ""
    start = name[: 4 * MAX_NAME_CHARS]
    safe = "".join(sign if unicodedata.category(sign)[0] in "LMN" or sign in _SAFE_SIGNS else " " for sign in start)
    short = " ".join(safe.split())[:MAX_NAME_CHARS].strip()
    return f'"{short}"' if short else ""


def _source_bytes(source: Any) -> int | None:
    if not isinstance(source, dict):
        return None
    payload = source.get("bytes")
    if isinstance(payload, str):
        return len(payload) * 3 // 4 - payload.endswith("=") - payload.endswith("==")
    if isinstance(payload, bytes | bytearray | memoryview):
        return len(payload)
    content = source.get("content")
    texts = [source.get("text"), *(content if isinstance(content, list | tuple) else [content])]
    sizes = [count_bytes(t) for t in (t.get("text") if isinstance(t, dict) else t for t in texts) if isinstance(t, str)]
    return sum(sizes) if sizes else None


def _location(source: Any) -> Any:
    where = source.get("location") if isinstance(source, dict) else None
    return where.get("uri") if isinstance(where, dict) else None


def _header(source: Any) -> bytes:
    payload = source.get("bytes") if isinstance(source, dict) else None
    if isinstance(payload, str):
        try:
            return base64.b64decode(payload[: _HEADER_BYTES // 3 * 4])
        except (binascii.Error, ValueError):
            return b""
    return bytes(payload[:_HEADER_BYTES]) if isinstance(payload, bytes | bytearray | memoryview) else b""
