"""Run a workload under a contender with a real agent, and measure what became of the log, the views and the bill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from strands_ctx.analysis.contender import Contender
from strands_ctx.analysis.workloads.workload import LiveResult, Session, Workload
from strands_ctx.errors import AnchorError
from strands_ctx.types import Message

if TYPE_CHECKING:
    from strands_ctx.testing.recording import Recording
    from strands_ctx.testing.window_model import WindowModel

_EDGE_CHARS = 40


@dataclass(frozen=True, slots=True)
class Trial:
    """What one run came to. Every number is exact; tokens are counted by the scripted model's own rule.

    Attributes:
        contender: Name of the contender.
        completes: Whether every prompt was answered.
        calls_made: Tool calls that were executed.
        delta_ok: Whether the slice of the log from the start of the run is what the run appended, both by
            ``DeltaAnchor`` and by a recording of every added message.
        delta_checks_agree: Whether these two said the same.
        messages_kept: Appended messages that are still in the log.
        messages_total: Messages that the run appended.
        results_whole_in_log: Tool results that the log holds whole.
        task_in_last_call: Whether the last call of the model held the user's task.
        results_seen_whole: Tool results that some call of the model held whole.
        results_visible_at_end: Tool results of which the last call held the head or the tail.
        tokens_billed: Prompt tokens of all calls, cached ones included, a manager's own calls too.
        cost_over_floor_ratio: Cost with prompt caching (read 0.1, write 1.25), over that of writing each token of the
            executed results once; none where nothing was executed.
        overflows: Calls that were refused as longer than the window.
        error: What ended the run early, in one line, or none.
    """

    contender: str
    completes: bool
    calls_made: int
    delta_ok: bool
    delta_checks_agree: bool
    messages_kept: int
    messages_total: int
    results_whole_in_log: int
    task_in_last_call: bool
    results_seen_whole: int
    results_visible_at_end: int
    tokens_billed: int
    cost_over_floor_ratio: float | None
    overflows: int
    error: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary that JSON can hold."""
        return asdict(self)


def run_trial(workload: Workload, contender: Contender, *, on_result: Callable[[], None] | None = None) -> Trial:
    """Run a workload under a contender, with a fresh model, fresh tools and a fresh agent.

    Args:
        workload: What to run.
        contender: How context is managed.
        on_result: Called after each tool result, for instance to move a progress bar.

    Returns:
        The measures; an exception of the run is one of them and not raised.
    """
    from strands_ctx.anchor import DeltaAnchor
    from strands_ctx.testing.recording import record_run
    from strands_ctx.testing.window_model import WindowModel

    session = workload.open_session()
    model = WindowModel(workload.script, context_window_limit=workload.context_window_limit)
    anchors: list[DeltaAnchor] = []
    recording = record_run(
        model,
        _tools(session, on_result),
        workload.prompts,
        system_prompt=workload.system_prompt,
        on_start=lambda agent: anchors.append(DeltaAnchor.mark(agent)),
        **contender.agent_arguments(),
    )
    try:
        anchors[0].delta(recording.agent)
        anchor_ok = True
    except AnchorError:
        anchor_ok = False
    return _measure(workload, contender, session, model, recording, anchor_ok=anchor_ok)


def _measure(
    workload: Workload,
    contender: Contender,
    session: Session,
    model: WindowModel,
    recording: Recording,
    *,
    anchor_ok: bool,
) -> Trial:
    log, added = recording.agent.messages, recording.added
    signatures = Counter(_signature(message) for message in log)
    kept = sum((signatures & Counter(_signature(message) for message in added)).values())
    recorded_ok = [_signature(message) for message in log] == [_signature(message) for message in added]
    results, answered = session.results, model.answered
    whole = {item.tool_use_id: item.text for item in results}
    seen = {name for request in answered for name, text in _shown(request.messages) if whole.get(name) == text}
    last = answered[-1].messages if answered else ()
    return Trial(
        contender=contender.name,
        completes=recording.error is None and recording.invocations == len(workload.prompts),
        calls_made=len(results),
        delta_ok=anchor_ok and recorded_ok,
        delta_checks_agree=anchor_ok == recorded_ok,
        messages_kept=kept,
        messages_total=len(added),
        results_whole_in_log=sum(whole.get(name) == text for name, text in _shown(log)),
        task_in_last_call=bool(answered) and _current_task(workload, len(answered)) in _user_text(last),
        results_seen_whole=len(seen),
        results_visible_at_end=_count_visible(results, dict(_shown(last))),
        tokens_billed=model.billed_tokens,
        cost_over_floor_ratio=_cost_over_floor(model, results),
        overflows=sum(request.overflowed for request in model.requests),
        error=None if recording.error is None else _one_line(recording.error),
    )


def _tools(session: Session, on_result: Callable[[], None] | None) -> list[Any]:
    if on_result is None:
        return list(session.tools)
    notify = on_result

    def reporting(run: Callable[[str, dict[str, Any]], str]) -> Callable[[str, dict[str, Any]], str]:
        def reported(tool_use_id: str, given: dict[str, Any]) -> str:
            text = run(tool_use_id, given)
            notify()
            return text

        return reported

    return [replace(tool, run=reporting(tool.run)) for tool in session.tools]


def _signature(message: Any) -> tuple[Any, ...]:
    parts: list[Any] = [message["role"]]
    for block in message["content"]:
        if "toolResult" in block:
            parts.append(("toolResult", block["toolResult"]["toolUseId"], block["toolResult"]["status"]))
        elif "toolUse" in block:
            parts.append(("toolUse", block["toolUse"]["toolUseId"]))
        else:
            parts.append(block.get("text", "other"))
    return tuple(parts)


def _shown(messages: Sequence[Any]) -> list[tuple[str, str]]:
    return [
        (block["toolResult"]["toolUseId"], "".join(item.get("text", "") for item in block["toolResult"]["content"]))
        for message in messages
        for block in message["content"]
        if "toolResult" in block
    ]


def _current_task(workload: Workload, answered: int) -> str:
    finished = sum(isinstance(step, str) for step in workload.script[: answered - 1])
    return workload.tasks[finished]


def _user_text(messages: Sequence[Message]) -> str:
    return "\n".join(
        block["text"]
        for message in messages
        if message["role"] == "user"
        for block in message["content"]
        if "text" in block
    )


def _count_visible(results: Sequence[LiveResult], shown: dict[str, str]) -> int:
    return sum(
        result.text[:_EDGE_CHARS] in shown.get(result.tool_use_id, "")
        or result.text[-_EDGE_CHARS:] in shown.get(result.tool_use_id, "")
        for result in results
        if result.tool_use_id in shown
    )


def _cost_over_floor(model: WindowModel, results: Sequence[LiveResult]) -> float | None:
    from strands_ctx.testing.prompt_cache import WRITE_PRICE_RATIO
    from strands_ctx.testing.provider_tokens import count_result_text

    floor = WRITE_PRICE_RATIO * sum(count_result_text(result.text) for result in results)
    return model.cost / floor if floor else None


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:200]
