"""Keeping results in memory, in a temporary file, in a kept one, within a bound."""

from __future__ import annotations

import copy
import gc
import pickle
import sqlite3
import warnings

import pytest

from strands_ctx.bank import ToolResultBank
from strands_ctx.errors import BankLookupError, ConfigError

from .emission import Named, put


@pytest.fixture(params=["memory", "temporary file", "kept file"])
def bank(request, tmp_path):
    """An empty bank of each kind."""
    path = tmp_path / "bank.sqlite" if request.param == "kept file" else None
    with ToolResultBank(spill_bytes=0 if request.param == "temporary file" else 10**9, path=path) as bank:
        yield bank


def test_results_come_back_as_they_came_wherever_they_are_kept(bank):
    """In order, with what is known of them; ids with lone surrogates too."""
    ids = ["t1", "\ud800", "'; DROP TABLE results; --", "t1" * 500]
    given = [put(bank, tool_use_id, f"text {number} \udfff " * 9_000) for number, tool_use_id in enumerate(ids)]
    assert (given, [1, 2, 3, 4], ids, given, True) == (
        [r.result for r in bank],
        [r.order for r in bank],
        [r.input["id"] for r in bank],
        [bank.get(tool_use_id).result for tool_use_id in ids],
        bool(bank),
    )


def test_an_empty_bank_is_true(bank):
    """So that ``bank or another`` means the bank."""
    assert (True, 0, 0) == (bool(bank), len(bank), bank.total_bytes)


def test_results_are_a_sequence_that_does_not_grow(bank):
    """It can be sliced and counted from the end, and holds what was there when it was asked for."""
    for number in range(5):
        put(bank, f"t{number}", "text")
    results = bank.results
    put(bank, "t5", "text")
    with pytest.raises(IndexError):
        results[5]
    assert (5, 5, "t4", ["t1", "t3"], 6, ["t3", "t2"]) == (
        len(results),
        len([*results]),
        results[-1].tool_use_id,
        [r.tool_use_id for r in results[1::2]],
        len(bank.results),
        [r.tool_use_id for r in results[3:1:-1]],
    )


def test_results_are_found_by_tool_agent_status_and_id(bank):
    """What is given has to match, all of it."""
    other = Named("other")
    put(bank, "t1", "a")
    put(bank, "t2", "b", name="write")
    put(bank, "t1", "c", agent=other, status="error")
    found = [
        bank.get_results(),
        bank.get_results(tool_name="write"),
        bank.get_results(agent=other),
        bank.get_results(agent="agent", tool_name="read"),
        bank.get_results(status="error"),
        bank.get_results(tool_use_id="t1"),
        bank.get_results(tool_use_id="t1", agent=other),
        bank.get_results(tool_name="none"),
    ]
    assert [[1, 2, 3], [2], [3], [1], [3], [1, 3], [3], []] == [[r.order for r in results] for results in found]


@pytest.mark.parametrize(
    ("tool_use_id", "agent", "reason"),
    [("t9", None, "unknown"), ("t1", None, "ambiguous"), ("t2", "other", "unknown"), ("t2", "nobody", "unknown")],
)
def test_what_can_not_be_told_names_the_id_the_reason_and_how_many_there_are(bank, tool_use_id, agent, reason):
    """A KeyError, whose message is a sentence and not a quoted one."""
    put(bank, "t1", "a")
    put(bank, "t1", "b", agent=Named("other"))
    put(bank, "t2", "c")
    with pytest.raises(KeyError) as caught:
        bank.get(tool_use_id, agent)
    error = caught.value
    assert (BankLookupError, reason, 3, f"result '{tool_use_id}': ", "(3 banked)") == (
        type(error),
        error.reason,
        error.banked,
        str(error)[: 11 + len(tool_use_id)],
        str(error)[-10:],
    )


def test_the_error_survives_pickling():
    """With its message and its attributes."""
    error = BankLookupError("t1", "dropped", 3)
    copied = pickle.loads(pickle.dumps(error))
    assert (type(error), str(error), vars(error)) == (type(copied), str(copied), vars(copied))


