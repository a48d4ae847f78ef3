"""What ``import strands_ctx`` costs over the interpreter's own start."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

PAIRS = 40
LIMIT_MS = 30.0


def run_ms(code: str) -> float:
    """How long a fresh interpreter takes for the code, in milliseconds."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return (time.perf_counter() - start) * 1_000


def test_importing_the_package_is_cheap():
    """The median of paired runs, with and without the import, differs by at most 30 ms."""
    run_ms("import strands_ctx")
    differences = [run_ms("import strands_ctx") - run_ms("pass") for _ in range(PAIRS)]
    cost_ms = statistics.median(differences)
    low, _, high = statistics.quantiles(differences, n=4)
    print(
        f"\nimport strands_ctx: {cost_ms:.2f} ms over the interpreter (quartiles {low:.2f}, {high:.2f}; {PAIRS} pairs)"
    )
    assert min(cost_ms, LIMIT_MS) == cost_ms
