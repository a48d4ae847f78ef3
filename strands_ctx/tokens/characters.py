"""The last resort: tokens estimated from characters, by script."""

from __future__ import annotations

from math import ceil
from string import ascii_lowercase, ascii_uppercase, digits, punctuation

from strands_ctx.tokens.counting import BlockCounter, CountMemo

# Every character has one leading byte in UTF-8, and that byte tells its script well enough.
_CLASSES: tuple[tuple[bytes, float], ...] = (
    (ascii_lowercase.encode(), 0.2),
    (ascii_uppercase.encode(), 0.36),
    (digits.encode(), 0.5),
    (punctuation.encode(), 0.6),
    (b"\n\t", 0.5),
    (b" ", 0.05),
    (bytes({*range(0x00, 0x20), 0x7F} - set(b"\n\t")), 0.6),
    (bytes(range(0xC2, 0xE0)), 0.5),  # accents, Greek, Cyrillic, Hebrew, Arabic
    (bytes(range(0xE0, 0xE3)), 1.0),  # Indic scripts, Thai, symbols, dashes
    (b"\xe3\xee\xef", 1.2),  # kana, CJK punctuation, full-width forms
    (bytes(range(0xE4, 0xEA)), 1.45),  # CJK
    (bytes(range(0xEA, 0xEE)), 1.6),  # Hangul, lone surrogates
    (bytes(range(0xF0, 0xF5)), 2.5),  # emoji, rare CJK
)
"""Leading bytes, and tokens for each character that has one.

Source: fitted by hand to o200k_base and cl100k_base on source code, JSON, English prose and CJK text, between the two
and on the high side (tiktoken 0.14, 2026-11-30; ``tests/unit/tokens/test_characters.py`` holds the bounds).
"""

_ALL_BYTES = bytes(range(256))
_OTHERS = tuple((bytes(set(_ALL_BYTES) - set(leading)), weight) for leading, weight in _CLASSES)


def estimate_characters(text: str) -> int:
    """Estimate the tokens of a text from its characters, by script.

    Args:
        text: Any text, lone surrogates included.

    Returns:
        Tokens; 0 for an empty text only.
    """
    data = text.encode("utf-8", "surrogatepass")
    return ceil(sum(weight * len(data.translate(None, others)) for others, weight in _OTHERS))


class CharacterCounter(BlockCounter):
    """Estimates by characters and script: needs no table, and is never exact.

    CJK text is never estimated below 0.6 of what o200k_base and cl100k_base count, common text in it up to twice
    that. Unbroken base64 is estimated at about half.

    Example:
        >>> CharacterCounter().exact
        False
    """

    __slots__ = ("_memo",)

    def __init__(self) -> None:
        """Start with nothing remembered."""
        self._memo = CountMemo()

    @property
    def exact(self) -> bool:
        """False: the numbers are estimates."""
        return False

    def count_text(self, text: str) -> int:
        """Estimate the tokens of a text."""
        return self._memo.get(text, estimate_characters)

    def __repr__(self) -> str:
        return "CharacterCounter()"
