"""Measure what context management does: workloads, contenders, trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
