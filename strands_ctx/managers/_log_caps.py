"""The only edit of a log: capping the content of tool results of finished runs, where that was asked for."""

from __future__ import annotations

from collections.abc import Collection

from strands_ctx.capping import cap_message
from strands_ctx.messages import tool_names
from strands_ctx.types import Keep, Messages


def cap_log(
    messages: Messages, start: int, stop: int, *, max_bytes: int, exempt_tools: Collection[str], keep: Keep
) -> tuple[int, int]:
    """Cap the tool results of a range of a log in place.

    Messages and their content lists stay the same objects. The dictionary of a capped result is replaced and not
    changed, because whoever recorded the result may hold it.

    Args:
        messages: The log.
        start: First index.
        stop: Index after the last.
        max_bytes: The cap of each result.
        exempt_tools: Names of tools whose results stay whole.
        keep: Which end of a text stays.

    Returns:
        How many results were capped, and how many bytes are gone.
    """
    capped = dropped = 0
    for index in range(start, min(stop, len(messages))):
        message = messages[index]
        ids = [str(b["toolResult"].get("toolUseId", "")) for b in message["content"] if "toolResult" in b]
        if not ids:
            continue
        names = tool_names(messages[index - 1]) if index and exempt_tools else {}
        caps = {result_id: max_bytes for result_id in ids if names.get(result_id) not in exempt_tools}
        shorter, results, lost = cap_message(message, caps, keep=keep)
        if results:
            message["content"][:] = shorter["content"]
            capped, dropped = capped + results, dropped + lost
    return capped, dropped
