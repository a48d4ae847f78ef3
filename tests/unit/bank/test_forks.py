"""A bank in a process that forks: the file stays the parent's, and is never touched by the child."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

SCRIPT = """
import os, sys
from strands_ctx.bank import ToolResultBank
from strands_ctx.errors import BankLookupError
from tests.unit.bank.emission import Named, put

path, ending = sys.argv[1] or None, sys.argv[2]
bank = ToolResultBank(path=path, spill_bytes=300_000)
lead, helper = Named("lead"), Named("helper")


def put_all(name, count):
    for number in range(count):
        put(bank, f"{name}{number}", f"{name} " + "x" * 100_000, agent=helper if name == "child" else lead)


def read(banked):
    try:
        return str(bank._store.read(banked).result["content"][0]["text"].startswith(banked.tool_use_id[:4]))
    except BankLookupError as error:
        return error.reason


def said():
    found = {}
    for entry in bank._store.entries:
        found.setdefault(entry.tool_use_id[:4] + " " + read(entry), []).append(entry)
    return {name: len(entries) for name, entries in sorted(found.items())}


put_all("befo", 30)
readable = sum(entry.payload is not None for entry in bank._store.entries)
mine, theirs = os.pipe()
child = os.fork()
if not child:
    os.read(mine, 1)
    put_all("child", 40)
    print("child", said(), readable, flush=True)
    if ending == "close":
        bank.close()
    if ending == "_exit":
        os._exit(0)
    sys.exit(0)
put_all("duri", 30)
os.write(theirs, b"x")
assert os.waitpid(child, 0)[1] == 0
put_all("late", 30)
print("parent", said(), flush=True)
bank.close()
if path:
    bank = ToolResultBank(path=path)
    print("again", said(), flush=True)
"""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def told(*arguments):
    """What the script says, line by line."""
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert (0, "") == (run.returncode, run.stderr)
    return run.stdout.splitlines()


@pytest.mark.parametrize("ending", ["close", "exit", "_exit"])
def test_a_child_and_its_parent_leave_each_others_results_alone(ending):
    """With a temporary file: the child reads its own and what was in memory; the rest is unreadable, never wrong."""
    child, parent = told("", ending)
    readable = int(child.split()[-1])
    assert (
        f"child {{'befo True': {readable}, 'befo unreadable': {30 - readable}, 'chil True': 40}} {readable}",
        "parent {'befo True': 30, 'duri True': 30, 'late True': 30}",
        True,
    ) == (child, parent, readable < 30)


@pytest.mark.parametrize("ending", ["close", "exit", "_exit"])
def test_a_kept_file_holds_what_the_parent_banked(tmp_path, ending):
    """Whole, however the child ends; the child's own results are in the child only."""
    parents = "{'befo True': 30, 'duri True': 30, 'late True': 30}"
    assert ["child {'befo unreadable': 30, 'chil True': 40} 0", f"parent {parents}", f"again {parents}"] == told(
        str(tmp_path / "bank"), ending
    )


THREADS = """
import os, sys, threading
from strands_ctx.bank import ToolResultBank
from tests.unit.bank.emission import Named, put

bank, stop = ToolResultBank(path=sys.argv[1]), threading.Event()


def bank_on():
    number = 0
    while not stop.is_set():
        put(bank, f"t{number}", "x" * 1_000)
        number += 1


thread = threading.Thread(target=bank_on)
thread.start()
for _ in range(20):
    child = os.fork()
    if not child:
        put(bank, "child", "text")
        os._exit(0 if bank.get("child").result else 1)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
thread.join()
assert len([*bank]) == bank.count > 0
"""


def test_a_fork_while_another_thread_banks_leaves_no_lock_behind(tmp_path):
    """The child would wait for a thread that it does not have."""
    command = [sys.executable, "-W", "ignore", "-c", THREADS, str(tmp_path / "bank")]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert (0, "") == (run.returncode, run.stderr)
