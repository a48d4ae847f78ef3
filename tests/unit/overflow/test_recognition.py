"""An error is an overflow if a smaller prompt answers it, whoever raises it and however it is wrapped."""

from __future__ import annotations

import importlib
import json
import warnings

import httpx
import pytest
from botocore.exceptions import ClientError, EventStreamError

from strands_ctx import BudgetExceededError
from strands_ctx.overflow.recognition import Overflow, find_overflow
from strands_ctx.overflow.texts import CLASSES, overflow_texts
from strands_ctx.overflow.words import even_out, read_number
from tests.support.provider_texts import OTHERS, OVERFLOWS

TOO_LONG = "prompt is too long: 204512 tokens > 200000 maximum"


def sdk(name):
    """An SDK that need not be installed."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        pytest.importorskip(name)
        return importlib.import_module(name)


def answer(status, body):
    """An HTTP answer with a JSON body."""
    return httpx.Response(status, json=body, request=httpx.Request("POST", "http://127.0.0.1/v1"))


def status_error(name, status, body):
    """The error that the SDKs of OpenAI and Anthropic make of an answer."""
    client = sdk(name)
    made = getattr(client, {"openai": "OpenAI", "anthropic": "Anthropic"}[name])(api_key="x")
    return made._make_status_error_from_response(answer(status, body))


def client_error(code, message, status=400):
    """The error that boto3 makes of an answer."""
    response = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, "ConverseStream")


def raised(error, *, cause=None, context=None):
    """An error with what it was raised from."""
    error.__cause__, error.__context__ = cause, context
    error.__suppress_context__ = cause is not None
    return error


@pytest.mark.parametrize(("text", "overflow"), OVERFLOWS.items(), ids=range(len(OVERFLOWS)))
def test_a_text_that_means_overflow_is_recognised(text, overflow):
    """Kind, numbers and who speaks, as far as the text tells them."""
    assert overflow == find_overflow(text)


@pytest.mark.parametrize("text", OTHERS, ids=range(len(OTHERS)))
def test_a_text_that_only_sounds_like_it_is_not(text):
    """Throttles, quotas, single arguments, quotations."""
    assert None is find_overflow(text)


def test_every_row_of_the_table_is_the_first_to_match_some_text():
    """No row is dead, or hidden behind another one."""
    used = set()
    for text in OVERFLOWS:
        evened = even_out(text)
        used.add(next((row.pattern.pattern for row in overflow_texts() if row.pattern.search(evened)), None))
    assert [] == [row.pattern.pattern for row in overflow_texts() if row.pattern.pattern not in used]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("200,000", 200_000),
        ("200_000", 200_000),
        ("200.000", 200_000),
        ("1e5", 100_000),
        ("524300.0", 524_300),
        ("128k", 128_000),
        ("0", None),
        ("9" * 400, None),
        ("1e99", None),
        ("", None),
        (True, None),
        (-5, None),
        (float("nan"), None),
        (7, 7),
    ],
)
def test_numbers_are_read_or_left(text, number):
    """Whatever separates the thousands; what is no plausible count is not told."""
    assert number == read_number(text)


@pytest.mark.parametrize(("prompt", "limit"), [("200,001", "200,000"), ("200_001", "2e5"), ("200.001", "200.000")])
def test_numbers_are_read_in_a_text(prompt, limit):
    """The same inside of a refusal."""
    found = find_overflow(f"prompt is too long: {prompt} tokens > {limit} maximum")
    assert (200_001, 200_000) == (found.prompt_tokens, found.limit_tokens)


def test_a_prompt_of_429_tokens_is_no_status():
    """The number of a throttle is not looked for where tokens are counted."""
    assert Overflow("tokens", 429, 413, "anthropic") == find_overflow("prompt is too long: 429 tokens > 413 maximum")


@pytest.mark.parametrize(
    ("error", "overflow"),
    [
        (client_error("ValidationException", "Input is too long for requested model."), ("tokens", None, None)),
        (
            client_error("ValidationException", "input length and `max_tokens` exceed context limit: 5 + 6 > 10, x"),
            ("output_reserve", 5, 10),
        ),
        (EventStreamError({"Error": {"Code": "validationException", "Message": TOO_LONG}}, "ConverseStream"),
         ("tokens", 204512, 200000)),
        (client_error("RequestEntityTooLargeException", "no words", 413), ("payload_bytes", None, None)),
    ],
    ids=["too long", "output", "in stream", "413"],
)  # fmt: skip
def test_errors_of_boto3_are_read(error, overflow):
    """Code, message and status of the response."""
    found = find_overflow(error)
    assert (*overflow, "bedrock") == (found.kind, found.prompt_tokens, found.limit_tokens, found.provider)


def test_an_endpoint_of_sagemaker_is_read_through_its_error():
    """The model server's JSON inside of the message."""
    said = json.dumps({"error": "Input validation error: `inputs` must have less than 1000 tokens. Given: 1413"})
    error = ClientError(
        {
            "Error": {
                "Code": "ModelError",
                "Message": f'Received client error (424) from primary with message "{said}"',
            },
            "OriginalMessage": said,
        },
        "InvokeEndpoint",
    )
    assert Overflow("tokens", 1413, 1000, "bedrock") == find_overflow(error)


