"""Harvest a run that dies: its results and its messages are kept, saved, and gone on with in another agent.

A provider's window ends the first run in the middle. What it achieved is saved as JSON and finished by an agent whose
manager keeps the window. Under a manager that removes messages there is no honest delta, and the bank still has every
result. Runs offline.
"""

from __future__ import annotations

import json
import logging
import tempfile
from pathlib import Path

from strands import Agent, tool
from strands.agent.conversation_manager import (
    ConversationManager,
    NullConversationManager,
    SlidingWindowConversationManager,
)

from strands_ctx import PerTurnManager
from strands_ctx.bank import ToolResultBank
from strands_ctx.harvest import RunOutcome, run
from strands_ctx.testing import ToolCall, WindowModel
from strands_ctx.types import Messages

SOURCES = 40
WINDOW_TOKENS = 60_000


@tool
def read_source(number: int) -> str:
    """Read one source of the dossier.

    Args:
        number: Its number.
    """
    return "\n".join(f"source {number}, hour {hour}: derated to {hour % 90} kW" for hour in range(150))


def make_agent(
    manager: ConversationManager, bank: ToolResultBank, first: int = 0, messages: Messages | None = None
) -> Agent:
    """Make an agent that reads the sources from a number on."""
    reads = [ToolCall("read_source", {"number": number}) for number in range(first, SOURCES)]
    return Agent(
        # A lenient provider, so that the manager which breaks the history gets as far as its end.
        model=WindowModel([*reads, "The sources agree."], context_window_limit=WINDOW_TOKENS, strict=False),
        tools=[read_source],
        conversation_manager=manager,
        hooks=[bank],
        messages=messages,  # type: ignore[arg-type]
        callback_handler=None,
    )


def show(name: str, outcome: RunOutcome) -> None:
    delta = "no honest delta" if outcome.new_messages is None else f"{len(outcome.new_messages)} new messages"
    print(f"{name}: {outcome.status} ({outcome.reason}), {delta}, {len(outcome.tool_results or ())} results banked")


def main() -> None:
    logging.getLogger("strands_ctx").addHandler(logging.NullHandler())  # the outcome says what the log would
    bank = ToolResultBank()
    killed = run(make_agent(NullConversationManager(), bank), "What do the sources say?", bank=bank)
    show("no manager", killed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.json")
        path.write_text(json.dumps(killed.new_messages), encoding="utf-8")
        messages = json.loads(path.read_text(encoding="utf-8"))
    rest = make_agent(PerTurnManager(), bank, first=len(killed.tool_results or ()), messages=messages)
    show("PerTurnManager, from there", run(rest, "Go on with what is missing.", bank=bank))
    trimming = make_agent(SlidingWindowConversationManager(window_size=10), bank)
    show("SlidingWindowConversationManager", run(trimming, "What do the sources say?", bank=bank))


if __name__ == "__main__":
    main()
