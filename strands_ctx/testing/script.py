"""What a scripted model does and what its tools do: data, without a model and without an agent."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from strands_ctx.errors import ConfigError, StrandsCtxError


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call that the model makes.

    Attributes:
        name: Name of the tool.
        input: What it is called with.
        id: Its toolUseId; the model numbers those without one.
    """

    name: str
    input: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


Step: TypeAlias = "ToolCall | Sequence[ToolCall] | str"
"""One answer of the model: a tool call, several parallel ones, or the text that ends the turn."""


@dataclass(frozen=True, slots=True)
class LiveTool:
    """A tool that an agent really executes.

    Attributes:
        name: Name of the tool.
        description: What the model is told about it.
        input_schema: JSON schema of its input.
        run: Takes the toolUseId and the input, and returns the result's text.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    run: Callable[[str, dict[str, Any]], str]


class ScriptExhaustedError(StrandsCtxError):
    """The model was asked for more answers than its script has.

    Attributes:
        steps: How many answers the script has.
    """

    def __init__(self, steps: int) -> None:
        """Name the script's length."""
        super().__init__(f"the script has {steps} steps and all were given; add the step that this request should get")
        self.steps = steps


def calls_of(step: Step) -> list[ToolCall]:
    """List the tool calls of a step, none for a text.

    Args:
        step: One step of a script.

    Returns:
        The calls in order.
    """
    if isinstance(step, str):
        return []
    return [step] if isinstance(step, ToolCall) else list(step)


def ids_of(messages: Sequence[Any]) -> set[str]:
    """Collect the ids of the tool calls in messages.

    Args:
        messages: A request's messages.

    Returns:
        The ids.
    """
    uses = (block.get("toolUse") for message in messages for block in message["content"])
    return {str(use.get("toolUseId")) for use in uses if isinstance(use, dict)}


def check_tools(script: Sequence[Step], position: int, offered: Collection[str], *, begun: bool) -> None:
    """Tell a script with a wrong name from a request that is no part of it.

    Args:
        script: All steps.
        position: Index of the step that calls a tool which is not offered.
        offered: Names of the tools that the request offers.
        begun: Whether a step was answered before, to a request with the same tools.

    Raises:
        ConfigError: The request is one of the script's agent, which has no such tool.
    """
    missing = sorted({call.name for call in calls_of(script[position])} - set(offered))
    if begun or not {call.name for step in script for call in calls_of(step)}.isdisjoint(offered):
        raise ConfigError("script", missing, f"must call tools that the agent has: {sorted(offered)}")
    if offered:
        warnings.warn(
            f"step {position + 1} of the script calls {missing}, the request offers {sorted(offered)}: "
            "answered as one that is no part of the script",
            stacklevel=2,
        )
