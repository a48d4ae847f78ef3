"""What makes a history illegal: what crashes, restored sessions, other managers and an app's own edits leave behind.

A fault takes a history, an index and a picker, and edits the history in place.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeAlias

from strands_ctx.messages import STRUCTURED_OUTPUT_PROMPT
from strands_ctx.types import Block, Messages

from .conversation_parts import Picker, cache_point, tool_input

BLANKS = ("", " ", "\n\t", "\u3000")

Fault: TypeAlias = Callable[[Messages, int, Picker], None]


def _results_at(log: Messages, at: int) -> list[dict[str, Any]]:
    return [block["toolResult"] for block in log[at]["content"] if "toolResult" in block]


def _result(call: str) -> Block:
    return {"toolResult": {"toolUseId": call, "status": "success", "content": [{"text": "found"}]}}


def _call(call: str, pick: Picker) -> Block:
    return {"toolUse": {"toolUseId": call, "name": "search", "input": tool_input(pick, call)}}


def drop_message(log: Messages, at: int, _pick: Picker) -> None:
    """Lose a message, as a crash between two writes does."""
    if len(log) > 1:
        del log[at]


def drop_block(log: Messages, at: int, _pick: Picker) -> None:
    """Lose the first block of a message: a call, a result, the only text."""
    del log[at]["content"][:1]


def drop_head(log: Messages, at: int, _pick: Picker) -> None:
    """Lose the beginning, as a sliding window does: the history starts anywhere."""
    del log[:at]


def drop_tail(log: Messages, at: int, _pick: Picker) -> None:
    """Lose the end, as a run that was killed does: it stops anywhere."""
    del log[at + 1 :]


def repeat_message(log: Messages, at: int, _pick: Picker) -> None:
    """Store a message twice, as a retried write does."""
    log.insert(at, copy.deepcopy(log[at]))


def repeat_block(log: Messages, at: int, _pick: Picker) -> None:
    """Hold a block twice: two calls or two results of one id."""
    log[at]["content"] += copy.deepcopy(log[at]["content"][:1])


def swap_messages(log: Messages, at: int, _pick: Picker) -> None:
    """Store two neighbours in the wrong order."""
    log[at : at + 2] = reversed(log[at : at + 2])


def blank_first(log: Messages, at: int, pick: Picker) -> None:
    """Begin a message with a blank text, as models do before a call."""
    log[at]["content"].insert(0, {"text": pick.among(BLANKS)})


def blank_message(log: Messages, at: int, pick: Picker) -> None:
    """Leave nothing but a blank text in a message, as an empty answer does."""
    log[at]["content"][:] = [{"text": pick.among(BLANKS)}]


def empty_message(log: Messages, at: int, _pick: Picker) -> None:
    """Leave nothing at all in a message."""
    log[at]["content"].clear()


def blank_results(log: Messages, at: int, pick: Picker) -> None:
    """Return nothing, or nothing but white space, from tools."""
    for result in _results_at(log, at):
        result["content"] = [{"text": " "}] if pick.once_in(2) else []


def orphan_result(log: Messages, at: int, _pick: Picker) -> None:
    """Hold a result whose call is gone beside what else a message says."""
    log[at]["content"].insert(0, _result(f"gone_{at}"))


def orphan_message(log: Messages, at: int, pick: Picker) -> None:
    """Hold a message of nothing but such a result and a cache point."""
    log.insert(at, {"role": "user", "content": [_result(f"lost_{at}"), cache_point(pick)]})


def stray_call(log: Messages, at: int, pick: Picker) -> None:
    """Call a tool that nobody answers, also in a message of the user."""
    log[at]["content"].append(_call(f"stray_{at}_{len(log)}", pick))


def reused_id(log: Messages, at: int, _pick: Picker) -> None:
    """Give a call and its result the id of the first call, as a provider does that names calls after their tools."""
    uses = [block["toolUse"] for message in log for block in message["content"] if "toolUse" in block]
    if not uses:
        return
    old, new = uses[at % len(uses)]["toolUseId"], uses[0]["toolUseId"]
    for message in log:
        for block in message["content"]:
            for part in (block.get("toolUse"), block.get("toolResult")):
                if part is not None and part["toolUseId"] == old:
                    part["toolUseId"] = new


def split_results(log: Messages, at: int, _pick: Picker) -> None:
    """Put each block of a message into a message of its own, as parallel results that are stored one by one."""
    message = log[at]
    log[at : at + 1] = [
        {"role": message["role"], "content": [block]} for block in message["content"] or [{"text": "-"}]
    ]


def late_results(log: Messages, at: int, _pick: Picker) -> None:
    """Say something between a call and its results."""
    log[at:at] = [{"role": "user", "content": [{"text": "wait"}]}, {"role": "assistant", "content": [{"text": "yes"}]}]


def cache_point_first(log: Messages, at: int, pick: Picker) -> None:
    """Begin a message with a cache point."""
    log[at]["content"].insert(0, cache_point(pick))


def many_cache_points(log: Messages, at: int, pick: Picker) -> None:
    """Hold more cache points than a provider takes."""
    log[at]["content"] += [cache_point(pick) for _ in range(4)]


def another_prompt(log: Messages, at: int, _pick: Picker) -> None:
    """Ask again after a run that failed: two messages of the user in a row."""
    log.insert(at, {"role": "user", "content": [{"text": f"again {at}"}]})


def forced_output(log: Messages, at: int, _pick: Picker) -> None:
    """Force structured output right after results, as the host does: two messages of the user in a row."""
    log.insert(at + 1, {"role": "user", "content": [{"text": STRUCTURED_OUTPUT_PROMPT}]})


def bare_results(log: Messages, at: int, _pick: Picker) -> None:
    """Leave the status out of results, as tools do that build them by hand."""
    for result in _results_at(log, at):
        result.pop("status", None)


def broken_input(log: Messages, at: int, _pick: Picker) -> None:
    """Hold half of a JSON text as the input of calls, as an answer that ran out of output tokens does."""
    for block in log[at]["content"]:
        if "toolUse" in block:
            block["toolUse"]["input"] = '{"query": "wo'


def answer_first(log: Messages, at: int, _pick: Picker) -> None:
    """Begin with the assistant."""
    log.insert(0, {"role": "assistant", "content": [{"text": f"before {at}"}]})


FAULTS: tuple[Fault, ...] = (
    drop_message,
    drop_block,
    drop_head,
    drop_tail,
    repeat_message,
    repeat_block,
    swap_messages,
    blank_first,
    blank_message,
    empty_message,
    blank_results,
    orphan_result,
    orphan_message,
    stray_call,
    reused_id,
    split_results,
    late_results,
    cache_point_first,
    many_cache_points,
    another_prompt,
    forced_output,
    bare_results,
    broken_input,
    answer_first,
)
