"""Recognition holds however a text is carried, never raises, and looks at a bounded part of what it is given."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strands.types.exceptions import ContextWindowOverflowException, EventLoopException

from strands_ctx.overflow.recognition import MAX_LINKS, find_overflow
from strands_ctx.overflow.texts import NUMBER
from tests.support.provider_texts import OTHERS, OVERFLOWS

MEGABYTE = 1_000_000

overflows = st.sampled_from(sorted(OVERFLOWS))
others = st.sampled_from(OTHERS)
prose = st.text(st.characters(codec="utf-8"), max_size=80)


class HostileError(Exception):
    """An error of which nothing can be read."""

    def __getattribute__(self, name):
        if name in ("__class__", "__traceback__"):
            return super().__getattribute__(name)
        raise RuntimeError(name)

    def __str__(self):
        raise RuntimeError("no words")


class MuteError(Exception):
    """An error without words."""

    def __str__(self):
        raise ValueError("no words")


class Trap(dict):
    """A body that can't be walked."""

    def items(self):
        raise RuntimeError("no items")


class Masked:
    """Something that does not say what it is."""

    @property
    def __class__(self):
        raise RuntimeError("no class")


class Error(Exception):
    """An error with whatever attributes."""

    def __init__(self, *args, **attributes):
        super().__init__(*args)
        for name, value in attributes.items():
            setattr(self, name, value)


ATTRIBUTES = ("body", "code", "details", "error", "message", "response", "status_code", "type", "original_exception")
KEYS = ("error", "message", "code", "input", "n_ctx", "x")

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | prose
    | overflows
    | others
    | st.binary(max_size=30)
    | st.builds(HostileError)
    | st.builds(MuteError)
    | st.builds(Trap)
    | st.sampled_from([10**400, object, "429", 429, 413]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["error", "message", "code", "x"]), inner)
    ),
    max_leaves=12,
)
errors = st.builds(Error, values, st.just("x")) | st.builds(
    lambda attributes: Error("it failed", **attributes), st.dictionaries(st.sampled_from(ATTRIBUTES), values)
)


def bodies(text):
    """A text as the bodies of real errors carry it."""
    yield json.dumps({"error": {"message": text, "type": "invalid_request_error", "code": 400}})
    yield json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": text}})
    yield json.dumps({"detail": [{"loc": ["body"], "msg": text}]})
    yield json.dumps({"error": {"message": json.dumps({"error": {"message": text}}), "code": 400}})
    yield f"Error code: 400 - { ({'error': {'message': text, 'type': 'invalid_request_error'}})!r}"
    yield f"litellm.BadRequestError: OpenAIException - {json.dumps({'message': text})}"
    yield f"An error occurred (ValidationException) when calling the Converse operation: {text}"


def kind_of(error):
    """The kind that was found, or None."""
    found = find_overflow(error)
    return found and found.kind


@given(values | errors)
@settings(max_examples=300)
def test_nothing_makes_it_raise(error):
    """Errors and everything else, with hostile attributes, bodies and words."""
    found = find_overflow(error)
    assert found is None or found.kind in ("tokens", "output_reserve", "images", "payload_bytes")


@pytest.mark.parametrize(
    "make", [HostileError, MuteError, Masked, *(lambda x=x: Error(x(), body=x()) for x in (Trap, Masked))]
)
def test_a_hostile_error_is_no_overflow(make):
    """What can't be read is not guessed."""
    assert None is find_overflow(make())


def test_a_mute_wrapper_hides_nothing():
    """An error whose words raise still leads to its cause."""
    error = MuteError("x")
    error.__cause__ = ValueError("prompt is too long: 7 tokens > 5 maximum")
    assert "tokens" == kind_of(error)


@given(overflows, st.integers(0, 6))
@settings(max_examples=200)
def test_a_text_is_found_in_a_body(text, number):
    """In the JSON and in the messages that real SDKs make of it."""
    assert OVERFLOWS[text].kind == kind_of([*bodies(text)][number])


@given(others, st.integers(0, 6))
@settings(max_examples=200)
def test_a_lookalike_stays_one_in_a_body(text, number):
    """The same bodies around a text that means something else; only real clients put a status before the text."""
    assume(not (text.startswith("4") and number > 4))
    assert None is find_overflow([*bodies(text)][number])


