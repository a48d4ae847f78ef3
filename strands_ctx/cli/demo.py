"""``strands-ctx demo``: one workload under every way to manage context, side by side."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Annotated

import typer

from strands_ctx.analysis.contender import Contender, contenders
from strands_ctx.analysis.trial import Trial, run_trial
from strands_ctx.analysis.workloads.bfcl import bfcl_workload
from strands_ctx.analysis.workloads.research import research_workload
from strands_ctx.cli.demo_table import CALLS, DONE, KEPT, Column, slice_column, yes_or_no
from strands_ctx.cli.trials import print_json, print_table, run_all


class WorkloadName(str, Enum):
    """What the agents are given to do."""

    research = "research"
    bfcl = "bfcl"


_DEFAULTS = {WorkloadName.research: (80, 200_000), WorkloadName.bfcl: (120, 32_000)}


def _ratio(trial: Trial) -> str:
    return "-" if trial.cost_over_floor_ratio is None else f"{trial.cost_over_floor_ratio:.2f}"


COLUMNS: tuple[Column[Trial], ...] = (
    DONE,
    CALLS,
    slice_column("by DeltaAnchor and by a recording"),
    KEPT,
    Column(
        "whole",
        "results_whole_in_log",
        "tool results that agent.messages holds whole (exact)",
        lambda t: str(t.results_whole_in_log),
    ),
    Column(
        "task",
        "task_in_last_call",
        "the last model call held the user's task",
        lambda t: yes_or_no(t.task_in_last_call),
    ),
    Column(
        "seen",
        "results_seen_whole",
        "tool results that some model call held whole (exact)",
        lambda t: str(t.results_seen_whole),
    ),
    Column(
        "visible",
        "results_visible_at_end",
        "tool results whose head or tail the last model call held (exact)",
        lambda t: str(t.results_visible_at_end),
    ),
    Column(
        "billed",
        "tokens_billed",
        "prompt tokens of all model calls, cached ones included (exact, by the scripted model's own token rule)",
        lambda t: f"{t.tokens_billed:,}",
    ),
    Column(
        "cost",
        "cost_over_floor_ratio",
        "cost with prompt caching (read 0.1, write 1.25) over writing each executed result's tokens once (exact ratio)",
        _ratio,
    ),
    Column("refused", "overflows", "model calls refused as longer than the window (exact)", lambda t: str(t.overflows)),
)
"""What the table shows, in order."""


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

    def run_one(contender: Contender, on_result: Callable[[], None]) -> Trial:
        return run_trial(built, contender, on_result=on_result)

    entrants = contenders()
    trials = run_all(built, entrants, run_one)
    if as_json:
        print_json(built, entrants, trials, COLUMNS, seed=seed)
    else:
        print_table(built, entrants, trials, COLUMNS, seed=seed)
