"""A provider's prompt cache, at the granularity of messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

READ_PRICE_RATIO = 0.1
"""Price of a token that is read from the cache, over that of a plain input token."""

WRITE_PRICE_RATIO = 1.25
"""Price of a token that is written to the cache, over that of a plain input token."""

_REMEMBERED_REQUESTS = 2


def freeze(value: Any) -> Hashable:
    """Make a value hashable and comparable, keeping its strings as they are.

    Args:
        value: A message or any part of one.

    Returns:
        Nested tuples; equal for equal values.
    """
    if isinstance(value, Mapping):
        return tuple((key, freeze(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(freeze(item) for item in value)
    return value if isinstance(value, Hashable) else repr(value)


class PromptCache:
    """Tells how much of a request the provider has in its cache.

    A request reads the longest prefix that it shares with one of the last two requests, so that a manager's own request
    in between costs the run no cache, and writes the rest.
    """

    def __init__(self) -> None:
        """Start with nothing cached."""
        self._requests: deque[Sequence[Hashable]] = deque(maxlen=_REMEMBERED_REQUESTS)

    def admit(self, parts: Sequence[Hashable], part_tokens: Sequence[int]) -> int:
        """Take a request into the cache.

        Args:
            parts: The request's frozen parts in order: system prompt and tools first, then each message.
            part_tokens: Tokens of each part.

        Returns:
            Tokens that were read from the cache.
        """
        shared = max((_common(parts, earlier) for earlier in self._requests), default=0)
        self._requests.append(parts)
        return sum(part_tokens[:shared])


def _common(parts: Sequence[Hashable], earlier: Sequence[Hashable]) -> int:
    for index, (part, other) in enumerate(zip(parts, earlier, strict=False)):
        if part != other:
            return index
    return min(len(parts), len(earlier))
