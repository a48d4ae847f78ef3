"""How fast results of mixed kinds are capped."""

from __future__ import annotations

import json
import random
import time
from typing import Any

from strands_ctx.capping.messages import cap_message
from strands_ctx.capping.text import cap_text
from strands_ctx.types import Message

RESULTS = 10_000
CAP_BYTES = 600
LEAST_MB_PER_S = 50


def _item(rng: random.Random, number: int) -> tuple[dict[str, Any], int]:
    """One item and its size in bytes: lines, CJK, emoji, rows of JSON, or an image, of 2 to 20 KB."""
    size = rng.randrange(2_000, 20_000)
    if number % 5 == 0:
        return {"image": {"format": "png", "source": {"bytes": b"\x89PNG\r\n\x1a\n" + rng.randbytes(size)}}}, size
    if number % 5 == 1:
        rows = [{"id": row, "name": f"row {row}", "note": "word " * 20} for row in range(size // 140)]
        return {"json": rows}, len(json.dumps(rows, separators=(",", ":")))
    piece = {2: "source 7, hour 12: derated to 40 kW\n", 3: "漢字仮名交文", 4: "👩‍👩‍👧 word "}[number % 5]
    text = piece * (size // len(piece.encode()))
    return {"text": text}, len(text.encode())


def _messages() -> tuple[list[Message], int]:
    rng, total, messages = random.Random(5), 0, list[Message]()
    for number in range(RESULTS):
        item, size = _item(rng, number)
        total += size
        result = {"toolUseId": "call", "status": "success", "content": [item]}
        messages.append({"role": "user", "content": [{"toolResult": result}]})
    return messages, total


def test_ten_thousand_results_are_capped_fast() -> None:
    """At 50 MB of input a second or more, the best of three times."""
    messages, total = _messages()
    times = []
    for _ in range(3):
        start = time.perf_counter()
        capped = [cap_message(message, {"call": CAP_BYTES})[1] for message in messages]
        times.append(time.perf_counter() - start)
    taken = min(times)
    print(f"\n{RESULTS:,} results, {total / 1e6:.0f} MB: {total / 1e6 / taken:.0f} MB/s", end="")
    assert sum(capped) == RESULTS
    assert total / 1e6 / taken >= LEAST_MB_PER_S


def test_a_large_text_is_capped_as_fast_as_it_is_counted() -> None:
    """Only its ends are looked at: 30 MB of CJK in a tenth of a second."""
    text = "漢字仮名交文" * 1_700_000
    start = time.perf_counter()
    cap_text(text, CAP_BYTES)
    taken = time.perf_counter() - start
    print(f"\n{len(text) * 3 / 1e6:.0f} MB of CJK in {taken * 1e3:.0f} ms", end="")
    assert taken <= 0.1
