"""The algebra of a log: shapes, pairs, turns, cycles, legal cut points, and what every provider accepts.

Everything here is a pure function of messages. A :class:`Shape` is what the algebra needs of one message, made once;
the rules between messages look only at neighbours, so that they can be kept up to date message by message.

Source of the rules: refusals of the Converse and Anthropic APIs as quoted by their users (``A conversation must
start with a user message``, ``roles must alternate``, ``Expected toolResult blocks at messages.N``, ...; collected
2026-11-30).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import HistoryError
from .types import Block, Message

MAX_CACHE_POINTS = 4
"""Cache points that a provider takes in one request. Source: Anthropic and Bedrock prompt caching, read 2026-11-30."""

STRUCTURED_OUTPUT_PROMPT = "You must format the previous response as structured output."
"""The user message that the host adds to force structured output; it opens no turn.

Source: ``strands.tools.structured_output.DEFAULT_STRUCTURED_OUTPUT_PROMPT``, 1.51 to 1.62.
"""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the algebra needs of one message.

    Attributes:
        role: ``user`` or ``assistant``.
        use_ids: Ids of its toolUse blocks, in order.
        result_ids: Ids of its toolResult blocks, in order.
        pinned: Whether ``metadata.custom.pinned`` is true, as Strands defines it.
        cache_points: Number of its cachePoint blocks, those inside of tool results included.
        error_ids: Ids of its toolResult blocks that report an error.
        bare_results: Number of its toolResult blocks that say nothing.
        media: Number of its images and documents, those inside of tool results included.
        flaw: What is wrong with the message by itself, or an empty text.
        prompt: Whether it is a user message without toolResults that a user can have written.
    """

    role: str
    use_ids: tuple[str, ...] = ()
    result_ids: tuple[str, ...] = ()
    pinned: bool = False
    cache_points: int = 0
    error_ids: tuple[str, ...] = ()
    bare_results: int = 0
    media: int = 0
    flaw: str = ""
    prompt: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason for which a provider would refuse the messages.

    Attributes:
        index: The message at fault.
        rule: Which rule it breaks, in a provider's words.
    """

    index: int
    rule: str


def shape_of(message: Message, index: int = 0) -> Shape:
    """Describe one message.

    Args:
        message: The message.
        index: Its index in the log, for the error.

    Returns:
        Its shape.

    Raises:
        HistoryError: If it is not a dictionary with a known role and a list of blocks.
    """
    content = _content_of(message, index)
    use_ids = [id_of(block["toolUse"]) for block in content if "toolUse" in block]
    results = [block["toolResult"] for block in content if "toolResult" in block and "toolUse" not in block]
    result_ids = [id_of(result) for result in results]
    parts = [*content, *(item for result in results for item in result.get("content") or ())]
    role = message["role"]
    return Shape(
        role=role,
        use_ids=tuple(use_ids),
        result_ids=tuple(result_ids),
        pinned=is_marked_pinned(message),
        cache_points=sum("cachePoint" in part for part in parts),
        error_ids=tuple(id_of(result) for result in results if result.get("status") == "error"),
        bare_results=sum(map(_is_bare, results)),
        media=sum("image" in part or "document" in part for part in parts),
        flaw=_flaw_of(role, content, use_ids, result_ids),
        prompt=role == "user" and not result_ids and content != [{"text": STRUCTURED_OUTPUT_PROMPT}],
    )


def _content_of(message: Message, index: int) -> list[Block]:
    if not isinstance(message, dict):
        raise HistoryError(index, f"it is a {type(message).__name__}")
    if message.get("role") not in ("user", "assistant"):
        raise HistoryError(index, f"its role is {message.get('role')!r}")
    content = message.get("content")
    if not isinstance(content, list):
        raise HistoryError(index, f"its content is a {type(content).__name__}")
    for block in content:
        _check_block(block, index)
    return content


def _check_block(block: Any, index: int) -> None:
    if not isinstance(block, dict):
        raise HistoryError(index, f"its content holds a {type(block).__name__}")
    for kind in ("toolUse", "toolResult"):
        if kind in block and not isinstance(block[kind], dict):
            raise HistoryError(index, f"its {kind} is a {type(block[kind]).__name__}")
    items = block["toolResult"].get("content") if "toolResult" in block else None
    if items is not None and not (isinstance(items, list) and all(isinstance(item, dict) for item in items)):
        raise HistoryError(index, "the content of its toolResult is not a list of blocks")


def id_of(part: Any) -> str:
    """Return the id of a toolUse or toolResult, an empty text where it has none."""
    return str(part.get("toolUseId", "")) if isinstance(part, dict) else ""


def _flaw_of(role: str, content: list[Block], use_ids: list[str], result_ids: list[str]) -> str:
    if not content:
        return "content is empty"
    if use_ids and role != "assistant":
        return "toolUse in a user message"
    if result_ids and role != "user":
        return "toolResult in an assistant message"
    if len(set(use_ids)) < len(use_ids) or len(set(result_ids)) < len(result_ids):
        return "an id occurs twice"
    if "cachePoint" in content[0]:
        return "a cachePoint stands first"
    return next((flaw for block in content if (flaw := _block_flaw(block))), "")


def _block_flaw(block: Block) -> str:
    if "text" in block:
        return "text is blank" if is_blank(block["text"]) else ""
    result = block.get("toolResult")
    if not isinstance(result, dict):
        return ""
    items = result.get("content")
    if not items:
        return "a toolResult is empty"
    if isinstance(items[0], dict) and "cachePoint" in items[0]:
        return "a cachePoint stands first in a toolResult"
    if any(isinstance(item, dict) and "text" in item and is_blank(item["text"]) for item in items):
        return "text of a toolResult is blank"
    return ""


def _is_bare(result: Any) -> bool:
    items = result.get("content") or ()
    return all("cachePoint" in item or ("text" in item and is_blank(item["text"])) for item in items)


def is_blank(text: Any) -> bool:
    """Tell whether a provider would refuse a text as blank: empty, only white space, or no text at all."""
    return not isinstance(text, str) or not text or text.isspace()


def is_marked_pinned(message: Message) -> bool:
    """Tell whether a message carries Strands' pin, ``metadata.custom.pinned``."""
    metadata = message.get("metadata")
    custom = metadata.get("custom") if isinstance(metadata, dict) else None
    return isinstance(custom, dict) and custom.get("pinned") is True


