"""Results in a SQLite file: a temporary one that nobody else can open, or one that is kept.

A temporary file has no name that stays: SQLite removes it as soon as it is open, so that a crash leaves nothing. A
kept file holds plain JSON; what is read from it is parsed, never executed, and a file with other tables, views or
triggers is refused.
"""

from __future__ import annotations

import json
import os
import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from strands_ctx.errors import ConfigError

from ._forks import never_free
from .records import Entry

APPLICATION_ID = 0x5C7B
VERSION = 1

_TABLE = "CREATE TABLE results (ordinal INTEGER PRIMARY KEY, record BLOB, payload BLOB)"
_ENTRIES = "SELECT ordinal, record, coalesce(length(payload), 0) FROM results ORDER BY ordinal"
_TYPES: tuple[tuple[type, ...], ...] = (
    (str,),
    (str,),
    (str, type(None)),
    (str, type(None)),
    (int,),
    (float, int, type(None)),
    (bool,),
    (bool,),
    (int,),
)


class SpillFile:
    """Payloads by order, in a file. Not locked: its owner does that."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        """Open the file.

        Args:
            path: A file to keep; it is made, or opened where it is one of ours. None for a temporary one.

        Raises:
            ConfigError: If the file can't be opened, is not one of ours, or is open in another bank.
        """
        self._path = path
        try:
            # The empty name is SQLite's own for a private temporary file; nothing else needs removing.
            self._db = sqlite3.connect(
                "" if path is None else path, isolation_level=None, timeout=0.5, check_same_thread=False
            )
            self._close = weakref.finalize(self, self._db.close)
            self._prepare(kept=path is not None)
        except (sqlite3.Error, OSError, ValueError, _NotOursError) as error:
            if hasattr(self, "_close"):
                self._close()
            raise ConfigError("path", path, _refusal(error)) from error

    def _prepare(self, *, kept: bool) -> None:
        run = self._db.execute
        run("PRAGMA trusted_schema = OFF")
        if not kept:
            run("PRAGMA journal_mode = MEMORY")
            run("PRAGMA synchronous = OFF")
            run(_TABLE)
            return
        run("PRAGMA locking_mode = EXCLUSIVE")
        found = run("SELECT type, name FROM sqlite_master").fetchall()
        if found:
            marks = (run("PRAGMA application_id").fetchone()[0], run("PRAGMA user_version").fetchone()[0])
            if found != [("table", "results")] or marks != (APPLICATION_ID, VERSION):
                raise _NotOursError("it holds something else")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = NORMAL")
        run("BEGIN EXCLUSIVE")
        if not found:
            run(_TABLE)
            run(f"PRAGMA application_id = {APPLICATION_ID}")
            run(f"PRAGMA user_version = {VERSION}")
        run("COMMIT")

    def write(self, entries: Sequence[Entry]) -> None:
        """Store results, all or none.

        Raises:
            sqlite3.Error: If the disk is full, or the file is damaged.
            OverflowError: If a payload is larger than SQLite takes.
        """
        rows = [(entry.order, json.dumps(_record_of(entry)).encode(), entry.payload) for entry in entries]
        self._db.execute("BEGIN")
        try:
            self._db.executemany("INSERT INTO results VALUES (?, ?, ?)", rows)
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def read(self, order: int) -> bytes | None:
        """Return one payload, or None where there is none.

        Raises:
            sqlite3.Error: If the file can't be read.
        """
        row = self._db.execute("SELECT payload FROM results WHERE ordinal = ?", (order,)).fetchone()
        return row[0] if row and isinstance(row[0], bytes) else None

    def entries(self) -> Iterator[tuple[Entry, int]]:
        """Read what an earlier bank has left: each result without its payload, and that payload's size.

        Raises:
            ConfigError: If the file is damaged; it is closed then.
        """
        try:
            for order, record, size in self._db.execute(_ENTRIES):
                fields = _parsed(record)
                if fields is None:
                    raise sqlite3.DatabaseError(f"record {order} is damaged")
                yield Entry(order, *fields), size
        except sqlite3.Error as error:
            self.close()
            raise ConfigError("path", self._path, _refusal(error)) from error

    def leave(self) -> None:
        """Give the file up without touching it, as the child of a fork must."""
        self._close.detach()
        never_free(self._db)

    def close(self) -> None:
        """Close the file; a temporary one is gone then."""
        self._close()


class _NotOursError(Exception):
    """The file holds something else."""


def _refusal(error: Exception) -> str:
    remedy = "move a damaged one away, or save what it holds with sqlite3's .recover"
    return f"must be a new file, or one of a bank that is closed, and whole: {error}; {remedy}"


def _record_of(entry: Entry) -> list[Any]:
    return [
        entry.agent,
        entry.tool_use_id,
        entry.tool_name,
        entry.status,
        entry.attempt,
        entry.duration_s,
        entry.at_emission,
        entry.exact,
        entry.result_bytes,
    ]


def _parsed(record: object) -> list[Any] | None:
    try:
        fields = json.loads(record) if isinstance(record, bytes) else None
    except ValueError:
        return None
    if not isinstance(fields, list) or len(fields) != len(_TYPES):
        return None
    return fields if all(map(isinstance, fields, _TYPES)) else None