def test_a_bound_is_kept_and_what_was_dropped_is_counted(caplog):
    """A smaller result that still fits is kept; what was not says so when it is asked for."""
    with ToolResultBank(max_bytes=1_000) as bank:
        for tool_use_id, size in (("t1", 500), ("t2", 900), ("t3", 200)):
            put(bank, tool_use_id, "x" * size)
        with pytest.raises(BankLookupError, match="raise max_bytes"):
            bank.get("t2")
        assert (["t1", "t3"], [1, 3], 1, True, True, 1) == (
            [r.tool_use_id for r in bank],
            [r.order for r in bank],
            bank.dropped,
            bank.total_bytes <= 1_000,
            bank.dropped_bytes > 900,
            len(caplog.records),
        )


def test_memory_holds_no_more_than_it_may():
    """A megabyte more at most, the rest is in the file; each result is in one of both."""
    with ToolResultBank(spill_bytes=2_000_000) as bank:
        for number in range(60):
            put(bank, f"t{number}", "x" * 100_000)
        inside = [entry.payload for entry in bank._store.entries if entry.payload is not None]
        assert (True, True, 60) == (
            2_000_000 <= sum(map(len, inside)) <= 3_100_000,
            bank._store.entries[0].payload is None,
            len({r.tool_use_id for r in bank}),
        )


class FullDisk:
    """A file that can't be written."""

    def __init__(self):
        self.tries = 0

    def write(self, entries):
        """Fail as SQLite does."""
        self.tries += 1
        raise sqlite3.OperationalError("database or disk is full")


def test_a_disk_that_is_full_costs_memory_and_no_result(caplog):
    """It is tried again later, not at each result; once there is room, memory is as small as before."""
    with ToolResultBank(spill_bytes=0) as bank:
        store = bank._store
        store._file = full = FullDisk()
        for number in range(150):
            put(bank, f"t{number}", "x" * 100_000)
        store._file = None
        for number in range(150, 300):
            put(bank, f"t{number}", "x" * 100_000)
        left = sum(len(entry.payload) for entry in store.entries if entry.payload is not None)
        assert (300, 2, True, True) == (len([*bank]), full.tries, "stay in memory" in caplog.text, left < 1_100_000)


def test_nothing_can_be_read_from_a_closed_bank(bank):
    """It keeps its counts, and counts what comes later as dropped."""
    put(bank, "t1", "a")
    bank.close()
    bank.close()
    put(bank, "t2", "b")
    with pytest.raises(BankLookupError, match="the bank is closed"):
        bank.get("t1")
    assert (1, 1) == (bank.count, bank.dropped)


def test_a_temporary_file_leaves_nothing_and_needs_no_closing(tmp_path, monkeypatch):
    """It has no name; a bank that is forgotten closes it, with no warning."""
    monkeypatch.setenv("SQLITE_TMPDIR", str(tmp_path))
    bank = ToolResultBank(spill_bytes=0)
    for number in range(40):
        put(bank, f"t{number}", "x" * 200_000)
    names = list(tmp_path.iterdir())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del bank
        gc.collect()
    assert ([], [], []) == (names, list(tmp_path.iterdir()), caught)


def test_a_copy_is_the_bank_itself_and_a_pickle_holds_all_results(bank):
    """Orders are kept; the copy keeps no file and goes on by itself."""
    for number in range(3):
        put(bank, f"t{number}", "x" * 600_000)
    pickled = pickle.loads(pickle.dumps(bank))
    tool = pickle.loads(pickle.dumps(bank.as_tool("look", shared=True)))
    put(pickled, "t3", "more", agent=Named())
    assert (True, list(bank), 3, 4, "look") == (
        copy.deepcopy(bank) is bank,
        list(pickled)[:3],
        bank.count,
        pickled.count,
        tool.tool_name,
    )
    pickled.close()
    tool._bank.close()


def test_a_pickle_keeps_the_orders_where_a_result_was_dropped():
    """The gap stays."""
    with ToolResultBank(max_bytes=1_000) as bank:
        for tool_use_id, size in (("t1", 200), ("t2", 2_000), ("t3", 200)):
            put(bank, tool_use_id, "x" * size)
        with pickle.loads(pickle.dumps(bank)) as pickled:
            assert [1, 3] == [r.order for r in pickled]


@pytest.mark.parametrize("size", [-1, 1.5, "5", True])
@pytest.mark.parametrize("name", ["spill_bytes", "max_bytes"])
def test_sizes_are_whole_numbers_of_bytes(name, size):
    """Anything else is refused by its name."""
    with pytest.raises(ConfigError, match=f"{name}=.* must be a whole number of bytes"):
        ToolResultBank(**{name: size})
