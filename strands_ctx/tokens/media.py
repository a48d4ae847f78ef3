"""What images, documents, video and audio cost: by kind and size, never 0, and never by the length of base64.

Every number here is an estimate that is meant to err on the high side, since only a provider knows how it samples and
scales; calibration corrects the sum.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

from strands_ctx.tokens.image_size import image_size
from strands_ctx.types import TokenCounter

PIXELS_PER_TOKEN = 750
"""Source: Anthropic's vision guide, tokens = width x height / 750."""

MAX_IMAGE_TOKENS = 1_600
"""Larger images are scaled down to about this before they are seen, and where a size is unknown, as for an image in S3,
this is the default. Source: the same guide. The newest models may read up to three times as much."""

PDF_PAGE_TOKENS = 2_500
"""One page as text and image. Source: Anthropic's PDF guide gives for Bedrock 7,000 tokens for 3 pages
with visual understanding, and 1,000 without it (read 2026-11-30)."""

PDF_PAGE_BYTES = 50_000
"""Size of a page where the number of pages can't be read from the file: an assumption."""

OFFICE_BYTES_PER_TOKEN = 8
"""Word and Excel files are zipped XML, at least half of it not text: an assumption."""

DOCUMENT_TOKENS = 10_000
"""A document whose bytes are elsewhere, as in S3: an assumption, four pages of PDF."""

VIDEO_TOKENS_PER_S = 290
"""Source: Gemini's guide on tokens gives 263 a second (read 2026-11-30); a tenth is added."""

VIDEO_BYTES_PER_S = 250_000
"""2 Mbit/s, a common bit rate of video at 720 lines: an assumption."""

AUDIO_TOKENS_PER_S = 32
"""Source: Gemini's guide on tokens (read 2026-11-30)."""

AUDIO_BYTES_PER_S = 16_000
"""128 kbit/s, the common bit rate of compressed audio: an assumption."""

UNKNOWN_DURATION_S = 60
"""Video or audio whose bytes are elsewhere: an assumption."""

UNKNOWN_MEDIA_TOKENS = MAX_IMAGE_TOKENS
"""A block of an unknown kind that has a source."""

_TEXT_FORMATS = frozenset({"txt", "md", "csv", "html", "json", "xml", "yaml", "text"})
_OFFICE_FORMATS = frozenset({"doc", "docx", "xls", "xlsx", "ppt", "pptx"})
_PDF_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")


def image_tokens(image: Any) -> int:
    """Estimate the tokens of an image.

    Args:
        image: The value of an ``image`` block. Width and height are read from the header of its bytes.

    Returns:
        Tokens: width x height / 750, at least 1 and at most 1,600; 1,600 where the size can't be read.
    """
    payload = _payload(image)
    size = image_size(payload) if payload else None
    if size is None:
        return MAX_IMAGE_TOKENS
    return max(1, min(MAX_IMAGE_TOKENS, -(-size[0] * size[1] // PIXELS_PER_TOKEN)))


def document_tokens(counter: TokenCounter, document: Any) -> int:
    """Estimate the tokens of a document.

    Args:
        counter: Counts the text of documents that are text.
        document: The value of a ``document`` block.

    Returns:
        Tokens of the source and the name, at least 1: text counted, PDF by pages or size, Word and Excel by size, and
        10,000 where the bytes are elsewhere.
    """
    if not isinstance(document, dict):
        return DOCUMENT_TOKENS
    labels = (document.get("name"), document.get("context"))
    total = sum(counter.count_text(label) for label in labels if isinstance(label, str))
    source = document.get("source")
    texts = _source_texts(source)
    if texts:
        total += sum(map(counter.count_text, texts))
    else:
        total += _binary_tokens(counter, _payload(document), str(document.get("format")).lower())
    return max(1, total)


def video_tokens(video: Any) -> int:
    """Estimate the tokens of a video from its size: 290 a second at 2 Mbit/s; a minute if unknown."""
    return _seconds(video, VIDEO_BYTES_PER_S) * VIDEO_TOKENS_PER_S


def audio_tokens(audio: Any) -> int:
    """Estimate the tokens of audio from its size: 32 a second at 128 kbit/s; a minute if unknown."""
    return _seconds(audio, AUDIO_BYTES_PER_S) * AUDIO_TOKENS_PER_S


MEDIA_TOKENS: dict[str, Callable[[TokenCounter, Any], int]] = {
    "image": lambda _counter, image: image_tokens(image),
    "document": document_tokens,
    "video": lambda _counter, video: video_tokens(video),
    "audio": lambda _counter, audio: audio_tokens(audio),
}
"""The counts by kind of block, each called with a counter and the block's value."""


def sampled_tokens(counter: TokenCounter, kind: str, media: Any) -> int:
    """Estimate media that a provider samples: each has a price of its own for them.

    Args:
        counter: Counts the labels of documents.
        kind: The kind of a block; any other than of media gives 0.
        media: The block's value.

    Returns:
        Tokens as ``MEDIA_TOKENS`` has them; 0 for a document that is text, which is read as other text is.
    """
    if kind not in MEDIA_TOKENS or (kind == "document" and _is_text(media)):
        return 0
    return MEDIA_TOKENS[kind](counter, media)


def _is_text(document: Any) -> bool:
    """Tell whether a document is read as text."""
    if not isinstance(document, dict):
        return False
    return bool(_source_texts(document.get("source"))) or str(document.get("format")).lower() in _TEXT_FORMATS


def _binary_tokens(counter: TokenCounter, payload: bytes | None, format_: str) -> int:
    if payload is None:
        return DOCUMENT_TOKENS
    if format_ == "pdf" or payload.startswith(b"%PDF-"):
        pages = len(_PDF_PAGE.findall(payload)) or -(-len(payload) // PDF_PAGE_BYTES)
        return max(1, pages) * PDF_PAGE_TOKENS
    if format_ in _OFFICE_FORMATS or (format_ not in _TEXT_FORMATS and b"\0" in payload[:1_024]):
        return max(1, len(payload) // OFFICE_BYTES_PER_TOKEN)
    return counter.count_text(payload.decode("utf-8", "replace"))


def _source_texts(source: Any) -> list[str]:
    """The texts of a source that is given as text, or as a list of content blocks."""
    if not isinstance(source, dict):
        return []
    content = source.get("content")
    items = content if isinstance(content, (list, tuple)) else [content]
    texts = [source.get("text"), *(item.get("text") if isinstance(item, dict) else item for item in items)]
    return [text for text in texts if isinstance(text, str)]


def _payload(media: Any) -> bytes | None:
    """The bytes of a block's source, decoded where a store left them as base64; None where they are elsewhere."""
    source = media.get("source") if isinstance(media, dict) else None
    payload = source.get("bytes") if isinstance(source, dict) else None
    if isinstance(payload, str):
        try:
            return base64.b64decode(payload, validate=True)
        except (binascii.Error, ValueError):
            return payload.encode("utf-8", "replace")
    return bytes(payload) if isinstance(payload, bytes | bytearray | memoryview) else None


def _seconds(media: Any, bytes_per_s: int) -> int:
    payload = _payload(media)
    return UNKNOWN_DURATION_S if payload is None else max(1, -(-len(payload) // bytes_per_s))
