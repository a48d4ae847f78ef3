"""Run a workload under a contender with a real agent, and measure what became of the log, the views and the bill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from strands_ctx.analysis.contender import Contender
from strands_ctx.analysis.recorded import RecordedRun, outlines, record_workload
from strands_ctx.analysis.workloads.workload import LiveResult, Workload
from strands_ctx.types import Message

if TYPE_CHECKING:
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
    from strands_ctx.testing.window_model import WindowModel

    model = WindowModel(workload.script, context_window_limit=workload.context_window_limit)
    run = record_workload(workload, model, contender.agent_arguments(), on_result=on_result)
    return _measure(workload, contender, run, model)


def _measure(workload: Workload, contender: Contender, run: RecordedRun, model: WindowModel) -> Trial:
    log, added = run.recording.agent.messages, run.recording.added
    recorded_ok = outlines(log) == outlines(added)
    results, answered = run.session.results, model.answered
    whole = {item.tool_use_id: item.text for item in results}
    seen = {name for request in answered for name, text in _shown(request.messages) if whole.get(name) == text}
    last = answered[-1].messages if answered else ()
    return Trial(
        contender=contender.name,
        completes=run.completes,
        calls_made=len(results),
        delta_ok=run.anchor_ok and recorded_ok,
        delta_checks_agree=run.anchor_ok == recorded_ok,
        messages_kept=run.messages_kept,
        messages_total=len(added),
        results_whole_in_log=sum(whole.get(name) == text for name, text in _shown(log)),
        task_in_last_call=bool(answered) and _current_task(workload, len(answered)) in _user_text(last),
        results_seen_whole=len(seen),
        results_visible_at_end=_count_visible(results, dict(_shown(last))),
        tokens_billed=model.billed_tokens,
        cost_over_floor_ratio=_cost_over_floor(model, results),
        overflows=sum(request.overflowed for request in model.requests),
        error=run.error,
    )


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
