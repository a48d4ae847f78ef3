"""Parts of a text, by lines and around a pattern."""

from __future__ import annotations

import pytest

from strands_ctx.bank._excerpts import MAX_LINE_CHARS, MIN_BODY_BYTES, Excerpt, Lines

TEXT = "\n".join(f"line {number}" for number in range(1, 101))


def test_lines_are_counted_as_they_are_written():
    """A newline at the end ends the last one."""
    assert [1, 1, 2, 1, 2] == [len(Lines(text)) for text in ("", "a", "a\nb", "a\n", "a\n\n")]


def test_a_long_line_is_several():
    """So that each part of a text without newlines can be asked for."""
    lines = Lines("x" * 2 * MAX_LINE_CHARS + "y")
    assert (3, "y", "x" * MAX_LINE_CHARS) == (len(lines), lines.line(3), lines.line(1))


def test_a_window_is_the_text_itself():
    """From line to line, with nothing put in."""
    assert Excerpt("line 3\nline 4", 3, 4, None) == Lines(TEXT).window(3, 4, 2_000)


def test_a_window_that_does_not_fit_says_where_to_go_on():
    """Going on from there gives the rest."""
    lines = Lines(TEXT)
    first = lines.window(1, 100, 69)
    rest = lines.window(first.next, 100, 2_000)
    assert (Excerpt("\n".join(f"line {n}" for n in range(1, 10)), 1, 9, 10), TEXT) == (
        first,
        f"{first.body}\n{rest.body}",
    )


def test_a_pattern_is_found_literally_with_lines_around():
    """Numbered; a gap is marked; what two places share is shown once."""
    found = Lines("a\nb.\nc\nd\ne\nf\nb.\ng\nb.\nh").search("b.", 1, 10, 1, 2_000)
    assert "1: a\n2: b.\n3: c\n...\n6: f\n7: b.\n8: g\n9: b.\n10: h" == found.body


@pytest.mark.parametrize("pattern", [".*", "b+", "(a+)+$", "[", "\\", "%"])
def test_a_pattern_is_no_regular_expression(pattern):
    """Signs that have a meaning there are found as they are."""
    assert ("2: x" + pattern, "") == (
        Lines(f"bbb\nx{pattern}\naaa").search(pattern, 1, 3, 0, 2_000).body,
        Lines("bbb aaa").search(pattern, 1, 1, 0, 2_000).body,
    )


def test_a_pattern_across_lines_shows_them_all():
    """Also one that a long line was cut in."""
    wrapped = "x" * (MAX_LINE_CHARS - 2) + "needle"
    assert ("1: a\n2: b", 2) == (
        Lines("a\nb\nc").search("a\nb", 1, 3, 0, 2_000).body,
        Lines(wrapped).search("needle", 1, 2, 0, 2_000).last,
    )


def test_a_search_goes_on_where_it_stopped():
    """Each place is shown once, in parts that fit."""
    lines, rows, start = Lines(TEXT), [], 1
    while start:
        part = lines.search("line", start, 100, 0, 60)
        rows += part.body.split("\n")
        start = part.next
    assert [f"{n}: line {n}" for n in range(1, 101)] == rows


def test_lone_surrogates_are_replaced():
    """What a provider would refuse is not handed out."""
    assert "a?b" == Lines("a\ud800b").text


def test_the_smallest_body_holds_any_line():
    """Of the widest characters, with its number."""
    lines = Lines("\U0001f600" * MAX_LINE_CHARS)
    assert (1, 1) == (
        lines.window(1, 1, MIN_BODY_BYTES).last,
        lines.search("\U0001f600", 1, 1, 0, MIN_BODY_BYTES).last,
    )
