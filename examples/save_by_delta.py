"""Save each run by its delta: the messages that it added, exactly, or an error that says why they can't be told.

The same app runs under this library's manager and under one that removes messages: the second slice is refused, where a
slice from a remembered length would have stored the wrong messages. Runs offline.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from strands import Agent, tool
from strands.agent.conversation_manager import SlidingWindowConversationManager

from strands_ctx import AnchorError, DeltaAnchor, PerTurnManager
from strands_ctx.testing import ToolCall, WindowModel

READS = 12


@tool
def read_source(number: int) -> str:
    """Read one source of the dossier.

    Args:
        number: Its number.
    """
    return "\n".join(f"source {number}, hour {hour}: derated to {hour % 90} kW" for hour in range(150))


def model() -> WindowModel:
    run = [*(ToolCall("read_source", {"number": number}) for number in range(READS)), "The sources agree."]
    # A lenient provider, so that the manager which breaks the history gets as far as the slice.
    return WindowModel([*run, *run], strict=False)


def save_run(agent: Agent, prompt: str, path: Path) -> str:
    """Run an agent, and append what the run added to a file, also when the run fails."""
    anchor = DeltaAnchor.mark(agent)
    try:
        agent(prompt)
    finally:
        added = anchor.delta(agent)
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(message, ensure_ascii=False) + "\n" for message in added)
    return f"saved {len(added)} messages"


def outcome(agent: Agent, prompt: str, path: Path) -> str:
    try:
        return save_run(agent, prompt, path)
    except AnchorError as error:
        return f"refused: {error.change}"


def save_two_runs(conversation_manager: Any, path: Path) -> list[str]:
    agent = Agent(model=model(), tools=[read_source], conversation_manager=conversation_manager, callback_handler=None)
    return [outcome(agent, prompt, path) for prompt in ("What do the sources say?", "Read them again, please.")]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, manager in {
            "PerTurnManager": PerTurnManager(20_000),
            "SlidingWindowConversationManager": SlidingWindowConversationManager(window_size=10),
        }.items():
            path = Path(folder, f"{name}.jsonl")
            outcomes = save_two_runs(manager, path)
            stored = len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0
            print(f"{name}: {', '.join(outcomes)}; {stored} messages stored")


if __name__ == "__main__":
    main()
