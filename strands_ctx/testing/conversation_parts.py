"""What random histories are made of: choices, texts in every script, JSON, images, documents and video.

Everything is made from a :class:`Picker`, so that one set of functions serves hypothesis, which shrinks every choice
toward 0, and a seeded generator, which is fast. Sizes come from repeating, never from many choices.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from strands_ctx.types import Block

T = TypeVar("T")

FEATURES = (
    "cache_points",
    "citations",
    "documents",
    "guards",
    "images",
    "metadata",
    "nested_cache_points",
    "pins",
    "reasoning",
    "s3_sources",
    "structured_output",
    "surrogates",
    "text_sources",
    "videos",
)
"""What a history can be asked to do without, because an app or its provider never has it."""

SCRAPS = (
    "word ",
    "x",
    "line\n",
    "漢字、",
    "한국어 ",
    "ไทย",
    "עברית ",
    "e\u0301",
    "👩‍👩‍👧 ",
    "👍🏽",
    "🇫🇷",
    '{"key": [1, 2]} ',
    "aGVsbG8gd29ybGQ",
    "<|endoftext|>",
    "\x00\x1b[31m",
    "\n[... 29 of 1,000 bytes shown ...]\n",
    "... [truncated: 812 chars removed] ...",
    "[strands_ctx: 4 earlier messages are not shown here.] ",
)
"""Prose, lines, scripts with and without spaces, right to left, marks, joined emoji, flags, JSON, base64, markers."""

SURROGATES = ("\ud800", "a\udfff")
"""Halves of pairs, as a cut by UTF-16 units leaves them."""

SMALL, MEDIUM, LARGE, HUGE = (1, 2, 5), (1, 5, 40, 200), (2, 40, 200, 600), (1, 200, 600, 2_000)
"""How often a scrap may be repeated in a text."""


class Picker:
    """Makes the choices of one history from a source of small whole numbers; 0 is the plainest choice.

    Attributes:
        below: Returns a number from 0 to one below its argument.
        without: The features that the history does without.
    """

    __slots__ = ("below", "scraps", "without")

    def __init__(self, below: Callable[[int], int], without: frozenset[str] = frozenset()) -> None:
        """Take the source of numbers and what to leave out."""
        self.below = below
        self.without = without
        self.scraps = SCRAPS if "surrogates" in without else SCRAPS + SURROGATES

    def among(self, items: Sequence[T]) -> T:
        """Choose one item."""
        return items[self.below(len(items))]

    def once_in(self, count: int) -> bool:
        """Say yes once in so many times."""
        return self.below(count) == count - 1

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Put items in any order."""
        rest, order = list(items), list[T]()
        while len(rest) > 1:
            order.append(rest.pop(self.below(len(rest))))
        return order + rest

    def has(self, feature: str, one_in: int) -> bool:
        """Say yes once in so many times, and never for what the history does without."""
        return feature not in self.without and self.once_in(one_in)

    def text(self, repeats: Sequence[int] = MEDIUM) -> str:
        """Write a text that is not blank: one scrap over and over, at times between two others."""
        middle = self.among(self.scraps) * self.among(repeats)
        if not self.once_in(3):
            return middle
        return f"{self.among(self.scraps)}{middle}{self.among(self.scraps)}"


def json_value(pick: Picker) -> Any:
    """Make a JSON value as tools return them: rows, records, long texts, deep nesting, bare values."""
    size, text = pick.among((1, 3, 40)), pick.text(SMALL)
    shapes: tuple[Callable[[], Any], ...] = (
        lambda: {"id": size, "note": text},
        lambda: [{"id": row, "name": f"{text}{row}", "ok": row % 2 == 0} for row in range(size)],
        lambda: {f"{text[:8]}{row}": {"value": row / 8, "none": None} for row in range(size)},
        lambda: {"text": text * size, "after": [True, -1, 10**18]},
        lambda: _nested(text, size),
        lambda: [text * size, [], {}, ""],
        lambda: pick.among((None, 0, "", text, [], {}, False)),
    )
    return pick.among(shapes)()


def _nested(value: Any, depth: int) -> Any:
    for level in range(depth):
        value = {"inner": value} if level % 2 else [value, level]
    return value


_PIXELS = ((1, 1), (800, 600), (2_560, 1_440))


