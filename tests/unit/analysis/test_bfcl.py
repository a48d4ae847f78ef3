"""The bfcl session runs real tools, or says in a line what it needs."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from strands_ctx.analysis import contenders, run_trial
from strands_ctx.analysis.workloads import WorkloadUnavailableError, bfcl_workload
from strands_ctx.errors import ConfigError

needs_bfcl = pytest.mark.skipif(importlib.util.find_spec("bfcl_eval") is None, reason="bfcl-eval is not installed")


def test_a_missing_package_is_named_with_its_remedy(monkeypatch):
    """The error is one line and can be acted on."""
    monkeypatch.setitem(sys.modules, "bfcl_eval", None)
    with pytest.raises(WorkloadUnavailableError, match="pip install --no-deps bfcl-eval mpmath"):
        bfcl_workload()


def test_no_calls_are_refused():
    """A session needs at least one tool call."""
    with pytest.raises(ConfigError, match="calls=0"):
        bfcl_workload(calls=0)


@needs_bfcl
def test_all_tasks_make_1203_calls():
    """Every ground-truth call is taken over."""
    assert (1_203, 734) == ((workload := bfcl_workload(calls=10_000)).calls, len(workload.prompts))


@needs_bfcl
def test_tools_are_executed_live_and_in_silence(capfd):
    """Results come from the simulators, whose prints stay inside."""
    workload = bfcl_workload(seed=7, calls=40)
    trial = run_trial(workload, contenders()[0])
    assert ((True, workload.calls), "") == ((trial.calls_made > 5, workload.calls), "".join(capfd.readouterr()))


@needs_bfcl
def test_two_sessions_share_no_state():
    """What one run's tools changed is not there for the next."""
    workload = bfcl_workload(seed=7, calls=60)
    first, second = (run_all(workload) for _ in range(2))
    assert first == second


def run_all(workload):
    """Run every call of a script on fresh tools."""
    session = workload.open_session()
    tools = {tool.name: tool for tool in session.tools}
    for step in workload.script:
        if not isinstance(step, str):
            tools[step.name].run(step.id, step.input)
    return session.results
