"""Messages as tests write them, a counter whose numbers can be worked out by hand, and a log in a ledger."""

from __future__ import annotations

from typing import Any

from strands_ctx.drafts import Load
from strands_ctx.ledger.ledger import Ledger
from strands_ctx.plans import Boundaries, Limits, Plan, Policy
from strands_ctx.policies import plan_view
from strands_ctx.tokens import BlockCounter, Calibration
from strands_ctx.tokens.features import message_features
from strands_ctx.types import Block, Message, Messages, TokenCounter
from strands_ctx.view import build_view

CACHE_POINT: Block = {"cachePoint": {"type": "default"}}


class WordCounter(BlockCounter):
    """One token a word, so that a text of n words and its message cost n + 4."""

    __slots__ = ()

    @property
    def exact(self) -> bool:
        """Exact in words."""
        return True

    def count_text(self, text: str) -> int:
        """Count the words of a text."""
        return len(text.split())


def words(count: int) -> str:
    """A text of so many words."""
    return " ".join(["word"] * count)


def _content(parts: tuple[str | Block, ...]) -> list[Block]:
    return [{"text": part} if isinstance(part, str) else part for part in parts]


def user(*parts: str | Block) -> Message:
    """A user message of texts and blocks."""
    return {"role": "user", "content": _content(parts)}


def assistant(*parts: str | Block) -> Message:
    """An assistant message of texts and blocks."""
    return {"role": "assistant", "content": _content(parts)}


def pinned(message: Message) -> Message:
    """The same message with the pin of Strands."""
    return {**message, "metadata": {"custom": {"pinned": True}}}


def use(call: str, name: str = "search") -> Block:
    """A tool call."""
    return {"toolUse": {"toolUseId": call, "name": name, "input": {"query": call}}}


def result(call: str, text: str = "found", status: str = "success") -> Block:
    """A tool result with one text."""
    return {"toolResult": {"toolUseId": call, "status": status, "content": [{"text": text}]}}


def cycle(call: str, text: str = "found", name: str = "search") -> Messages:
    """One tool call and its result."""
    return [assistant(use(call, name)), user(result(call, text))]


def turn(prompt: str, answer: str) -> Messages:
    """One prompt and its answer."""
    return [user(prompt), assistant(answer)]


def texts(message: Message) -> list[str]:
    """The texts of a message, those of its results included, in order."""
    items = [item for block in message["content"] for item in _items(block)]
    return [item["text"] for item in items if "text" in item]


def _items(block: Block) -> list[Any]:
    return list(block["toolResult"]["content"]) if "toolResult" in block else [block]


def ids(messages: Messages, kind: str) -> list[str]:
    """The ids of all toolUse or toolResult blocks, in order."""
    return [block[kind]["toolUseId"] for message in messages for block in message["content"] if kind in block]


def ledger_of(log: Messages, counter: TokenCounter | None = None, **arguments: Any) -> Ledger:
    """A ledger that has seen a log once."""
    ledger = Ledger(counter or WordCounter(), **arguments)
    ledger.update(log)
    return ledger


def load_of(system_tokens: int = 0, tools_tokens: int = 0, calibration: Calibration | None = None) -> Load:
    """What a call carries besides messages."""
    return Load(system_tokens, tools_tokens, calibration or Calibration())


def limits_of(hard_tokens: int, target_tokens: int | None = None, trigger_tokens: int | None = None) -> Limits:
    """Limits with the managers' default target."""
    trigger = trigger_tokens or hard_tokens
    return Limits(trigger, int(trigger * 0.4) if target_tokens is None else target_tokens, hard_tokens)


def planned(
    log: Messages,
    limits: Limits,
    policy: Policy | None = None,
    *,
    load: Load | None = None,
    standing: Boundaries | None = None,
    may_move: bool = True,
    **arguments: Any,
) -> tuple[Plan, Messages]:
    """The plan and the view of a log that nothing was known of."""
    ledger = ledger_of(log, **arguments)
    plan = plan_view(ledger, load or load_of(), policy or Policy(), limits, standing or Boundaries(), may_move=may_move)
    return plan, build_view(ledger, plan)


def tokens_of(view: Messages, counter: TokenCounter, load: Load) -> int:
    """Estimate what a built view takes, message by message, with none of a plan's own sums."""
    features = load.features
    for message in view:
        features += message_features(counter, message)
    return load.tokens(features)
