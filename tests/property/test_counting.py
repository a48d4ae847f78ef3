"""Laws of counting: it never raises, never forgets a part, and hardly depends on how a text is cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strands_ctx.tokens import Calibration, CharacterCounter, Features, TiktokenCounter, result_tokens
from strands_ctx.tokens.counting import _KINDS
from strands_ctx.tokens.tiktoken_counter import split_pieces

any_text = st.text(st.characters())
json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text | st.binary(max_size=50),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)
KINDS = [*_KINDS, "content", "source", "bytes", "input", "name", "format", "reasoningText", "unknown"]
block_like = st.recursive(
    json_like,
    lambda inner: st.dictionaries(st.sampled_from(KINDS), inner | st.lists(inner, max_size=3), max_size=3),
    max_leaves=10,
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]), "content": st.lists(block_like, max_size=4)}
)


@pytest.mark.parametrize("counter", [TiktokenCounter(), TiktokenCounter("cl100k_base"), CharacterCounter()], ids=repr)
@given(text=any_text)
def test_any_text_has_a_count(counter, text):
    """Empty is 0, anything else is at least 1 and at most its bytes (a lone surrogate counts as 3)."""
    size = len(text.encode("utf-8", "surrogatepass"))
    assert min(size, 1) <= counter.count_text(text) <= 3 * size


@given(message=messages | json_like)
def test_any_message_has_a_count(message):
    """Malformed content never raises, and results are never more than the message."""
    counter = CharacterCounter()
    assert 0 <= result_tokens(counter, message) <= counter.count_message(message)


@given(content=st.lists(block_like, max_size=4), more=block_like)
def test_a_block_more_never_costs_less(content, more):
    """Counts add up over blocks."""
    counter = CharacterCounter()
    shorter, longer = ({"role": "user", "content": blocks} for blocks in (content, [*content, more]))
    assert counter.count_message(shorter) <= counter.count_message(longer)


@given(text=st.text(st.sampled_from("ab \n\u0301\u200d🙂\ud83d\ude00中"), max_size=400), size=st.integers(2, 60))
def test_pieces_join_to_the_text(text, size):
    """Nothing is lost or repeated, and no piece is empty or too long."""
    pieces = list(split_pieces(text, size))
    assert (text, True) == ("".join(pieces), all(0 < len(piece) <= size for piece in pieces))


@settings(max_examples=25)
@given(unit=st.text(min_size=1, max_size=12), times=st.integers(1_000, 20_000))
def test_a_repeated_text_is_counted_in_pieces_within_a_thousandth(unit, times):
    """Any unit repeated past the size of a piece ends in a number near that of shorter pieces."""
    text = (unit * times)[:250_000]
    counter = TiktokenCounter()
    halves = counter.count_text(text[: len(text) // 2]) + counter.count_text(text[len(text) // 2 :])
    assert halves == pytest.approx(counter.count_text(text), rel=0.001, abs=40)


sizes = st.integers(0, 500_000)


@given(
    steps=st.lists(st.tuples(sizes, sizes, st.integers(0, 2_000), st.floats(0.2, 5)), max_size=30),
    prompts=st.integers(0, 1),
)
def test_any_history_of_bills_keeps_estimates_sane(steps, prompts):
    """Whatever was billed, an estimate is between a quarter and four times the count, messages and preamble apart."""
    calibration = Calibration()
    for result, other, count, ratio in steps:
        billed = round(ratio * (result + other + 4 * count))
        calibration = calibration.observe(Features(result, other, count, prompts=prompts), {"inputTokens": billed})
    estimate = calibration.estimate(Features(6_000, 4_000, 0))
    assert (True, calibration) == (2_500 <= estimate <= 40_000, Calibration.from_state(calibration.to_state()))
