"""Caps of single results and messages, by hand."""

from __future__ import annotations

import pytest

from strands_ctx.capping.results import cap_tool_result, check_cap, check_keep, result_bytes
from strands_ctx.capping.text import cap_text
from strands_ctx.errors import ConfigError


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


@pytest.mark.parametrize("value", [0, -1, 63, 63.5, True, "64"])
def test_a_cap_without_room_for_a_marker_is_refused(value):
    """Under 64, or no whole number."""
    with pytest.raises(ConfigError) as caught:
        check_cap("cap", value)
    assert ("cap", value) == (caught.value.parameter, caught.value.value)


def test_the_smallest_cap_and_none_are_allowed():
    """64 is inclusive; None is no cap, where one may do without."""
    assert [None, None] == [check_cap("cap", 64), check_cap("cap", None, optional=True)]


def test_a_cap_that_is_needed_is_not_none():
    """What a manager can't do without is refused at construction."""
    with pytest.raises(ConfigError, match="cap=None is not allowed"):
        check_cap("cap", None)


def test_an_unknown_end_is_refused():
    """The message names what is allowed."""
    with pytest.raises(ConfigError, match="keep='middle' is not allowed: must be one of head_tail, head, tail"):
        check_keep("middle")


def test_a_result_shares_its_cap_among_its_items():
    """A small text and a small image stay whole, other keys stay, JSON stays an object."""
    image = {"image": {"format": "png", "source": {"bytes": b"png"}}}
    whole = {
        "toolUseId": "a",
        "status": "error",
        "content": [{"text": "small"}, image, {"text": "x" * 900}, {"json": {"key": "y" * 900}}],
        "structuredContent": {"kept": 1},
        "metadata": {"kept": 2},
        "unheard_of": 3,
    }
    capped = cap_tool_result(whole, 308)
    small, picture, text, value = capped["content"]
    assert ({"text": "small"}, image, 150, ["key"]) == (small, picture, len(text["text"]), list(value["json"]))
    assert (307, None) == (result_bytes(capped), cap_tool_result(capped, 308))
    assert {**whole, "content": None} == {**capped, "content": None}


def test_media_larger_than_their_share_become_a_line():
    """S11: what shares the block stays; the text beside it gets what the image leaves."""
    image = {"image": {"format": "png", "source": {"bytes": bytes(5_000)}}, "unheard_of": 1}
    capped = cap_tool_result({"toolUseId": "a", "content": [{"text": "x" * 900}, image]}, 600)
    assert {"text": "[image: png, 5,000 bytes]", "unheard_of": 1} == capped["content"][1]
    assert 600 == result_bytes(capped)


def test_media_within_their_share_stay():
    """A text that is too large takes nothing from a small image beside it."""
    image = {"image": {"format": "png", "source": {"bytes": bytes(200)}}}
    capped = cap_tool_result({"toolUseId": "a", "content": [{"text": "x" * 900}, image]}, 600)
    assert ([400], image) == ([len(capped["content"][0]["text"])], capped["content"][1])


def test_many_images_become_lines_within_the_cap():
    """S12: together they are held to the cap as texts are."""
    image = {"image": {"format": "jpeg", "source": {"bytes": bytes(90_000)}}}
    capped = cap_tool_result({"toolUseId": "a", "content": [image] * 40}, 8_000)
    assert [{"text": "[image: jpeg, 90,000 bytes]"}] * 40 == capped["content"]


def test_json_without_room_for_its_type_becomes_a_text():
    """S13: a preview of its compact form, never JSON cut in the middle of its structure."""
    capped = cap_tool_result({"toolUseId": "a", "content": [{"json": {"key" * 9: "y" * 900}}]}, 64)
    assert {"text"} == set(capped["content"][0])
    assert '{"keykeykey' == capped["content"][0]["text"][:11]


def test_items_that_are_too_many_for_a_floor_each_are_joined():
    """Twenty texts and an image in a cap of 100 become one text; what no cap knows stays."""
    image, unknown = {"image": {"format": "png", "source": {"bytes": bytes(900)}}}, {"unheard_of": 1}
    capped = cap_tool_result({"toolUseId": "a", "content": [*[{"text": "found it"}] * 20, unknown, image]}, 100)
    text, other = capped["content"]
    assert ("found it", "[image: png, 900 bytes]", unknown) == (text["text"][:8], text["text"][-23:], other)
    assert result_bytes(capped) <= 100
