"""Laws of caps: every promise of the docstrings, at every edge."""

from __future__ import annotations

import copy
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strands_ctx.capping.media import media_weight
from strands_ctx.capping.messages import cap_message, cap_texts, text_bytes
from strands_ctx.capping.results import cap_tool_result, result_bytes
from strands_ctx.capping.text import cap_text, count_bytes
from tests.builders import ids

from .strategies import any_texts, legal_logs, tool_results

MARKER = re.compile(r"(?=(\n\[\.\.\. ([\d,]+) of ([\d,]+) bytes shown \.\.\.\]\n))")
"""Found at every place, since a text may hold a part of a marker that shares a line end with ours."""
PIECES = {
    "ascii": "abcdefghij",
    "cjk": "漢字仮名交文",
    "emoji": "👩‍👩‍👧🇫🇷👍🏽",
    "accents": "e\u0301o\u0308",
    "surrogates": "a\ud800b\udfff",
    "markers": "\n[... 29 of 77,777 bytes shown ...]\n",
    "white": " \n\t",
}
KEEPS = ("head_tail", "head", "tail")


def size(text: str) -> int:
    """UTF-8 bytes, three for a lone surrogate."""
    return len(text.encode("utf-8", "surrogatepass"))


def broken_promises(text: str, cap: int, keep: str) -> list[str]:
    """The promises of ``cap_text`` that do not hold for one text and cap."""
    capped = cap_text(text, cap, keep=keep)
    if size(text) <= cap:
        return [] if capped is text else ["a text that fits is not the same object"]
    broken = []
    if size(capped) > cap:
        broken.append(f"{size(capped)} bytes")
    if capped.encode("utf-8", "replace").decode() != capped:
        broken.append("not valid UTF-8")
    if capped.isspace():
        broken.append("blank")
    if cap_text(capped, cap, keep=keep) is not capped:
        broken.append("capped again it changes")
    marker = next((m for m in MARKER.finditer(capped) if number(m[3]) == size(text)), None)
    if marker is None:
        return [*broken, "no marker with the total"]
    head, tail = capped[: marker.start()], capped[marker.end(1) :]
    if size(head) + size(tail) != number(marker[2]):
        broken.append("a wrong number of bytes shown")
    plain = text.encode("utf-8", "replace").decode()
    if not plain.startswith(head) or not plain.endswith(tail):
        broken.append("shows what is not in the text")
    if (keep == "head" and tail) or (keep == "tail" and head):
        broken.append("keeps the wrong end")
    return broken


def number(digits: str) -> int:
    """A number with commas."""
    return int(digits.replace(",", ""))


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("kind", PIECES)
def test_a_capped_text_keeps_every_promise(kind, keep):
    """Lengths 0 to 2,000 by caps 64 to 2,000, and one byte or character either side of each cap."""
    piece, broken = PIECES[kind], {}
    for cap in (64, 65, 66, 67, 99, 100, 101, 128, 400, 999, 1_000, 1_001, 2_000):
        whole = piece * 2_001
        lengths = {*range(0, 2_001, 83), *range(60, 72), cap - 1, cap, cap + 1, cap // 3, cap // 3 + 1, cap // 4 + 1}
        for length in lengths:
            if problems := broken_promises(whole[:length], cap, keep):
                broken[length, cap] = problems
    assert {} == broken


@pytest.mark.parametrize("kind", ["ascii", "cjk", "emoji"])
def test_no_text_grows_at_any_edge(kind):
    """S16: every cap from 64 to 2,000 with texts of a byte or character less, as much, and more."""
    whole, broken = PIECES[kind] * 400, {}
    for cap in range(64, 2_001):
        fitting = len(whole.encode()[:cap].decode(errors="ignore"))
        for length in range(fitting - 1, fitting + 3):
            if problems := broken_promises(whole[:length], cap, "head_tail"):
                broken[length, cap] = problems
    assert {} == broken


@given(
    st.text(max_size=60),
    st.text(st.characters(), min_size=1, max_size=4),
    st.integers(1, 3_000),
    st.integers(64, 2_000),
)
def test_any_text_keeps_every_promise(start, piece, repeats, cap):
    """Any characters at all, lone surrogates too."""
    text = start + piece * repeats
    assert [] == [problem for keep in KEEPS for problem in broken_promises(text, cap, keep)]


@given(st.text(st.characters(exclude_categories=())))
def test_bytes_are_counted_as_utf8(text):
    """Three for a lone surrogate."""
    assert size(text) == count_bytes(text)


def test_a_text_of_a_hundred_megabytes_still_fits_the_smallest_cap():
    """The marker leaves room for its own numbers, whatever they are."""
    assert [] == broken_promises("x" * 100_000_000, 64, "head_tail")


@given(tool_results("call"), st.integers(64, 4_000))
def test_a_capped_result_keeps_its_id_status_and_other_keys(block, cap):
    """Only its content changes; the cap holds, and holds the second time without a change."""
    whole = block["toolResult"]
    before = copy.deepcopy(whole)
    capped = cap_tool_result(whole, cap)
    assert before == whole
    if capped is None:
        assert min(result_bytes(whole), cap) == result_bytes(whole)
        return
    assert min(result_bytes(capped), cap) == result_bytes(capped)
    assert {k: v for k, v in whole.items() if k != "content"} == {k: v for k, v in capped.items() if k != "content"}
    images = [item for item in whole["content"] if "image" in item]
    assert [] == [item for item in capped["content"] if "image" in item and item not in images]
    assert [] == [item for item in capped["content"] if "text" in item and not item["text"].strip()]
    assert None is cap_tool_result(capped, cap)


@given(legal_logs(max_turns=2), st.integers(64, 2_000))
def test_a_capped_message_is_the_same_object_or_smaller(log, cap):
    """Its numbers are right, and nothing but results changes."""
    before = copy.deepcopy(log)
    for message in log:
        capped, results, dropped = cap_message(message, dict.fromkeys(ids([message], "toolResult"), cap))
        others = [block for block in message["content"] if "toolResult" not in block]
        assert (not results) == (capped is message)
        assert others == [block for block in capped["content"] if "toolResult" not in block]
        assert (message["role"], text_bytes(message) - dropped) == (capped["role"], text_bytes(capped))
    assert before == log


@given(legal_logs(max_turns=2), st.integers(64, 6_000))
def test_texts_of_a_message_capped_together_share_the_cap(log, cap):
    """Together within the cap or the floor of 64 bytes each; none larger than it was."""
    for message in log:
        calls = ids([message], "toolResult")
        capped = cap_texts(message, cap, calls)
        floor = 64 * len(message["content"])
        before, after = text_bytes(message, calls, media_weight), text_bytes(capped, calls, media_weight)
        assert min(before, after, max(cap, floor)) == after
        if before <= cap:
            assert capped is message


@given(any_texts(2_000), st.integers(64, 500))
def test_a_cap_never_leaves_half_a_code_point(text, cap):
    """Every character of a capped text but its marker is one of the text, or stands for a lone surrogate."""
    marker = set("\n[... 0123456789, of bytes shown ...]\n")
    assert set() == set(cap_text(text, cap)) - set(text) - marker - {"?"}
