"""A real model whose tool calls are scripted: small models call no tools by themselves."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any

from strands.models import Model

from strands_ctx.testing.script import ScriptExhaustedError, Step, calls_of
from strands_ctx.testing.stream_events import stream_events
from strands_ctx.tokens import prompt_tokens

SILENCE = "(no answer)"
"""Stands for an answer of nothing but blanks, which providers refuse to be sent later."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request to the real model and how it ended.

    Attributes:
        messages: How many messages it was sent.
        side: Whether it was no request of the script, such as one for a summary.
        prompt_tokens: What the provider billed for the prompt, cached tokens included; None where it said nothing.
        error: What the provider refused it with, or None.
    """

    messages: int
    side: bool
    prompt_tokens: int | None = None
    error: Exception | None = None


class ScriptedCalls(Model):
    """Send every request to a real model, and add scripted tool calls to its answers.

    Text, counts, limits and errors are the real model's. A step that calls tools adds these calls to what the model
    wrote; a step that is a text ends the turn with what the model wrote, and its own wording is not used. An answer
    that the model's ``max_tokens`` cut off counts as ended. The script advances only when an answer was given.

    Example:
        >>> from strands.models.llamacpp import LlamaCppModel
        >>> from strands_ctx.testing import ToolCall
        >>> server = LlamaCppModel(base_url="http://localhost:8080", context_window_limit=2_048)
        >>> model = ScriptedCalls(server, [ToolCall("read", {"page": 1}), "answer"])
        >>> model.context_window_limit
        2048
    """

    def __init__(self, model: Model, script: Sequence[Step]) -> None:
        """Take the real model and the script.

        Args:
            model: Any model of Strands.
            script: What each answer of the model has in addition.
        """
        self.model = model
        self.script = tuple(script)
        self.position = 0
        self.exchanges: list[Exchange] = []
        self._tools = frozenset(call.name for step in self.script for call in calls_of(step))

    @property
    def stateful(self) -> bool:
        """Whether the real model keeps the conversation on its side."""
        return self.model.stateful

    def update_config(self, **model_config: Any) -> None:
        """Change the real model's configuration."""
        self.model.update_config(**model_config)

    def get_config(self) -> Any:
        """Return the real model's configuration."""
        return self.model.get_config()

    async def count_tokens(self, *args: Any, **kwargs: Any) -> int:
        """Count as the real model does."""
        return await self.model.count_tokens(*args, **kwargs)

    async def structured_output(self, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        """Ask the real model for structured output."""
        async for event in self.model.structured_output(*args, **kwargs):
            yield event

    async def stream(
        self,
        messages: Any,
        tool_specs: Any = None,
        system_prompt: str | None = None,
        **kwargs: Any,
    ) -> AsyncGenerator[Any, None]:
        """Ask the real model, and add the calls of the script's next step to its answer.

        Args:
            messages: The messages of the request.
            tool_specs: The tools that the model is offered; a request without the script's tools is no part of it.
            system_prompt: The system prompt as text.
            **kwargs: Handed on.

        Yields:
            The events of a Converse stream.

        Raises:
            Exception: Whatever the real model raises.
            ScriptExhaustedError: The script has no step left.
        """
        side = bool(self._tools) and self._tools.isdisjoint(spec["name"] for spec in tool_specs or ())
        if not side and self.position >= len(self.script):
            raise ScriptExhaustedError(len(self.script))
        try:
            text, usage = await self._ask(messages, tool_specs, system_prompt, **kwargs)
        except Exception as error:
            self.exchanges.append(Exchange(len(messages), side, error=error))
            raise
        self.exchanges.append(Exchange(len(messages), side, prompt_tokens(usage)))
        calls = [] if side else calls_of(self.script[self.position])
        number = self.position
        self.position += not side
        content: list[dict[str, Any]] = [{"text": text}] if text.strip() else []
        for index, call in enumerate(calls):
            use_id = call.id or f"tooluse_{number:04d}_{index}"
            content.append({"toolUse": {"toolUseId": use_id, "name": call.name, "input": call.input}})
        for event in stream_events(content or [{"text": SILENCE}], usage):
            yield event

    async def _ask(self, *args: Any, **kwargs: Any) -> tuple[str, Any]:
        """Return the whole text of the real model's answer, and its usage."""
        pieces: list[str] = []
        usage: Any = None
        async for event in self.model.stream(*args, **kwargs):
            pieces.append(event.get("contentBlockDelta", {}).get("delta", {}).get("text", ""))
            usage = event.get("metadata", {}).get("usage", usage)
        return "".join(pieces), usage
