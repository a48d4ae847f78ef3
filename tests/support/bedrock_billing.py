"""What Bedrock Runtime bills: tokens by the testing model's rule, and a cache that only cache points fill."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from strands_ctx.testing import provider_tokens

MIN_CACHED_TOKENS = 1_024
LOOK_BACK_BLOCKS = 20

_MEDIA = ("image", "document", "video")


@dataclass(frozen=True, slots=True)
class Part:
    """One block of a prompt in the order in which it is cached: tools, system, messages."""

    text: str
    tokens: int
    is_cache_point: bool = False


@dataclass(frozen=True, slots=True)
class Bill:
    """Tokens of a prompt, of which some were read from the cache and some written to it."""

    prompt_tokens: int
    read_tokens: int = 0
    write_tokens: int = 0

    def usage(self, output_tokens: int) -> dict[str, int]:
        """The usage metadata: ``inputTokens`` are those that the cache had no part in."""
        return {
            "inputTokens": self.prompt_tokens - self.read_tokens - self.write_tokens,
            "outputTokens": output_tokens,
            "totalTokens": self.prompt_tokens + output_tokens,
            "cacheReadInputTokens": self.read_tokens,
            "cacheWriteInputTokens": self.write_tokens,
        }


def parts_of(body: Mapping[str, Any]) -> list[Part]:
    """Take a request apart and count it.

    Raises:
        ValueError: If the bytes of an image, document or video are not base64.
    """
    return [*_preamble(body), *_message_parts(body.get("messages") or ())]


def _preamble(body: Mapping[str, Any]) -> Iterator[Part]:
    for tool in (body.get("toolConfig") or {}).get("tools") or ():
        yield _part(tool, 0 if "cachePoint" in tool else provider_tokens.count_tool_specs([tool["toolSpec"]]))
    for block in body.get("system") or ():
        yield _part(block, 0 if "cachePoint" in block else provider_tokens.count_block(block))


def _message_parts(messages: Sequence[Mapping[str, Any]]) -> Iterator[Part]:
    for message in messages:
        frame = provider_tokens.MESSAGE_TOKENS
        for block in message["content"]:
            yield _part(block, frame + provider_tokens.count_block(decoded(block)), message["role"])
            frame = 0


def _part(block: Mapping[str, Any], tokens: int, role: str = "") -> Part:
    return Part(role + json.dumps(block, sort_keys=True), tokens, "cachePoint" in block)


def decoded(block: Mapping[str, Any]) -> dict[str, Any]:
    """A block with the bytes of its media as bytes, as the client had them."""
    plain = dict(block)
    for kind in _MEDIA:
        if "bytes" in plain.get(kind, {}).get("source", {}):
            data = base64.b64decode(plain[kind]["source"]["bytes"], validate=True)
            plain[kind] = {**plain[kind], "source": {"bytes": data}}
    if "toolResult" in plain:
        plain["toolResult"] = {**plain["toolResult"], "content": [decoded(i) for i in plain["toolResult"]["content"]]}
    return plain


class PointCache:
    """Holds the prefixes that ended at a cache point; a request reads the longest of them that it starts with."""

    def __init__(self) -> None:
        self._held: set[bytes] = set()

    def bill(self, parts: Sequence[Part]) -> Bill:
        """Bill an accepted request, and hold what it marks."""
        prefixes = list(_prefixes(parts))
        points = [index for index, part in enumerate(parts) if part.is_cache_point]
        near = {index for point in points for index in range(max(0, point - LOOK_BACK_BLOCKS), point + 1)}
        read = max((prefixes[index][1] for index in near if prefixes[index][0] in self._held), default=0)
        marked = max((prefixes[point][1] for point in points), default=0)
        marked = marked if marked >= MIN_CACHED_TOKENS else 0
        self._held.update(prefixes[point][0] for point in points if prefixes[point][1] >= MIN_CACHED_TOKENS)
        return Bill(sum(part.tokens for part in parts), read, max(0, marked - read))


def _prefixes(parts: Sequence[Part]) -> Iterator[tuple[bytes, int]]:
    """The hash and the tokens of the prompt up to each block; cache points are no part of what they mark."""
    digest, tokens = sha256(), 0
    for part in parts:
        if not part.is_cache_point:
            digest.update(part.text.encode() + b"\n")
            tokens += part.tokens
        yield digest.digest(), tokens
