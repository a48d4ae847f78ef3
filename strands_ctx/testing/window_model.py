"""A Strands model that follows a script and enforces a window: test an agent offline, against real refusals."""

from __future__ import annotations

import asyncio
import copy
import itertools
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from strands.models import Model
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx.errors import ConfigError
from strands_ctx.testing import provider_tokens
from strands_ctx.testing.prompt_cache import PromptCache, freeze
from strands_ctx.testing.requests import Outcome, Request, UsageStyle, usage_of
from strands_ctx.testing.rules import ProviderRuleError, strict_violations
from strands_ctx.testing.script import ScriptExhaustedError, Step, ToolCall, calls_of, check_tools, ids_of
from strands_ctx.testing.stream_events import stream_events
from strands_ctx.types import ToolSpec

OVERFLOW_TEXT = "prompt is too long: {tokens} tokens > {limit} maximum"
OVERFLOW_TEXT_WITH_OUTPUT = (
    "input length and `max_tokens` exceed context limit: {tokens} + {max_tokens} > {limit}, "
    "decrease input length or `max_tokens` and try again"
)

UNCACHED_TOKENS = 3
"""Tokens at the end of a prompt that no cache holds, as providers with a cache point at the end report them."""

_CANCEL_POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class _Answer:
    content: list[dict[str, Any]]
    scripted: bool


