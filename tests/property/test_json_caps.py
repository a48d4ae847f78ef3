"""Laws of capped JSON: what any value keeps at any cap."""

from __future__ import annotations

import datetime
import json

from hypothesis import given
from hypothesis import strategies as st

from strands_ctx.capping.json_values import cap_json, shown_json
from strands_ctx.capping.results import cap_tool_result, result_bytes

from .strategies import any_texts

KEEPS = st.sampled_from(["head_tail", "head", "tail"])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | any_texts()
    | st.binary(max_size=20)
    | st.dates()
    | st.sets(st.integers(), max_size=3)
)
KEYS = st.text(max_size=8) | st.sampled_from(["...", "....", "key" * 30]) | st.integers() | st.none()
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(KEYS, inner, max_size=12) | st.tuples(inner, inner),
    max_leaves=40,
)


def compact(value: object) -> str:
    """Strict JSON as a provider reads it: raises for what is none."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def outer_type(value: object) -> type:
    """Arrays are lists, whatever they were."""
    return list if isinstance(value, tuple) else type(value)


@given(VALUES, st.integers(64, 3_000), KEEPS)
def test_a_capped_value_is_json_of_its_outer_type_within_the_cap(value, cap, keep):
    """Or it is refused; the whole stays as it was, and the answer is the same each time."""
    text, size = shown_json(value)
    assert size == len(text.encode("utf-8", "surrogatepass"))
    capped = cap_json(value, cap, keep=keep)
    assert text == shown_json(value)[0]
    assert repr(capped) == repr(cap_json(value, cap, keep=keep))
    if capped is None:
        return
    (shown,) = capped
    if isinstance(value, list | dict | tuple | str):
        assert outer_type(value) is type(shown)
    assert min(cap, len(compact(shown).encode("utf-8", "surrogatepass"))) == shown_json(shown)[1]


@given(st.lists(VALUES, min_size=1, max_size=5), st.integers(64, 3_000), KEEPS)
def test_results_of_json_hold_their_cap_and_are_capped_once(values, cap, keep):
    """Items stay JSON of their outer type or become texts, none of them blank; nothing is ever larger."""
    whole = {"toolUseId": "call", "status": "error", "content": [{"json": value} for value in values]}
    capped = cap_tool_result(whole, cap, keep=keep)
    if capped is None:
        assert result_bytes(whole) <= cap
        return
    assert result_bytes(capped) <= cap
    assert None is cap_tool_result(capped, cap, keep=keep)
    assert [] == [item for item in capped["content"] if not item.get("text", "x").strip()]


@given(st.integers(20, 3_000), st.sampled_from([list, dict]), st.integers(64, 2_000))
def test_any_depth_is_capped(depth, kind, cap):
    """Neither writing nor reading it exhausts the stack."""
    value: object = datetime.date(2026, 11, 30)
    for _ in range(depth):
        value = [value] if kind is list else {"key": value}
    capped = cap_tool_result({"toolUseId": "call", "content": [{"json": value}]}, cap)
    assert capped is None or result_bytes(capped) <= cap
