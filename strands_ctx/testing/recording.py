"""Run a real agent over a list of prompts and write down what happened to its log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from strands import Agent
from strands.hooks import MessageAddedEvent
from strands.tools.tools import PythonAgentTool
from strands.types.exceptions import EventLoopException

from strands_ctx.testing.script import LiveTool
from strands_ctx.testing.window_model import WindowModel
from strands_ctx.types import Message


@dataclass(frozen=True, slots=True)
class Recording:
    """What an agent's run did.

    Attributes:
        agent: The agent after the run.
        added: Every message that was added to the log, as it was reported when it was added.
        invocations: How many prompts were answered.
        error: What ended the run early, or none.
    """

    agent: Agent
    added: tuple[Message, ...]
    invocations: int
    error: Exception | None


def agent_tool(tool: LiveTool) -> PythonAgentTool:
    """Make the tool that a Strands agent executes.

    Args:
        tool: The tool as data.

    Returns:
        A Strands tool; an exception that it raises becomes a result with status ``error``, as the host does it.
    """

    def run(tool_use: Any, **_: Any) -> Any:
        text = tool.run(tool_use["toolUseId"], tool_use["input"])
        return {"toolUseId": tool_use["toolUseId"], "status": "success", "content": [{"text": text}]}

    specification: Any = {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": {"json": tool.input_schema},
    }
    return PythonAgentTool(tool.name, specification, run)


def record_run(
    model: WindowModel,
    tools: Sequence[LiveTool],
    prompts: Iterable[str],
    *,
    system_prompt: str | None = None,
    on_start: Callable[[Agent], None] | None = None,
    **agent_arguments: Any,
) -> Recording:
    """Invoke a new agent with each prompt in turn, until one fails.

    Args:
        model: The scripted model.
        tools: The tools that the script calls.
        prompts: One invocation each.
        system_prompt: The agent's system prompt.
        on_start: Called with the agent before its first prompt, for instance to mark an anchor.
        **agent_arguments: Further arguments of ``Agent``, such as ``conversation_manager``.

    Returns:
        The recording; an exception of the run is in it and not raised.
    """
    agent = Agent(
        model=model,
        tools=[agent_tool(tool) for tool in tools],
        system_prompt=system_prompt,
        callback_handler=None,
        **agent_arguments,
    )
    added: list[Message] = []
    agent.hooks.add_callback(MessageAddedEvent, lambda event: added.append(_copied(event.message)))
    if on_start is not None:
        on_start(agent)
    invocations, error = 0, None
    for prompt in prompts:
        try:
            agent(prompt)
        except Exception as caught:  # noqa: BLE001 - whatever ends a run belongs into its recording
            error = _cause(caught)
            break
        invocations += 1
    return Recording(agent, tuple(added), invocations, error)


def _copied(message: Any) -> Message:
    return {"role": message["role"], "content": [dict(block) for block in message["content"]]}


def _cause(error: Exception) -> Exception:
    if isinstance(error, EventLoopException):
        return error.original_exception
    return error
