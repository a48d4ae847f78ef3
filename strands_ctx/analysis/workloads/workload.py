"""A workload: prompts, a script of tool calls, and tools that really run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from strands_ctx.testing.script import LiveTool, Step


@dataclass(frozen=True, slots=True)
class LiveResult:
    """What a tool returned when an agent called it.

    Attributes:
        tool_use_id: The call that it answers.
        text: The result's whole text.
    """

    tool_use_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Session:
    """The tools of one run, with a state of their own.

    Attributes:
        tools: The tools.
        results: What they returned so far, in order; it grows while the run goes on.
    """

    tools: tuple[LiveTool, ...]
    results: list[LiveResult]


@dataclass(frozen=True, slots=True)
class Workload:
    """Prompts, the script that answers them, and the tools that the script calls.

    Attributes:
        name: Name of the workload.
        system_prompt: The agent's system prompt.
        prompts: One invocation of the agent each.
        tasks: For each prompt, a sentence that only it holds.
        script: The model's answers.
        calls: How many tool calls the script makes.
        context_window_limit: The model's window in tokens of its own rule.
        open_session: Makes fresh tools for one run.
    """

    name: str
    system_prompt: str
    prompts: tuple[str, ...]
    tasks: tuple[str, ...]
    script: tuple[Step, ...]
    calls: int
    context_window_limit: int
    open_session: Callable[[], Session]