class WindowModel(Model):
    """Follow a script of tool calls and texts, and refuse what a real provider would refuse.

    A real ``strands.models.Model``: an agent's loop, hooks, tools and managers all run. Prompts are counted by its own
    token rule, which no manager's counter knows. The script advances only with an answer: a retry gets the same step.
    """

    def __init__(
        self,
        script: Sequence[Step],
        *,
        context_window_limit: int | None = 200_000,
        max_tokens: int | None = None,
        usage: UsageStyle = "apart",
        cache: bool = True,
        strict: bool = True,
        side_reply: str = "A summary of the conversation so far: the work goes on.",
        structured: Mapping[str, Any] | None = None,
        overflow_text: str | None = None,
        overflow_error: Callable[[str], Exception] = ContextWindowOverflowException,
        fail_at: Mapping[int, BaseException] | None = None,
        delay_s: float = 0.0,
    ) -> None:
        """Take the script and what the provider is like.

        Args:
            script: The answers in order: a ``ToolCall``, a list of parallel ones, or the text that ends a turn.
            context_window_limit: Window in tokens by the model's own rule; none to neither tell nor refuse.
            max_tokens: Output tokens that the provider reserves in the window.
            usage: How the usage metadata tells cached tokens.
            cache: Whether prompts are cached, read at 0.1 and written at 1.25 of the price of an input token.
            strict: Whether requests of the agent that break a provider's rules are refused; a manager's own are not.
            side_reply: Answer to requests that are not part of the script.
            structured: Input of the tool that a structured output request forces.
            overflow_text: The refusal's text; ``{tokens}``, ``{limit}`` and ``{max_tokens}`` are filled in.
            overflow_error: Makes the exception from that text.
            fail_at: Exceptions to raise instead of answering, by the number of the request, counted from 1.
            delay_s: Seconds before each answer.

        Raises:
            ConfigError: The script has other steps, a size isn't positive, or ``usage`` is unknown.
        """
        if isinstance(script, str) or not all(isinstance(step, (str, ToolCall, Sequence)) for step in script):
            raise ConfigError("script", script, "must be a list of texts, ToolCalls and lists of ToolCalls")
        for name, size in (("context_window_limit", context_window_limit), ("max_tokens", max_tokens)):
            if size is not None and size <= 0:
                raise ConfigError(name, size, "must be a positive number of tokens")
        if usage not in ("apart", "included", "none"):
            raise ConfigError("usage", usage, "must be 'apart', 'included' or 'none'")
        if delay_s < 0:
            raise ConfigError("delay_s", delay_s, "must not be negative")
        self.config: dict[str, Any] = {"model_id": "window-model", "context_window_limit": context_window_limit}
        if max_tokens is not None:
            self.config["max_tokens"] = max_tokens
        self.script = tuple(script)
        self.position = 0
        self.requests: list[Request] = []
        self._usage, self._strict = usage, strict
        self._cache = PromptCache() if cache else None
        self._side_reply, self._structured = side_reply, structured
        self._overflow_text, self._overflow_error = overflow_text, overflow_error
        self._fail_at, self._delay_s = dict(fail_at or {}), delay_s
        self._offered: frozenset[str] = frozenset()
        self._ids, self._taken = 0, set[str]()

    @property
    def answered(self) -> list[Request]:
        """The requests of the script that were answered, in order."""
        return [request for request in self.requests if request.answered and not request.side]

    @property
    def billed_tokens(self) -> int:
        """Prompt tokens of every request that was not refused, cached ones included."""
        return sum(request.prompt_tokens for request in self.requests if request.is_billed)

    @property
    def cost(self) -> float:
        """Price of every prompt that was not refused, in prices of a plain input token."""
        return sum(request.cost for request in self.requests)

    def update_config(self, **model_config: Any) -> None:
        """Change ``context_window_limit``, ``max_tokens`` or ``model_id``."""
        self.config.update(model_config)

    def get_config(self) -> dict[str, Any]:
        """Return the model's configuration."""
        return self.config

    async def structured_output(
        self, output_model: type[Any], prompt: Any, system_prompt: str | None = None, **kwargs: Any
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Answer a legacy structured output request with the ``structured`` input.

        Args:
            output_model: Pydantic model of the answer.
            prompt: The messages.
            system_prompt: The system prompt.
            **kwargs: Ignored.

        Yields:
            One event with the validated output.
        """
        index = self._receive(prompt, (), system_prompt, side=True)
        output = output_model.model_validate(self._structured_input())
        self._finish(index, scripted=False)
        yield {"output": output}

    async def stream(
        self,
        messages: Any,
        tool_specs: Any = None,
        system_prompt: str | None = None,
        *,
        tool_choice: Any = None,
        system_prompt_content: Any = None,
        invocation_state: dict[str, Any] | None = None,
        cancel_signal: threading.Event | None = None,
        **kwargs: Any,
    ) -> AsyncGenerator[Any, None]:
        """Refuse the request as a provider would, or answer it with the next step of the script.

        Args:
            messages: The messages of the request.
            tool_specs: The tools that the model is offered.
            system_prompt: The system prompt as text.
            tool_choice: A tool that must be called, as structured output asks for.
            system_prompt_content: The system prompt as blocks.
            invocation_state: Given by an agent's loop; its absence marks a request of a manager's own.
            cancel_signal: Ends the stream early, without an end of the message.
            **kwargs: Ignored.

        Yields:
            The events of a Converse stream.

        Raises:
            ContextWindowOverflowException: The prompt, with the reserved output, exceeds the window.
            ProviderRuleError: The messages break a rule and ``strict`` is set.
            ScriptExhaustedError: The script has no step left.
        """
        specs: Sequence[ToolSpec] = tool_specs or ()
        system = _system_text(system_prompt, system_prompt_content)
        self._taken.update(ids_of(messages))  # a restored session has ids of its own
        answer = self._next_answer(specs, tool_choice, from_agent=invocation_state is not None)
        index = self._receive(messages, specs, system, side=not answer.scripted and not tool_choice)
        if answer.scripted:
            self._offered = frozenset(spec["name"] for spec in specs)
        if await self._is_cancelled(cancel_signal):
            return
        for event in stream_events(answer.content, self._usage_metadata(self.requests[index], answer)):
            if cancel_signal is not None and cancel_signal.is_set():
                return
            if "messageStop" in event:
                self._finish(index, scripted=answer.scripted)
            yield event

    def _usage_metadata(self, request: Request, answer: _Answer) -> dict[str, int] | None:
        if self._usage == "none":
            return None
        output_tokens = sum(provider_tokens.count_block(block) for block in answer.content)
        return usage_of(request, output_tokens, self._usage)

    def _finish(self, index: int, *, scripted: bool) -> None:
        self.requests[index] = self.requests[index].with_outcome("answered")
        self.position += scripted

    async def _is_cancelled(self, cancel_signal: threading.Event | None) -> bool:
        waited_s = 0.0
        while waited_s < self._delay_s:
            if cancel_signal is not None and cancel_signal.is_set():
                return True
            await asyncio.sleep(min(_CANCEL_POLL_S, self._delay_s))
            waited_s += _CANCEL_POLL_S
        return cancel_signal is not None and cancel_signal.is_set()

    def _next_answer(self, specs: Sequence[ToolSpec], tool_choice: Any, *, from_agent: bool) -> _Answer:
        names = {spec["name"] for spec in specs}
        forced = self._forced_tool(specs, tool_choice)
        if forced is not None:
            call = ToolCall(forced, dict(self._structured_input()))
            return _Answer([self._tool_use(call)], scripted=False)
        if not specs and not from_agent:
            return _Answer([{"text": self._side_reply}], scripted=False)
        if self.position >= len(self.script):
            if self._offered and not self._offered & names:
                return _Answer([{"text": self._side_reply}], scripted=False)
            raise ScriptExhaustedError(len(self.script))
        step = self.script[self.position]
        calls = calls_of(step)
        elsewhere = bool(self._offered) and not self._offered & names
        missing = {call.name for call in calls} - names
        if missing and from_agent and not elsewhere:
            check_tools(self.script, self.position, names, begun=bool(self._offered))
        if missing or elsewhere:
            return _Answer([{"text": self._side_reply}], scripted=False)
        content = [self._tool_use(call) for call in calls] or [{"text": cast(str, step)}]
        return _Answer(content, scripted=True)

    def _forced_tool(self, specs: Sequence[ToolSpec], tool_choice: Any) -> str | None:
        if not tool_choice:
            return None
        if "tool" in tool_choice:
            return str(tool_choice["tool"]["name"])
        # Strands 1.51 forces structured output with "any" among all tools: it is the one that no step calls.
        scripted = {call.name for step in self.script for call in calls_of(step)}
        unscripted = [spec["name"] for spec in specs if spec["name"] not in scripted]
        return unscripted[-1] if "any" in tool_choice and unscripted else None

    def _structured_input(self) -> Mapping[str, Any]:
        if self._structured is None:
            raise ConfigError("structured", None, "must be the input of the tool that the request forces")
        return self._structured

    def _tool_use(self, call: ToolCall) -> dict[str, Any]:
        return {"toolUse": {"toolUseId": call.id or self._free_id(), "name": call.name, "input": call.input}}

    def _free_id(self) -> str:
        self._ids = next(n for n in itertools.count(self._ids + 1) if f"tooluse_{n:05d}" not in self._taken)
        return f"tooluse_{self._ids:05d}"

    def _receive(self, messages: Any, specs: Sequence[ToolSpec], system: str | None, *, side: bool) -> int:
        parts = [freeze((system, specs)), *(freeze(message) for message in messages)]
        part_tokens = [
            provider_tokens.count_prompt_text(system or "") + provider_tokens.count_tool_specs(specs),
            *(provider_tokens.count_message(message) for message in messages),
        ]
        tokens, violations = sum(part_tokens), tuple(strict_violations(messages))
        failure = self._failure(tokens, () if side else violations)
        read_tokens = written_tokens = 0
        if self._cache and failure is None:
            read_tokens = self._cache.admit(parts, part_tokens)
            written_tokens = max(0, tokens - read_tokens - UNCACHED_TOKENS)
        outcome, error = failure or ("sent", None)
        sent, names = tuple(copy.deepcopy(list(messages))), tuple(spec["name"] for spec in specs)
        self.requests.append(
            Request(sent, system, names, tokens, read_tokens, written_tokens, violations, side, outcome)
        )
        if error is not None:
            raise error
        return len(self.requests) - 1

    def _failure(self, tokens: int, violations: Sequence[str]) -> tuple[Outcome, BaseException] | None:
        planned = self._fail_at.get(len(self.requests) + 1)
        if planned is not None:
            return "failed", planned
        if self._strict and violations:
            return "refused", ProviderRuleError(violations)
        limit, reserved = self.config.get("context_window_limit"), self.config.get("max_tokens") or 0
        if limit is None or tokens + reserved <= limit:
            return None
        text = self._overflow_text or (OVERFLOW_TEXT_WITH_OUTPUT if reserved else OVERFLOW_TEXT)
        return "overflowed", self._overflow_error(text.format(tokens=tokens, limit=limit, max_tokens=reserved))


def _system_text(system_prompt: str | None, blocks: Sequence[Mapping[str, Any]] | None) -> str | None:
    if blocks:
        return "\n".join(block["text"] for block in blocks if "text" in block)
    return system_prompt
