"""Where a text is cut, by hand."""

from __future__ import annotations

import pytest

from strands_ctx.capping.text import cap_text

FAMILY = "👩‍👩‍👧"
CHARACTERS = {
    "joined emoji": FAMILY,
    "skin tone": "👍🏽",
    "flag": "🇫🇷",
    "flag of a region": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "keycap": "1\ufe0f\u20e3",
    "accent": "e\u0301",
    "two accents": "o\u0308\u0304",
    "vowel sign": "की",
    "jamo": "\u1112\u1161\u11ab",
    "jamo, two first consonants": "\u1100\u1112\u1161",
    "jamo before a syllable": "\u1100가",
    "jamo, extended": "\ud7b0\ud7cb",
    "Thai vowel": "น\u0e33",
    "conjunct": "क्ष",
    "sign before digits": "\u0600١",
    "half-width voicing": "ｶﾞ",
    "surrogate pair": "\ud83d\ude00",
}


def ends(capped: str) -> tuple[str, str]:
    """What stands before and after the marker."""
    head, _, rest = capped.partition("\n[... ")
    return head, rest.partition(" ...]\n")[2]


@pytest.mark.parametrize("keep", ["head_tail", "head", "tail"])
@pytest.mark.parametrize("name", CHARACTERS)
def test_a_character_is_never_cut_apart(name, keep):
    """S18: at every cap, each end is a number of whole characters."""
    character = CHARACTERS[name]
    whole = character.encode("utf-8", "replace").decode()
    cut_apart = {}
    for cap in range(64, 200):
        head, tail = ends(cap_text(character * 500, cap, keep=keep))
        if head.replace(whole, "") or tail.replace(whole, ""):
            cut_apart[cap] = head, tail
    assert {} == cut_apart


def test_flags_are_counted_from_where_they_begin():
    """A letter before ten thousand flags shifts none of them."""
    head, tail = ends(cap_text("x" + "🇫🇷" * 10_000, 100))
    assert ("x", "", "") == (head.replace("🇫🇷", ""), tail.replace("🇫🇷", ""), head[1:].replace("🇫🇷", ""))


def test_room_that_the_head_leaves_goes_to_the_tail():
    """Neither end of 14 bytes holds a character of 18, both together do."""
    assert f"\n[... 18 of 1,800 bytes shown ...]\n{FAMILY}" == cap_text(FAMILY * 100, 64)


def test_a_pile_of_marks_is_cut_anywhere():
    """Nothing that is read as one character is that long, and nothing would be shown."""
    text = "e" + "\u0301" * 1_000_000
    head, tail = ends(cap_text(text, 400))
    assert (True, True) == (len(head) > 80, len(tail) > 80)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_text_of_lines_is_cut_between_lines(end):
    """Both ends show whole lines, at every cap that has room for four."""
    lines = [f"line number {number}" for number in range(100, 200)]
    torn = {}
    for cap in range(160, 600):
        head, tail = ends(cap_text(end.join(lines), cap))
        if set(head.split(end) + tail.split(end)) - set(lines):
            torn[cap] = head, tail
    assert {} == torn


def test_a_tail_that_begins_a_line_loses_none():
    """Where the cut falls just behind a line end it stays, so that every tenth cap is filled."""
    text = "123456789\n" * 100
    assert 10 == sum(cap == len(cap_text(text, cap, keep="tail")) for cap in range(200, 300))


def test_a_far_line_end_is_no_place_to_cut():
    """A line end that would leave more than a quarter of the room unused is passed by."""
    text = "a" * 20 + "\n" + "b" * 1_000 + "\n" + "c" * 20
    assert 200 == len(cap_text(text, 200))


def test_a_near_line_end_costs_at_most_a_quarter():
    """Whatever the lengths of lines, a capped text fills three quarters of what its marker leaves."""
    waste = {}
    for width in range(1, 120):
        capped = cap_text(("x" * width + "\n") * 200, 400)
        if len(capped) < 36 + 0.75 * (400 - 36) - 1:
            waste[width] = len(capped)
    assert {} == waste


def test_a_lone_surrogate_is_replaced_where_a_text_is_cut():
    """S18: valid UTF-8 out."""
    assert "?" * 15 == cap_text("\ud800" * 500, 64)[:15]
