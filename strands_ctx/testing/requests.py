"""What a model was sent and what it was billed, request by request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from strands_ctx.testing.prompt_cache import READ_PRICE_RATIO, WRITE_PRICE_RATIO
from strands_ctx.types import Message

Outcome: TypeAlias = Literal["sent", "answered", "overflowed", "refused", "failed"]
"""What became of a request; one that was sent and not answered was cancelled or abandoned."""

UsageStyle: TypeAlias = Literal["apart", "included", "none"]
"""How usage tells cached tokens: apart from the input tokens, included in them, or no usage at all."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request that the model was sent.

    Attributes:
        messages: The messages as they were sent, copied.
        system_prompt: The system prompt as text, or none.
        tool_names: Names of the tools that were offered.
        prompt_tokens: Tokens of the whole prompt by the model's own rule, cached ones included.
        cache_read_tokens: Those of them that were read from the cache.
        cache_write_tokens: Those of them that were written to the cache.
        violations: Provider rules that the messages break, in the provider's words.
        side: Whether the request was not part of the script, such as a manager's request for a summary.
        outcome: What became of it.
    """

    messages: tuple[Message, ...]
    system_prompt: str | None
    tool_names: tuple[str, ...]
    prompt_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    violations: tuple[str, ...]
    side: bool
    outcome: Outcome

    @property
    def overflowed(self) -> bool:
        """Whether the request was refused as too long for the window."""
        return self.outcome == "overflowed"

    @property
    def answered(self) -> bool:
        """Whether the whole answer was given."""
        return self.outcome == "answered"

    @property
    def is_billed(self) -> bool:
        """Whether the provider bills the prompt: it bills what it began to answer, and no refusal."""
        return self.outcome in ("sent", "answered")

    @property
    def cost(self) -> float:
        """Price of the prompt in prices of one plain input token, 0 where it is not billed."""
        if not self.is_billed:
            return 0.0
        plain_tokens = self.prompt_tokens - self.cache_read_tokens - self.cache_write_tokens
        return plain_tokens + READ_PRICE_RATIO * self.cache_read_tokens + WRITE_PRICE_RATIO * self.cache_write_tokens

    def with_outcome(self, outcome: Outcome) -> Request:
        """Copy the request with another outcome.

        Args:
            outcome: What became of it.

        Returns:
            The copy.
        """
        return replace(self, outcome=outcome)


def usage_of(request: Request, output_tokens: int, style: UsageStyle) -> dict[str, int]:
    """Tell a request's usage as providers of one style do.

    Args:
        request: The request.
        output_tokens: Tokens of the answer.
        style: ``"apart"`` as Bedrock and Anthropic, ``"included"`` as OpenAI and Gemini.

    Returns:
        The usage metadata of a Converse stream.
    """
    cached_tokens = request.cache_read_tokens + request.cache_write_tokens
    usage = {
        "inputTokens": request.prompt_tokens - (cached_tokens if style == "apart" else 0),
        "outputTokens": output_tokens,
        "totalTokens": request.prompt_tokens + output_tokens,
    }
    if cached_tokens:
        usage["cacheReadInputTokens"] = request.cache_read_tokens
        if style == "apart":
            usage["cacheWriteInputTokens"] = request.cache_write_tokens
    return usage
