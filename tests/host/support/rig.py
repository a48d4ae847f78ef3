"""A real agent under one of the managers, with scripted answers, live tools and faults on demand."""

from __future__ import annotations

from typing import Any

from strands import Agent, tool

from strands_ctx import BudgetSuffixManager, CapToolResultsManager, DeltaAnchor, PerTurnManager
from strands_ctx.testing import ToolCall, WindowModel

from .watch import LogWatch

BUDGET_TOKENS = 1_500
LOG_CAP_BYTES = 512

MANAGERS = {
    "cap": lambda: CapToolResultsManager(LOG_CAP_BYTES),
    "suffix": lambda: BudgetSuffixManager(BUDGET_TOKENS),
    "suffix, capped log": lambda: BudgetSuffixManager(BUDGET_TOKENS, max_bytes_per_result=LOG_CAP_BYTES),
    "per_turn": lambda: PerTurnManager(BUDGET_TOKENS, recent_tokens=300, old_result_max_bytes=100),
    "per_turn, capped log": lambda: PerTurnManager(
        BUDGET_TOKENS, recent_tokens=300, old_result_max_bytes=100, max_bytes_per_result=LOG_CAP_BYTES
    ),
}

CAPS_LOG = {"cap", "suffix, capped log", "per_turn, capped log"}

WORDS = ["alder", "birch", "cedar", "dogwood", "elm", "fir", "ginkgo", "hazel", "iris", "juniper", "maple", "oak"]


def text_of(size: int, seed: int = 0) -> str:
    """Make a text of exactly so many bytes."""
    words = " ".join(WORDS[seed % len(WORDS) :] + WORDS[: seed % len(WORDS)]) + " "
    return (words * (size // len(words) + 1))[:size]


@tool
def fetch(size: int) -> str:
    """Fetch a text.

    Args:
        size: How many bytes.
    """
    return text_of(size, seed=size)


@tool
def broken() -> str:
    """Fail."""
    raise ValueError("this tool is broken")


@tool(context=True)
def nested(size: int, tool_context: Any) -> str:
    """Fetch a text through another tool, unrecorded, in the middle of a run.

    Args:
        size: How many bytes.
    """
    result = tool_context.agent.tool.fetch(size=size, record_direct_tool_call=False)
    return result["content"][0]["text"]


class FaultyModel(WindowModel):
    """A scripted model that does something in the middle of its stream, once, when a test asks for it."""

    def __init__(self, script=(), **kwargs):
        super().__init__(script, **kwargs)
        self.at_event: tuple[int, Any] | None = None

    def say(self, *steps):
        """Replace what is left of the script."""
        self.script = (*self.script[: self.position], *steps)

    async def stream(self, *args, **kwargs):
        fault, self.at_event = self.at_event, None
        number = 0
        async for event in super().stream(*args, **kwargs):
            number += 1
            if fault and number == fault[0]:
                await fault[1]()
            yield event

    @property
    def refused(self):
        """What a strict provider found wrong with the agent's requests."""
        return [violation for request in self.requests if not request.side for violation in request.violations]


def fetches(*sizes):
    """One tool call after the other."""
    return [ToolCall("fetch", {"size": size}) for size in sizes]


class Rig:
    """An agent, its model and its manager, under watch."""

    def __init__(
        self, kind: str = "per_turn", /, *, manager: Any = None, model: Any = None, tools=(), **agent_arguments
    ):
        self.model = model or FaultyModel(context_window_limit=20_000)
        self.manager = manager or MANAGERS[kind]()
        self.agent = Agent(
            model=self.model,
            tools=[fetch, broken, nested, *tools],
            conversation_manager=self.manager,
            callback_handler=None,
            **agent_arguments,
        )
        self.watch = LogWatch(self.agent, caps_log=kind in CAPS_LOG)
        self.agent.callback_handler = self.watch.on_stream
        self.anchors: list[tuple[DeltaAnchor, int]] = []

    def mark(self) -> None:
        """Mark the log before a run; what the run then adds is compared with what was reported message by message."""
        self.anchors.append((DeltaAnchor.mark(self.agent), len(self.watch.added)))

    def run(self, prompt: Any = "Go on.", *steps: Any, **kwargs: Any) -> Any:
        """Invoke the agent."""
        self.mark()
        self.model.say(*steps)
        return self.agent(prompt, **kwargs)

    async def run_async(self, prompt: Any = "Go on.", *steps: Any, **kwargs: Any) -> Any:
        """Invoke the agent from a running event loop."""
        self.mark()
        self.model.say(*steps)
        return await self.agent.invoke_async(prompt, **kwargs)

    def fill(self) -> None:
        """Make a first run whose results take more than the budget, so that later views are managed."""
        self.run("Collect the texts.", *fetches(1_600, 1_700, 1_800, 1_900), "All collected.")

    @property
    def views(self):
        """The messages of every request of the agent, in order."""
        return [list(request.messages) for request in self.model.requests if not request.side]

    def broken_laws(self) -> list[str]:
        """Everything that was found wrong: with the log, with a delta, with a request."""
        self.watch.look("end")
        found = [*self.watch.found, *self.model.refused]
        for anchor, count in self.anchors:
            delta, added = anchor.delta(self.agent), self.watch.added[count:]
            if [id(message) for message in delta] != [id(message) for message in added]:
                found.append(f"the delta has {len(delta)} messages, {len(added)} were added")
        return found
