"""The research run: one prompt, many large tool results, one answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from statistics import NormalDist
from typing import Any

from strands_ctx.analysis.workloads.passages import write_passage
from strands_ctx.analysis.workloads.workload import LiveResult, Session, Workload
from strands_ctx.errors import ConfigError
from strands_ctx.testing.script import LiveTool, ToolCall

MAX_CALLS = 300
"""Tool calls of one invocation; at about 318 the host's own recursion ends a run (Strands 1.51 to 1.62, measured)."""

MEAN_RESULT_TOKENS = 4_755
LARGEST_RESULT_TOKENS = 25_000
SMALLEST_RESULT_TOKENS = 1_600

TOOL_NAME = "read_source"

TASK_SENTENCE = (
    "Name the three findings that decide whether the second phase is built, each with the source that it rests on."
)

SYSTEM_PROMPT = (
    "You are a research agent. Read the sources that the task needs, one call at a time, and keep track of which one "
    "each finding comes from. A source is an article, a set of records, source code, a table or a log, in any tongue. "
    "Answer only when every source has been read, and say where two of them contradict each other."
)

_PROMPT = (
    "Our utility operates grid batteries at seventeen sites and has to decide on a second phase. Work through the "
    "dossier source by source: incident reports, acceptance records, controller code, tariff tables, rack logs and the "
    "foreign filings. "
    f"{TASK_SENTENCE} Give every figure with its unit, and list the sources that were of no use at the end."
)

_ANSWER = (
    "Three findings decide the second phase: the derating that follows cooling faults, the warranty terms after a "
    "replaced rack, and the tariff from the third year on. The sources are named beside each finding above."
)

_QUESTIONS = (
    "Which component failed first, at what temperature, and how long was the site derated afterwards?",
    "Does the availability that the operator states agree with the hours that the records give for the same weeks?",
    "Is the limit in the controller's code the one that the acceptance report names, and who changed it?",
    "What does the tariff table say about the third year, and is the rate before or after grid fees?",
    "Which events repeat at more than one site, and does any report give a common cause for them?",
)

_KIND_SHARES = {
    "article": 48, "records": 14, "source code": 10, "table": 8, "log": 8, "Bericht": 9, "報告": 1, "보고서": 2,
}  # fmt: skip
_SIGMA = 1.0
_LATER_IS_LARGER = 0.8


@dataclass(frozen=True, slots=True)
class ResearchTask:
    """A research run as data: what is asked, what is called, what comes back.

    Attributes:
        prompt: The user's prompt.
        task_sentence: A sentence that only the prompt holds.
        tool_name: Name of the tool that every call goes to.
        inputs: Input of each call.
        results: Text of each result; the first and last line of each are unique.
        answer: The text that ends the run.
    """

    prompt: str
    task_sentence: str
    tool_name: str
    inputs: tuple[dict[str, Any], ...]
    results: tuple[str, ...]
    answer: str


def research_task(seed: int = 7, calls: int = 80) -> ResearchTask:
    """Make the research run of a seed.

    Sizes are skewed as real ones are: most results are small, a few are large, and more of the large ones come late,
    when the search has narrowed. The same seed and number of calls give the same bytes.

    Args:
        seed: Any whole number.
        calls: Tool calls, 1 to 300.

    Returns:
        The task; 80 calls return about 383,000 tokens (o200k_base), median about 3,500.

    Raises:
        ConfigError: ``calls`` is out of range.
    """
    if not 1 <= calls <= MAX_CALLS:
        raise ConfigError("calls", calls, f"must be 1 to {MAX_CALLS}, as Strands itself ends an invocation of more")
    rng = Random(seed)
    plan = zip(_sizes(rng, calls), _kinds(rng, calls), strict=True)
    results = tuple(_result(rng, index, kind, size) for index, (size, kind) in enumerate(plan))
    inputs = tuple(_input(rng, index) for index in range(calls))
    return ResearchTask(_PROMPT, TASK_SENTENCE, TOOL_NAME, inputs, results, _ANSWER)


def research_workload(seed: int = 7, calls: int = 80, context_window_limit: int = 200_000) -> Workload:
    """Make the research run of a seed ready to be run by an agent.

    Args:
        seed: Any whole number.
        calls: Tool calls, 1 to 300.
        context_window_limit: The model's window in tokens of its own rule.

    Returns:
        The workload.

    Raises:
        ConfigError: ``calls`` is out of range.
    """
    task = research_task(seed, calls)
    steps = tuple(ToolCall(task.tool_name, given, id=f"read_{index:03d}") for index, given in enumerate(task.inputs))
    return Workload(
        name="research",
        system_prompt=SYSTEM_PROMPT,
        prompts=(task.prompt,),
        tasks=(task.task_sentence,),
        script=(*steps, task.answer),
        calls=calls,
        context_window_limit=context_window_limit,
        open_session=lambda: _open_session(task),
    )


def _open_session(task: ResearchTask) -> Session:
    returned: list[LiveResult] = []

    def read(tool_use_id: str, given: dict[str, Any]) -> str:
        text: str = task.results[given["source"] - 1]
        returned.append(LiveResult(tool_use_id, text))
        return text

    schema = {
        "type": "object",
        "properties": {
            "source": {"type": "integer", "description": "Number of the source in the dossier, from 1."},
            "question": {"type": "string", "description": "What the source is expected to answer."},
        },
        "required": ["source", "question"],
    }
    return Session((LiveTool(TOOL_NAME, "Read one source of the dossier in full.", schema, read),), returned)


def _sizes(rng: Random, calls: int) -> list[int]:
    normal = NormalDist()
    scores = [normal.inv_cdf((index + rng.uniform(0.3, 0.7)) / calls) for index in range(calls)]
    raw = [math.exp(_SIGMA * score) for score in scores]
    scale = (MEAN_RESULT_TOKENS - SMALLEST_RESULT_TOKENS) * calls / math.fsum(raw)
    noise = math.sqrt(1 - _LATER_IS_LARGER**2)
    place = {index: _LATER_IS_LARGER * score + noise * rng.gauss(0, 1) for index, score in enumerate(scores)}
    sizes = [min(LARGEST_RESULT_TOKENS, round(SMALLEST_RESULT_TOKENS + scale * size)) for size in raw]
    return [sizes[index] for index in sorted(place, key=lambda index: place[index])]


def _kinds(rng: Random, calls: int) -> list[str]:
    in_order = [kind for kind, share in _KIND_SHARES.items() for _ in range(share)]
    kinds = [in_order[index * len(in_order) // calls] for index in range(calls)]
    rng.shuffle(kinds)
    return kinds


def _result(rng: Random, index: int, kind: str, size_tokens: int) -> str:
    mark = f"{rng.getrandbits(40):010x}"
    head = f"Source {index + 1} of the dossier, {kind}, shelf mark {mark}"
    tail = f"End of source {index + 1}, {rng.randint(2, 90)} pages, checksum {rng.getrandbits(40):010x}"
    return "\n".join((head, write_passage(rng, kind, size_tokens - 40), tail))


def _input(rng: Random, index: int) -> dict[str, Any]:
    return {"source": index + 1, "question": rng.choice(_QUESTIONS)}
