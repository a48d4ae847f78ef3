"""Counts by a Strands model's own ``count_tokens``, called from synchronous code."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol, cast

from strands_ctx.tokens.counting import CountMemo, block_tokens
from strands_ctx.tokens.media import MEDIA_TOKENS
from strands_ctx.tokens.tiktoken_counter import TiktokenCounter
from strands_ctx.types import Block, Message, ToolSpec

logger = logging.getLogger(__name__)

MAX_FAILURES = 3
"""Failures in a row after which the model is not asked again: each may cost a network timeout."""

_PROMPT = cast(Message, {"role": "user", "content": [{"text": "."}]})
_TOOL: list[ToolSpec] = [{"name": "n", "description": ".", "inputSchema": {"json": {"type": "object"}}}]


class _NotCountedError(Exception):
    """The model gave no number; what was asked for is counted without it, as a whole."""


class CountingModel(Protocol):
    """What is needed of a Strands model: its asynchronous ``count_tokens``."""

    def count_tokens(self, messages: Any, tool_specs: Any = None) -> Awaitable[int]:
        """Count the tokens of messages and tool specifications."""
        ...


class ModelCounter:
    """A ``TokenCounter`` that asks a Strands model, and remembers its answers.

    A message is counted inside the smallest conversation that every provider accepts, and the rest is taken off again:
    the messages of a legal conversation add up to what the model counts for all of it. What a tool call and its result
    cost together is the model's number; how much of their wrapping belongs to which is not told by any legal
    conversation, so each gets half. A new message takes one request, or two with media; what is taken off takes a few.

    The host's default count is an estimate from characters, to which its own providers fall back in silence; therefore
    ``exact`` is False. Media that the model's count leaves out are added by kind and size. Where the model raises, the
    number comes from ``TiktokenCounter()``, one warning says so, and after three failures in a row the model is not
    asked again.

    Args:
        model: A model with ``count_tokens(messages, tool_specs=...)``, as every Strands model has from 1.51 on.

    Example:
        >>> class Model:
        ...     async def count_tokens(self, messages, tool_specs=None):
        ...         return sum(len(block["text"]) for message in messages for block in message["content"])
        >>> ModelCounter(Model()).count_text("How large is this?")
        18
    """

    __slots__ = ("_failures", "_fallback", "_memo", "_model", "_warned")

    def __init__(self, model: CountingModel) -> None:
        """Name the model; it is not asked yet."""
        self._model = model
        self._memo = CountMemo()
        self._fallback = TiktokenCounter()
        self._failures = 0
        self._warned = False

    @property
    def exact(self) -> bool:
        """False: what a model counts may be an estimate."""
        return False

    def count_text(self, text: str) -> int:
        """Count a text as what it adds to a message."""
        if not text:
            return 0
        return self._remembered("text", text, partial(self._count_text, text), partial(self._fallback.count_text, text))

    def count_message(self, message: Message) -> int:
        """Count one whole message; a message changed in place is counted anew."""
        count, fallback = partial(self._count_message, message), partial(self._fallback.count_message, message)
        return self._remembered("message", _identity(message), count, fallback)

    def count_tools(self, specs: Sequence[ToolSpec]) -> int:
        """Count tool specifications as what they add to a message, since providers refuse to count tools alone."""
        if not specs:
            return 0
        count, fallback = partial(self._count_tools, specs), partial(self._fallback.count_tools, specs)
        return self._remembered("tools", _identity(specs), count, fallback)

    def _remembered(
        self, kind: str, identity: str | None, count: Callable[[], int], fallback: Callable[[], int] | None = None
    ) -> int:
        def number(_: str) -> int:
            try:
                return count()
            except _NotCountedError:
                if fallback is None:
                    raise
                return fallback()

        return number("") if identity is None else self._memo.get(f"{kind}: {identity}", number)

    def _count_text(self, text: str) -> int:
        both = cast(Message, {"role": "user", "content": [*_PROMPT["content"], {"text": text}]})
        return max(0, self._ask([both]) - self._prompt_tokens())

    def _count_message(self, message: Message) -> int:
        shown = _countable(message)
        whole, media = self._share(shown), _media_blocks(shown)
        if not media:
            return whole
        rest = _without_media(shown)
        beside = self._share(rest) if rest["content"] else 0
        return whole if whole > beside else whole + sum(block_tokens(self._fallback, block) for block in media)

    def _count_tools(self, specs: Sequence[ToolSpec]) -> int:
        return max(1, self._ask([_PROMPT], list(specs)) - self._prompt_tokens())

    def _share(self, message: Message) -> int:
        """Count a message inside a conversation, less the rest of it."""
        answers = message["role"] == "assistant"
        ids = _ids(message, "toolUse" if answers else "toolResult")
        if ids:
            around = [_PROMPT, message, _results(ids)] if answers else [_PROMPT, _calls(ids), message]
            pair = self._pair_tokens(ids)
            rest = self._prompt_tokens(_TOOL) + (pair // 2 if answers else pair - pair // 2)
            return max(1, self._ask(around, _TOOL) - rest)
        if answers:
            # What a request costs by itself is in each prompt's count; it is taken off here and so is in a sum once.
            return max(1, self._ask([_PROMPT, message, _PROMPT]) - 2 * self._prompt_tokens())
        return self._ask([message])

    def _prompt_tokens(self, specs: list[ToolSpec] | None = None) -> int:
        return self._remembered("prompt", "with a tool" if specs else "", lambda: self._ask([_PROMPT], specs))

    def _pair_tokens(self, ids: list[str]) -> int:
        """Count stand-ins for a message's calls and its results; ids of other messages cost the same by length."""
        pair = [_PROMPT, _calls(ids), _results(ids)]
        lengths = ",".join(str(len(name)) for name in ids)
        return self._remembered("pair", lengths, lambda: max(0, self._ask(pair, _TOOL) - self._prompt_tokens(_TOOL)))

    def _ask(self, messages: list[Message], specs: list[ToolSpec] | None = None) -> int:
        if self._failures >= MAX_FAILURES:
            raise _NotCountedError
        try:
            counted = _run(self._model, messages, specs)
            if not isinstance(counted, int) or counted < 0:
                raise TypeError(f"count_tokens gave {counted!r}, not a number of tokens")
        except Exception as error:  # a model is foreign code: it may raise whatever its client raises
            self._failures += 1
            if not self._warned:
                self._warned = True
                logger.warning("error=<%s> | model could not count tokens, counting with tiktoken", error)
            raise _NotCountedError from error
        self._failures = 0
        return counted