def image(pick: Picker) -> Block:
    """Make an image whose header tells its size, at times one that does not or whose bytes are elsewhere."""
    form = pick.among(("png", "jpeg", "gif", "webp"))
    if pick.has("s3_sources", 8):
        return {"image": {"format": form, "source": _elsewhere(f"shot.{form}")}}
    data = b"" if pick.once_in(10) else _header(form, *pick.among(_PIXELS))
    return {"image": {"format": form, "source": {"bytes": data + b"." * pick.among((8, 40, 3_000))}}}


def _header(form: str, width: int, height: int) -> bytes:
    if form == "png":
        return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII5B", 13, b"IHDR", width, height, 8, 2, 0, 0, 0)
    if form == "jpeg":
        first = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
        return first + struct.pack(">HHBHHB", 0xFFC0, 17, 8, height, width, 3)
    if form == "gif":
        return b"GIF89a" + struct.pack("<HH3B", width, height, 0, 0, 0)
    bits = (width - 1) | (height - 1) << 14
    return b"RIFF\x40\x00\x00\x00WEBPVP8L\x30\x00\x00\x00\x2f" + struct.pack("<I", bits)


def _elsewhere(name: str) -> dict[str, Any]:
    return {"location": {"type": "s3", "uri": f"s3://records/2026/{name}", "bucketOwner": "123456789012"}}


def document(pick: Picker, number: int) -> Block:
    """Make a document: PDF, text, office file; its source bytes, a text, a list of texts, or in S3."""
    form = pick.among(("txt", "pdf", "csv", "docx", "md"))
    sources: list[dict[str, Any]] = [{"bytes": _file(pick, form)}] * 3
    if "s3_sources" not in pick.without:
        sources.append(_elsewhere(f"report.{form}"))
    if "text_sources" not in pick.without:
        sources += [{"text": pick.text()}, {"content": [{"text": pick.text(SMALL)}, {"text": "page 2"}]}]
    made: dict[str, Any] = {"format": form, "name": f"report {number}", "source": pick.among(sources)}
    if pick.once_in(6):
        made |= {"context": pick.text(SMALL), "citations": {"enabled": True}}
    return {"document": made}


def _file(pick: Picker, form: str) -> bytes:
    size = pick.among((1, 4, 60))
    if form == "pdf":
        return b"%PDF-1.7\n" + b"<< /Type /Page >>\n" * size + b"%%EOF\n"
    if form == "docx":
        return b"PK\x03\x04" + b"." * (100 * size)
    return (pick.text(SMALL) * size).encode("utf-8", "replace")


def video(pick: Picker) -> Block:
    """Make a video, from bytes or in S3."""
    form = pick.among(("mp4", "webm"))
    if pick.has("s3_sources", 3):
        return {"video": {"format": form, "source": _elsewhere(f"clip.{form}")}}
    return {"video": {"format": form, "source": {"bytes": b"\x00\x00\x00\x18ftypmp42" + b"." * pick.among((8, 5_000))}}}


def reasoning(pick: Picker) -> Block:
    """Make reasoning with its signature, or redacted."""
    if pick.once_in(3):
        return {"reasoningContent": {"redactedContent": b"\x01\x9f" * pick.among((4, 300))}}
    text = {"text": pick.text(), "signature": "RXJvQ0" * pick.among((1, 20))}
    return {"reasoningContent": {"reasoningText": text}}


def citations(pick: Picker) -> Block:
    """Make an answer's text with the places that it was taken from."""
    place = {"documentPage": {"documentIndex": 0, "start": 1, "end": 2}}
    source = [{"text": pick.text(SMALL)}]
    cited = {"title": "report 1", "location": place, "sourceContent": source}
    return {"citationsContent": {"content": [{"text": f"cited: {pick.text()}"}], "citations": [cited]}}


def guarded(pick: Picker) -> Block:
    """Make a text that a guardrail looks at."""
    return {"guardContent": {"text": {"text": pick.text(), "qualifiers": [pick.among(("query", "grounding_source"))]}}}


def cache_point(pick: Picker) -> Block:
    """Make a cache point, with its lifetime or without."""
    return {"cachePoint": {"type": "default", "ttl": "1h"} if pick.once_in(4) else {"type": "default"}}


def tool_input(pick: Picker, name: str) -> dict[str, Any]:
    """Make what a tool is called with: small most times, at times a whole file to write or nothing at all."""
    if pick.once_in(6):
        return {"path": f"notes/{name}.md", "content": pick.text(LARGE), "mode": 0o644}
    return {} if pick.once_in(10) else {"query": pick.text(SMALL), "limit": 10, "filters": {"tags": [name]}}
