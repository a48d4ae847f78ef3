"""Build the view that a plan decides: pure, from the log and the plan alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .capping.messages import cap_message
from .capping.rules import CapRules
from .ledger.ledger import Ledger
from .messages import MAX_CACHE_POINTS, Shape, rule_broken, shape_of, tool_names
from .plans import Plan
from .repair import legal_view
from .types import Message, Messages


def build_view(ledger: Ledger, plan: Plan, *, max_cache_points: int = MAX_CACHE_POINTS) -> Messages:
    """Build what one model call is sent.

    Args:
        ledger: The log that the plan was made for.
        plan: The decision.
        max_cache_points: How many cache points the system prompt leaves to the messages.

    Returns:
        Messages that every provider accepts. Where nothing is left out, capped or repaired, they are the log's own
        objects; nothing of the log is changed in any case.
    """
    messages = list(_messages(ledger, plan))
    if plan.note:
        messages = _with_note(messages, plan.note)
    if is_legal(ledger, plan, max_cache_points=max_cache_points):
        return messages
    return legal_view(messages, max_cache_points=max_cache_points)[0]


def shows_log(plan: Plan) -> bool:
    """Tell whether a plan leaves nothing out and caps nothing: the view is the log, unless that has to be repaired."""
    return not (
        plan.omitted_messages or plan.capped_results or plan.dropped_bytes or plan.shrinks or plan.replaced_media
    )


def is_legal(ledger: Ledger, plan: Plan, *, max_cache_points: int = MAX_CACHE_POINTS) -> bool:
    """Tell whether what a plan keeps of a log is legal as it stands, the lead and what follows it."""
    before: Shape | None = None
    calls = set[str]()
    for index in (*plan.lead, *range(plan.cut, min(plan.cut + 1, len(ledger)))):
        shape = ledger.shapes[index]
        if rule_broken(before, shape) or not calls.isdisjoint(shape.use_ids):
            return False
        calls.update(shape.use_ids)
        before = shape
    return ledger.legal_after(plan.cut) and ledger.cache_points(plan.cut, plan.lead) <= max_cache_points


def _messages(ledger: Ledger, plan: Plan) -> Iterator[Message]:
    shrinks = dict(plan.shrinks)
    for index in plan.lead:
        yield ledger.shown(index, None, shrinks.get(index))
    for stretch in plan.stretches:
        for index in range(stretch.start, min(stretch.stop, len(ledger))):
            yield ledger.shown(index, stretch.cap, shrinks.get(index))


def _with_note(messages: Sequence[Message], note: str) -> Messages:
    """Place the note as the leading block of the first user message, or of a stand-in before an assistant message."""
    block = {"text": note}
    if not messages or messages[0]["role"] != "user":
        return [{"role": "user", "content": [block]}, *messages]
    first = messages[0]
    return [{**first, "content": [block, *first["content"]]}, *messages[1:]]


def standing_view(messages: Sequence[Message], plan: Plan | None, rules: CapRules) -> Messages:
    """Build a view by an earlier plan without counting anything: what is left when making a plan failed.

    Args:
        messages: The log.
        plan: The last plan for it, or None.
        rules: What the app said of caps.

    Returns:
        Legal messages.
    """
    if plan is None or plan.log_messages > len(messages):
        return legal_view(messages)[0]
    view: Messages = []
    for index in (*plan.lead, *range(plan.cut, len(messages))):
        message, cap = messages[index], plan.cap_at(index)
        if cap is not None:
            names = tool_names(messages[index - 1]) if index else {}
            caps = rules.result_caps(shape_of(message, index), names, cap)
            message, *_ = cap_message(message, caps, keep=rules.keep, input_max_bytes=cap.input_max_bytes)
        view.append(message)
    if plan.note:
        view = _with_note(view, plan.note)
    return legal_view(view)[0]