def _run(model: CountingModel, messages: list[Message], specs: list[ToolSpec] | None) -> int:
    async def count() -> int:
        return await model.count_tokens(messages, tool_specs=specs)

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(count())
    # A loop can't wait for itself, so the count runs on a loop of another thread, with this call's context.
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(contextvars.copy_context().run, asyncio.run, count()).result()


def _identity(value: Any) -> str | None:
    """Text that is equal for what is counted alike: the JSON, with bytes by their hash. None where there is no JSON."""
    if isinstance(value, dict) and "content" in value:
        value = (value.get("role"), value["content"])
    try:
        return _IDENTITY.encode(value)
    except (TypeError, ValueError, RecursionError):
        return None


def _hashed(value: object) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return f"bytes:{len(value)}:{hash(bytes(value))}"
    return str(value)


_IDENTITY = json.JSONEncoder(ensure_ascii=False, default=_hashed)


def _calls(ids: list[str]) -> Message:
    """Stand-ins for the calls that results answer."""
    return _message("assistant", [{"toolUse": {"toolUseId": name, "name": "n", "input": {}}} for name in ids])


def _results(ids: list[str]) -> Message:
    """Stand-ins for the results that calls need."""
    content = _PROMPT["content"]
    return _message("user", [{"toolResult": {"toolUseId": i, "status": "success", "content": content}} for i in ids])


def _message(role: str, content: list[Block]) -> Message:
    return cast(Message, {"role": role, "content": content})


def _ids(message: Message, kind: str) -> list[str]:
    return [block[kind]["toolUseId"] for block in message["content"] if kind in block]


def _countable(message: Message) -> Message:
    """The message without what costs nothing and is refused in places: cache points and blank texts.

    Raises:
        _NotCountedError: If nothing is left, or it is no message.
    """
    try:
        content = [_countable_block(block) for block in message["content"] if not _is_free(block)]
        if not content or message["role"] not in ("user", "assistant"):
            raise _NotCountedError
    except (AttributeError, KeyError, TypeError) as error:
        raise _NotCountedError from error
    return _message(message["role"], content)


def _countable_block(block: Block) -> Block:
    call = block.get("toolUse")
    if call is not None and not isinstance(call["toolUseId"], str):
        raise _NotCountedError
    result = block.get("toolResult")
    return block if result is None else _result_with(result, [item for item in result["content"] if not _is_free(item)])


def _result_with(result: Any, items: list[Any]) -> Block:
    """The result with some of its items; an empty one is refused."""
    if not isinstance(result["toolUseId"], str):
        raise _NotCountedError
    return {"toolResult": {**result, "content": items or _PROMPT["content"]}}


def _is_free(block: Block) -> bool:
    return "cachePoint" in block or ("text" in block and not block["text"].strip())


def _is_media(block: Block) -> bool:
    return not MEDIA_TOKENS.keys().isdisjoint(block)


def _media_blocks(message: Message) -> list[Block]:
    """The media of a message, those inside tool results included."""
    items = [item for block in message["content"] for item in block.get("toolResult", {}).get("content", [block])]
    return list(filter(_is_media, items))


def _without_media(message: Message) -> Message:
    content: list[Block] = []
    for block in message["content"]:
        if "toolResult" in block:
            result = block["toolResult"]
            content.append(_result_with(result, [item for item in result["content"] if not _is_media(item)]))
        elif not _is_media(block):
            content.append(block)
    return _message(message["role"], content)
