"""Runs through the real BedrockModel and boto3, over HTTP, against a service with a window, rules and a bill."""

from __future__ import annotations

import gc

import pytest
from strands import ModelRetryStrategy
from strands.models import CacheConfig
from strands.types.exceptions import (
    ContextWindowOverflowException,
    MaxTokensReachedException,
    ModelThrottledException,
)

from strands_ctx import BudgetSuffixManager, CapToolResultsManager, PerTurnManager
from strands_ctx.testing import ToolCall
from tests.support.bedrock_client import CLAUDE, PROFILE, Bedrock
from tests.support.bedrock_server import Answer, Fault, throttle

from .support.rig import CAPS_LOG, Rig, fetches, text_of

# A client that reads an error inside a stream leaves its connection to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

WINDOW_TOKENS = 8_000
RESULT_BYTES = 1_500
SIZES = [RESULT_BYTES + number for number in range(40)]

MANAGERS = {
    "cap": lambda: CapToolResultsManager(512),
    "suffix": BudgetSuffixManager,
    "per_turn": lambda: PerTurnManager(recent_tokens=1_000, old_result_max_bytes=200),
}

UNBOUNDED = {**MANAGERS, "per_turn": lambda: PerTurnManager(recent_tokens=100_000)}


@pytest.fixture(params=sorted(MANAGERS))
def kind(request):
    """One of the three managers."""
    return request.param


@pytest.fixture(params=[True, False], ids=["stream", "converse"])
def streaming(request):
    """Whether answers are streamed."""
    return request.param


@pytest.fixture(scope="module", autouse=True)
def collected():
    """Collect such connections while the warning of them is expected."""
    yield
    gc.collect()


@pytest.fixture
def bedrock():
    """The service."""
    with Bedrock() as service:
        yield service


def results_of(messages):
    """Bytes of the text of every tool result."""
    results = [block["toolResult"] for message in messages for block in message["content"] if "toolResult" in block]
    return [len(result["content"][0]["text"]) for result in results]


@pytest.mark.parametrize("refusals", ["converse", "stream", "in_stream"])
def test_a_run_of_forty_calls_completes_on_a_small_window(kind, refusals, bedrock):
    """Results of 13,000 tokens on a window of 8,000; no request breaks a rule, every message is in the log."""
    streaming = refusals != "converse"
    bedrock.window_tokens, bedrock.overflow_in_stream = WINDOW_TOKENS, refusals == "in_stream"
    model = bedrock.model(streaming=streaming, max_tokens=500, context_window_limit=WINDOW_TOKENS)
    rig = Rig(kind, manager=MANAGERS[kind](), model=model)
    result = rig.run("Fetch.", *fetches(*SIZES), "Fetched.")
    whole = [512] * 40 if kind in CAPS_LOG else SIZES
    assert ("end_turn", 82, True, 41, []) == (
        result.stop_reason,
        len(rig.agent.messages),
        all(size <= most for size, most in zip(results_of(rig.agent.messages), whole, strict=True)),
        bedrock.outcomes().count("answered"),
        rig.broken_laws(),
    )
    assert {"converse-stream" if streaming else "converse"} == {request.operation for request in bedrock.requests}


@pytest.mark.parametrize("kind", ["suffix", "per_turn"])
def test_a_window_that_is_known_is_not_overflowed(kind, streaming, bedrock):
    """The managers that plan each call stay within the window less the output, from the first call on."""
    bedrock.window_tokens = WINDOW_TOKENS
    model = bedrock.model(streaming=streaming, max_tokens=500, context_window_limit=WINDOW_TOKENS)
    rig = Rig(kind, manager=MANAGERS[kind](), model=model)
    rig.run("Fetch.", *fetches(*SIZES), "Fetched.")
    assert ({"answered"}, True) == (set(bedrock.outcomes()), max(bedrock.billed) <= WINDOW_TOKENS - 500)


@pytest.mark.parametrize("kind", ["suffix", "per_turn"])
def test_an_explicit_budget_holds_for_what_is_billed(kind, streaming, bedrock):
    """After the third call no bill is above the budget, by the service's own count."""
    make = BudgetSuffixManager if kind == "suffix" else PerTurnManager
    rig = Rig(kind, manager=make(5_000), model=bedrock.model(streaming=streaming))
    rig.run("Fetch.", *fetches(*SIZES), "Fetched.")
    late = bedrock.billed[3:]
    assert (38, True, []) == (len(late), max(late) <= 5_000, rig.broken_laws())


