"""The laws of the log and of its views, over random sequences of everything that can happen to an agent."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from strands import hooks
from strands.types.exceptions import ContextWindowOverflowException, EventLoopException

from strands_ctx.testing import ToolCall

from .support.rig import MANAGERS, Rig, fetches, text_of
from .support.watch import HOOK_EVENTS


class Answer(BaseModel):
    """The structured answer."""

    number: int


class ExpectedError(Exception):
    """What the tests raise on purpose."""


async def ends(awaitable):
    """Await a run that may end in an error that was raised on purpose, wrapped by the host or not."""
    try:
        await awaitable
    except (EventLoopException, ExpectedError) as error:
        assert ExpectedError is type(getattr(error, "original_exception", error))


async def plain(rig, steps, _number):
    """A run that ends well."""
    await rig.run_async("Fetch.", *steps, "Fetched.")


async def without_prompt(rig, steps, _number):
    """A run that goes on from the log."""
    await rig.run_async(None if rig.agent.messages else "Begin.", *steps, "Fetched.")


async def cancelled(rig, steps, number):
    """A run that the app cancels in the middle of an answer."""

    async def cancel():
        rig.agent.cancel()

    rig.model.at_event = (number % 5 + 1, cancel)
    await rig.run_async("Fetch.", *steps, "Fetched.")


async def task_cancelled(rig, steps, number):
    """A run whose task is cancelled in the middle of an answer, if it gets there."""
    task = asyncio.ensure_future(rig.run_async("Fetch.", *steps, "Fetched."))

    async def cancel():
        task.cancel()
        await asyncio.sleep(0)

    rig.model.at_event = (number % 5 + 1, cancel)
    await asyncio.gather(task, return_exceptions=True)


async def abandoned(rig, steps, number):
    """A run whose consumer stops reading."""
    rig.mark()
    rig.model.say(*steps, "Fetched. " * 30)
    stream = rig.agent.stream_async("Fetch.")
    async for _ in stream:
        number -= 1
        if number < 0:
            break
    await stream.aclose()


async def model_fails(rig, steps, number):
    """A run in which the provider refuses a request."""
    rig.model._fail_at[len(rig.model.requests) + 1 + number % 3] = ExpectedError("provider down")
    await ends(rig.run_async("Fetch.", *steps, "Fetched."))
    rig.model._fail_at.clear()


async def model_fails_midway(rig, steps, number):
    """A run in which the connection breaks in the middle of an answer."""

    async def fail():
        raise ExpectedError("connection reset")

    rig.model.at_event = (number % 5 + 1, fail)
    await ends(rig.run_async("Fetch.", *steps, "Fetched."))
    rig.model.at_event = None


async def overflows(rig, steps, number):
    """A run in which the provider refuses a request as too long, whatever its size."""
    rig.model._fail_at[len(rig.model.requests) + 1 + number % 3] = ContextWindowOverflowException("too long")
    await rig.run_async("Fetch.", *steps, "Fetched.")
    rig.model._fail_at.clear()


async def hook_fails(rig, steps, number):
    """A run in which an app's hook raises."""
    event_type, armed = HOOK_EVENTS[number % len(HOOK_EVENTS)], [True]

    def hook(event):
        if armed:
            armed.clear()
            raise ExpectedError("hook")

    rig.agent.hooks.add_callback(event_type, hook)
    await ends(rig.run_async("Fetch.", *steps, "Fetched."))
    armed.clear()


async def structured(rig, steps, number):
    """A run with a forced structured output."""
    prompt = "As JSON, please." if number % 2 else None
    await rig.run_async("How many?", *steps, "Seven.", structured_output_model=Answer, structured_output_prompt=prompt)


async def interrupted(rig, steps, number):
    """A run that waits for a person once, and is resumed."""
    armed = [True]

    def ask(event):
        if armed:
            armed.clear()
            asked.append(event.tool_use["toolUseId"])
        if event.tool_use["toolUseId"] in asked:
            event.interrupt("approval", reason=number)

    asked: list[str] = []
    rig.agent.hooks.add_callback(hooks.BeforeToolCallEvent, ask)
    result = await rig.run_async("Fetch.", *steps, "Fetched.")
    if result.stop_reason == "interrupt":
        rig.mark()
        await rig.agent.invoke_async(
            [{"interruptResponse": {"interruptId": i.id, "response": "yes"}} for i in result.interrupts]
        )
    armed.clear()


async def direct_call(rig, _steps, number):
    """A direct tool call between runs, recorded or not."""
    rig.mark()
    await asyncio.to_thread(rig.agent.tool.fetch, size=number * 30, record_direct_tool_call=bool(number % 3))


async def nested_call(rig, steps, number):
    """A direct tool call in the middle of a run."""
    await rig.run_async("Fetch.", *steps, ToolCall("nested", {"size": number * 30}), "Fetched.")


async def limited(rig, steps, number):
    """A run that reaches a limit and is resumed."""
    await rig.run_async("Fetch.", *steps, "Fetched.", limits={"turns": number % 3 + 1})
    await rig.run_async(None, *rig.model.script[rig.model.position :] or ["Fetched."])


async def broken_tool(rig, steps, _number):
    """A run in which a tool fails."""
    await rig.run_async(text_of(400), *steps, [ToolCall("broken"), *fetches(500)], "Fetched.")


OPERATIONS = (
    plain, without_prompt, cancelled, task_cancelled, abandoned, model_fails, model_fails_midway, overflows, hook_fails,
    structured, interrupted, direct_call, nested_call, limited, broken_tool,
)  # fmt: skip

sizes = st.sampled_from([0, 1, 40, 300, 700, 1_500, 2_400])
steps = st.lists(st.lists(sizes, min_size=1, max_size=3).map(lambda group: fetches(*group)), max_size=3)
operations = st.tuples(st.sampled_from(OPERATIONS), steps, st.integers(0, 40))


@settings(max_examples=500)
@given(kind=st.sampled_from(sorted(MANAGERS)), sequence=st.lists(operations, min_size=1, max_size=5))
def test_whatever_happens_the_log_is_whole_and_its_views_are_legal(kind, sequence):
    """Any sequence of runs, faults and resumes, then one more prompt that is answered."""

    async def live(rig):
        for operation, tool_calls, number in [*sequence, (plain, [], 0)]:
            try:
                await operation(rig, tool_calls, number)
            except ContextWindowOverflowException:
                # What a provider once refused binds later views, and not every manager may leave messages out.
                assert overflows in [done for done, *_ in sequence]

    rig = Rig(kind)
    rig.model._structured = {"number": 7}
    asyncio.run(live(rig))
    assert [] == rig.broken_laws()
