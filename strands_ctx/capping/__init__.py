"""Caps: a lossy, marked shortening of what a message holds, each kind of content in its own shape.

- :mod:`~strands_ctx.capping.text`: texts, cut at line ends or between characters
- :mod:`~strands_ctx.capping.json_values`: JSON, to a smaller value of the same type
- :mod:`~strands_ctx.capping.media`: images, documents, video and audio, to a line that describes them
- :mod:`~strands_ctx.capping.results`: one tool result, whose items share its cap
- :mod:`~strands_ctx.capping.messages`: one message, each result by itself or all of it together
- :mod:`~strands_ctx.capping.rules`: which cap applies to which result
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from strands_ctx._lazy import facade

if TYPE_CHECKING:
    from strands_ctx.capping.json_values import cap_json as cap_json
    from strands_ctx.capping.messages import cap_message as cap_message
    from strands_ctx.capping.messages import cap_texts as cap_texts
    from strands_ctx.capping.results import cap_tool_result as cap_tool_result
    from strands_ctx.capping.text import MIN_CAP_BYTES as MIN_CAP_BYTES
    from strands_ctx.capping.text import cap_text as cap_text

__all__ = ["MIN_CAP_BYTES", "cap_json", "cap_message", "cap_text", "cap_texts", "cap_tool_result"]

_HOMES = {
    "MIN_CAP_BYTES": "text",
    "cap_json": "json_values",
    "cap_message": "messages",
    "cap_text": "text",
    "cap_texts": "messages",
    "cap_tool_result": "results",
}

__getattr__, __dir__ = facade(globals(), _HOMES)
