"""The entries of a bank in order, by id, and their payloads in memory or in a file, under one lock."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections import deque
from itertools import islice

from strands_ctx.errors import BankLookupError, ConfigError

from . import _forks
from ._encoding import decode
from ._spill import SpillFile
from .records import BankedResult, Entry

logger = logging.getLogger(__name__)

BATCH_BYTES = 1_000_000
"""What is written to a file in one go."""

RETRY_BYTES = 10_000_000
"""What comes to memory after a failed write before a temporary file is tried again."""


class ResultStore:
    """Keeps results whole, within a bound, and no more of them in memory than a number of bytes."""

    def __init__(self, spill_bytes: int, max_bytes: int | None, path: str | os.PathLike[str] | None) -> None:
        """Open the kept file, if there is one."""
        self.lock = threading.RLock()
        self.entries: list[Entry] = []
        self.total_bytes = 0
        self.dropped: dict[str, dict[str, int]] = {}
        """Order of the newest result that was not kept, by id and agent."""
        self.dropped_count = self.dropped_bytes = 0
        self._by_id: dict[str, list[Entry]] = {}
        self._in_memory: deque[Entry] = deque()
        self._memory_bytes = self._kept_bytes = self._retry_bytes = self._order = self._refused = 0
        self._own_spill_bytes, self._max_bytes = spill_bytes, max_bytes
        self._closed = self._failing = False
        self._keep(SpillFile(path) if path is not None else None)
        for entry, size in self._file.entries() if self._file else ():
            self._kept_bytes += size
            self._index(entry)
        _forks.watch(self)

    def _keep(self, file: SpillFile | None) -> None:
        # A kept file gets each result at once, for the day that the process dies; a temporary one need not.
        self._file, self._is_kept = file, file is not None
        self._spill_bytes, self._batch_bytes = (0, 0) if self._is_kept else (self._own_spill_bytes, BATCH_BYTES)

    def leave_file(self) -> None:
        """Go on without the file, in the child of a fork: it is the parent's, and what it holds is unreadable here."""
        if self._file is not None:
            self._file.leave()
            self._keep(None)

    def add(self, entry: Entry, payload: bytes) -> bool:
        """Keep a result as the next one.

        Args:
            entry: What is known of it; its order is set here.
            payload: Input and result.

        Returns:
            Whether it could be kept; if not, it is counted as dropped.
        """
        with self.lock:
            self._order += 1
            entry.order = self._order
            if self._closed or (self._max_bytes is not None and self._kept_bytes + len(payload) > self._max_bytes):
                self.drop(entry.agent, entry.tool_use_id, "", entry.result_bytes, order=entry.order)
                return False
            entry.payload = payload
            self._index(entry)
            self._kept_bytes += len(payload)
            self._memory_bytes += len(payload)
            self._in_memory.append(entry)
            self._spill()
            return True

    def go_on_from(self, order: int) -> None:
        """Give the next result this order."""
        self._order = order - 1

    def _index(self, entry: Entry) -> None:
        self._order = entry.order
        self.entries.append(entry)
        self._by_id.setdefault(entry.tool_use_id, []).append(entry)
        self.total_bytes += entry.result_bytes

    def drop(self, agent: str, tool_use_id: str, reason: str, result_bytes: int = 0, order: int | None = None) -> None:
        """Count a result that is not kept.

        Args:
            agent: Key of the agent.
            tool_use_id: Id of the call.
            reason: Why; the bank is full or closed where it is empty.
            result_bytes: Size of the result, as far as it is known.
            order: Its place, if it has one.
        """
        with self.lock:
            if order is None:
                order = self._order = self._order + 1
            self.dropped.setdefault(tool_use_id, {})[agent] = order
            self.dropped_count += 1
            self.dropped_bytes += result_bytes
            logger.warning(
                "tool_use_id=<%s>, bytes=<%d>, dropped=<%d>, closed=<%s> | %s, this result is only in the log",
                tool_use_id[:80],
                result_bytes,
                self.dropped_count,
                self._closed,
                reason or "the bank is full or closed",
            )

    def is_outdated(self, entry: Entry) -> bool:
        """Tell whether a newer result of the same call could not be kept."""
        return self.dropped.get(entry.tool_use_id, {}).get(entry.agent, 0) > entry.order

    def _spill(self) -> None:
        if self._memory_bytes <= max(self._spill_bytes + self._batch_bytes, self._retry_bytes):
            return
        one_by_one = 0
        while self._memory_bytes > self._spill_bytes and self._in_memory:
            batch, batch_bytes = self._batch(1 if one_by_one else len(self._in_memory))
            try:
                self._file = self._file or SpillFile()
                self._file.write(batch)
            except (OverflowError, sqlite3.DataError, sqlite3.InterfaceError) as error:
                if len(batch) > 1:
                    one_by_one = len(batch)
                    continue
                # SQLite never takes it: it stays in memory for good, and is in no other's way.
                self._refused += 1
                self._warn(error)
            except (sqlite3.Error, ConfigError) as error:
                # What can't be written stays in memory: a full disk costs memory, not results.
                if not (self._failing and self._is_kept):
                    self._warn(error)
                self._failing = True
                self._retry_bytes = 0 if self._is_kept else self._memory_bytes + RETRY_BYTES
                return
            else:
                self._failing = False
                for entry in batch:
                    entry.payload = None
            for _ in batch:
                self._in_memory.popleft()
            self._memory_bytes -= batch_bytes
            one_by_one = max(0, one_by_one - 1)
        self._retry_bytes = 0

    def _batch(self, most: int) -> tuple[list[Entry], int]:
        batch: list[Entry] = []
        batch_bytes = 0
        for entry in islice(self._in_memory, most):
            if batch and (batch_bytes >= BATCH_BYTES or self._memory_bytes - batch_bytes <= self._spill_bytes):
                break
            batch.append(entry)
            batch_bytes += len(entry.payload or b"")
        return batch, batch_bytes

    def _warn(self, error: Exception) -> None:
        logger.warning(
            "memory_bytes=<%d>, error=<%s> | results can't be written to the file, they stay in memory",
            self._memory_bytes,
            error,
        )

    def with_id(self, tool_use_id: str) -> list[Entry]:
        """List the results with an id, in order: attempts, and other agents' calls of the same id."""
        with self.lock:
            return list(self._by_id.get(tool_use_id, ()))

    def payload(self, entry: Entry) -> bytes:
        """Return the encoded input and result of an entry.

        Raises:
            BankLookupError: If the bank is closed, or the file can't be read.
        """
        with self.lock:
            if self._closed:
                raise BankLookupError(entry.tool_use_id, "closed", len(self.entries))
            payload = entry.payload
            if payload is None and self._file is not None:
                try:
                    payload = self._file.read(entry.order)
                except sqlite3.Error as error:
                    raise BankLookupError(entry.tool_use_id, "unreadable", len(self.entries)) from error
        if payload is None:
            raise BankLookupError(entry.tool_use_id, "unreadable", len(self.entries))
        return payload

    def read(self, entry: Entry) -> BankedResult:
        """Return the record of an entry, made anew.

        Raises:
            BankLookupError: As :meth:`payload`.
        """
        given, _, result = self.payload(entry).partition(b"\n")
        try:
            made = (decode(given), decode(result))
        except (ValueError, RecursionError) as error:
            raise BankLookupError(entry.tool_use_id, "unreadable", len(self.entries)) from error
        return BankedResult(
            order=entry.order,
            agent=entry.agent,
            tool_use_id=entry.tool_use_id,
            tool_name=entry.tool_name,
            input=made[0],
            result=made[1],
            bytes=entry.result_bytes,
            duration_s=entry.duration_s,
            status=entry.status,
            attempt=entry.attempt,
            at_emission=entry.at_emission,
            exact=entry.exact,
        )

    def close(self) -> None:
        """Free memory and file; what is asked for or emitted later is refused or dropped."""
        with self.lock:
            if self._is_kept and not self._closed:
                self._spill()
                lost = len(self._in_memory) + self._refused
                if lost:
                    logger.warning("results=<%d> | the bank is closed, and these are not in its file", lost)
            self._closed = True
            self._in_memory.clear()
            for entry in self.entries:
                entry.payload = None
            if self._file is not None:
                self._file.close()
