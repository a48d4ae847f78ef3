"""One manager per sub-agent: each gets the budget that its work needs, and keeps its own log.

The lead delegates to two agents as tools. The reader makes many calls with large results; the writer holds a short
chat. Runs offline.
"""

from __future__ import annotations

from strands import Agent, tool

from strands_ctx import BudgetSuffixManager, PerTurnManager
from strands_ctx.testing import ToolCall, WindowModel


@tool
def read_source(number: int) -> str:
    """Read one source of the dossier.

    Args:
        number: Its number.
    """
    return "\n".join(f"source {number}, hour {hour}: derated to {hour % 90} kW" for hour in range(150))


def reader() -> Agent:
    calls = [ToolCall("read_source", {"number": number}) for number in range(30)]
    return Agent(
        name="reader",
        description="Reads the dossier and reports what it says.",
        model=WindowModel([*calls, "Thirty sources name a cooling fault."]),
        tools=[read_source],
        conversation_manager=PerTurnManager(30_000, recent_tokens=4_000),
        callback_handler=None,
    )


def writer() -> Agent:
    return Agent(
        name="writer",
        description="Writes the finding as one sentence.",
        model=WindowModel(["Cooling faults derate the sites."]),
        conversation_manager=BudgetSuffixManager(10_000),
        callback_handler=None,
    )


def main() -> None:
    agents = [reader(), writer()]
    script = [
        ToolCall("reader", {"input": "Read all sources."}),
        ToolCall("writer", {"input": "Write down: a cooling fault, in thirty sources."}),
        "Cooling faults derate the sites: thirty sources say so.",
    ]
    lead = Agent(
        name="lead",
        model=WindowModel(script),
        tools=[agent.as_tool() for agent in agents],
        conversation_manager=PerTurnManager(),
        callback_handler=None,
    )
    print(str(lead("What derates the sites?")).strip())
    for agent in (lead, *agents):
        last = agent.conversation_manager.receipts(agent)[-1]
        print(
            f"{agent.name}: {len(agent.messages)} messages in the log, calls {last.call}, "
            f"last view {last.view_messages} messages, capped results {last.capped_results}"
        )


if __name__ == "__main__":
    main()
