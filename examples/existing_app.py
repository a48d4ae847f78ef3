"""An existing app gets another conversation manager, and nothing else of it changes.

Runs offline: the model is scripted, and refuses what a provider with a window of 60,000 tokens would refuse.
"""

from __future__ import annotations

from typing import Any

from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager

from strands_ctx import PerTurnManager
from strands_ctx.testing import ToolCall, WindowModel

SOURCES = 40


@tool
def read_source(number: int) -> str:
    """Read one source of the dossier.

    Args:
        number: Its number.
    """
    return "\n".join(f"source {number}, hour {hour}: derated to {hour % 90} kW" for hour in range(150))


def model() -> WindowModel:
    calls = [ToolCall("read_source", {"number": number}) for number in range(SOURCES)]
    return WindowModel([*calls, f"All {SOURCES} sources name the same fault."], context_window_limit=60_000)


def answer(conversation_manager: Any) -> str:
    """The app: one agent, one prompt. Only the manager is an argument here, so that both can be shown."""
    agent = Agent(
        model=model(),
        tools=[read_source],
        system_prompt="You read dossiers.",
        conversation_manager=conversation_manager,  # the only line that an app changes
        callback_handler=None,
    )
    try:
        outcome = str(agent("Which fault do the sources name?")).strip()
    except Exception as error:  # noqa: BLE001 - an example shows whatever ends a run
        outcome = f"{type(error).__name__}: {error}"
    return f"{outcome} [{len(agent.messages)} messages in the log]"


def main() -> None:
    manager = PerTurnManager()
    print("before:", answer(NullConversationManager()))
    print("after: ", answer(manager))


if __name__ == "__main__":
    main()
