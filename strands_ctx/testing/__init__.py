"""Test an agent offline: a scripted model with a real window, strict provider rules, live tools, recordings of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strands_ctx.testing.recording import Recording, record_run
    from strands_ctx.testing.requests import Request
    from strands_ctx.testing.rules import ProviderRuleError, strict_violations
    from strands_ctx.testing.script import LiveTool, ScriptExhaustedError, ToolCall
    from strands_ctx.testing.window_model import WindowModel

__all__ = [
    "LiveTool",
    "ProviderRuleError",
    "Recording",
    "Request",
    "ScriptExhaustedError",
    "ToolCall",
    "WindowModel",
    "record_run",
    "strict_violations",
]

_HOMES = {
    "LiveTool": "script",
    "ProviderRuleError": "rules",
    "Recording": "recording",
    "Request": "requests",
    "ScriptExhaustedError": "script",
    "ToolCall": "script",
    "WindowModel": "window_model",
    "record_run": "recording",
    "strict_violations": "rules",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
