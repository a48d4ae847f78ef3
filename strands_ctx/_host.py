"""What differs between versions of Strands, and its private names. Nothing else in the library touches either.

Checked on 1.51.0 and 1.62.0 (read 2026-11-30): the middleware is public from 1.62 (``agent.add_middleware``,
``strands.middleware``) and private before; its context is a dataclass in all of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .types import Messages, SystemPrompt, ToolSpec

if TYPE_CHECKING:
    from strands import Agent

ViewHandler = Callable[[Any], Any]
"""Takes the context of one model call and returns the context that the call is made with."""

HOST_DEFAULT_WINDOW_TOKENS = 200_000
"""The window that Strands assumes of a model that names none. Source: ``strands.models._defaults``, 1.51 to 1.62."""

HOST_COMPRESSION_THRESHOLD = 0.7
"""``proactive_compression=True``. Source: ``strands.agent.conversation_manager``, 1.51 to 1.62."""


def install_view_handler(agent: Agent, handler: ViewHandler) -> None:
    """Register a handler for the input of every model call of an agent.

    The handler runs after every hook, on a deep copy of the log that the host made for this one call. Registered from
    ``AgentInitializedEvent``, it also runs after the input handlers of all plugins.

    Args:
        agent: The agent.
        handler: Called with the call's context; returns it or a changed copy.
    """
    stage = _invoke_model_stage()
    add = getattr(agent, "add_middleware", None) or agent._middleware_registry.add_middleware
    add(stage.Input, handler)


def _invoke_model_stage() -> Any:
    try:
        from strands.middleware import InvokeModelStage
    except ImportError:
        from strands._middleware.stages import InvokeModelStage  # type: ignore[import-not-found, no-redef]
    return InvokeModelStage


def with_messages(context: Any, messages: Messages) -> Any:
    """Return a call's context with other messages."""
    return dataclasses.replace(context, messages=messages)


def call_inputs(agent: Agent) -> tuple[SystemPrompt, list[ToolSpec]]:
    """Return the system prompt and tool specifications that the next model call of an agent would carry."""
    content: Any = agent._system_prompt_content
    specs: Any = agent.tool_registry.get_all_tool_specs()
    return (content if content is not None else agent.system_prompt), specs


def carries_on(event: Any) -> bool:
    """Tell whether an ``AfterInvocationEvent`` says that the same run goes on with more input."""
    return getattr(event, "resume", None) is not None or getattr(event, "_continuation_state", None) is not None


def is_interrupted(event: Any) -> bool:
    """Tell whether an ``AfterInvocationEvent`` ends a run that waits for a person."""
    return getattr(getattr(event, "result", None), "stop_reason", None) == "interrupt"


def own_cache_points(model: Any) -> int:
    """Count the cache points that a model's configuration adds to the system prompt and the tools of each request.

    Source: ``strands.models.bedrock``, 1.51 to 1.62; where it caches by itself it replaces those of the messages.
    """
    config = model.get_config() if hasattr(model, "get_config") else {}
    options = config if isinstance(config, Mapping) else getattr(config, "__dict__", {})
    by_itself = options.get("cache_config") is not None
    return bool(options.get("cache_tools") or by_itself) + bool(options.get("cache_prompt") or by_itself)


def notes_direct_call(messages: Messages, index: int) -> bool:
    """Tell whether an assistant message is the host's record of a direct tool call, and no answer of a model.

    Source: ``strands.tools._caller`` adds four messages: what was called, the call, its result, and that it was
    called; 1.51 to 1.62.
    """
    last = next((i for i in (index, index + 2) if i < len(messages) and _says_called(messages[i])), None)
    return last is not None


def _says_called(message: Any) -> bool:
    content = message.get("content") or [{}]
    text = content[0].get("text") if len(content) == 1 and message.get("role") == "assistant" else None
    return isinstance(text, str) and text.startswith("agent.tool.") and text.endswith(" was called.")
