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


@pytest.mark.parametrize("path", ["", ":memory:", 5, b"bank"])
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
