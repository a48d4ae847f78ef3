"""What a call's usage says about the size of its prompt."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Any


def prompt_tokens(usage: Mapping[str, Any] | None, *, near_tokens: int | None = None) -> int | None:
    """Read the size of the whole prompt, cached or not, from a call's usage.

    Anthropic and Bedrock report cached tokens apart from ``inputTokens``; OpenAI and Gemini include them. A total
    that adds the cached tokens, or more cached tokens than input, means apart. Else they count as included; but
    Strands 1.51 gives for Anthropic a total without them, which looks the same, so that an estimate of the
    prompt may tell the two apart.

    Args:
        usage: ``inputTokens``, ``outputTokens``, ``totalTokens``, ``cacheReadInputTokens`` and
            ``cacheWriteInputTokens``, each in tokens, each possibly absent.
        near_tokens: Our own estimate of the prompt.

    Returns:
        Tokens of the prompt, or None where the usage is absent or 0.

    Example:
        >>> prompt_tokens({"inputTokens": 10, "outputTokens": 5, "totalTokens": 15, "cacheReadInputTokens": 90_000})
        90010
    """
    if not isinstance(usage, Mapping):
        return None
    sent, received, total = (_tokens(usage, f"{name}Tokens") for name in ("input", "output", "total"))
    cached = _tokens(usage, "cacheReadInputTokens") + _tokens(usage, "cacheWriteInputTokens")
    apart = sent + cached
    if cached > sent or total == apart + received:
        return apart or None
    if near_tokens and 2 * _distance(apart, near_tokens) < _distance(sent, near_tokens):
        return apart
    return sent or None


def _distance(a: int, b: int) -> float:
    return abs(log(a / b)) if a > 0 else float("inf")


def _tokens(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