@pytest.mark.parametrize("in_stream", [False, True], ids=["http", "in_stream"])
def test_an_overflow_is_recovered_and_the_log_stays_whole(kind, in_stream, bedrock):
    """The real window is far narrower than the model says; the same call is made again with a smaller view."""
    bedrock.window_tokens, bedrock.overflow_in_stream = 3_000, in_stream
    rig = Rig(kind, manager=UNBOUNDED[kind](), model=bedrock.model(context_window_limit=200_000))
    result = rig.run("Fetch.", *fetches(*SIZES[:12]), "Fetched.")
    outcomes = [receipt.outcome for receipt in rig.manager.receipts(rig.agent)]
    assert ("end_turn", 26, True, []) == (
        result.stop_reason,
        len(rig.agent.messages),
        bedrock.outcomes().count("overflowed") == outcomes.count("overflow") > 0,
        rig.broken_laws(),
    )


def test_an_overflow_by_the_output_is_recovered(kind, bedrock):
    """The refusal that adds max_tokens to the prompt."""
    bedrock.window_tokens = 5_000
    rig = Rig(kind, manager=UNBOUNDED[kind](), model=bedrock.model(max_tokens=2_000, context_window_limit=200_000))
    result = rig.run("Fetch.", *fetches(*SIZES[:12]), "Fetched.")
    assert ("end_turn", True, []) == (result.stop_reason, "overflowed" in bedrock.outcomes(), rig.broken_laws())


def test_an_overflow_with_nothing_to_cut_is_raised_after_one_request(kind, streaming, bedrock):
    """The service's own words, and the prompt in the log."""
    bedrock.window_tokens = 50
    rig = Rig(kind, manager=UNBOUNDED[kind](), model=bedrock.model(streaming=streaming, context_window_limit=200_000))
    with pytest.raises(ContextWindowOverflowException, match="Input is too long for requested model"):
        rig.run("Hello.", "Hello.")
    assert (["overflowed"], 1, []) == (bedrock.outcomes(), len(rig.agent.messages), rig.broken_laws())


@pytest.mark.parametrize("in_stream", [False, True], ids=["http", "in_stream"])
def test_a_throttle_is_no_overflow(kind, in_stream, bedrock):
    """Too many tokens a minute: the same view is sent again, byte for byte, and no plan is tightened."""
    rig = Rig(
        kind,
        manager=MANAGERS[kind](),
        model=bedrock.model(),
        retry_strategy=ModelRetryStrategy(max_attempts=4, initial_delay=0, max_delay=0),
    )
    rig.run("Fetch.", *fetches(*SIZES[:4]), "Fetched.")
    bedrock.fail(*[throttle(in_stream=in_stream)] * 3)
    rig.run("And now?", "Nothing.")
    bodies = [request.body for request in bedrock.requests[-4:]]
    assert (["failed"] * 3 + ["answered"], [bodies[0]] * 4) == (bedrock.outcomes()[-4:], bodies)
    outcomes = [receipt.outcome for receipt in rig.manager.receipts(rig.agent)[-4:]]
    assert (["failed"] * 3 + ["complete"], []) == (outcomes, rig.broken_laws())


def test_a_throttle_that_lasts_is_raised_and_the_next_run_is_answered(kind, streaming, bedrock):
    """The agent is usable and its log whole."""
    strategy = ModelRetryStrategy(max_attempts=2, initial_delay=0, max_delay=0)
    rig = Rig(kind, manager=MANAGERS[kind](), model=bedrock.model(streaming=streaming), retry_strategy=strategy)
    bedrock.fail(throttle(), throttle())
    with pytest.raises(ModelThrottledException):
        rig.run("Hello?", "Hello.")
    rig.run("Hello?", "Hello.")
    assert (["failed", "failed", "answered"], 3, []) == (
        bedrock.outcomes(),
        len(rig.agent.messages),
        rig.broken_laws(),
    )


