"""What becomes of a bank's file where a process forks: it stays the parent's, and the child never touches it.

SQLite forbids a connection to cross a fork, even to be closed there: the child's close would write the parent's
file. Source: https://www.sqlite.org/howtocorrupt.html, 2.6, read 2026-12-01.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from ._store import ResultStore

_STORES: WeakSet[ResultStore] = WeakSet()
_FORKING = threading.Lock()
_held: list[ResultStore] = []
_kept: list[Any] = []


def watch(store: ResultStore) -> None:
    """Have a store leave its file in a child, and be forked only where no thread is within it."""
    _STORES.add(store)


def never_free(value: Any) -> None:
    """Keep an object for ever, also past the end of the interpreter, which would free it and so close it."""
    _kept.append(value)
    try:
        import ctypes

        ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
    except (ImportError, AttributeError):
        return  # a Python that is built without it, or counts no references: then until the interpreter ends


def _before() -> None:
    _FORKING.acquire()
    for store in list(_STORES):
        store.lock.acquire()
        _held.append(store)


def _after_in_parent() -> None:
    while _held:
        _held.pop().lock.release()
    _FORKING.release()


def _after_in_child() -> None:
    _held.clear()
    if _FORKING.locked():
        _FORKING.release()
    for store in list(_STORES):
        store.lock = threading.RLock()
        store.leave_file()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
