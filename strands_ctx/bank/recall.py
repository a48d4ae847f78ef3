"""The recall tool: a model reads banked results again, in parts that are never larger than a bound."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from strands.types.tools import AgentTool

from strands_ctx.capping.media import media_of, placeholder
from strands_ctx.capping.text import count_bytes, cut_text
from strands_ctx.errors import BankLookupError, ConfigError

from ._agents import calling_agent
from ._encoding import decode, encode
from ._excerpts import MIN_BODY_BYTES, Excerpt, Lines
from ._log import newest_result
from .records import Entry

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ._agents import Desks
    from ._store import ResultStore
    from .tool_result_bank import ToolResultBank

MIN_ANSWER_BYTES = 2_000
MAX_PATTERN_CHARS = 1_000
MAX_CONTEXT_LINES = 20
_CONTEXT_LINES = 2
_SHOWN_BYTES = 64
_ROW_ID_CHARS = 200
_PREVIEW_CHARS = 80
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)

DESCRIPTION = (
    "Returns a tool result of this conversation as the tool gave it, also one that is shown shortened or is not shown "
    "any more. Without tool_use_id it lists the results. Long ones come in parts of whole lines: first_line and "
    "last_line choose them, pattern finds a literal text."
)
_LINE = {"type": "integer", "minimum": 1}
PROPERTIES: dict[str, dict[str, Any]] = {
    "tool_use_id": {"type": "string", "description": "Id of the tool call whose result is wanted."},
    "pattern": {"type": "string", "description": "A literal text to find in the result; not a regular expression."},
    "context_lines": {
        "type": "integer",
        "minimum": 0,
        "maximum": MAX_CONTEXT_LINES,
        "description": f"Lines shown before and after a place where the pattern is, {_CONTEXT_LINES} if not given.",
    },
    "first_line": {**_LINE, "description": "First line of the part, counted from 1."},
    "last_line": {**_LINE, "description": "Last line of the part."},
}


class RecallTool(AgentTool):
    """A Strands tool over a bank; made by :meth:`ToolResultBank.as_tool`.

    Every answer is text of at most ``max_bytes``. What can't be answered is a result of status ``error``.
    """

    def __init__(
        self, bank: ToolResultBank, store: ResultStore, desks: Desks, name: str, *, max_bytes: int, shared: bool
    ) -> None:
        """Read a bank's store.

        Raises:
            ConfigError: If the name is none that providers take, or the size is too small.
        """
        super().__init__()
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ConfigError("name", name, "must be 1 to 64 letters, digits, underscores or hyphens")
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < MIN_ANSWER_BYTES:
            raise ConfigError("max_bytes", max_bytes, f"must be a whole number of at least {MIN_ANSWER_BYTES:,} bytes")
        self._bank, self._store, self._desks = bank, store, desks
        self._name, self._max_bytes, self._shared = name, max_bytes, shared

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the bank and the arguments."""
        return _again, (self._bank, self._name, self._max_bytes, self._shared)

    @property
    def tool_name(self) -> str:
        """Name of the tool."""
        return self._name

    @property
    def tool_spec(self) -> Any:
        """What a model is told of the tool."""
        schema = {"type": "object", "properties": PROPERTIES}
        return {"name": self._name, "description": DESCRIPTION, "inputSchema": {"json": schema}}

    @property
    def tool_type(self) -> str:
        """The kind of tool, for display."""
        return "python"

    def reads(self, store: ResultStore) -> bool:
        """Tell whether the tool reads a store."""
        return self._store is store

    async def stream(
        self, tool_use: Any, invocation_state: dict[str, Any], **_: Any
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Answer one call; the bank is read in a thread.

        Args:
            tool_use: The call.
            invocation_state: State of the host; whose call it is, the bank knows from its hook.

        Yields:
            The toolResult.
        """
        agent = calling_agent(str(tool_use.get("toolUseId")))
        status, text = await asyncio.to_thread(self._answer, tool_use.get("input"), agent)
        yield {"toolUseId": tool_use["toolUseId"], "status": status, "content": [{"text": text}]}

    def _answer(self, given: object, agent: object) -> tuple[str, str]:
        try:
            asked = _checked(given)
            if agent is None and not self._shared:
                raise _RefusedError("Whose results are wanted is not known: the bank is no hook of this agent.")
            with self._store.lock:
                key = None if agent is None else self._desks.of(agent).key
            if "tool_use_id" not in asked:
                return "success", self._list(asked, key)
            return "success", self._part(asked, *self._find(asked["tool_use_id"], key, agent))
        except _RefusedError as refusal:
            return "error", str(refusal)
        except BankLookupError as error:
            return "error", f"That result can't be read: {error.reason}."

    def _visible(self, entry: Entry, key: str | None) -> bool:
        return self._shared or entry.agent == key

    def _find(self, tool_use_id: str, key: str | None, agent: object) -> tuple[str, dict[str, Any]]:
        """Return what a result is headed with, and the result: the banked one, else the one in the agent's log."""
        found = [entry for entry in self._store.with_id(tool_use_id) if self._visible(entry, key)]
        found = [entry for entry in found if entry.agent == key] or found
        reason = "dropped" if found and self._store.is_outdated(found[-1]) else ""
        if found and not reason:
            try:
                banked = self._store.read(found[-1])
            except BankLookupError as error:
                if error.reason != "unreadable":
                    raise
                reason = error.reason
            else:
                return _head(tool_use_id, banked.tool_name, banked.status), banked.result
        name, result = newest_result(agent, tool_use_id)
        if result is not None and name != self._name:
            return f"{_head(tool_use_id, name, result.get('status'))}, not banked, as the log has it", decode(
                encode(result).data
            )
        if reason:
            raise BankLookupError(tool_use_id, reason, len(self._store.entries))
        count = sum(self._visible(entry, key) for entry in self._store.entries)
        raise _RefusedError(
            f"No result with tool_use_id {_short(tool_use_id)} is banked; {count:,} others are. "
            "Without tool_use_id they are listed."
        )

    def _part(self, asked: Mapping[str, Any], head: str, result: Mapping[str, Any]) -> str:
        lines = Lines(text_of(result))
        first, last = _range(asked, len(lines))
        if "pattern" not in asked:
            part = lines.window(first, last, self._room(head))
            return _framed(f"{head}, lines {part.first:,} to {part.last:,} of {len(lines):,}", part)
        pattern, around = asked["pattern"], asked.get("context_lines", _CONTEXT_LINES)
        places = lines.count(pattern, first, last)
        part = lines.search(pattern, first, last, around, self._room(head))
        return _framed(f"{head}, {len(lines):,} lines, matches in lines {first:,} to {last:,}: {places:,}", part)

    def _room(self, head: str) -> int:
        # What stands around the body beside the head: line numbers, counts, and where to go on.
        return max(MIN_BODY_BYTES, self._max_bytes - count_bytes(head) - 200)

    def _list(self, asked: Mapping[str, Any], key: str | None) -> str:
        if "pattern" in asked:
            raise _RefusedError("A pattern needs a tool_use_id.")
        with self._store.lock:
            last_of = {(e.agent, e.tool_use_id): e for e in self._store.entries if self._visible(e, key)}
        entries = [entry for entry in last_of.values() if not self._store.is_outdated(entry)]
        if not entries:
            return "No results are banked."
        entries.sort(key=lambda entry: entry.order)
        first, last = _range(asked, len(entries))
        rows: list[str] = []
        room = self._room("")
        for entry in entries[first - 1 : last]:
            row = self._row(entry)
            room -= count_bytes(row) + 1
            if room < 0:
                break
            rows.append(row)
        shown = first + len(rows) - 1
        part = Excerpt("\n".join(rows), first, shown, shown + 1 if shown < last else None)
        return _framed(
            f"Banked results {first:,} to {shown:,} of {len(entries):,}: id, tool, status, bytes, start", part
        )

    def _row(self, entry: Entry) -> str:
        try:
            text = text_of(self._store.read(entry).result)
        except BankLookupError as error:
            if error.reason != "unreadable":
                raise
            text = "(can't be read)"
        start = text.lstrip().partition("\n")[0][:_PREVIEW_CHARS]
        shown = Lines(f"{entry.tool_use_id[:_ROW_ID_CHARS]} {_short(entry.tool_name)} {_short(entry.status)}").text
        return f"{' '.join(shown.split())} {entry.result_bytes:,} {Lines(start).text}"


def _again(bank: ToolResultBank, name: str, max_bytes: int, shared: bool) -> RecallTool:
    return bank.as_tool(name, max_bytes=max_bytes, shared=shared)


class _RefusedError(Exception):
    """What the model is told instead of an answer."""


def _head(tool_use_id: str, tool_name: str | None, status: str | None) -> str:
    return f"Result {_short(tool_use_id)} of {_short(tool_name)}, status {_short(status)}"


def text_of(result: object) -> str:
    """Show a toolResult as text: JSON indented, media as one line each."""
    content = result.get("content") if isinstance(result, dict) else None
    return "\n".join(map(_item_text, content if isinstance(content, list) else [result]))


def _item_text(item: Any) -> str:
    if isinstance(item, dict):
        if isinstance(item.get("text"), str):
            return str(item["text"])
        if media := media_of(item):
            return placeholder(*media, 10_000)
        item = item.get("json", item)
    return json.dumps(item, ensure_ascii=False, indent=1, default=lambda value: f"<{type(value).__name__}>")


def _framed(head: str, part: Excerpt) -> str:
    more = "" if part.next is None else f"\nNot all fits: the rest starts at first_line={part.next}."
    return f"{head}:\n{part.body}{more}" if part.body else f"{head}."


def _short(value: object) -> str:
    text = Lines(str(value)[:_SHOWN_BYTES]).text
    return " ".join(cut_text(text, count_bytes(text), _SHOWN_BYTES, "head").split()) if value is not None else "unknown"


def _checked(given: object) -> dict[str, Any]:
    """Refuse arguments that the tool has not, or of other kinds; what is null is as if not given."""
    if given is not None and not isinstance(given, dict):
        raise _RefusedError("The input must be an object.")
    asked = {str(name): value for name, value in (given or {}).items() if value is not None}
    for name, value in asked.items():
        if name not in PROPERTIES:
            raise _RefusedError(f"There is no argument {_short(name)}; there are {', '.join(PROPERTIES)}.")
        if PROPERTIES[name]["type"] == "integer":
            asked[name] = _whole(name, value)
        elif not isinstance(value, str):
            raise _RefusedError(f"{name} must be a text.")
    pattern = asked.get("pattern")
    if pattern is not None and not 0 < len(pattern) <= MAX_PATTERN_CHARS:
        raise _RefusedError(f"pattern must be 1 to {MAX_PATTERN_CHARS:,} characters.")
    return asked


def _whole(name: str, value: Any) -> int:
    lowest, highest = PROPERTIES[name]["minimum"], PROPERTIES[name].get("maximum", 10**12)
    number = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(number, bool) or not isinstance(number, int) or not lowest <= number <= highest:
        raise _RefusedError(f"{name} must be a whole number from {lowest} to {highest}.")
    return number


def _range(asked: Mapping[str, Any], count: int) -> tuple[int, int]:
    first, last = asked.get("first_line", 1), asked.get("last_line", count)
    if first > count:
        raise _RefusedError(f"first_line={first} is behind the end: there are {count:,} lines.")
    if last < first:
        raise _RefusedError(f"last_line={last} is before first_line={first}.")
    return first, min(last, count)
