"""The events of a Converse stream for one whole answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

_PIECE_CHARS = 80


def stream_events(content: Sequence[dict[str, Any]], usage: dict[str, int] | None) -> Iterator[dict[str, Any]]:
    """Yield an answer in small pieces, as providers stream it.

    Args:
        content: Text and toolUse blocks of the answer.
        usage: Usage metadata, or none for a provider that reports nothing.

    Yields:
        From ``messageStart`` to ``messageStop``, then ``metadata`` where there is usage.
    """
    yield {"messageStart": {"role": "assistant"}}
    for block in content:
        tool_use = block.get("toolUse")
        if tool_use:
            yield {"contentBlockStart": {"start": {"toolUse": {k: tool_use[k] for k in ("toolUseId", "name")}}}}
            yield from ({"contentBlockDelta": {"delta": {"toolUse": {"input": piece}}}} for piece in _json(tool_use))
        else:
            yield {"contentBlockStart": {"start": {}}}
            yield from ({"contentBlockDelta": {"delta": {"text": piece}}} for piece in _pieces(block["text"]))
        yield {"contentBlockStop": {}}
    calls_tools = any("toolUse" in block for block in content)
    yield {"messageStop": {"stopReason": "tool_use" if calls_tools else "end_turn"}}
    if usage is not None:
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 0}}}


def _json(tool_use: dict[str, Any]) -> Iterator[str]:
    return _pieces(json.dumps(tool_use["input"], ensure_ascii=False))


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _PIECE_CHARS] for start in range(0, len(text), _PIECE_CHARS))
