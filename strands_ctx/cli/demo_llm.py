"""``strands-ctx demo-llm``: a real small model with a real small window, under several ways to manage context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from strands_ctx.analysis.contender import Contender
from strands_ctx.analysis.llm_trial import LlmTrial, llm_contenders, run_llm_trial
from strands_ctx.analysis.small_model import MODEL_ID, serve_small_model
from strands_ctx.analysis.workloads.small_model import small_workload
from strands_ctx.cli.demo_table import CALLS, DONE, KEPT, Column, slice_column
from strands_ctx.cli.trials import print_json, print_table, run_all

COLUMNS: tuple[Column[LlmTrial], ...] = (
    DONE,
    CALLS,
    slice_column("by DeltaAnchor"),
    KEPT,
    Column(
        "answered",
        "model_calls",
        "requests that the server answered, summaries included (exact)",
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
)
"""What the table shows, in order."""


def demo_llm(
    seed: Annotated[int, typer.Option(help="Seed of the session; the same seed gives the same tool results.")] = 7,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run real agents against a real small model with a window of 2,048 tokens, on this machine, without a network.

    The model is SmolLM2-135M behind llama.cpp's server. Its tool calls are scripted; its answers, counts, limit and
    refusals are its own. Takes a few minutes.
    """
    workload, entrants = small_workload(seed), llm_contenders()
    with serve_small_model(workload.context_window_limit) as server:

        def run_one(contender: Contender, on_result: Callable[[], None]) -> LlmTrial:
            return run_llm_trial(workload, contender, server.llamacpp_model(), on_result=on_result).trial

        trials = run_all(workload, entrants, run_one)
    if as_json:
        print_json(workload, entrants, trials, COLUMNS, model=MODEL_ID, seed=seed)
    else:
        print_table(workload, entrants, trials, COLUMNS, seed=seed, model=MODEL_ID)
