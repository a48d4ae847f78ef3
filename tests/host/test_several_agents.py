"""One manager for several agents: at once, as tools, as nodes of graphs and swarms. No state is shared or left over."""

from __future__ import annotations

import asyncio
import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from strands.multiagent import GraphBuilder, Swarm

from strands_ctx.testing import ToolCall

from .support.rig import MANAGERS, FaultyModel, Rig, fetches

SIZES = {"one": (1_500, 1_600, 1_700, 1_800), "two": (700, 800, 900, 1_000, 1_100, 1_200)}


def rig_for(kind, manager, /, **arguments):
    """A rig that shares a manager."""
    rig = Rig(kind, manager=manager, **arguments)
    rig.watch.host_resets = True
    return rig


@pytest.fixture(params=sorted(MANAGERS))
def kind(request):
    """The name of a manager."""
    return request.param


def views_alone(kind, sizes, runs=2):
    """What an agent is sent that has a manager for itself."""
    rig = Rig(kind)
    for _ in range(runs):
        rig.run("Fetch.", *fetches(*sizes), "Fetched.")
    return rig.views


def test_two_agents_in_one_event_loop_are_each_sent_what_they_would_be_alone(kind):
    """asyncio.gather of two runs each under one manager."""
    manager = MANAGERS[kind]()
    rigs = {name: rig_for(kind, manager) for name in SIZES}

    async def both():
        for _ in range(2):
            await asyncio.gather(
                *(rig.run_async("Fetch.", *fetches(*SIZES[name]), "Fetched.") for name, rig in rigs.items())
            )

    asyncio.run(both())
    laws = [rig.broken_laws() for rig in rigs.values()]
    alone = {name: views_alone(kind, sizes) for name, sizes in SIZES.items()}
    assert (alone, [[], []]) == ({name: rig.views for name, rig in rigs.items()}, laws)


def test_agents_in_threads_are_each_sent_what_they_would_be_alone(kind):
    """Six threads under one manager."""
    manager = MANAGERS[kind]()
    rigs = [rig_for(kind, manager) for _ in range(6)]

    def work(rig):
        for _ in range(2):
            rig.run("Fetch.", *fetches(*SIZES["one"]), "Fetched.")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, rigs))
    assert [views_alone(kind, SIZES["one"])] * 6 == [rig.views for rig in rigs]
    assert [[]] * 6 == [rig.broken_laws() for rig in rigs]


@pytest.mark.parametrize("preserve_context", [False, True], ids=["reset", "preserved"])
def test_an_agent_used_as_a_tool_keeps_both_logs(kind, preserve_context):
    """Parent and child under one manager; the host resets the child before each call, or lets it remember."""
    manager = MANAGERS[kind]()
    child = rig_for(kind, manager, model=FaultyModel([*fetches(1_500, 1_600, 1_700), "Done."] * 2), name="child")
    helper = child.agent.as_tool(name="helper", description="Fetches.", preserve_context=preserve_context)
    parent = rig_for(kind, manager, tools=[helper])
    for _ in range(2):
        parent.run("Delegate.", *fetches(1_500), ToolCall("helper", {"input": "Fetch."}), *fetches(1_600), "Done.")
    child.watch.look("end")
    assert (16 if preserve_context else 8, [], [], []) == (
        len(child.agent.messages),
        parent.broken_laws(),
        child.watch.found,
        child.model.refused,
    )


def test_a_child_that_is_reset_starts_without_a_cut(kind):
    """The second call of a reset child is sent the same as the first."""
    script = [*fetches(1_500, 1_600, 1_700), "Done."]
    child = rig_for(kind, MANAGERS[kind](), model=FaultyModel(script * 2, cache=False), name="child")
    parent = rig_for(kind, child.manager, tools=[child.agent.as_tool(name="helper", description="Fetches.")])
    parent.run("Delegate.", *[ToolCall("helper", {"input": "Fetch."})] * 2, "Done.")
    roles = [[message["role"] for message in view] for view in child.views]
    assert (4, ["user"], ["user"]) == (len(roles) // 2, roles[0], roles[4])


def graph_rigs(kind):
    """Two rigs under one manager, and a graph of theirs that visits each node twice."""
    manager = MANAGERS[kind]()
    first = rig_for(kind, manager, model=FaultyModel([*fetches(*SIZES["one"]), "First."] * 4), name="first")
    second = rig_for(kind, manager, model=FaultyModel([*fetches(*SIZES["two"]), "Second."] * 4), name="second")
    builder = GraphBuilder()
    builder.add_node(first.agent, "first")
    builder.add_node(second.agent, "second")
    builder.set_entry_point("first")
    builder.add_edge("first", "second")
    builder.add_edge("second", "first", condition=lambda state: len(state.execution_order) < 4)
    builder.set_max_node_executions(10)
    return (first, second), builder


@pytest.mark.parametrize("reset", [True, False], ids=["reset on revisit", "not reset"])
def test_graph_nodes_keep_their_logs(kind, reset):
    """Each node is visited twice, begins again or goes on, and is sent legal views."""
    rigs, builder = graph_rigs(kind)
    status = builder.reset_on_revisit(reset).build()("Fetch everything.").status.value
    found = [[*rig.watch.found, *rig.model.refused] for rig in rigs]
    starts = [[len(view) for view in rig.views].count(1) for rig in rigs]
    assert ("completed", [[], []], [2, 2] if reset else [1, 1]) == (status, found, starts)


def test_swarm_nodes_keep_their_logs_and_start_afresh(kind):
    """A swarm hands over once; in its second execution the nodes begin again."""
    manager = MANAGERS[kind]()
    handoff = ToolCall("handoff_to_agent", {"agent_name": "second", "message": "Your turn."})
    first = rig_for(kind, manager, model=FaultyModel([*fetches(*SIZES["one"]), handoff, "Over."] * 2), name="first")
    second = rig_for(kind, manager, model=FaultyModel([*fetches(*SIZES["two"]), "Done."] * 2), name="second")
    swarm = Swarm([first.agent, second.agent])
    statuses = [swarm("Fetch everything.").status.value for _ in range(2)]
    found = [[*rig.watch.found, *rig.model.refused] for rig in (first, second)]
    starts = [[len(view) for view in rig.views].count(1) for rig in (first, second)]
    assert (["completed"] * 2, [[], []], [2, 2]) == (statuses, found, starts)


def test_a_reset_is_told_by_the_receipt():
    """A log that is another one than before starts with no cut, and the receipt says reset."""
    rig = Rig("suffix")
    rig.fill()
    cut = rig.manager.receipts(rig.agent)[-1].cut
    rig.agent.messages[:] = []
    rig.run("Something else.", "Fine.")
    receipt = rig.manager.receipts(rig.agent)[-1]
    assert (True, 0, "reset") == (cut > 0, receipt.cut, receipt.standing)


def test_a_manager_forgets_agents_that_are_gone(kind):
    """What is remembered of an agent goes when the agent goes."""
    rig = Rig(kind)
    rig.fill()
    manager, agent = rig.manager, weakref.ref(rig.agent)
    del rig
    gc.collect()
    assert (None, []) == (agent(), manager.get_state()["views"])
