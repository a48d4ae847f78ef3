"""A trial says what became of the log, the views and the bill, as a recording of the same run shows it."""

from __future__ import annotations

import pytest

from strands_ctx.analysis import Contender, contenders, run_trial
from strands_ctx.analysis.workloads import research_workload

CALLS = 24
OWN = ["CapToolResults", "BudgetSuffix 60k", "BudgetSuffix", "PerTurn", "PerTurn lean", "PerTurn first sight"]


@pytest.fixture(scope="module")
def trials():
    """A short research run under every contender, in a window that it doesn't fit."""
    workload = research_workload(7, CALLS, context_window_limit=65_000)
    return {contender.name: run_trial(workload, contender) for contender in contenders()}


def test_no_management_ends_at_the_window(trials):
    """The run dies of an overflow, with its log whole."""
    trial = trials["none"]
    assert (False, 1, True) == (trial.completes, trial.overflows, trial.delta_ok)


def test_the_sliding_window_sends_an_illegal_history(trials):
    """Trimmed to its 40 messages, the history starts with the assistant."""
    trial = trials["SlidingWindow per turn"]
    assert (False, False, True) == (trial.completes, trial.delta_ok, "must start with a user message" in trial.error)


def test_summaries_break_the_slice(trials):
    """Messages are deleted from the log."""
    trial = trials["Summarizing proactive"]
    assert (True, False, True) == (trial.completes, trial.delta_ok, trial.messages_kept < trial.messages_total)


def test_previews_are_all_that_auto_shows(trials):
    """Hardly any result is seen whole, every one is still visible."""
    trial = trials["auto"]
    assert (True, True, CALLS) == (trial.completes, trial.results_seen_whole < CALLS / 4, trial.results_visible_at_end)


@pytest.mark.parametrize("name", OWN)
def test_ours_complete_with_the_slice_intact(trials, name):
    """The run ends, the log holds every message that it appended, and the last call still holds the task."""
    trial = trials[name]
    assert (None, True, True, True, 50, 50) == (
        trial.error,
        trial.completes,
        trial.delta_ok,
        trial.task_in_last_call,
        trial.messages_kept,
        trial.messages_total,
    )


@pytest.mark.parametrize("name", [contender.name for contender in contenders()])
def test_the_anchor_and_the_recording_agree(trials, name):
    """Two independent checks of the slice say the same."""
    assert trials[name].delta_checks_agree


def test_a_manager_that_loses_the_task_is_found_out():
    """The last call is checked for the task's own words."""
    from strands.agent.conversation_manager import SlidingWindowConversationManager

    workload = research_workload(7, CALLS)
    from_the_tail = Contender("tail", "keeps 6 messages", lambda: {"conversation_manager": Forgetful(window_size=6)})

    class Forgetful(SlidingWindowConversationManager):
        def _on_before_model_call(self, event):
            for message in event.agent.messages[:1]:
                message["content"] = [{"text": "Go on."}]

    assert not run_trial(workload, from_the_tail).task_in_last_call


def test_the_floor_is_one_writing_of_every_result():
    """A run that is sent each result once and nothing else again comes near a ratio of 1."""
    workload = research_workload(7, 1)
    none = contenders()[0]
    assert 1.0 < run_trial(workload, none).cost_over_floor_ratio < 1.5


def test_every_result_is_reported():
    """A progress bar moves once a tool call."""
    moves = []
    run_trial(research_workload(7, 5), contenders()[0], on_result=lambda: moves.append(1))
    assert 5 == len(moves)
