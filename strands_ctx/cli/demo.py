"""``strands-ctx demo``: one workload under every way to manage context, side by side."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from enum import Enum
from importlib import metadata
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from strands_ctx.analysis.contender import Contender, contenders
from strands_ctx.analysis.trial import Trial, run_trial
from strands_ctx.analysis.workloads.bfcl import bfcl_workload
from strands_ctx.analysis.workloads.research import research_workload
from strands_ctx.analysis.workloads.workload import Workload
from strands_ctx.cli.demo_table import legend, print_table


class WorkloadName(str, Enum):
    """What the agents are given to do."""

    research = "research"
    bfcl = "bfcl"


_DEFAULTS = {WorkloadName.research: (80, 200_000), WorkloadName.bfcl: (120, 32_000)}


def demo(
    workload: Annotated[
        WorkloadName,
        typer.Option(help="research: one run of many large results. bfcl: a long session of bfcl-eval's tasks."),
    ] = WorkloadName.research,
    seed: Annotated[int, typer.Option(help="Seed of the workload; the same seed gives the same bytes.")] = 7,
    calls: Annotated[
        int | None, typer.Option(min=1, help="Tool calls; 80 for research, 120 or a few more for bfcl.")
    ] = None,
    window: Annotated[
        int | None, typer.Option(min=1, help="The model's window in tokens; 200000 for research, 32000 for bfcl.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run real agents on one workload under Strands' managers and this library's, and compare what each run came to.

    The model is scripted, offline, and strict: it has a window, token rules and a prompt cache of its own.
    """
    default_calls, default_window = _DEFAULTS[workload]
    make = research_workload if workload is WorkloadName.research else bfcl_workload
    built = make(
        seed,
        default_calls if calls is None else calls,
        default_window if window is None else window,
    )
    entrants = contenders()
    with quiet():
        trials = _run(built, entrants)
    if as_json:
        sys.stdout.write(json.dumps(_document(built, seed, entrants, trials), indent=2, ensure_ascii=False) + "\n")
    else:
        print_table(built, seed, entrants, trials)


def _run(workload: Workload, entrants: Sequence[Contender]) -> list[Trial]:
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
    with progress:
        task = progress.add_task("", total=len(entrants) * workload.calls)
        for number, contender in enumerate(entrants):
            progress.update(task, description=contender.name, completed=number * workload.calls)
            trials.append(run_trial(workload, contender, on_result=lambda: progress.advance(task)))
        progress.update(task, completed=len(entrants) * workload.calls)
    return trials


def _document(
    workload: Workload, seed: int, entrants: Sequence[Contender], trials: Sequence[Trial]
) -> dict[str, object]:
    return {
        "workload": workload.name,
        "seed": seed,
        "calls": workload.calls,
        "context_window_limit_tokens": workload.context_window_limit,
        "strands_version": metadata.version("strands-agents"),
        "fields": {column.field: column.meaning for column in legend()},
        "trials": [
            {"summary": contender.summary, **trial.as_dict()} for contender, trial in zip(entrants, trials, strict=True)
        ],
    }


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence warnings and the loggers of Strands and of this library."""
    # Runs that fail are what the table shows; the host would log each as an error as well.
    loggers = [logging.getLogger(name) for name in ("strands", "strands_ctx")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
