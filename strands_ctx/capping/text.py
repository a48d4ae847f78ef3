"""Cuts of one text: at line ends where that loses little, else between characters as a reader sees them.

A character here is a code point with all that joins it: marks, joiners, variation selectors, skin tones, the second
half of a flag or of a surrogate pair. Sizes are UTF-8 bytes; a lone surrogate counts three, and is replaced where a
text is cut.
"""

from __future__ import annotations

import unicodedata

from strands_ctx.errors import ConfigError
from strands_ctx.types import Keep

MIN_CAP_BYTES = 64
"""The smallest cap: room for the marker with any size that a text can have, and a few bytes of text."""

LINE_RATIO = 0.25
"""The share of an end's room that may stay unused so that the end is cut between two lines."""

MAX_JOINED = 64
"""Most code points that one character is taken to have; a longer pile of marks is cut anywhere."""

_JOINER = "\u200d"
_JOINED = frozenset(
    map(
        chr,
        (
            *(0x0E33, 0x0EB3, 0x200C, 0x200D, 0xFF9E, 0xFF9F),
            *range(0x1160, 0x1200),
            *range(0xD7B0, 0xD7FC),
            *range(0x1F3FB, 0x1F400),
        ),
    )
)
_PREPENDED = frozenset(map(chr, (*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2)))
_VIRAMA = 9
"""Combining class of the sign that joins two consonants in the scripts of India."""
_TAGS = range(0xE0020, 0xE0080)
_REGIONAL = "".join(map(chr, range(0x1F1E6, 0x1F200)))


def count_bytes(text: str) -> int:
    """Count the UTF-8 bytes of a text, three for a lone surrogate."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def cap_text(text: str, max_bytes: int, *, keep: Keep = "head_tail") -> str:
    r"""Shorten a text to a number of bytes, with a marker that says how much is shown.

    Both ends are cut between two lines where that leaves at most a quarter of their room unused, else between two
    characters. The result is valid UTF-8, never blank, never larger than the cap or the text, and fits its own cap.

    Args:
        text: Any text.
        max_bytes: The cap, at least 64.
        keep: Which end stays.

    Returns:
        The text itself if it fits, else a text of at most ``max_bytes`` bytes.

    Raises:
        ConfigError: If the cap is under 64 bytes.

    Example:
        >>> cap_text("x" * 1_000, 64)
        'xxxxxxxxxxxxxxx\n[... 29 of 1,000 bytes shown ...]\nxxxxxxxxxxxxxx'
    """
    if max_bytes < MIN_CAP_BYTES:
        raise ConfigError("max_bytes", max_bytes, f"must be at least {MIN_CAP_BYTES}, room for the marker")
    total = count_bytes(text)
    return text if total <= max_bytes else cut_text(text, total, max_bytes, keep)


def cut_text(text: str, total_bytes: int, max_bytes: int, keep: Keep) -> str:
    """Shorten a text, or what stands for one, whose size is known; see :func:`cap_text`."""
    if len(text) <= max_bytes and count_bytes(text) <= max_bytes:
        return text
    room = max_bytes - len(_marker(max_bytes, total_bytes))
    head = _head(text, {"head_tail": (room + 1) // 2, "head": room, "tail": 0}[keep])
    head_bytes = count_bytes(head)
    tail = "" if keep == "head" else _tail(text, room - head_bytes)
    return f"{head}{_marker(head_bytes + count_bytes(tail), total_bytes)}{tail}"


def _marker(shown: int, total: int) -> str:
    return f"\n[... {shown:,} of {total:,} bytes shown ...]\n"


def _head(text: str, max_bytes: int) -> str:
    head = text[:max_bytes].encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")
    end = len(head)
    if end == len(text) or text[end] == "\n":
        return head[:-1] if head.endswith("\r") else head
    line = head.rfind("\n", 1)
    if line > 0 and count_bytes(head[line:]) <= max_bytes * LINE_RATIO:
        return head[: line - 1] if head[line - 1] == "\r" else head[:line]
    for back in range(min(end, MAX_JOINED)):
        if not _joined(text, end - back):
            return head[: end - back]
    return "" if end < MAX_JOINED else head


def _tail(text: str, max_bytes: int) -> str:
    if not max_bytes:
        return ""
    tail = text[-max_bytes:].encode("utf-8", "replace")[-max_bytes:].decode("utf-8", "ignore")
    start = len(text) - len(tail)
    if text[start - 1 : start] == "\n":
        return tail
    line = tail.find("\n", 0, len(tail) - 1)
    if line >= 0 and count_bytes(tail[: line + 1]) <= max_bytes * LINE_RATIO:
        return tail[line + 1 :]
    for ahead in range(min(len(tail), MAX_JOINED)):
        if not _joined(text, start + ahead):
            return tail[ahead:]
    return "" if len(tail) < MAX_JOINED else tail


def _joined(text: str, index: int) -> bool:
    """Tell whether the code points either side of an index are one character to a reader."""
    if not 0 < index < len(text):
        return False
    before, after = text[index - 1], text[index]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    if after in _REGIONAL and before in _REGIONAL:
        return (index - len(text[:index].rstrip(_REGIONAL))) % 2 == 1
    if "\udc00" <= after <= "\udfff":
        return "\ud800" <= before <= "\udbff"
    if before == _JOINER or before in _PREPENDED or after in _JOINED or ord(after) in _TAGS:
        return True
    if "\u1100" <= before <= "\u115f" and (after <= "\u115f" or "\uac00" <= after <= "\ud7a3"):
        return True  # the first consonants of a Korean syllable
    kind = unicodedata.category(after)
    return kind[0] == "M" or (kind == "Lo" and unicodedata.combining(before) == _VIRAMA)