@pytest.mark.parametrize(
    ("status", "body", "overflow"),
    [
        (400, {"message": "nothing", "code": "context_length_exceeded"}, Overflow("tokens")),
        (
            400,
            {"message": "no", "type": "exceed_context_size_error", "n_prompt_tokens": 21032, "n_ctx": 2048},
            Overflow("tokens", 21032, 2048),
        ),
        (413, {"message": "nothing"}, Overflow("payload_bytes")),
        (413, {"message": "Prompt is too long"}, Overflow("tokens")),
        (500, {"message": "request exceeds the max_model_len"}, Overflow("tokens", provider="vllm")),
        (
            400,
            {"message": "Provider returned error", "metadata": {"raw": json.dumps({"error": {"message": TOO_LONG}})}},
            Overflow("tokens", 204512, 200000, "anthropic"),
        ),
        (429, {"message": TOO_LONG, "code": "context_length_exceeded"}, None),
        (400, {"message": TOO_LONG, "code": 429}, None),
        (400, {"message": TOO_LONG, "code": "rate_limit_exceeded"}, None),
        (401, {"message": "prompt is too long"}, None),
        (400, {"message": "string too long", "code": "string_above_max_length"}, None),
        (400, {"message": "max tokens must be less than 4096", "type": "too_many_tokens"}, None),
        (400, {"message": "bad", "param": TOO_LONG, "input": [{"content": TOO_LONG}]}, None),
    ],
    ids=range(13),
)
def test_errors_of_the_openai_sdk_are_read(status, body, overflow):
    """Status, code, message and nested bodies of gateways."""
    assert overflow == find_overflow(status_error("openai", status, {"error": body}))


