"""Run an agent and keep what it achieved: the whole run, or what there is of it when it ends early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strands_ctx._lazy import facade

if TYPE_CHECKING:
    from .outcome import AgentBusyError, HarvestedResult, RunOutcome, RunUsage, outcome_of
    from .running import run, run_async

__all__ = ["AgentBusyError", "HarvestedResult", "RunOutcome", "RunUsage", "outcome_of", "run", "run_async"]

_HOMES = {
    "AgentBusyError": "outcome",
    "HarvestedResult": "outcome",
    "RunOutcome": "outcome",
    "RunUsage": "outcome",
    "outcome_of": "outcome",
    "run": "running",
    "run_async": "running",
}

__getattr__, __dir__ = facade(globals(), _HOMES)
