"""Cases from the field, R1 to R8: failures, sizes and bills of real agents, and agents that share a manager."""

from __future__ import annotations

import asyncio
import warnings

import pytest
from strands import hooks, tool
from strands.multiagent import GraphBuilder, Swarm
from strands.session import FileSessionManager

from strands_ctx import BudgetExceededError, BudgetSuffixManager, PerTurnManager
from strands_ctx.testing import ToolCall
from tests.builders import texts

from .support.rig import MANAGERS, FaultyModel, Rig, fetches, text_of
from .support.watch import outline

STORY = "Once upon a time. " * 20
TASK = f"Fetch. {text_of(7_000)}"
KINDS = ["cap", "per_turn", "suffix"]
DEFAULTS = {"per_turn": PerTurnManager, "suffix": BudgetSuffixManager}


@pytest.fixture(params=KINDS)
def kind(request):
    """The name of a manager."""
    return request.param


@pytest.fixture(params=sorted(DEFAULTS))
def budgeted(request):
    """The class of a manager with a budget."""
    return DEFAULTS[request.param]


@pytest.fixture
def stored(kind, tmp_path):
    """A rig with a session on disk, after a run whose results take more than the budget."""
    rig = Rig(kind, session_manager=FileSessionManager("s", storage_dir=str(tmp_path)))
    rig.watch.rebase()
    rig.fill()
    return rig


def unsaved(rig, folder):
    """What of the log is not on disk as it should be, and what there is of the story that was never told to its end."""
    session = FileSessionManager("s", storage_dir=str(folder))
    saved = [outline(each.to_message()) for each in session.list_messages("s", rig.agent.agent_id)]
    partial = [text for message in rig.agent.messages for text in texts(message) if "Once upon" in text]
    return saved == [outline(message) for message in rig.agent.messages], partial, rig.broken_laws()


async def abandon(rig):
    """A consumer stops reading in the middle of the answer."""
    rig.mark()
    rig.model.say(STORY)
    stream = rig.agent.stream_async("Tell a story.")
    async for event in stream:
        if "data" in event:
            break
    await stream.aclose()


async def cancel_task(rig):
    """The task is cancelled in the middle of the answer."""
    task = asyncio.ensure_future(rig.run_async("Tell a story.", STORY))

    async def cancel():
        task.cancel()
        await asyncio.sleep(0)

    rig.model.at_event = (4, cancel)
    with pytest.raises(asyncio.CancelledError):
        await task


async def cancel_agent(rig):
    """The agent is cancelled in the middle of the answer."""

    async def cancel():
        rig.agent.cancel()

    rig.model.at_event = (4, cancel)
    await rig.run_async("Tell a story.", STORY)


@pytest.mark.parametrize("interrupt", [abandon, cancel_task, cancel_agent], ids=lambda function: function.__name__)
def test_a_call_that_is_given_up_leaves_a_whole_log_and_nothing_partial(stored, interrupt, tmp_path):
    """R1: in memory and on disk, and the next run goes on."""
    asyncio.run(interrupt(stored))
    stored.run("Now go on.", "The end.")
    assert (True, [], []) == unsaved(stored, tmp_path)
    assert ["Now go on.", "The end."] == [texts(message)[0] for message in stored.agent.messages[-2:]]


def fail_once(rig, event_type):
    """Let a hook of the app raise at the next event of a type, or the model in the middle of its answer."""
    left = [OSError("no route")]

    async def fail(event=None):
        if left:
            raise left.pop()

    if event_type is None:
        rig.model.at_event = (4, fail)
    else:
        rig.agent.hooks.add_callback(event_type, fail)


@pytest.mark.parametrize(
    "event_type", [None, hooks.BeforeModelCallEvent, hooks.AfterModelCallEvent], ids=["model", "before", "after"]
)
def test_a_call_that_fails_leaves_a_whole_log_and_nothing_partial(stored, event_type, tmp_path):
    """R2: whether the model raises or a hook around its call, in memory and on disk, and the next run goes on."""
    fail_once(stored, event_type)
    with pytest.raises(OSError, match="no route"):
        stored.run("Tell a story.", STORY)
    stored.run("Now go on.", "The end.")
    assert (True, [], []) == unsaved(stored, tmp_path)
    shown = [text for message in stored.views[-1] for text in texts(message)]
    assert ["Tell a story.", "Now go on."] == shown[-2:]


def test_the_configured_output_is_reserved(budgeted):
    """R5: 9,000 tokens of output in a window of 20,000, and no request is refused while the log outgrows the rest."""
    rig = Rig(manager=budgeted(), model=FaultyModel(context_window_limit=20_000, max_tokens=9_000))
    rig.run("Fetch.", *fetches(*[4_000] * 20), "Fetched.")
    refused = [request.prompt_tokens for request in rig.model.requests if request.overflowed]
    assert ([], True, []) == (
        refused,
        rig.manager.receipts(rig.agent)[-1].log_tokens > 11_000,
        rig.broken_laws(),
    )


def test_an_unknown_window_is_the_hosts_default(budgeted):
    """R6: 200,000 less a margin, and one warning for each model, however many calls and agents it has."""
    manager = budgeted()
    rigs = [Rig(manager=manager, model=FaultyModel(context_window_limit=None)) for _ in range(3)]
    rigs[2].model.update_config(model_id="another-model")
    told = []
    for rig in rigs:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rig.run("Fetch.", *fetches(100, 100, 100), "Fetched.")
        told.append(sum("context_window_limit" in str(warning.message) for warning in caught))
    limits = {receipt.limit_tokens for rig in rigs for receipt in manager.receipts(rig.agent)}
    assert ({196_000}, [1, 0, 1]) == (limits, told)


