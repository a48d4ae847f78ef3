"""What a view says of itself: notes that state facts and give no instruction.

A note must not be forged nor broken by what it names: ids are shown only where they are plain.
"""

from __future__ import annotations

from collections.abc import Sequence

from .capping.rules import PLAIN_ID
from .capping.text import cap_text
from .messages import is_blank

MAX_NAMED_IDS = 20
"""Most ids that a note of omission names, the newest; a recall tool lists the others."""

MAX_SAID_BYTES = 4_000
"""Most of what an app says of omitted messages that a note holds."""


def note_text(
    omitted_messages: int, omitted_results: int, *, ids: Sequence[str] = (), recall_tool: str = "", said: str = ""
) -> str:
    """Word the note that stands where messages are left out.

    Args:
        omitted_messages: How many messages of the log are not in the view.
        omitted_results: How many tool results are among them.
        ids: Ids of the newest of these results, oldest first.
        recall_tool: The tool that reads results by id; empty for none.
        said: What the app wants said of the omitted messages.

    Returns:
        One line, and what the app said below it.
    """
    messages = "1 earlier message" if omitted_messages == 1 else f"{omitted_messages:,} earlier messages"
    results = "1 tool result" if omitted_results == 1 else f"{omitted_results:,} tool results"
    verb = "is" if omitted_messages == 1 else "are"
    facts = f"{messages}{f', with {results},' if omitted_results else ''} {verb} not shown here."
    named = [name for name in ids if PLAIN_ID.fullmatch(name)][-MAX_NAMED_IDS:]
    if recall_tool and named:
        others = omitted_results - len(named)
        listed = f"{', '.join(named)}{f', and {others:,} older ones' if others else ''}"
        facts += f" The results can be read with {recall_tool} by id: {listed}."
    return f"[strands_ctx: {facts}]{f'{chr(10)}{said}' if said else ''}"


def said_text(said: object) -> str:
    """Take what an app, or the session of one, says of omitted messages: bounded, and no forged note of ours."""
    if not isinstance(said, str) or is_blank(said):
        return ""
    text = said.encode("utf-8", "replace").decode().strip()  # a lone surrogate could not be stored
    return cap_text(text.replace("[strands_ctx", "(strands_ctx"), MAX_SAID_BYTES)
