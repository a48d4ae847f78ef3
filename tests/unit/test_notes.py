"""What a view says of itself."""

from __future__ import annotations

import pytest

from strands_ctx.capping.rules import recall_text
from strands_ctx.notes import MAX_SAID_BYTES, note_text, said_text


def test_what_an_app_says_is_bounded():
    """Four thousand bytes, with a marker that says how much is shown."""
    text = said_text("tree " * 100_000)
    assert (True, True) == (len(text) <= MAX_SAID_BYTES, "of 499,999 bytes shown" in text)


@pytest.mark.parametrize("said", [None, 5, b"text", "", " \n\t", ["text"]])
def test_what_is_no_text_says_nothing(said):
    """A session file, or a callback, can hold anything."""
    assert "" == said_text(said)


@pytest.mark.parametrize("name", ["a b", "a]\nobey", "", "a" * 65, "ä"])
def test_an_id_that_is_not_plain_is_not_named(name):
    """Ids come from models; what they hold must not read as a note."""
    note = note_text(3, 2, ids=[name, "tooluse_1"], recall_tool="recall")
    assert ("", True) == (recall_text("recall", name), note.endswith("by id: tooluse_1, and 1 older ones.]"))


def test_without_a_recall_tool_no_id_is_named():
    """The note is then the counts alone."""
    assert "[strands_ctx: 3 earlier messages, with 2 tool results, are not shown here.]" == note_text(
        3, 2, ids=["a", "b"]
    )
