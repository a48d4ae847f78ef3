"""The entries of a bank in order, by id, and their payloads in memory or in a file, under one lock."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections import deque

from strands_ctx.errors import BankLookupError, ConfigError

from ._encoding import decode
from ._spill import SpillFile
from .records import BankedResult, Entry

logger = logging.getLogger(__name__)

BATCH_BYTES = 1_000_000
"""What is written to a temporary file in one go."""

RETRY_BYTES = 10_000_000
"""What comes to memory after a failed write before another one is tried."""


class ResultStore:
    """Keeps results whole, within a bound, and no more of them in memory than a number of bytes."""

    def __init__(self, spill_bytes: int, max_bytes: int | None, path: str | os.PathLike[str] | None) -> None:
        """Open the kept file, if there is one."""
        self.lock = threading.RLock()
        self.entries: list[Entry] = []
        self.total_bytes = 0
        self.dropped: dict[str, int] = {}
        self.dropped_count = self.dropped_bytes = 0
        self._by_id: dict[str, list[Entry]] = {}
        self._in_memory: deque[Entry] = deque()
        self._memory_bytes = self._kept_bytes = self._retry_bytes = self._order = 0
        self._spill_bytes, self._max_bytes = (spill_bytes if path is None else 0), max_bytes
        # A kept file gets each result at once, for the day that the process dies; a temporary one need not.
        self._batch_bytes = BATCH_BYTES if path is None else 0
        self._file = None if path is None else SpillFile(path)
        self._closed = False
        for entry, size in self._file.entries() if self._file else ():
            self._kept_bytes += size
            self._index(entry)

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
                self._drop(entry)
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

    def _drop(self, entry: Entry) -> None:
        self.dropped[entry.tool_use_id] = entry.result_bytes
        self.dropped_count += 1
        self.dropped_bytes += entry.result_bytes
        logger.warning(
            "tool_use_id=<%s>, bytes=<%d>, dropped=<%d>, closed=<%s> | the bank is full or closed, this result is only "
            "in the log",
            entry.tool_use_id[:80],
            entry.result_bytes,
            self.dropped_count,
            self._closed,
        )

    def _spill(self) -> None:
        if self._memory_bytes <= max(self._spill_bytes + self._batch_bytes, self._retry_bytes):
            return
        batch, left = [], self._memory_bytes
        for entry in self._in_memory:
            if left <= self._spill_bytes:
                break
            batch.append(entry)
            left -= len(entry.payload or b"")
        try:
            self._file = self._file or SpillFile()
            self._file.write(batch)
        except (sqlite3.Error, OverflowError, ConfigError) as error:
            # What can't be written stays in memory: a full disk costs memory, not results.
            self._retry_bytes = self._memory_bytes + RETRY_BYTES
            logger.warning(
                "memory_bytes=<%d>, error=<%s> | results can't be written to the file, they stay in memory",
                self._memory_bytes,
                error,
            )
            return
        for entry in batch:
            self._in_memory.popleft()
            entry.payload = None
        self._memory_bytes, self._retry_bytes = left, 0

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
            self._closed = True
            self._in_memory.clear()
            for entry in self.entries:
                entry.payload = None
            if self._file is not None:
                self._file.close()
