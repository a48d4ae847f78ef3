"""Caps: a lossy, marked shortening of what a message holds, each kind of content in its own shape.

- :mod:`~strands_ctx.capping.text`: texts, cut at line ends or between characters
- :mod:`~strands_ctx.capping.json_values`: JSON, to a smaller value of the same type
- :mod:`~strands_ctx.capping.media`: images, documents, video and audio, to a line that describes them
- :mod:`~strands_ctx.capping.results`: one tool result, whose items share its cap
- :mod:`~strands_ctx.capping.messages`: one message, each result by itself or all of it together
- :mod:`~strands_ctx.capping.rules`: which cap applies to which result
"""

from __future__ import annotations

from .json_values import cap_json
from .messages import cap_message, cap_texts
from .results import cap_tool_result
from .text import MIN_CAP_BYTES, cap_text

__all__ = ["MIN_CAP_BYTES", "cap_json", "cap_message", "cap_text", "cap_texts", "cap_tool_result"]
