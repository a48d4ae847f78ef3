"""``strands-ctx demo-llm``: a real small model with a real small window, under several ways to manage context."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from strands_ctx.analysis.contender import Contender
from strands_ctx.analysis.llm_trial import LlmTrial, llm_contenders, run_llm_trial
from strands_ctx.analysis.small_model import MODEL_ID, serve_small_model
from strands_ctx.analysis.workloads.small_model import small_workload
from strands_ctx.analysis.workloads.workload import Workload
from strands_ctx.cli.demo import quiet
from strands_ctx.cli.demo_table import Column, print_meanings, print_rows, yes_or_no

_COLUMNS: tuple[Column[LlmTrial], ...] = (
    Column("done", "completes", "every prompt was answered", lambda t: yes_or_no(t.completes)),
    Column("calls", "calls_made", "tool calls that were executed (exact)", lambda t: str(t.calls_made)),
    Column(
        "slice",
        "delta_ok",
        "agent.messages[start of the run:] is what the run appended: checked by DeltaAnchor",
        lambda t: yes_or_no(t.delta_ok),
    ),
    Column(
        "kept",
        "messages_kept",
        "messages of the run that are still in agent.messages, of those that were added (exact)",
        lambda t: f"{t.messages_kept}/{t.messages_total}",
    ),
    Column(
        "answered", "model_calls", "requests that the server answered, summaries included (exact)",
        lambda t: str(t.model_calls),
    ),
    Column(
        "billed",
        "tokens_billed",
        "prompt tokens of these, cached ones included (exact, the server's own count)",
        lambda t: f"{t.tokens_billed:,}",
    ),
    Column(
        "largest",
        "largest_prompt_tokens",
        "tokens of the largest prompt that was answered (exact, the server's own count)",
        lambda t: f"{t.largest_prompt_tokens:,}",
    ),
    Column("refused", "refused", "requests that the server refused (exact)", lambda t: str(t.refused)),
    Column(
        "off",
        "median_error_ratio",
        "how far estimates were off the bill, median from the fourth call on (exact); - where none were made",
        lambda t: "-" if t.median_error_ratio is None else f"{100 * t.median_error_ratio:.1f} %",
    ),
)  # fmt: skip


def demo_llm(
    seed: Annotated[int, typer.Option(help="Seed of the session; the same seed gives the same tool results.")] = 7,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run real agents against a real small model with a window of 2,048 tokens, on this machine, without a network.

    The model is SmolLM2-135M behind llama.cpp's server. Its tool calls are scripted; its answers, counts, limit and
    refusals are its own. Takes a few minutes.
    """
    workload, entrants = small_workload(seed), llm_contenders()
    with quiet():
        trials = _run(workload, entrants)
    if as_json:
        sys.stdout.write(json.dumps(_document(workload, seed, entrants, trials), indent=2, ensure_ascii=False) + "\n")
        return
    title = (
        f"{workload.name} ({MODEL_ID}): {workload.calls} tool calls, {len(workload.prompts)} prompts, a window of "
        f"{workload.context_window_limit:,} tokens, seed {seed}"
    )
    rows = [[trial.contender, *(column.cell(trial) for column in _COLUMNS)] for trial in trials]
    print_rows(title, ["manager", *(column.heading for column in _COLUMNS)], rows)
    print_meanings(entrants, _COLUMNS, [(trial.contender, trial.error) for trial in trials if trial.error is not None])


def llm_legend() -> tuple[Column[LlmTrial], ...]:
    """List the columns with what they mean.

    Returns:
        The columns, in order.
    """
    return _COLUMNS


def _run(workload: Workload, entrants: Sequence[Contender]) -> list[LlmTrial]:
    progress = Progress(
        TextColumn("{task.description:22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("tool calls"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )
    trials = []
    with serve_small_model(workload.context_window_limit) as server, progress:
        task = progress.add_task("", total=len(entrants) * workload.calls)
        for number, contender in enumerate(entrants):
            progress.update(task, description=contender.name, completed=number * workload.calls)
            run = run_llm_trial(workload, contender, server.llamacpp_model(), on_result=lambda: progress.advance(task))
            trials.append(run.trial)
        progress.update(task, completed=len(entrants) * workload.calls)
    return trials


def _document(
    workload: Workload, seed: int, entrants: Sequence[Contender], trials: Sequence[LlmTrial]
) -> dict[str, object]:
    return {
        "workload": workload.name,
        "model": MODEL_ID,
        "seed": seed,
        "calls": workload.calls,
        "context_window_limit_tokens": workload.context_window_limit,
        "strands_version": metadata.version("strands-agents"),
        "fields": {column.field: column.meaning for column in _COLUMNS},
        "trials": [
            {"summary": contender.summary, **trial.as_dict()} for contender, trial in zip(entrants, trials, strict=True)
        ],
    }
