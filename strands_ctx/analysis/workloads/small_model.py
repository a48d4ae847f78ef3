"""A research session for a window of two thousand tokens: several runs, each with tool results of many kinds."""

from __future__ import annotations

from random import Random
from typing import Any

from strands_ctx.analysis.workloads.passages import write_passage
from strands_ctx.analysis.workloads.workload import LiveResult, Session, Workload
from strands_ctx.errors import ConfigError
from strands_ctx.testing.script import LiveTool, ToolCall

TOOL_NAME = "read_source"

SYSTEM_PROMPT = "You are a research agent. Read the sources, then answer in one short sentence."

KINDS = ("article", "records", "source code", "table", "log")
"""Kinds of the results, in English. The model's tokens of other tongues are up to three times as many as ours."""

FOREIGN_KINDS = (*KINDS, "Bericht", "報告")

SMALLEST_RESULT_TOKENS = 150
LARGEST_RESULT_TOKENS = 330
"""Sizes of the results in o200k_base tokens."""

MAX_CALLS = 300

_QUESTIONS = (
    "Which part failed first at the northern sites, and when?",
    "Do the records agree with what the operator reports?",
    "Which limit does the controller's code use, and is it the agreed one?",
    "What do the tables say about the third year?",
    "Which events repeat at more than one site?",
)


def small_workload(
    seed: int = 7,
    calls_per_run: tuple[int, ...] = (2, 7, 1),
    context_window_limit: int = 2_048,
    kinds: tuple[str, ...] = KINDS,
) -> Workload:
    """Make a session whose log takes several small windows.

    Args:
        seed: Any whole number; the same seed gives the same bytes.
        calls_per_run: Tool calls of each run; every run ends with an answer.
        context_window_limit: The model's window in tokens.
        kinds: Kinds of the results, which follow each other in a shuffled order.

    Returns:
        The workload; 10 calls return about 2,500 tokens (o200k_base).

    Raises:
        ConfigError: The number of calls is out of range.
    """
    calls = sum(calls_per_run)
    if not 1 <= calls <= MAX_CALLS:
        raise ConfigError("calls_per_run", calls_per_run, f"must be 1 to {MAX_CALLS} calls in all")
    rng = Random(seed)
    order = [kinds[index % len(kinds)] for index in range(calls)]
    rng.shuffle(order)
    texts = tuple(_result(rng, number, kind) for number, kind in enumerate(order, 1))
    prompts = tuple(f"{rng.choice(_QUESTIONS)} This is question {run + 1}." for run in range(len(calls_per_run)))
    script: list[Any] = []
    for length in calls_per_run:
        first = sum(isinstance(step, ToolCall) for step in script) + 1
        script += [ToolCall(TOOL_NAME, {"source": n}, id=f"read_{n:03d}") for n in range(first, first + length)]
        script.append("answer")
    return Workload(
        name="small model",
        system_prompt=SYSTEM_PROMPT,
        prompts=prompts,
        tasks=prompts,
        script=tuple(script),
        calls=calls,
        context_window_limit=context_window_limit,
        open_session=lambda: _open_session(texts),
    )


def _result(rng: Random, number: int, kind: str) -> str:
    size = rng.randint(SMALLEST_RESULT_TOKENS, LARGEST_RESULT_TOKENS)
    return f"Source {number}, {kind}, shelf mark {rng.getrandbits(32):08x}\n{write_passage(rng, kind, size)}"


def _open_session(texts: tuple[str, ...]) -> Session:
    returned: list[LiveResult] = []

    def read(tool_use_id: str, given: dict[str, Any]) -> str:
        text: str = texts[given["source"] - 1]
        returned.append(LiveResult(tool_use_id, text))
        return text

    schema = {
        "type": "object",
        "properties": {"source": {"type": "integer", "description": "Number of the source, from 1."}},
        "required": ["source"],
    }
    return Session((LiveTool(TOOL_NAME, "Read one source in full.", schema, read),), returned)
