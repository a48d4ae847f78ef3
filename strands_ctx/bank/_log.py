"""What a log says of tool calls; whatever else it holds is passed over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def results_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tool results of a message, in order."""
    return _values(message, "user", "toolResult")


def calls_of(message: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the tool calls of a message by id."""
    return {str(use.get("toolUseId")): use for use in _values(message, "assistant", "toolUse")}


def newest_result(agent: Any, tool_use_id: str) -> tuple[str | None, dict[str, Any] | None]:
    """Return the newest result of a call in an agent's log, behind the name of its tool, as far as both are there."""
    result: dict[str, Any] | None = None
    for message in reversed(list(getattr(agent, "messages", ()))):
        if result is None:
            result = {str(found.get("toolUseId")): found for found in results_of(message)}.get(tool_use_id)
        elif tool_use_id in (calls := calls_of(message)):
            return calls[tool_use_id].get("name"), result
    return None, result


def _values(message: Mapping[str, Any], role: str, kind: str) -> list[dict[str, Any]]:
    content = message.get("content") if message.get("role") == role else None
    blocks = content if isinstance(content, list) else []
    values = (block.get(kind) for block in blocks if isinstance(block, dict))
    return [value for value in values if isinstance(value, dict)]
