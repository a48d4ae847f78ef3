"""What the demos share: running the contenders with a progress bar, and what came of it as JSON or a table."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from strands_ctx.analysis.contender import Contender
from strands_ctx.analysis.workloads.workload import Workload
from strands_ctx.cli.demo_table import Column, print_meanings, print_rows

Measured = TypeVar("Measured")
"""What one contender's run came to."""

RunOne = Callable[[Contender, Callable[[], None]], Measured]
"""Runs one contender, and calls what it is given after each tool result."""


def run_all(workload: Workload, entrants: Sequence[Contender], run_one: RunOne[Measured]) -> list[Measured]:
    """Run every contender, with a progress bar on a terminal.

    Args:
        workload: What each of them is given to do.
        entrants: The contenders.
        run_one: Runs one of them.

    Returns:
        What each run came to, in the same order.
    """
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
    with quiet(), progress:
        task = progress.add_task("", total=len(entrants) * workload.calls)
        for number, contender in enumerate(entrants):
            progress.update(task, description=contender.name, completed=number * workload.calls)
            trials.append(run_one(contender, lambda: progress.advance(task)))
        progress.update(task, completed=len(entrants) * workload.calls)
    return trials


def print_json(
    workload: Workload,
    entrants: Sequence[Contender],
    trials: Sequence[Any],
    columns: Sequence[Column[Any]],
    **more: object,
) -> None:
    """Print trials as JSON, with what was run and what each field means.

    Args:
        workload: What was run.
        entrants: The contenders.
        trials: One trial each, in the same order.
        columns: The fields that a table shows.
        **more: What else tells how to have the trials again.
    """
    document = {
        "workload": workload.name,
        **more,
        "calls": workload.calls,
        "context_window_limit_tokens": workload.context_window_limit,
        "strands_version": metadata.version("strands-agents"),
        "fields": {column.field: column.meaning for column in columns},
        "trials": [
            {"summary": contender.summary, **trial.as_dict()} for contender, trial in zip(entrants, trials, strict=True)
        ],
    }
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def print_table(
    workload: Workload,
    entrants: Sequence[Contender],
    trials: Sequence[Any],
    columns: Sequence[Column[Any]],
    *,
    seed: int,
    model: str = "",
) -> None:
    """Print trials as a table, and what it means.

    Args:
        workload: What was run.
        entrants: The contenders.
        trials: One trial each, in the same order.
        columns: What the table shows of each.
        seed: The workload's seed.
        model: The model, where it is a real one.
    """
    name = f"{workload.name} ({model})" if model else workload.name
    title = (
        f"{name}: {workload.calls} tool calls, {len(workload.prompts)} prompts, a window of "
        f"{workload.context_window_limit:,} tokens, seed {seed}"
    )
    rows = [[trial.contender, *(column.cell(trial) for column in columns)] for trial in trials]
    print_rows(title, ["manager", *(column.heading for column in columns)], rows)
    print_meanings(entrants, columns, [(trial.contender, trial.error) for trial in trials if trial.error is not None])


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
