"""Read the rank tables of tiktoken's encodings from this machine, and never from a network.

A table is looked for in the application's own tiktoken cache and then in this package. Either is used only if its
SHA-256 is the one that tiktoken expects, and neither is ever written to or deleted.

The packaged copy is compact: the number of tokens (4 bytes, little-endian), the length of each (1 byte), and their
bytes, in the order of their ranks, compressed as ``.xz``. ``scripts/make_token_tables.py`` makes it.

Source: tiktoken 0.13 and 0.14, ``tiktoken/load.py`` (cache variables, cache keys, file format), read 2026-11-30.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import logging
import lzma
import os
import struct
from collections.abc import Iterator
from importlib.resources import files
from itertools import accumulate, pairwise
from pathlib import Path

logger = logging.getLogger(__name__)

CACHE_VARIABLES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
"""Environment variables that name tiktoken's cache, in tiktoken's order: the first that is set counts."""


class TableUnavailableError(LookupError):
    """No intact table was found on this machine."""


def load_ranks(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Load the ranks of one encoding without a network; takes the arguments of tiktoken's own loader.

    Args:
        url: Address from which tiktoken would download the table. It names the table and is never opened.
        expected_hash: SHA-256 of the original file, in hexadecimal.

    Returns:
        The rank of each token.

    Raises:
        TableUnavailableError: If neither the application's cache nor this package holds an intact table.
    """
    name = url.rpartition("/")[2].removesuffix(".tiktoken")
    for source, tokens in (("cache", _read_cache), ("package", _read_package)):
        ranked = tokens(url, name)
        if ranked is None:
            continue
        if expected_hash is None or _original_hash(ranked) == expected_hash:
            logger.debug("encoding=<%s>, source=<%s>, tokens=<%d> | loaded token table", name, source, len(ranked))
            return {token: rank for rank, token in enumerate(ranked)}
        logger.warning("encoding=<%s>, source=<%s> | token table is not the expected one, left alone", name, source)
    raise TableUnavailableError(f"no table of {name} in a tiktoken cache or in the package")


def pack(tokens: list[bytes]) -> bytes:
    """Pack tokens, in the order of their ranks, into the compact form before compression."""
    return struct.pack("<I", len(tokens)) + bytes(map(len, tokens)) + b"".join(tokens)


def unpack(body: bytes) -> list[bytes]:
    """Unpack what ``pack`` made.

    Raises:
        ValueError: If the lengths do not add up.
    """
    if len(body) < 4:
        raise ValueError("a token table is at least 4 bytes long")
    count = struct.unpack_from("<I", body)[0]
    start = 4 + count
    ends = list(accumulate(body[4:start], initial=start))
    if len(ends) != count + 1 or ends[-1] != len(body):
        raise ValueError("the lengths of a token table do not add up")
    return [body[a:b] for a, b in pairwise(ends)]


def parse_original(data: bytes) -> list[bytes]:
    """Parse tiktoken's own file format, one ``base64 rank`` line a token, the ranks counting up from 0.

    Raises:
        ValueError: If a line is not of that form.
    """
    tokens = []
    for rank, line in enumerate(data.splitlines()):
        token, _, stated = line.partition(b" ")
        if not stated.isdigit() or int(stated) != rank:
            raise ValueError(f"line {rank + 1} of a token table does not state rank {rank}")
        tokens.append(base64.b64decode(token, validate=True))
    return tokens


def _original_lines(tokens: list[bytes]) -> Iterator[bytes]:
    for rank, token in enumerate(tokens):
        yield b"%b %d\n" % (binascii.b2a_base64(token, newline=False), rank)


def _original_hash(tokens: list[bytes]) -> str:
    return hashlib.sha256(b"".join(_original_lines(tokens))).hexdigest()


def _read_cache(url: str, name: str) -> list[bytes] | None:
    folder = next((os.environ[key] for key in CACHE_VARIABLES if key in os.environ), "")
    if not folder:
        return None
    key = hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
    try:
        return parse_original((Path(folder) / key).read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        logger.warning("encoding=<%s>, error=<%s> | cached token table is not readable", name, type(error).__name__)
        return None


def _read_package(_url: str, name: str) -> list[bytes] | None:
    try:
        return unpack(lzma.decompress(files("strands_ctx.tokens").joinpath("data").joinpath(f"{name}.xz").read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError, lzma.LZMAError) as error:
        logger.warning("encoding=<%s>, error=<%s> | packaged token table is not readable", name, type(error).__name__)
        return None
