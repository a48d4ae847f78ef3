"""What is known of one banked result, and the results in order, read as they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload


@dataclass(frozen=True, slots=True)
class BankedResult:
    """One tool result as it was emitted: a copy of its own, which nothing later has touched.

    Attributes:
        order: Its place among all results that the bank was given, counted from 1.
        agent: Key of the agent; see :meth:`ToolResultBank.agent_key`.
        tool_use_id: Id of the tool call.
        tool_name: Name of the tool; None where the call is unknown.
        input: What the tool was called with; None where the call is unknown.
        result: The toolResult: ``toolUseId``, ``status``, ``content`` and whatever else it had.
        bytes: Size of the result as compact JSON in UTF-8, bytes values as base64.
        duration_s: Seconds that the tool ran; None where it did not run or nobody measured.
        status: The result's status, ``success`` or ``error``; None where it had none.
        attempt: 1, or higher where a hook had the call made again.
        at_emission: Whether it was caught as the tool returned it. If not, it was first seen in a message: no tool
            ran, as for a call that was cancelled before it started.
        exact: Whether every value could be kept; if not, what JSON does not hold was kept as a text.
    """

    order: int
    agent: str
    tool_use_id: str
    tool_name: str | None
    input: Any
    result: dict[str, Any]
    bytes: int
    duration_s: float | None
    status: str | None
    attempt: int
    at_emission: bool
    exact: bool


@dataclass(slots=True, eq=False)
class Entry:
    """What the bank keeps in memory of each result; the payload is None once it is in the file.

    The payload is the input's and the result's encoding, with a newline between: compact JSON has none.
    """

    order: int
    agent: str
    tool_use_id: str
    tool_name: str | None
    status: str | None
    attempt: int
    duration_s: float | None
    at_emission: bool
    exact: bool
    result_bytes: int
    payload: bytes | None = None


class BankedResults(Sequence[BankedResult]):
    """Banked results in order of emission, each read only when it is asked for.

    It does not grow: results banked later are not in it.
    """

    def __init__(self, entries: Sequence[Entry], read: Callable[[Entry], BankedResult], length: int) -> None:
        """Take the first so many of a list that only grows."""
        self._entries, self._read, self._length = entries, read, length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> BankedResult: ...

    @overload
    def __getitem__(self, index: slice) -> BankedResults: ...

    def __getitem__(self, index: int | slice) -> BankedResult | BankedResults:
        chosen = range(self._length)[index]
        if isinstance(chosen, range):
            entries = [self._entries[i] for i in chosen]
            return BankedResults(entries, self._read, len(entries))
        return self._read(self._entries[chosen])

    def __iter__(self) -> Iterator[BankedResult]:
        return (self._read(self._entries[i]) for i in range(self._length))

    def __repr__(self) -> str:
        return f"<BankedResults of {self._length:,}>"
