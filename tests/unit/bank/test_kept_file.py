"""A bank's file that is kept: gone on with, and nothing else taken for one."""

from __future__ import annotations

import pickle
import sqlite3

import pytest

from strands_ctx.bank import ToolResultBank
from strands_ctx.errors import BankLookupError, ConfigError

from .emission import Named, put


def test_a_kept_file_is_gone_on_with(tmp_path):
    """By a later bank, with what is known of each result; also where the first one was never closed."""
    path = tmp_path / "bank.sqlite"
    with ToolResultBank(path=path) as first:
        given = [put(first, f"t{number}", f"text {number}") for number in range(3)]
        kept = list(first)
    with ToolResultBank(path=path, max_bytes=10_000) as second:
        again = list(second)
        more = put(second, "t3", "more", agent=Named())
        assert (kept, [*given, more], [1, 2, 3, 4], second.total_bytes) == (
            again,
            [r.result for r in second],
            [r.order for r in second],
            sum(r.bytes for r in second),
        )


def test_a_bound_counts_what_the_file_holds(tmp_path):
    """A later bank goes on with what is left of it."""
    path = tmp_path / "bank"
    with ToolResultBank(path=path) as first:
        put(first, "t1", "x" * 700)
    with ToolResultBank(path=path, max_bytes=1_000) as second:
        put(second, "t2", "x" * 700)
        assert (1, 1) == (second.count, second.dropped)


def test_an_agent_of_a_later_process_reads_what_one_of_its_name_was_given(tmp_path):
    """The ids in a restored log lead to their results."""
    with ToolResultBank(path=tmp_path / "bank") as first:
        put(first, "t1", "text", agent=Named("reader"))
    with ToolResultBank(path=tmp_path / "bank") as second:
        reader, other = Named("reader"), Named("other")
        assert ("text", 0) == (
            second.get("t1", reader).result["content"][0]["text"],
            len(second.get_results(agent=other)),
        )


@pytest.mark.parametrize("path", ["", ":memory:", 5, b"bank", "\0x", "\ud800"])
def test_a_path_that_is_none_is_refused(path):
    """Nothing would be kept."""
    with pytest.raises(ConfigError, match="path="):
        ToolResultBank(path=path)


def other_table(path):
    """A database of another program."""
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE users (name)")
    db.close()


def with_trigger(path):
    """A bank's file to which somebody has added a trigger."""
    ToolResultBank(path=path).close()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM results; END")
    db.close()


def changed(statement, *values):
    """A bank's file that somebody has changed."""

    def make(path):
        with ToolResultBank(path=path) as bank:
            put(bank, "t1", "a")
        with sqlite3.connect(path) as db:
            db.execute(statement, values)
        db.close()

    return make


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_bytes(b"no database, and long enough to be looked at" * 100),
        lambda path: path.mkdir(),
        other_table,
        with_trigger,
        changed("UPDATE results SET record = ?", pickle.dumps(["agent"])),
        changed("UPDATE results SET record = ?", b'["a", "t1", 5, null, 1, null, true, true, 9]'),
        changed("UPDATE results SET record = ?", b"[1]"),
        changed("PRAGMA user_version = 2"),
        changed("PRAGMA application_id = 0"),
    ],
    ids=["text", "folder", "other table", "trigger", "pickle", "types", "short", "version", "application"],
)
def test_a_file_that_is_no_banks_is_refused_and_left_as_it_is(tmp_path, make):
    """By the name of the argument."""
    path = tmp_path / "file"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(ConfigError, match="path="):
        ToolResultBank(path=path)
    assert before == (path.read_bytes() if path.is_file() else None)


def test_a_file_that_another_bank_has_open_is_refused(tmp_path):
    """Two writers would mix their orders."""
    with ToolResultBank(path=tmp_path / "bank"), pytest.raises(ConfigError, match="locked"):
        ToolResultBank(path=tmp_path / "bank")


