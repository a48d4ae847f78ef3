"""Caps of single results and messages, by hand."""

from __future__ import annotations

import pytest

from strands_ctx.capping import cap_message, cap_text, cap_texts, cap_tool_result, check_cap, check_keep, count_bytes
from strands_ctx.errors import ConfigError
from tests.builders import assistant, result, texts, use, user


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ("head_tail", "a" * 15 + "\n[... 29 of 1,000 bytes shown ...]\n" + "b" * 14),
        ("head", "a" * 29 + "\n[... 29 of 1,000 bytes shown ...]\n"),
        ("tail", "\n[... 29 of 1,000 bytes shown ...]\n" + "b" * 29),
    ],
)
def test_the_asked_end_of_a_text_stays(keep, expected):
    """64 bytes of 1,000, marker included."""
    assert expected == cap_text("a" * 500 + "b" * 500, 64, keep=keep)


@pytest.mark.parametrize("length", range(398, 450))
def test_a_text_a_little_longer_than_its_cap_never_grows(length):
    """S16: 401 to 447 characters and a cap of 400, where Strands' own cap grows a text."""
    assert min(length, 400) == len(cap_text("x" * length, 400))


def test_an_emoji_is_never_cut_in_half():
    """S18: what does not fit whole is left out, so the cap need not be filled."""
    capped = cap_text("👩‍👩‍👧" * 100, 64)
    assert (capped, True) == (capped.encode().decode(), 52 <= count_bytes(capped) <= 64)


def test_a_lone_surrogate_is_replaced_where_a_text_is_cut():
    """S18: valid UTF-8 out."""
    assert "?" * 15 == cap_text("\ud800" * 500, 64)[:15]


@pytest.mark.parametrize("value", [0, -1, 63, 63.5, True, "64"])
def test_a_cap_without_room_for_a_marker_is_refused(value):
    """Under 64, or no whole number."""
    with pytest.raises(ConfigError) as caught:
        check_cap("cap", value)
    assert ("cap", value) == (caught.value.parameter, caught.value.value)


def test_the_smallest_cap_and_none_are_allowed():
    """64 is inclusive; None is no cap."""
    assert [None, None] == [check_cap("cap", value) for value in (64, None)]


def test_an_unknown_end_is_refused():
    """The message names what is allowed."""
    with pytest.raises(ConfigError, match="keep='middle' is not allowed: must be one of head_tail, head, tail"):
        check_keep("middle")


def test_a_result_shares_its_cap_among_its_texts():
    """A small text stays whole, media stay, other keys stay."""
    image = {"image": {"format": "png", "source": {"bytes": b"png"}}}
    whole = {
        "toolUseId": "a",
        "status": "error",
        "content": [{"text": "small"}, image, {"text": "x" * 900}, {"json": {"key": "y" * 900}}],
        "structuredContent": {"kept": 1},
    }
    capped = cap_tool_result(whole, 305)
    sizes = [len(item["text"]) for item in capped["content"] if "text" in item]
    assert [5, 150, 150] == sizes
    assert (image, "error", {"kept": 1}) == (capped["content"][1], capped["status"], capped["structuredContent"])
    assert None is cap_tool_result(capped, 305)


def test_texts_that_are_too_many_for_a_floor_each_are_joined():
    """Twenty texts in a cap of 100 become one."""
    capped = cap_tool_result({"toolUseId": "a", "content": [{"text": "found it"}] * 20}, 100)
    (text,) = (item["text"] for item in capped["content"])
    assert (99, "found it") == (len(text), text[:8])


def test_a_message_counts_what_was_capped():
    """Only ids with a cap, and only where they are larger."""
    message = user(result("a", "x" * 200), result("b", "x" * 200), result("c", "small"), "beside")
    capped, results, dropped = cap_message(message, {"a": 64, "c": 64})
    assert (1, 136, [64, 200, 5, 6]) == (results, dropped, [len(text) for text in texts(capped)])


def test_a_message_of_which_nothing_is_capped_is_the_same_object():
    """No copy without need."""
    message = assistant("x", use("a"))
    assert (message, 0, 0) == cap_message(message, {"a": 64})
    assert cap_message(message, {})[0] is message


def test_texts_and_results_of_a_message_share_one_cap():
    """Its own text too; results with other ids stay whole."""
    message = user("p" * 300, result("a", "x" * 300), result("b", "x" * 300), "small")
    assert [97, 98, 300, 5] == [len(text) for text in texts(cap_texts(message, 200, ["a"]))]