@pytest.mark.parametrize(
    ("status", "kind", "message", "overflow"),
    [
        (400, "invalid_request_error", TOO_LONG, Overflow("tokens", 204512, 200000, "anthropic")),
        (413, "request_too_large", "Request exceeds the maximum size", Overflow("payload_bytes", provider="anthropic")),
        (429, "rate_limit_error", TOO_LONG, None),
        (400, "invalid_request_error", "max_tokens: 9 > 8, which is the maximum allowed number of output tokens", None),
    ],
    ids=range(4),
)
def test_errors_of_the_anthropic_sdk_are_read(status, kind, message, overflow):
    """The type of the error as well as its words."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    assert overflow == find_overflow(status_error("anthropic", status, body))


def test_errors_of_litellm_are_read():
    """By class where the words say nothing, with the provider that it names."""
    litellm = sdk("litellm")
    told = litellm.ContextWindowExceededError("no words", model="m", llm_provider="Azure")
    field = litellm.ContextWindowExceededError("string too long", model="m", llm_provider="openai")
    throttle = litellm.RateLimitError(TOO_LONG, model="m", llm_provider="openai")
    assert (Overflow("tokens", provider="azure"), None, None) == (
        find_overflow(told),
        find_overflow(field),
        find_overflow(throttle),
    )


def test_errors_of_the_gemini_sdk_are_read():
    """Whose code is the status and whose status is a word."""
    errors = sdk("google.genai.errors")
    message = "The input token count (12) exceeds the maximum number of tokens allowed (10)."
    body = {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
    throttled = {"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED"}}
    assert (Overflow("tokens", 12, 10, "gemini"), None) == (
        find_overflow(errors.ClientError(400, body)),
        find_overflow(errors.ClientError(429, throttled)),
    )


@pytest.mark.parametrize(("status", "kind"), [(413, "payload_bytes"), (400, "tokens"), (429, None)])
def test_errors_of_httpx_are_read_through_their_response(status, kind):
    """The body is in the response only."""
    response = answer(status, {"error": {"message": TOO_LONG if status != 413 else "no words"}})
    with pytest.raises(httpx.HTTPStatusError) as error:
        response.raise_for_status()
    found = find_overflow(error.value)
    assert kind == (found and found.kind)


@pytest.mark.parametrize("field", ["request", "input", "content"])
def test_what_a_body_repeats_is_not_the_providers_word(field):
    """The request in a field of its own, whatever its messages say."""
    assert None is find_overflow(json.dumps({"error": {"message": "bad"}, field: {"message": TOO_LONG}}))


def test_an_unread_body_is_no_error():
    """A streamed response raises when its text is asked for."""
    response = httpx.Response(400, stream=httpx.ByteStream(b"x"))
    assert None is find_overflow(httpx.HTTPStatusError("bad", request=response, response=response))


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_class_is_recognised_by_its_name(name):
    """Where nothing else is told, also in a subclass."""
    subclass = type("Own", (type(name, (Exception,), {}),), {})
    assert CLASSES[name] == find_overflow(subclass("no words")).kind


@pytest.mark.parametrize("wrap", ["cause", "context", "original", "argument", "group"])
def test_wrapped_errors_are_found(wrap):
    """Whichever way one error holds another."""
    inner = ValueError(TOO_LONG)
    outer = RuntimeError("it failed")
    if wrap in ("cause", "context"):
        raised(outer, **{wrap: inner})
    elif wrap == "original":
        outer.original_exception = inner
    elif wrap == "argument":
        outer = RuntimeError(inner)
    else:
        outer.exceptions = (KeyError("x"), inner)
    assert Overflow("tokens", 204512, 200000, "anthropic") == find_overflow(outer)


def test_a_throttle_in_the_chain_outweighs_the_words_of_its_wrapper():
    """A host's overflow that was made from a refusal with status 429."""
    throttle = client_error("ThrottlingException", TOO_LONG, 429)
    assert None is find_overflow(
        raised(type("ContextWindowOverflowException", (Exception,), {})(TOO_LONG), cause=throttle)
    )


def test_an_overflow_with_its_own_status_outweighs_an_earlier_throttle():
    """A fallback model overflowed while the throttle of the first one was handled."""
    throttle = client_error("ThrottlingException", "slow down", 429)
    overflow = raised(client_error("ValidationException", TOO_LONG), context=throttle)
    assert "tokens" == find_overflow(overflow).kind


def test_a_suppressed_context_is_not_looked_at():
    """``raise ... from None`` says that the rest does not matter."""
    error = raised(RuntimeError("bad"), context=ValueError(TOO_LONG))
    error.__suppress_context__ = True
    assert None is find_overflow(error)


def test_words_outweigh_a_class():
    """The numbers of the nearest inner error that tells any, not the bare class of the outer one."""
    outer = type("ContextWindowOverflowException", (Exception,), {})("it")
    far = raised(ValueError(TOO_LONG), cause=ValueError("prompt is too long: 7 tokens > 5 maximum"))
    assert 204512 == find_overflow(raised(outer, cause=far)).prompt_tokens


def test_our_own_budget_error_is_no_overflow():
    """No provider was asked."""
    error = BudgetExceededError(budget_tokens=10, system_tokens=8, tools_tokens=1, newest_tokens=9)
    assert (None, None) == (find_overflow(error), find_overflow(raised(RuntimeError("x"), cause=error)))
