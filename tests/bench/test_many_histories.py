"""Ten thousand histories under every manager: no view is refused, over its budget, or another one the next time."""

from __future__ import annotations

import time

from strands_ctx.testing import random_conversation
from tests.support.history_laws import Tally, breaches

HISTORIES = 10_000
SHOWN_EVERY = 500


def test_ten_thousand_histories_keep_every_law() -> None:
    """Half of them legal, half with faults; each seed is a history that can be had again."""
    tally, found, start = Tally(), dict[int, list[object]](), time.perf_counter()
    for seed in range(HISTORIES):
        log = random_conversation(seed, legal=seed % 2 == 0)
        if broken := breaches(log, seed, tally):
            found[seed] = list(broken)
        if (seed + 1) % SHOWN_EVERY == 0:
            taken = time.perf_counter() - start
            print(f"\r{seed + 1:,} histories in {taken:.0f} s, {len(found)} with a breach", end="", flush=True)
    print(f"\n{tally}", end="")
    for seed, broken in list(found.items())[:20]:
        print(f"\nseed {seed}: {broken[0]}", end="")
    assert {} == found
