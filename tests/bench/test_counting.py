"""How fast texts are counted, the nasty ones too."""

from __future__ import annotations

import base64
import random
import time

import pytest

from strands_ctx import TiktokenCounter

SIZE = 1_000_000
_BYTES = random.Random(3).randbytes(SIZE)
TEXTS = {
    "spaces": " " * SIZE,
    "tabs": "\t" * SIZE,
    "one letter": "a" * SIZE,
    "base64": base64.b64encode(_BYTES).decode()[:SIZE],
    "CJK": "".join(chr(0x4E00 + byte * 7) for byte in _BYTES),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_million_characters_are_counted_within_a_second(name: str) -> None:
    """Whatever the text, it is counted in at most 1 s, and near to what tiktoken counts where that can."""
    counter, text = TiktokenCounter(), TEXTS[name]
    counter.count_text("load the table first")
    start = time.perf_counter()
    tokens = counter.count_text(text)
    taken = time.perf_counter() - start
    print(f"\n{name}: {tokens:,} tokens (exact: {counter.exact}) in {taken:.2f} s", end="")
    assert taken <= 1