@pytest.mark.parametrize("payload", [pickle.dumps({"text": "a"}), "a text", None, b"{}", b"null\n{"])
def test_damaged_bytes_in_a_kept_file_are_an_error_of_the_one_result(tmp_path, payload):
    """The others can be read; what stands there is parsed and never executed."""
    path = tmp_path / "bank"
    changed("UPDATE results SET payload = ?", payload)(path)
    with ToolResultBank(path=path) as bank:
        put(bank, "t2", "b")
        with pytest.raises(BankLookupError, match="can't be read back"):
            bank.get("t1")
        assert "b" == bank.get("t2").result["content"][0]["text"]


def with_many(path):
    """A closed bank's file of several hundred kilobytes; its bytes."""
    with ToolResultBank(path=path) as bank:
        for number in range(150):
            put(bank, f"t{number}", "x" * 3_000)
    return path.read_bytes()


@pytest.mark.parametrize("damage", ["half", "zeros", "root"])
def test_a_damaged_file_is_refused_by_its_path_with_a_remedy(tmp_path, damage):
    """As after a disk that failed: no error of SQLite comes through, and the file is left as it is."""
    path = tmp_path / "bank"
    whole = with_many(path)
    middle = len(whole) // 2
    data = {
        "half": whole[:middle],
        "zeros": whole[:8_192] + bytes(middle) + whole[8_192 + middle :],
        "root": whole[:4_096] + b"\x55" * 4_096 + whole[8_192:],
    }[damage]
    path.write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        ToolResultBank(path=path)
    assert (path, True, data) == (caught.value.value, "move a damaged one away" in str(caught.value), path.read_bytes())


class Disk:
    """A file whose disk is full for a while."""

    def __init__(self, file):
        self.file, self.is_full, self.tries = file, True, 0

    def write(self, entries):
        """Fail as SQLite does, or write."""
        self.tries += 1
        if self.is_full:
            raise sqlite3.OperationalError("database or disk is full")
        self.file.write(entries)

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.parametrize("last", ["result", "close"])
def test_what_a_full_disk_did_not_take_is_written_when_there_is_room(tmp_path, caplog, last):
    """With the next result, or at the end; one warning is enough."""
    with ToolResultBank(path=tmp_path / "bank") as bank:
        bank._store._file = disk = Disk(bank._store._file)
        for number in range(5):
            put(bank, f"t{number}", "text")
        disk.is_full = False
        if last == "result":
            put(bank, "t5", "text")
            assert [] == [entry for entry in bank._store.entries if entry.payload is not None]
    warnings = len(caplog.records)
    with ToolResultBank(path=tmp_path / "bank") as again:
        assert (6 if last == "result" else 5, 1) == (len([*again]), warnings)


def test_what_is_not_in_the_file_at_the_end_is_said(tmp_path, caplog):
    """The disk has stayed full."""
    with ToolResultBank(path=tmp_path / "bank") as bank:
        bank._store._file = Disk(bank._store._file)
        for number in range(5):
            put(bank, f"t{number}", "text")
    assert "results=<5> | the bank is closed" in caplog.records[-1].getMessage()


@pytest.mark.skipif(not hasattr(sqlite3.Connection, "setlimit"), reason="new in Python 3.11")
@pytest.mark.parametrize("kept", [True, False], ids=["kept", "temporary"])
def test_a_payload_that_sqlite_refuses_is_in_no_others_way(tmp_path, caplog, kept):
    """It stays in memory, where it can be read; the others go to the file."""
    with ToolResultBank(path=tmp_path / "bank" if kept else None, spill_bytes=0) as bank:
        store = bank._store
        store._batch_bytes = 0
        put(bank, "t0", "small")
        store._file._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 5_000)
        store._batch_bytes = 20_000
        for number, size in enumerate((100, 9_000, 100), 1):
            put(bank, f"t{number}", "x" * size)
        store._batch_bytes = 0
        put(bank, "t4", "small")
        inside = [entry.tool_use_id for entry in store.entries if entry.payload is not None]
        assert (["t2"], 5, 9_000) == (inside, len([*bank]), len(bank.get("t2").result["content"][0]["text"]))
    said = [record.getMessage().partition(" |")[0] for record in caplog.records]
    assert (2, ["results=<1>"]) == (len(said), said[1:]) if kept else 1 == len(said)