@tool(description=text_of(6_000))
def wordy() -> str:
    """Need many words to be described."""
    return ""


@pytest.mark.parametrize(
    ("arguments", "part"),
    [({"system_prompt": text_of(6_000)}, "system"), ({"tools": [wordy]}, "tools")],
    ids=["system prompt", "tools"],
)
def test_what_fits_no_budget_is_named_by_a_typed_error(budgeted, arguments, part):
    """R6: the part that takes most, in tokens and in words; no request is made and the log keeps the prompt."""
    extra = {"recent_tokens": 300} if budgeted is PerTurnManager else {}
    rig = Rig(manager=budgeted(900, **extra), **arguments)
    with pytest.raises(BudgetExceededError, match=rf"shrink the [^,;]*{part}") as caught:
        rig.run("Hello.", "Hello.")
    assert (True, 0, []) == (getattr(caught.value, f"{part}_tokens") > 900, len(rig.model.requests), rig.broken_laws())


@pytest.mark.parametrize("usage", ["apart", "included"])
def test_cached_tokens_are_part_of_the_prompt_however_they_are_told(budgeted, usage):
    """R7: each receipt has what the provider counted, and from the fourth call on estimates are within 5 % of it."""
    rig = Rig(manager=budgeted(), model=FaultyModel(context_window_limit=200_000, usage=usage))
    rig.run("Fetch.", *fetches(*[3_000] * 12), "Fetched.")
    receipts = rig.manager.receipts(rig.agent)
    prompts = [request.prompt_tokens for request in rig.model.requests]
    assert (True, prompts) == (rig.model.requests[-1].cache_read_tokens > 0, [r.billed_tokens for r in receipts])
    assert [] == [r for r in receipts[3:] if abs(r.view_tokens - r.billed_tokens) > 0.05 * r.billed_tokens]


class BillingModel(FaultyModel):
    """A model that reports the usage which a function makes of the tokens that it was sent."""

    def __init__(self, report):
        super().__init__(context_window_limit=200_000)
        self.report = report

    async def stream(self, *args, **kwargs):
        async for event in super().stream(*args, **kwargs):
            if "metadata" in event:
                event["metadata"]["usage"] = self.report(self.requests[-1].prompt_tokens)
            yield event


def test_ten_tokens_beside_90_000_cached_ones_are_90_010(budgeted):
    """R7: in the usage of Bedrock and Anthropic."""
    usage = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15, "cacheReadInputTokens": 90_000}
    rig = Rig(manager=budgeted(), model=BillingModel(lambda sent: dict(usage)))
    rig.run("Hello.", "Hello.")
    assert [90_010] == [receipt.billed_tokens for receipt in rig.manager.receipts(rig.agent)]


def test_agents_that_run_at_once_under_one_manager_are_sent_what_each_would_be_alone(kind):
    """R8: in one event loop, twice."""
    sizes = {"one": (1_500, 1_600, 1_700, 1_800), "two": (700, 800, 900, 1_000, 1_100)}
    manager, views = MANAGERS[kind](), []
    together = [Rig(kind, manager=manager) for _ in sizes]
    alone = [Rig(kind) for _ in sizes]

    async def run():
        for rigs in (together, alone):
            for _ in range(2):
                runs = zip(rigs, sizes.values(), strict=True)
                await asyncio.gather(*(rig.run_async("Fetch.", *fetches(*each), "Fetched.") for rig, each in runs))
            views.append([rig.views for rig in rigs])

    asyncio.run(run())
    assert (views[1], [[], []]) == (views[0], [rig.broken_laws() for rig in together])


def visit_tool(parent, child):
    """Let one agent call another one as a tool twice."""
    helper = child.agent.as_tool(name="helper", description="Fetches.")
    parent.agent.tool_registry.register_tool(helper)
    parent.run("Delegate.", *[ToolCall("helper", {"input": "Fetch."})] * 2, "Done.")


def visit_graph(parent, child):
    """Let a graph visit its nodes twice, resetting them."""
    parent.model.say(*["Go."] * 2)
    builder = GraphBuilder()
    builder.add_node(parent.agent, "parent")
    builder.add_node(child.agent, "child")
    builder.set_entry_point("parent")
    builder.add_edge("parent", "child")
    builder.add_edge("child", "parent", condition=lambda state: len(state.execution_order) < 4)
    builder.set_max_node_executions(10)
    builder.reset_on_revisit().build()(TASK)


def visit_swarm(parent, child):
    """Let a swarm hand over to the second of its nodes in each of two executions."""
    parent.model.say(*[ToolCall("handoff_to_agent", {"agent_name": "child", "message": "Go."}), "Over."] * 2)
    swarm = Swarm([parent.agent, child.agent])
    for _ in range(2):
        swarm(TASK)


@pytest.mark.parametrize("visit", [visit_tool, visit_graph, visit_swarm], ids=lambda function: function.__name__)
def test_an_agent_that_the_host_resets_starts_afresh(kind, visit):
    """R8: a child under its parent's manager is sent what it was on its first visit, though its task is too long."""
    manager = MANAGERS[kind]()
    parent = Rig(kind, manager=manager, name="parent")
    child = Rig(kind, manager=manager, name="child", model=FaultyModel([*fetches(1_500, 1_600, 1_700), "Done."] * 2))
    child.watch.host_resets = parent.watch.host_resets = True
    visit(parent, child)
    shown = [[[text[:40] for text in texts(message)] for message in view] for view in child.views]
    assert (8, shown[:4], []) == (len(shown), shown[4:], [*parent.broken_laws(), *child.broken_laws()])
