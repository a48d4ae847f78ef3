"""What agents are given to do when they are measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strands_ctx._lazy import facade

if TYPE_CHECKING:
    from strands_ctx.analysis.workloads.bfcl import WorkloadUnavailableError, bfcl_workload
    from strands_ctx.analysis.workloads.research import ResearchTask, research_task, research_workload
    from strands_ctx.analysis.workloads.workload import LiveResult, Session, Workload

__all__ = [
    "LiveResult",
    "ResearchTask",
    "Session",
    "Workload",
    "WorkloadUnavailableError",
    "bfcl_workload",
    "research_task",
    "research_workload",
]

_HOMES = {
    "LiveResult": "workload",
    "ResearchTask": "research",
    "Session": "workload",
    "Workload": "workload",
    "WorkloadUnavailableError": "bfcl",
    "bfcl_workload": "bfcl",
    "research_task": "research",
    "research_workload": "research",
}

__getattr__, __dir__ = facade(globals(), _HOMES)