def rule_broken(before: Shape | None, shape: Shape) -> str:
    """Check one message against itself and the message before it.

    Args:
        before: The shape of the message before, or None at the start.
        shape: The message's shape.

    Returns:
        The rule that is broken, or an empty text.
    """
    if shape.flaw:
        return shape.flaw
    if before is None:
        if shape.role != "user":
            return "a conversation must start with a user message"
        return "toolResult blocks exceed the toolUse blocks of the previous turn" if shape.result_ids else ""
    if before.role == shape.role:
        return "roles must alternate"
    if set(before.use_ids) - set(shape.result_ids):
        return "toolUse ids without toolResult blocks immediately after"
    if set(shape.result_ids) - set(before.use_ids):
        return "toolResult blocks exceed the toolUse blocks of the previous turn"
    return ""


def check_messages(messages: Sequence[Message], *, max_cache_points: int = MAX_CACHE_POINTS) -> list[Problem]:
    """Check messages against what every supported provider accepts.

    An unanswered toolUse in the last message is no problem: the host runs the tools before it calls a model.

    Args:
        messages: A log or a view.
        max_cache_points: How many cache points the messages may hold.

    Returns:
        The problems in order, one a message at the most; an empty list when every provider accepts the messages.

    Raises:
        HistoryError: If a message is not a Converse message.

    Example:
        >>> [problem.rule for problem in check_messages([{"role": "assistant", "content": [{"text": "hi"}]}])]
        ['a conversation must start with a user message']
    """
    problems: list[Problem] = []
    before: Shape | None = None
    calls: set[str] = set()
    cache_points = 0
    for index, message in enumerate(messages):
        shape = shape_of(message, index)
        cache_points += shape.cache_points
        rule = rule_broken(before, shape)
        if not rule and not calls.isdisjoint(shape.use_ids):
            rule = "toolUse ids must be unique"
        calls.update(shape.use_ids)
        if not rule and shape.cache_points and cache_points > max_cache_points:
            rule = f"more than {max_cache_points} cache points"
        if rule:
            problems.append(Problem(index, rule))
        before = shape
    return problems


def opens_cycle(shape: Shape) -> bool:
    """Tell whether a message opens a cycle: an assistant message with toolUse."""
    return shape.role == "assistant" and bool(shape.use_ids)


def pair_partners(shapes: Sequence[Shape], index: int) -> Iterator[int]:
    """Yield the neighbours that share a tool call with a message, by id."""
    shape = shapes[index]
    if shape.use_ids and index + 1 < len(shapes) and set(shape.use_ids) & set(shapes[index + 1].result_ids):
        yield index + 1
    if shape.result_ids and index and set(shape.result_ids) & set(shapes[index - 1].use_ids):
        yield index - 1


def tool_names(message: Message) -> dict[str, str]:
    """Map the ids of a message's tool calls to the tools' names."""
    uses = (block["toolUse"] for block in message["content"] if isinstance(block.get("toolUse"), dict))
    return {str(use.get("toolUseId", "")): str(use.get("name", "")) for use in uses}
