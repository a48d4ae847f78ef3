"""Measure what context management does: workloads, contenders, trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strands_ctx._lazy import facade

if TYPE_CHECKING:
    from strands_ctx.analysis.contender import Contender, contenders
    from strands_ctx.analysis.trial import Trial, run_trial

__all__ = ["Contender", "Trial", "contenders", "run_trial"]

_HOMES = {
    "Contender": "contender",
    "Trial": "trial",
    "contenders": "contender",
    "run_trial": "trial",
}

__getattr__, __dir__ = facade(globals(), _HOMES)