@given(overflows, st.integers(0, 3))
def test_a_text_is_found_through_the_errors_of_the_host(text, depth):
    """Wrapped by EventLoopException, or mapped by the host."""
    error = Error(text, status_code=400)
    for _ in range(depth):
        error = EventLoopException(error)
    mapped = ContextWindowOverflowException(text)
    mapped.__cause__ = Error(text, status_code=400)
    assert (OVERFLOWS[text].kind, OVERFLOWS[text].kind) == (kind_of(error), kind_of(mapped))


@given(overflows, st.sampled_from(["body", "status_code", "code", "cause"]))
def test_a_429_outweighs_every_text(text, place):
    """Wherever it is told."""
    error = Error(text)
    if place == "body":
        error.body = {"error": {"message": text, "code": 429}}
    elif place == "cause":
        error.__cause__ = Error("slow down", status_code=429)
    else:
        setattr(error, place, 429)
    assert None is find_overflow(error)


@given(others, st.sampled_from([413, 400]))
def test_a_throttle_is_none_with_status_413(text, status):
    """A lookalike is only an overflow where the status alone says so, and a throttle not even then."""
    throttled = text in OTHERS[:16]
    expected = "payload_bytes" if status == 413 and not throttled else None
    assert expected == kind_of(Error(text, status_code=status))


@pytest.mark.parametrize(
    "text",
    [
        "x" * MEGABYTE,
        "prompt is too long: " * (MEGABYTE // 20),
        "1" * MEGABYTE,
        "1," * (MEGABYTE // 2),
        "exceeds " * (MEGABYTE // 8),
        "'" * MEGABYTE,
        "input='" * (MEGABYTE // 7),
        "{" * MEGABYTE,
        "[" * MEGABYTE,
        "https://" * (MEGABYTE // 8),
        "\\" * MEGABYTE,
        "status code " * (MEGABYTE // 12),
        "maximum context length is 1 tokens. however, you requested 1 tokens (" * (MEGABYTE // 70),
        "tool " * (MEGABYTE // 5),
        " \n" * (MEGABYTE // 2),
    ],
    ids=range(15),
)
def test_a_megabyte_of_anything_is_read_to_an_end(text):
    """Repetitions that an expression could get lost in; the suite's own time limit would show it."""
    found = find_overflow(Error(text, body=text, message=text))
    assert found is None or found.prompt_tokens is None or found.limit_tokens is not None


@pytest.mark.parametrize("place", ["start", "end"])
def test_words_at_either_end_of_a_megabyte_are_found(place):
    """The middle of a long text is not looked at."""
    said, rest = "Input is too long for requested model.", " and so on" * (MEGABYTE // 10)
    assert "tokens" == kind_of(f"{said}{rest}" if place == "start" else f"{rest}. {said}")


def test_words_in_a_megabyte_of_json_are_found():
    """A body is read by its fields, whatever else it repeats."""
    body = {"request": {"messages": ["prompt is too long " * 50_000]}, "error": {"message": "too many images: 21 > 20"}}
    assert "images" == kind_of(json.dumps(body))


def test_a_chain_is_followed_a_bounded_way():
    """Cycles end, and what lies very deep is not reached."""
    first, second = Error("one"), Error("two")
    first.__cause__, second.__cause__ = second, first
    deep = Error("prompt is too long: 7 tokens > 5 maximum")
    for _ in range(MAX_LINKS + 1):
        deep, inner = Error("outer"), deep
        deep.__cause__ = inner
    assert (None, None) == (find_overflow(first), find_overflow(deep))


@given(st.from_regex(f"^{NUMBER}$".replace(r"\b", ""), alphabet=st.characters(codec="ascii")))
def test_any_number_can_stand_in_a_text(number):
    """Parsed or left, never a failure; the kind is the same."""
    found = find_overflow(f"prompt is too long: {number.strip()} tokens > 5 maximum")
    assert ("tokens", True) == (found.kind, found.prompt_tokens is None or found.prompt_tokens > 0)