def test_a_refused_parameter_is_no_overflow(kind, bedrock):
    """The word max_tokens alone makes no overflow: one request, and the client's own error."""
    text = "The parameter max_tokens specified in the request are not valid: integer above maximum value"
    model = bedrock.model()
    rig = Rig(kind, manager=MANAGERS[kind](), model=model)
    bedrock.fail(Fault(text))
    with pytest.raises(model.client.exceptions.ValidationException, match="integer above maximum value"):
        rig.run("Hello.", "Hello.")
    assert ["failed"] == [receipt.outcome for receipt in rig.manager.receipts(rig.agent)]


@pytest.mark.parametrize("cache_config", [None, CacheConfig(strategy="auto")], ids=["no_cache", "cache"])
def test_a_bill_is_the_whole_prompt_wherever_its_tokens_are_told(kind, streaming, cache_config, bedrock):
    """Usage tells cached tokens apart; receipts have the sum, and estimates come within a twentieth of it."""
    rig = Rig(kind, manager=MANAGERS[kind](), model=bedrock.model(streaming=streaming, cache_config=cache_config))
    rig.run("Fetch.", *fetches(*SIZES[:14]), "Fetched.")
    receipts = rig.manager.receipts(rig.agent)
    far = [r for r in receipts[3:] if abs(r.view_tokens - r.billed_tokens) > 0.05 * r.billed_tokens]
    assert (bedrock.billed, []) == ([receipt.billed_tokens for receipt in receipts], far)
    read = [request.bill.read_tokens for request in bedrock.requests]
    assert (cache_config is not None) == (max(read) > 1_024)


def test_a_profile_with_slashes_is_a_model_id(streaming, bedrock):
    """An ARN comes over the wire as it was given."""
    rig = Rig("per_turn", model=bedrock.model(model_id=PROFILE, streaming=streaming))
    rig.run("Hello.", "Hello.")
    assert [PROFILE] == [request.model_id for request in bedrock.requests]


def test_an_answer_that_is_cut_off_leaves_a_log_that_goes_on(kind, streaming, bedrock):
    """Stop reason max_tokens in the middle of a tool call: an error, and the next prompt is accepted."""
    rig = Rig(kind, manager=MANAGERS[kind](), model=bedrock.model(streaming=streaming))
    call = {"toolUse": {"toolUseId": "cut_off", "name": "fetch", "input": {}}}
    with pytest.raises(MaxTokensReachedException):
        rig.run("Fetch.", Answer([{"text": "I will"}, call], "max_tokens"))
    rig.run("Go on.", *fetches(300), "Fetched.")
    assert (["answered"] * 3, []) == (bedrock.outcomes(), rig.broken_laws())


def test_parallel_calls_stay_together_on_the_wire(kind, streaming, bedrock):
    """Four calls in one answer, ten times over, on a window that holds three of the rounds."""
    bedrock.window_tokens = WINDOW_TOKENS
    model = bedrock.model(streaming=streaming, context_window_limit=WINDOW_TOKENS)
    rig = Rig(kind, manager=MANAGERS[kind](), model=model)
    rounds = [[ToolCall("fetch", {"size": RESULT_BYTES + 10 * i + j}) for j in range(4)] for i in range(10)]
    result = rig.run("Fetch.", *rounds, "Fetched.")
    assert ("end_turn", 22, []) == (result.stop_reason, len(rig.agent.messages), rig.broken_laws())


def test_the_service_refuses_what_breaks_its_rules(streaming, bedrock):
    """A request that no manager of ours made: the strict rules are real refusals."""
    model = bedrock.model(streaming=streaming)
    bedrock.say("Hello.")
    refused = {"role": "user", "content": [{"text": " "}]}
    with pytest.raises(model.client.exceptions.ValidationException, match="blank"):
        model.client.converse(modelId=CLAUDE, messages=[refused])
    assert ["refused"] == bedrock.outcomes()


def test_text_in_every_script_survives_the_wire(streaming, bedrock):
    """CJK and joined emoji, cut into deltas and chunks, come back as they were sent."""
    text = "漢字と한국어 👩‍👩‍👧 🇫🇷 " * 30
    rig = Rig("per_turn", model=bedrock.model(streaming=streaming))
    result = rig.run(text_of(20), text)
    assert text == result.message["content"][0]["text"]
