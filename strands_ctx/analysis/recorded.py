"""A workload run by a real agent, recorded: what every trial starts from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from strands_ctx.analysis.workloads.workload import Session, Workload
from strands_ctx.errors import AnchorError

if TYPE_CHECKING:
    from strands_ctx.testing.recording import Recording

MAX_ERROR_CHARS = 200
"""Most characters of the line that says what ended a run."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run, with what can be said of it without knowing its model.

    Attributes:
        session: What the tools returned.
        recording: The agent and what its log was given.
        anchor_ok: Whether ``DeltaAnchor`` found the slice of the log from the start of the run whole.
        completes: Whether every prompt was answered.
        messages_kept: Appended messages that are still in the log, whatever became of their results.
        error: What ended the run early, in one line, or None.
    """

    session: Session
    recording: Recording
    anchor_ok: bool
    completes: bool
    messages_kept: int
    error: str | None


def record_workload(
    workload: Workload,
    model: Any,
    agent_arguments: dict[str, Any],
    *,
    on_result: Callable[[], None] | None = None,
) -> RecordedRun:
    """Run a workload with a fresh agent and fresh tools.

    Args:
        workload: What to run.
        model: The agent's model.
        agent_arguments: What the agent is made with besides, such as its conversation manager.
        on_result: Called after each tool result.

    Returns:
        The run; an exception that ended it is in it and not raised.
    """
    from strands_ctx.anchor import DeltaAnchor
    from strands_ctx.testing.recording import record_run

    session = workload.open_session()
    anchors: list[DeltaAnchor] = []
    recording = record_run(
        model,
        [replace(tool, run=_reporting(tool.run, on_result)) for tool in session.tools],
        workload.prompts,
        system_prompt=workload.system_prompt,
        on_start=lambda agent: anchors.append(DeltaAnchor.mark(agent)),
        **agent_arguments,
    )
    try:
        anchors[0].delta(recording.agent)
        anchor_ok = True
    except AnchorError:
        anchor_ok = False
    kept = Counter(outlines(recording.agent.messages)) & Counter(outlines(recording.added))
    error = recording.error
    return RecordedRun(
        session=session,
        recording=recording,
        anchor_ok=anchor_ok,
        completes=error is None and recording.invocations == len(workload.prompts),
        messages_kept=sum(kept.values()),
        error=None if error is None else f"{type(error).__name__}: {' '.join(str(error).split())}"[:MAX_ERROR_CHARS],
    )


def outlines(messages: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Tell messages from others: by role and texts, and by the ids and states of calls and results."""
    return [(message["role"], *map(_outline, message["content"])) for message in messages]


def _outline(block: Any) -> Any:
    if "toolResult" in block:
        return "toolResult", block["toolResult"]["toolUseId"], block["toolResult"]["status"]
    if "toolUse" in block:
        return "toolUse", block["toolUse"]["toolUseId"]
    return block.get("text", "other")


def _reporting(
    run: Callable[[str, dict[str, Any]], Any], on_result: Callable[[], None] | None
) -> Callable[[str, dict[str, Any]], Any]:
    def reported(tool_use_id: str, given: dict[str, Any]) -> Any:
        result = run(tool_use_id, given)
        if on_result is not None:
            on_result()
        return result

    return reported
