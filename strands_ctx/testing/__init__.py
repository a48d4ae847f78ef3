"""Test an agent offline: a scripted model with a real window, strict provider rules, live tools, recordings of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strands_ctx._lazy import facade

if TYPE_CHECKING:
    from strands_ctx.testing.conversation_strategy import HypothesisMissingError, conversations, random_conversation
    from strands_ctx.testing.recording import Recording, record_run
    from strands_ctx.testing.requests import Request
    from strands_ctx.testing.rules import ProviderRuleError, strict_violations
    from strands_ctx.testing.script import LiveTool, ScriptExhaustedError, ToolCall
    from strands_ctx.testing.window_model import WindowModel

__all__ = [
    "HypothesisMissingError",
    "LiveTool",
    "ProviderRuleError",
    "Recording",
    "Request",
    "ScriptExhaustedError",
    "ToolCall",
    "WindowModel",
    "conversations",
    "random_conversation",
    "record_run",
    "strict_violations",
]

_HOMES = {
    "HypothesisMissingError": "conversation_strategy",
    "LiveTool": "script",
    "ProviderRuleError": "rules",
    "Recording": "recording",
    "Request": "requests",
    "ScriptExhaustedError": "script",
    "ToolCall": "script",
    "WindowModel": "window_model",
    "conversations": "conversation_strategy",
    "random_conversation": "conversation_strategy",
    "record_run": "recording",
    "strict_violations": "rules",
}

__getattr__, __dir__ = facade(globals(), _HOMES)
