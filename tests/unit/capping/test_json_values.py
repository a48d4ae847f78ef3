"""Caps of JSON values, by hand."""

from __future__ import annotations

import datetime
import json
import sys

import pytest

from strands_ctx.capping.json_values import cap_json, json_text, shown_json

ROWS = [{"id": number, "body": "x" * 400} for number in range(200)]


def capped(value, cap, keep="head_tail"):
    """The capped value, checked to be within its cap."""
    (shown,) = cap_json(value, cap, keep=keep)
    assert len(json.dumps(shown, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()) <= cap
    return shown


def test_an_object_keeps_its_keys_while_they_fit():
    """A long value is cut, small ones stay whole."""
    shown = capped({"status": 200, "body": "x" * 900, "next": None}, 200)
    assert ["status", "body", "next"] == list(shown)
    assert (200, True, None) == (shown["status"], "of 900 bytes shown" in shown["body"], shown["next"])


def test_an_object_counts_the_keys_that_do_not_fit():
    """Under a key of its own."""
    shown = capped({f"k{number}": "v" * 500 for number in range(100)}, 600)
    assert [*(f"k{number}" for number in range(7)), "..."] == list(shown)
    assert "7 of 100 keys shown" == shown["..."]


def test_the_count_of_keys_never_takes_the_place_of_a_key():
    """An object that has the key gets a longer one."""
    shown = capped({"...": 1, "....": 2, **{f"k{number}": "v" * 500 for number in range(100)}}, 200)
    assert (1, 2) == (shown["..."], shown["...."])
    assert "of 102 keys shown" in shown["....."]


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ("head_tail", [*range(8), "[... 16 of 10,000 items shown ...]", *range(9_992, 10_000)]),
        ("head", [*range(22), "[... 22 of 10,000 items shown ...]"]),
        ("tail", ["[... 11 of 10,000 items shown ...]", *range(9_989, 10_000)]),
    ],
)
def test_the_asked_end_of_an_array_stays(keep, expected):
    """With a count where items are left out."""
    assert expected == capped(list(range(10_000)), 100, keep)


def test_large_items_of_an_array_are_few_and_mostly_whole():
    """Five rows of 400 bytes in 2,500, rather than thirty stumps."""
    assert [*ROWS[:3], "[... 5 of 200 items shown ...]", *ROWS[-2:]] == capped(ROWS, 2_500)


def test_nested_values_are_capped_in_their_own_shape():
    """An array in an object in an array."""
    shown = capped([{"rows": list(range(5_000)), "note": "y" * 900}], 300)
    assert ([list, str], True) == ([type(value) for value in shown[0].values()], shown[0]["note"].startswith("yyy"))
    assert 4_999 == shown[0]["rows"][-1]


@pytest.mark.parametrize("letter", ['"', "\\", "\n", "\x00", "漢", "👍🏽"])
def test_a_text_is_cut_to_the_size_of_its_json(letter):
    """Quotes and escapes count."""
    assert "bytes shown" in capped(letter * 5_000, 700)


def test_a_cap_too_small_for_the_type_is_refused():
    """No empty shell: the caller shows a text instead."""
    assert [None, None, None] == [cap_json(value, 64) for value in (ROWS, {"key" * 20: 1}, "x" * 900)]


def test_a_value_of_any_depth_is_capped():
    """A hundred thousand arrays in one another, neither written nor read by recursion."""
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    shown = capped(value, 20_000)
    assert '["<list of ' in json_text(shown)
    assert shown_json(value)[1] >= 200_000


def test_a_value_that_holds_itself_is_capped():
    """What can't be written as JSON is sized from below, and cut where it is too deep or too large."""
    value: list[object] = ["x" * 900]
    value.append(value)
    assert "of 900 bytes shown" in capped(value, 600)[0]


def test_a_value_that_is_just_shallow_enough_to_be_written_is_capped():
    """It is written and read back at different depths of the stack."""
    value: list[object] = [1]
    for _ in range(sys.getrecursionlimit() + 50):
        value = [value]
        assert cap_json({"value": value, "long": "x" * 9_000}, 6_000) is not None


def test_what_json_cannot_hold_is_written_as_text():
    """The same in every process; NaN and the infinities are null."""
    odd = {
        "nan": float("nan"),
        "infinity": -float("inf"),
        "bytes": b"123",
        "date": datetime.date(2026, 11, 30),
        "set": {"c", "a", "b"},
        "object": object(),
        "long": "x" * 900,
    }
    shown = capped(odd, 400)
    del shown["long"]
    assert {
        "nan": None,
        "infinity": None,
        "bytes": "<3 bytes>",
        "date": "2026-11-30",
        "set": ["a", "b", "c"],
        "object": "<object>",
    } == shown


@pytest.mark.skipif(not hasattr(sys, "get_int_max_str_digits"), reason="numbers of any size can be written")
def test_keys_and_numbers_that_json_refuses_are_capped():
    """A tuple as a key, and a number of 5,000 digits."""
    shown = capped({(1, 2): "x" * 900, "number": 10**5_000}, 300)
    assert (["(1, 2)", "number"], "<int of 4,983 bytes>") == (list(shown), shown["number"])


def test_a_capped_value_shares_nothing_with_the_whole():
    """Changing the one leaves the other."""
    whole = {"inner": {"kept": [1]}, "long": "x" * 900}
    capped(whole, 200)["inner"]["kept"].append(2)
    assert [1] == whole["inner"]["kept"]
