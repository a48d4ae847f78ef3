"""The default counter: tiktoken's encodings, offline, in bounded pieces, never raising."""

from __future__ import annotations

import logging
import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING

from strands_ctx.errors import ConfigError
from strands_ctx.tokens.characters import estimate_characters
from strands_ctx.tokens.counting import BlockCounter, CountMemo
from strands_ctx.tokens.tables import TableUnavailableError, load_ranks

if TYPE_CHECKING:
    from tiktoken import Encoding

logger = logging.getLogger(__name__)

ENCODINGS = ("cl100k_base", "o200k_base")
"""The encodings whose tables this package carries."""

MAX_PIECE_CHARS = 100_000
"""Longest text that is handed to tiktoken at once. Runs of 999,999 or more spaces make it panic (tiktoken 0.14)."""

MIN_PIECE_CHARS = 1_000
"""Shortest piece that is halved again after a panic; below it, characters are counted."""

_SEARCH_CHARS = 4_096
_WORD_START = re.compile(r" (?=[^\W\d_])")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")

_lock = threading.Lock()
_loaded: dict[str, Encoding | None] = {}


class TiktokenCounter(BlockCounter):
    """Counts with one of tiktoken's encodings, offline, and never raises for any text.

    The table is loaded at the first count, once in a process, from the application's own tiktoken cache or from this
    package. Where neither holds it, characters are counted instead, ``exact`` is False, and one warning says so.

    A text of more than 100,000 characters is counted in pieces: up to 0.003 % more on real text, 0.1 % on any. A lone
    surrogate counts as the replacement character. The numbers are exact in the encoding; what a provider bills
    differs by its own encoding and wrapping, and calibration learns by how much.

    Args:
        encoding: ``"o200k_base"`` or ``"cl100k_base"``.

    Raises:
        ConfigError: If the encoding is another one.

    Example:
        >>> TiktokenCounter().count_text("The log is not the view.")
        7
    """

    __slots__ = ("_memo", "encoding")

    def __init__(self, encoding: str = "o200k_base") -> None:
        """Choose the encoding; nothing is loaded yet."""
        if encoding not in ENCODINGS:
            raise ConfigError("encoding", encoding, f"must be one of {', '.join(ENCODINGS)}")
        self.encoding = encoding
        self._memo = CountMemo()

    @property
    def exact(self) -> bool:
        """Whether the table was found, so that numbers are exact in the encoding. Loads it."""
        return _encoding(self.encoding) is not None

    def count_text(self, text: str) -> int:
        """Count the tokens of a text of any length and any content."""
        return self._memo.get(text, self._count)

    def _count(self, text: str) -> int:
        encoding = _encoding(self.encoding)
        if encoding is None:
            return estimate_characters(text)
        if len(text) <= MAX_PIECE_CHARS:
            return _count_piece(encoding, text)
        return sum(map(partial(_count_piece, encoding), split_pieces(text, MAX_PIECE_CHARS)))

    def __repr__(self) -> str:
        return f"TiktokenCounter({self.encoding!r})"


def split_pieces(text: str, max_chars: int) -> Iterator[str]:
    """Split a text where an encoding would split it too, as far as that is cheap to see.

    Each piece but the last ends before a space and a letter, else before a line end, else anywhere outside a combining
    sequence, looking back at most 4,096 characters.

    Args:
        text: Any text.
        max_chars: Most characters in a piece, at least 2.

    Returns:
        The pieces, none empty, which join to the text.
    """
    start = 0
    while len(text) - start > max_chars:
        end = _cut_point(text, start, start + max_chars)
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def _cut_point(text: str, start: int, limit: int) -> int:
    low = max(start + 1, limit - _SEARCH_CHARS)
    cut = max((found.start() for found in _WORD_START.finditer(text, low, limit)), default=0)
    cut = cut or text.rfind("\n", low, limit)
    if cut > 0:
        return cut
    low = max(start + 1, limit - 32)
    return next((at for at in range(limit, low, -1) if not _continues(text, at)), limit)


def _continues(text: str, at: int) -> bool:
    """Whether the character belongs to the one before it."""
    char, before = text[at], text[at - 1]
    if char in _JOINERS or before == "\u200d" or unicodedata.combining(char):
        return True
    return "\udc00" <= char <= "\udfff" and "\ud800" <= before <= "\udbff"


def _count_piece(encoding: Encoding, piece: str) -> int:
    try:
        return len(encoding.encode_ordinary(piece))
    except ValueError:
        pass
    except BaseException as error:
        # A panic in tiktoken's Rust code is no Exception, and its class can be told only by name.
        if type(error).__name__ != "PanicException":
            raise
    logger.debug("encoding=<%s>, chars=<%d> | piece could not be encoded, halving it", encoding.name, len(piece))
    if len(piece) < MIN_PIECE_CHARS:
        return estimate_characters(piece)
    half = len(piece) // 2
    return _count_piece(encoding, piece[:half]) + _count_piece(encoding, piece[half:])


def _encoding(name: str) -> Encoding | None:
    if name in _loaded:
        return _loaded[name]
    with _lock:
        if name not in _loaded:
            _loaded[name] = _load(name)
        return _loaded[name]


def _load(name: str) -> Encoding | None:
    try:
        return _build(name)
    except (TableUnavailableError, ImportError) as error:
        logger.warning(
            "encoding=<%s>, error=<%s> | no token table on this machine, estimating by characters",
            name,
            error,
        )
        return None


def _build(name: str) -> Encoding:
    from tiktoken import Encoding
    from tiktoken_ext import openai_public

    # tiktoken's constructor states the pattern, the special tokens and the hash, and calls its module's loader. It runs
    # here in a copy of its module's namespace with our loader in place, so that no other user of tiktoken meets ours.
    constructor = getattr(openai_public, name)
    offline = FunctionType(constructor.__code__, {**vars(openai_public), "load_tiktoken_bpe": load_ranks}, name)
    return Encoding(**offline())
