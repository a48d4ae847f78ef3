"""Refusals as each provider's model class meets them: through which of them Strands makes its own overflow."""

from __future__ import annotations

from typing import NamedTuple

from tests.support.provider_models import PROVIDERS
from tests.support.provider_server import Refusal
from tests.support.provider_texts import OVERFLOWS

TOO_LONG = "prompt is too long: 203470 tokens > 200000 maximum"


class Case(NamedTuple):
    """A refusal by one provider; ``mapped``: whether Strands itself makes its overflow of it."""

    provider: str
    text: str
    mapped: bool = True
    status: int = 400
    in_stream: bool = False

    @property
    def kind(self) -> str:
        """What is too large; status 413 is enough for bytes."""
        return OVERFLOWS[self.text].kind if self.text in OVERFLOWS else "payload_bytes"

    @property
    def refusal(self) -> Refusal:
        """What the server answers."""
        return PROVIDERS[self.provider].refusal(self.text, self.status, in_stream=self.in_stream)


def beginning(start: str) -> str:
    """The first text of the table that begins so."""
    return next(text for text in OVERFLOWS if text.startswith(start))


SPOKEN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "openai": (
        (
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
            "This model's maximum context length is 8192 tokens. However, you requested 8203",
            "The input (85050 tokens) is longer than the model's context length",
            "Requested token count exceeds the model's maximum context length",
        ),
        (
            "Your input exceeds the context window",
            "Input tokens exceed the configured limit of",
            "request (21032 tokens) exceeds the available context size",
            "The decoder prompt (length 40000)",
            "This model's maximum prompt length is",
            "too large for model with 131072 maximum context lenght",
            "Input length 70000 exceeds the maximum allowed input length",
            "prompt token count of",
            "invalid params, context window exceeds limit",
            "Invalid request: Your request exceeded model token limit",
            "Please reduce the length of the messages or completion.",
            "Please reduce the length of the messages or completion. Current length",
            "tokens in request more than max tokens allowed",
            "Range of input length should be",
            "The total length of all messages is too long.",
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1512",
            "Prompt too long: 9000 tokens exceeds max_seq_len",
            "prompt is too long: 203470",
            "Invalid 'messages': array too long",
        ),
    ),
    "responses": (
        ("This model's maximum context length is 8192 tokens. However, your messages",),
        ("Your input exceeds the context window",),
    ),
    "litellm": (
        (
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
            "request (21032 tokens) exceeds the available context size",
            "Please reduce the length of the messages or completion. Current length",
        ),
        ("prompt is too long: 203470", "Prompt exceeds max length", "This model's maximum prompt length is"),
    ),
    "anthropic": (("prompt is too long: 203470",), ("input length and `max_tokens` exceed", "Too much media")),
    "mistral": (
        ("prompt contains 300000 tokens, too large for model",),
        ("input token count is above the limit", "Prompt exceeds max length"),
    ),
    "ollama": (
        ("prompt too long; exceeded max context length", "the input length exceeds", "the prompt is longer than"),
        ("request exceeds the max_model_len",),
    ),
    "llama.cpp": (
        ("request (21032 tokens) exceeds the available context size", "the request exceeds the available context size"),
        ("Prompt too long: 9000 tokens exceeds max_seq_len",),
    ),
    "gemini": (
        ("The input token count (1200293) exceeds the maximum number",),
        ("Unable to submit request because the input token count", "Request payload size exceeds"),
    ),
}

IN_STREAM = beginning("This model's maximum context length is 8192 tokens. However, your messages")

CASES = [
    *(Case(name, beginning(text)) for name, (mapped, _) in SPOKEN.items() for text in mapped),
    *(Case(name, beginning(text), mapped=False) for name, (_, escapes) in SPOKEN.items() for text in escapes),
    *(Case(name, "the body is too big", mapped=False, status=413) for name in SPOKEN),
    Case("openai", IN_STREAM, in_stream=True),
    Case("responses", IN_STREAM, in_stream=True),
    Case("litellm", IN_STREAM, in_stream=True),
    Case("anthropic", TOO_LONG, mapped=False, in_stream=True),
    Case("ollama", beginning("request exceeds the max_model_len"), mapped=False, in_stream=True),
]
