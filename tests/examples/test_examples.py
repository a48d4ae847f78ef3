"""Every example runs offline, in a process of its own, and shows what it is there to show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

SHOWN = {
    "bank_results": [
        "sliding completed: 4 results in the log, 40 banked, 229,958 bytes",
        "none failed (prompt is too long: 60314 tokens > 60000 maximum): "
        "36 results in the log, 36 banked, 206,802 bytes",
        "Result tooluse_00004 of read_source, status success, 150 lines, matches in lines 1 to 150: 1:",
        "78: source 3, hour 77: derated to 51 kW",
    ],
    "existing_app": [
        "before: ContextWindowOverflowException: prompt is too long: 60405 tokens > 60000 maximum "
        "[73 messages in the log]",
        "after:  All 40 sources name the same fault. [82 messages in the log]",
    ],
    "harvest_partial": [
        "no manager: partial (overflow), 73 new messages, 36 results banked",
        "PerTurnManager, from there: complete (finished), 10 new messages, 4 results banked",
        "SlidingWindowConversationManager: complete (finished), no honest delta, 40 results banked",
    ],
    "save_by_delta": [
        "PerTurnManager: saved 26 messages, saved 26 messages; 52 messages stored",
        "SlidingWindowConversationManager: refused: removed_message_count, refused: removed_message_count; "
        "0 messages stored",
    ],
    "sub_agents": [
        "Cooling faults derate the sites: thirty sources say so.",
        "lead: 6 messages in the log, calls 3, last view 5 messages, capped results 0",
        "reader: 62 messages in the log, calls 31, last view 61 messages, capped results 29",
        "writer: 2 messages in the log, calls 1, last view 1 messages, capped results 0",
    ],
}


@pytest.fixture(scope="module", params=sorted(SHOWN))
def example(request, tmp_path_factory):
    """The name of an example, what became of it elsewhere than in the project, and the folder that it ran in."""
    folder = tmp_path_factory.mktemp(request.param)
    process = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{request.param}.py")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return request.param, process, folder


def test_every_example_is_run_here():
    """An example that is added without its output is found."""
    assert sorted(SHOWN) == sorted(path.stem for path in EXAMPLES.glob("*.py"))


def test_an_example_prints_what_it_shows(example):
    """It ends well, prints its lines, and is silent on the error stream."""
    name, process, _ = example
    assert (SHOWN[name], "", 0) == (process.stdout.splitlines(), process.stderr, process.returncode)


def test_an_example_leaves_nothing_behind(example):
    """What it stores is in a temporary folder, and is gone at its end."""
    _, _, folder = example
    assert [] == sorted(folder.iterdir())
