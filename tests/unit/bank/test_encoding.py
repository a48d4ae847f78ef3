"""Inputs and results as bytes and back."""

from __future__ import annotations

import datetime
import decimal
import math

import pytest

from strands_ctx.bank._encoding import decode, encode


class Foreign:
    """No JSON value."""


@pytest.mark.parametrize(
    "value",
    [
        {"text": "plain"},
        {"text": "\ud800 alone, \U0001f469\u200d\U0001f4bb joined, \x00 and \u2028"},
        {"image": {"format": "png", "source": {"bytes": b"\x89PNG\r\n\x00\xff"}}},
        {"$bytes": "aGk="},
        [{"$bytes": "aGk="}, b"hi", '"$bytes"', {"$bytes": b"hi", "more": 1}],
        {"numbers": [1.5, -0.0, 10**300, math.inf, True, None]},
        [],
        None,
    ],
    ids=repr,
)
def test_what_json_holds_and_bytes_come_back_equal(value):
    """Also where a value looks like our own mark for bytes."""
    encoded = encode(value)
    assert (value, True) == (decode(encoded.data), encoded.exact)


def test_what_comes_back_is_new():
    """Nobody can change what is banked."""
    value = {"rows": [1]}
    data = encode(value).data
    value["rows"].append(2)
    decode(data)["rows"].append(3)
    assert {"rows": [1]} == decode(data)


def test_the_size_is_that_of_compact_json():
    """In UTF-8, without the mark for bytes before it."""
    assert (len('{"ä":[1,2]}'.encode()), len('{"$bytes":"aGk="}')) == (
        encode({"ä": [1, 2]}).json_bytes,
        encode(b"hi").json_bytes,
    )


def test_tuples_and_keys_become_what_json_has():
    """As in a session that is stored."""
    assert {"1": [1, 2], "null": b"x"} == decode(encode({1: (1, 2), None: bytearray(b"x")}).data)


@pytest.mark.parametrize("key", ["key", ("a", "b")], ids=["text", "tuple"])
def test_what_json_does_not_hold_is_kept_as_a_text_and_said(key):
    """Dates and decimals as they are written, sets as lists, others by their type; whatever the keys are."""
    value = {key: [datetime.date(2026, 1, 2), decimal.Decimal("1.50"), Foreign(), {3}]}
    encoded = encode(value)
    kept = {key if key == "key" else "a, b": ["2026-01-02", "1.50", "<Foreign>", [3]]}
    assert (kept, False) == (decode(encoded.data), encoded.exact)


def test_circles_depth_and_endless_numbers_do_not_stop_it():
    """Each is kept as far as it can be."""
    circle = {"name": "circle"}
    circle["self"] = circle
    deep = []
    for _ in range(100_000):
        deep = [deep]
    kept = [encode(value) for value in (circle, deep, 10**5_000)]
    assert ({"name": "circle", "self": "<dict>"}, True, hex(10**5_000), [False] * 3) == (
        decode(kept[0].data),
        decode(kept[1].data)[0][0][0] is not None,
        decode(kept[2].data),
        [encoded.exact for encoded in kept],
    )


class Hostile(dict):
    """A mapping that can't be walked."""

    def items(self):
        raise AttributeError("hostile")


class HostileDate(datetime.date):
    """A date that can't be shown."""

    def __str__(self):
        raise AttributeError("hostile")


RELEASED = memoryview(b"abc")
RELEASED.release()


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (Hostile(a=1), "<Hostile>"),
        (HostileDate(2026, 1, 2), "<HostileDate>"),
        (RELEASED, "<memoryview>"),
        ({HostileDate(2026, 1, 2): 1}, {"<HostileDate>": 1}),
        ({10**5_000: 1}, {hex(10**5_000): 1}),
        ({1: "a", "1": "b"}, {"1": "b"}),
    ],
    ids=["dict", "date", "released", "key", "long key", "equal keys"],
)
def test_a_hostile_value_costs_itself_and_nothing_beside_it(value, kept):
    """Whatever its class raises, it is kept by the name of the class, and that is said."""
    encoded = encode({"before": [1], "it": value, "after": b"x"})
    assert ({"before": [1], "it": kept, "after": b"x"}, False) == (decode(encoded.data), encoded.exact)


def test_bytes_that_are_not_in_one_piece_come_back_equal():
    """As a slice with steps."""
    encoded = encode([memoryview(b"abcdef")[::2]])
    assert ([b"ace"], True) == (decode(encoded.data), encoded.exact)


def test_damaged_bytes_are_told():
    """They can only come from a file that somebody changed."""
    for data in (b"", b"{", b'@$bytes\t{"$bytes":"a"}', b"\xff\xfe"):
        with pytest.raises(ValueError, match=r"\w"):
            decode(data)
