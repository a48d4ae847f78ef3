"""ToolResultBank: a hook that keeps every tool result as it was emitted."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from strands import Agent
from strands.hooks import AgentInitializedEvent, HookProvider, HookRegistry

from strands_ctx.errors import BankLookupError, ConfigError

from ._agents import Desks
from ._recorder import Recorder
from ._store import ResultStore
from .recall import RecallTool
from .records import BankedResult, BankedResults, Entry

if TYPE_CHECKING:
    from typing_extensions import Self


class ToolResultBank(HookProvider):
    """Keeps every tool result at emission: before a plugin, a hook or a manager can shorten or replace it.

    What is banked is a copy: nothing that later happens to the log or to the tool's own objects changes it. Counts and
    totals of a run are right here, also where somebody cut the log, or the run failed. One bank may serve several
    agents, in several threads; a forked child goes on without its file. No content is ever cut: what does not fit
    ``max_bytes`` is counted in ``dropped``.

    Example:
        >>> from strands import Agent
        >>> from strands_ctx.bank import ToolResultBank
        >>> bank = ToolResultBank()
        >>> agent = Agent(hooks=[bank], tools=[bank.as_tool()])
        >>> bank.count
        0
    """

    def __init__(
        self,
        *,
        spill_bytes: int = 32_000_000,
        max_bytes: int | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> None:
        """Open a bank.

        Args:
            spill_bytes: What stays in memory, in bytes of inputs and results; older ones go to a temporary file.
            max_bytes: What is kept at most, in memory and in the file; None for no bound.
            path: A SQLite file to keep, to which every result goes at once; an earlier bank's file is gone on with.

        Raises:
            ConfigError: If a size is no whole number, or negative, or the file is no bank's, damaged, or in use.
        """
        for name, size in (("spill_bytes", spill_bytes), ("max_bytes", 0 if max_bytes is None else max_bytes)):
            if isinstance(size, bool) or not isinstance(size, int) or size < 0:
                raise ConfigError(name, size, "must be a whole number of bytes, 0 or more")
        if path is not None and (not isinstance(path, (str, os.PathLike)) or os.fspath(path) in ("", ":memory:")):
            raise ConfigError("path", path, "must be the path of a file")
        self._settings = {"spill_bytes": spill_bytes, "max_bytes": max_bytes}
        self._store = ResultStore(spill_bytes, max_bytes, path)
        self._desks = Desks()
        self._recorder = Recorder(self._store, self._desks)
        self._tool_names: set[str] = set()

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        """Take part in an agent: ``Agent(hooks=[bank])``."""
        registry.add_callback(AgentInitializedEvent, self._on_agent, order=math.inf)

    def _on_agent(self, event: AgentInitializedEvent) -> None:
        self.attach(event.agent)

    def attach(self, agent: Agent) -> None:
        """Take part in an agent that exists; a second time changes nothing.

        Args:
            agent: The agent.
        """
        self._recorder.attach(agent)

    def __call__(self, **event: Any) -> None:
        """Take part as ``callback_handler=bank``: from the first event that names the agent, as a hook.

        Args:
            event: A callback event of the host.
        """
        agent = event.get("agent")
        if isinstance(agent, Agent):
            self.attach(agent)
        message = event.get("message")
        if isinstance(message, dict):
            self._recorder.on_callback_message(message, self._tool_names)

    @property
    def count(self) -> int:
        """How many results are banked, each attempt of a retried call by itself."""
        return len(self._store.entries)

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[BankedResult]:
        return iter(self.results)

    @property
    def results(self) -> BankedResults:
        """All results in order of emission, each read when it is asked for."""
        return BankedResults(self._store.entries, self._store.read, len(self._store.entries))

    @property
    def total_bytes(self) -> int:
        """Bytes of all banked results together."""
        return self._store.total_bytes

    @property
    def dropped(self) -> int:
        """How many results could not be kept, because of ``max_bytes`` or because the bank was closed."""
        return self._store.dropped_count

    @property
    def dropped_bytes(self) -> int:
        """Bytes of the results that could not be kept."""
        return self._store.dropped_bytes

    @property
    def recalls(self) -> int:
        """How many results the recall tools have handed out; they are not banked again."""
        return sum(self._recorder.recalls.values())

    @property
    def tool_names(self) -> frozenset[str]:
        """Names of the recall tools, to be exempt from caps."""
        return frozenset(self._tool_names)

    def agent_key(self, agent: Agent | str) -> str:
        """Return the key that an agent's results are banked under: its id, or its name where it was given no id.

        Args:
            agent: An agent, or a key, which is returned as it is.
        """
        if isinstance(agent, str):
            return agent
        with self._store.lock:
            return self._desks.of(agent).key

    def get(self, tool_use_id: str, agent: Agent | str | None = None) -> BankedResult:
        """Return the result of a call: of its last attempt, where it was retried.

        Args:
            tool_use_id: Id of the call.
            agent: The agent or its key; needed where several agents have a call of this id.

        Raises:
            BankLookupError: If there is none, or it can't be read, or several agents have one; ``reason`` says which.
        """
        asked = str(tool_use_id)
        key = None if agent is None else self.agent_key(agent)
        with self._store.lock:
            entries = [entry for entry in self._store.with_id(asked) if key in (None, entry.agent)]
            dropped = {owner for owner in self._store.dropped.get(asked, ()) if key in (None, owner)}
        if len({entry.agent for entry in entries} | dropped) > 1:
            raise BankLookupError(tool_use_id, "ambiguous", self.count)
        if not entries or self._store.is_outdated(entries[-1]):
            recalled = "recall" if asked in self._recorder.recalls else "unknown"
            raise BankLookupError(tool_use_id, "dropped" if dropped else recalled, self.count)
        return self._store.read(entries[-1])

    def get_results(
        self,
        *,
        tool_name: str | None = None,
        agent: Agent | str | None = None,
        status: str | None = None,
        tool_use_id: str | None = None,
    ) -> BankedResults:
        """Return the results that match all that is given, in order of emission.

        Args:
            tool_name: Name of the tool.
            agent: The agent or its key.
            status: ``success`` or ``error``.
            tool_use_id: Id of the call: all its attempts.
        """
        key = None if agent is None else self.agent_key(agent)
        entries = self._store.entries[:] if tool_use_id is None else self._store.with_id(tool_use_id)
        wanted = {"tool_name": tool_name, "agent": key, "status": status}
        asked = {name: value for name, value in wanted.items() if value is not None}
        found = [entry for entry in entries if all(getattr(entry, name) == value for name, value in asked.items())]
        return BankedResults(found, self._store.read, len(found))

    def as_tool(self, name: str = "recall", *, max_bytes: int = 8_000, shared: bool = False) -> RecallTool:
        """Make a tool with which a model reads banked results again, in parts.

        Args:
            name: Name of the tool.
            max_bytes: The largest answer, in bytes of text, at least 2,000.
            shared: Whether an agent may read the results of all agents; by default it reads its own only.

        Raises:
            ConfigError: If the name is none that providers take, or the size is too small.
        """
        recall = RecallTool(self, self._store, self._desks, name, max_bytes=max_bytes, shared=shared)
        self._tool_names.add(name)
        return recall

    def close(self) -> None:
        """Free memory, and remove the file unless it is kept. Results that come later are counted as dropped."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        """Stay the one bank: a copy of an agent banks in the same place, under a key of its own."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with all results; the copy keeps no file."""
        with self._store.lock:
            entries = [dataclasses.replace(e, payload=self._store.payload(e)) for e in self._store.entries]
            dropped = {tool_use_id: dict(orders) for tool_use_id, orders in self._store.dropped.items()}
        return _restored, (self._settings, entries, dropped)


def _restored(
    settings: dict[str, Any], entries: list[Entry], dropped: dict[str, dict[str, int]] | None = None
) -> ToolResultBank:
    bank = ToolResultBank(**settings)
    for entry in entries:
        bank._store.go_on_from(entry.order)
        bank._store.add(entry, entry.payload or b"")
    bank._store.dropped.update(dropped or {})
    return bank
