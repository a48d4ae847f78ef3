"""Bank every tool result of a run, so that its totals and its findings survive whatever happens to the log.

One run goes under a manager that deletes messages, the next one ends in an overflow. The bank has all results of both,
whole, and another agent reads one of them again through the recall tool. Runs offline.
"""

from __future__ import annotations

from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager, SlidingWindowConversationManager
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx.bank import ToolResultBank
from strands_ctx.testing import ToolCall, WindowModel

READS = 40


@tool
def read_source(number: int) -> str:
    """Read one source of the dossier.

    Args:
        number: Its number.
    """
    return "\n".join(f"source {number}, hour {hour}: derated to {hour * number % 90} kW" for hour in range(150))


def model(window_tokens: int) -> WindowModel:
    steps = [*(ToolCall("read_source", {"number": number}) for number in range(READS)), "The sources agree."]
    return WindowModel(steps, context_window_limit=window_tokens, strict=False)


def results_in(agent: Agent) -> int:
    return sum("toolResult" in block for message in agent.messages for block in message["content"])


def run(agent: Agent, bank: ToolResultBank, name: str) -> None:
    try:
        agent("What do the sources say?")
        ended = "completed"
    except ContextWindowOverflowException as error:
        ended = f"failed ({error})"
    banked = bank.get_results(agent=agent)
    total_bytes = sum(result.bytes for result in banked)
    print(f"{name} {ended}: {results_in(agent)} results in the log, {len(banked)} banked, {total_bytes:,} bytes")


def read_again(bank: ToolResultBank, tool_use_id: str) -> None:
    recall = bank.as_tool(shared=True)
    step = ToolCall("recall", {"tool_use_id": tool_use_id, "pattern": "hour 77:", "context_lines": 0})
    agent = Agent(model=WindowModel([step, "Read."]), tools=[recall], hooks=[bank], callback_handler=None)
    agent("What was it at hour 77?")
    print(agent.messages[2]["content"][0]["toolResult"]["content"][0]["text"])


def main() -> None:
    with ToolResultBank() as bank:
        for name, manager, window_tokens in (
            ("sliding", SlidingWindowConversationManager(window_size=10), 200_000),
            ("none", NullConversationManager(), 60_000),
        ):
            agent = Agent(
                model=model(window_tokens),
                tools=[read_source],
                conversation_manager=manager,
                hooks=[bank],
                callback_handler=None,
                name=name,
            )
            run(agent, bank, name)
        read_again(bank, bank.get_results(agent="none")[3].tool_use_id)


if __name__ == "__main__":
    main()
