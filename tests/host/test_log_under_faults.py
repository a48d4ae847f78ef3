"""The log stays whole when a run does not end well: cancelled, abandoned, failing models, failing hooks."""

from __future__ import annotations

import asyncio
import gc

import pytest
from strands import hooks
from strands.types.exceptions import EventLoopException

from strands_ctx.testing import ToolCall

from .support.faults import ProviderDownError, fail_in
from .support.rig import fetches
from .support.watch import HOOK_EVENTS


@pytest.mark.parametrize("event_number", [1, 2, 4])
def test_cancelling_in_the_middle_of_a_stream_keeps_the_log(busy, event_number):
    """agent.cancel() while the model answers, then a prompt that is answered."""

    async def cancel():
        busy.agent.cancel()

    busy.model.at_event = (event_number, cancel)
    result = busy.run("Tell a story.", "Once upon a time. " * 20)
    busy.run("Now go on.", "The end.")
    assert ("cancelled", []) == (result.stop_reason, busy.broken_laws())


def test_cancelling_between_a_tool_call_and_its_result_keeps_the_log(busy):
    """agent.cancel() before the tools run gives each call an error result; the next view is legal."""
    busy.agent.hooks.add_callback(hooks.BeforeToolsEvent, lambda event: busy.agent.cancel())
    result = busy.run("Fetch two.", fetches(300, 400))
    busy.run("Now go on.", "The end.")
    assert ("cancelled", []) == (result.stop_reason, busy.broken_laws())


@pytest.mark.parametrize("event_number", [1, 2, 4])
def test_a_cancelled_task_keeps_the_log(busy, event_number):
    """asyncio cancels the task in the middle of a stream; the next run goes on."""

    async def scenario():
        task = asyncio.ensure_future(busy.run_async("Tell a story.", *fetches(300), "Once upon a time. " * 20))

        async def cancel():
            task.cancel()
            await asyncio.sleep(0)

        busy.model.at_event = (event_number, cancel)
        with pytest.raises(asyncio.CancelledError):
            await task
        await busy.run_async("Now go on.", "The end.")

    asyncio.run(scenario())
    assert [] == busy.broken_laws()


@pytest.mark.parametrize("events", [1, 8, 14, 30])
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "dropped"])
def test_an_abandoned_stream_keeps_the_log(busy, events, closed):
    """A consumer stops reading in the middle of a run, closing the stream or not; the next run goes on."""

    async def scenario():
        busy.mark()
        busy.model.say(*fetches(300, 1_500), "Once upon a time. " * 20)
        stream = busy.agent.stream_async("Tell a story.")
        for _ in range(events):
            await anext(stream)
        if closed:
            await stream.aclose()
        del stream
        gc.collect()
        await asyncio.sleep(0.01)
        await busy.run_async("Now go on.", "The end.")

    asyncio.run(scenario())
    assert [] == busy.broken_laws()


@pytest.mark.parametrize("calls_before", [0, 1])
def test_a_raising_model_and_a_following_prompt_keep_the_log(busy, calls_before):
    """The log then ends on a user message; the next view joins it with the new prompt, the log does not."""
    busy.model._fail_at[len(busy.model.requests) + 1 + calls_before] = ProviderDownError("no route")
    with pytest.raises(EventLoopException if calls_before else ProviderDownError):
        busy.run("Fetch one.", *fetches(300), "Fetched.")
    tail = [message["role"] for message in busy.agent.messages[-1:]]
    busy.run("Now go on.", "The end.")
    assert (["user"], [], "user") == (tail, busy.broken_laws(), busy.agent.messages[-2]["role"])


def test_a_model_that_raises_in_the_middle_of_its_answer_keeps_the_log(busy):
    """Nothing partial is added to the log."""

    async def fail():
        raise ProviderDownError("connection reset")

    busy.model.at_event = (4, fail)
    length = len(busy.agent.messages)
    with pytest.raises(ProviderDownError):
        busy.run("Tell a story.", "Once upon a time. " * 20)
    added = len(busy.agent.messages) - length
    busy.run("Now go on.", "The end.")
    assert (1, []) == (added, busy.broken_laws())


@pytest.mark.parametrize("event_type", HOOK_EVENTS, ids=lambda event_type: event_type.__name__)
def test_a_raising_hook_keeps_the_log(busy, event_type):
    """Whatever event an app's hook fails in, and whatever becomes of the run, the next run goes on."""
    fail_in(busy.agent, event_type)
    try:
        busy.run("Fetch one.", *fetches(300), "Fetched.")
    except (RuntimeError, EventLoopException) as error:
        assert "a hook of the app fails" in str(error)
    busy.run("Now go on.", *fetches(200), "The end.")
    assert [] == busy.broken_laws()


def test_a_failing_tool_keeps_the_log(busy):
    """An error result stays one, with its status."""
    busy.run("Try it.", ToolCall("broken"), "It failed.")
    busy.run("Now go on.", "The end.")
    statuses = [
        block["toolResult"]["status"]
        for message in busy.agent.messages
        for block in message["content"]
        if "toolResult" in block
    ]
    assert (["success"] * 4 + ["error"], []) == (statuses, busy.broken_laws())


def test_an_unanswered_call_is_never_answered_in_the_log(rig):
    """A log that ends on a tool call is resumed by running the tool, whatever stands before it."""
    rig.agent.messages.extend(
        [
            {"role": "user", "content": [{"text": "Fetch one."}]},
            {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "a", "name": "fetch", "input": {"size": 700}}}],
            },
        ]
    )
    rig.watch.look("set up")
    rig.run(None, "Fetched.")
    roles = [message["role"] for message in rig.agent.messages]
    assert (["user", "assistant", "user", "assistant"], []) == (roles, rig.broken_laws())
