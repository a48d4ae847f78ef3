"""Agents against a real model whose window is really full: no manager fails, ours go on and lose nothing."""

from __future__ import annotations

import re

import pytest
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx.analysis.llm_trial import SETTLED_CALL, run_llm_trial
from strands_ctx.analysis.workloads.small_model import small_workload
from tests.support.small_model import OWN, WORKLOAD, contender_named

pytestmark = pytest.mark.llm

PROTOCOLS = ("llamacpp", "openai")
BUDGETED = ("BudgetSuffix", "PerTurn")
BUDGET_TOKENS = 1_800


COMPLETING = [
    pytest.param(
        (protocol, name),
        id=f"{protocol} {name}",
    )
    for protocol in PROTOCOLS
    for name in OWN
]


@pytest.fixture(params=PROTOCOLS)
def protocol(request):
    """What the agent speaks to the server."""
    return request.param


@pytest.fixture(params=[(protocol, name) for protocol in PROTOCOLS for name in OWN], ids=" ".join)
def run(runs, request):
    """The whole session through a model class, under one of this library's managers."""
    return runs.of(*request.param)


@pytest.fixture
def unmanaged(runs, protocol):
    """The same session with no manager."""
    return runs.of(protocol, "none")


def results_of(messages):
    """The ids and texts of all tool results, in order."""
    return [
        (block["toolResult"]["toolUseId"], block["toolResult"]["content"][0]["text"])
        for message in messages
        for block in message["content"]
        if "toolResult" in block
    ]


def shape_of(message):
    """The role of a message and the ids of its calls and results."""
    blocks = message["content"]
    ids = [block[kind]["toolUseId"] for block in blocks for kind in ("toolUse", "toolResult") if kind in block]
    return message["role"], ids


def test_the_session_takes_more_than_one_window(runs, protocol):
    """Its tool results alone do not fit, by the model's own tokenizer."""
    results = runs.of(protocol, "PerTurn").results
    assert runs.server.window_tokens < sum(runs.server.count_text(result.text) for result in results)


def test_without_a_manager_the_window_overflows(unmanaged, runs):
    """The server refuses one request, as longer than the window that it has, and the run ends there."""
    refused = [exchange.error for exchange in unmanaged.model.exchanges if exchange.error]
    numbers = [int(number) for number in re.findall(r"request \((\d+) tokens\).*\((\d+) tokens\)", str(refused[-1]))[0]]
    assert (False, 1, True, runs.server.window_tokens) == (
        unmanaged.trial.completes,
        len(refused),
        numbers[0] >= runs.server.window_tokens,
        numbers[1],
    )


def test_llama_cpp_s_class_raises_what_strands_recovers_from(runs):
    """Strands translates the refusal, and the HTTP error is its cause."""
    error = runs.of("llamacpp", "none").recording.error
    assert (ContextWindowOverflowException, 400) == (type(error), error.__cause__.response.status_code)


def test_openai_s_class_raises_what_strands_does_not_know(runs):
    """The refusal comes through as OpenAI's package raises it, with the server's own words and numbers in its body."""
    error = runs.of("openai", "none").recording.error
    assert ("BadRequestError", 400, "exceed_context_size_error", runs.server.window_tokens) == (
        type(error).__name__,
        error.status_code,
        error.type,
        error.body["n_ctx"],
    )


@pytest.mark.parametrize("run", COMPLETING, indirect=True)
def test_every_prompt_is_answered(run):
    """The same session completes, with every tool call executed."""
    assert (None, True, WORKLOAD.calls) == (run.trial.error, run.trial.completes, run.trial.calls_made)


def test_the_log_is_what_was_added(run):
    """No message is missing, none moved, and no id changed."""
    assert list(map(shape_of, run.recording.added)) == list(map(shape_of, run.recording.agent.messages))


@pytest.mark.parametrize("run", COMPLETING, indirect=True)
def test_the_delta_slice_is_right(run):
    """Counting from the start of the run gives two messages a call and two a prompt."""
    expected = 2 * WORKLOAD.calls + 2 * len(WORKLOAD.prompts)
    assert (True, expected) == (run.trial.delta_ok, run.trial.messages_kept)


@pytest.mark.parametrize("name", BUDGETED)
def test_the_log_keeps_every_result_whole(runs, protocol, name):
    """What the views left out or capped is in the log, to the byte."""
    run = runs.of(protocol, name)
    assert [(result.tool_use_id, result.text) for result in run.results] == results_of(run.recording.agent.messages)


@pytest.mark.parametrize("name", BUDGETED)
def test_a_budget_is_never_exceeded_by_the_bill(runs, protocol, name):
    """From the fourth call on the server's own count stays within the explicit budget."""
    billed = [exchange.prompt_tokens for exchange in runs.of(protocol, name).model.exchanges]
    assert [] == [tokens for tokens in billed[SETTLED_CALL - 1 :] if tokens > BUDGET_TOKENS]


@pytest.mark.parametrize("name", BUDGETED)
def test_nothing_is_refused_under_a_budget(runs, protocol, name):
    """A budget below the window keeps the server from refusing anything."""
    assert 0 == runs.of(protocol, name).trial.refused


def test_cached_tokens_are_billed_once(runs):
    """A prompt that the server has in its cache is as large as before, also where it was estimated as double."""
    short = small_workload(calls_per_run=(1,))
    repeated = [run_llm_trial(short, contender_named("BudgetSuffix"), runs.model("llamacpp")) for _ in range(2)][1]
    billed = [receipt.billed_tokens for receipt in repeated.receipts]
    assert [exchange.prompt_tokens for exchange in repeated.model.exchanges] == billed


def test_an_overflow_is_recovered_within_the_run(runs):
    """Nothing bounds the views of a manager that only caps: the server refuses one, and the run goes on."""
    run = runs.of("llamacpp", "CapToolResults")
    assert (True, True) == (run.trial.refused >= 1, run.trial.completes)
