"""The log stays whole in every kind of run that the host knows, and every view of it is legal."""

from __future__ import annotations

import pytest
from pydantic import BaseModel
from strands import hooks
from strands.agent.conversation_manager import SlidingWindowConversationManager

from strands_ctx.testing import ToolCall

from .support.rig import Rig, fetches, text_of


class Answer(BaseModel):
    """The structured answer."""

    number: int


def texts(message):
    """The texts of a message."""
    return [block["text"] for block in message["content"] if "text" in block]


def approve(rig, *, when):
    """Interrupt tool calls of a size until a person approves."""

    def ask(event):
        if event.tool_use["input"].get("size") == when:
            event.interrupt("approval", reason="large")

    rig.agent.hooks.add_callback(hooks.BeforeToolCallEvent, ask)


def answers(result):
    """A person's answers to all interrupts of a result."""
    return [{"interruptResponse": {"interruptId": i.id, "response": "yes"}} for i in result.interrupts]


def test_plain_runs_keep_the_log(rig):
    """Five runs whose results take several budgets."""
    for _ in range(5):
        rig.fill()
    assert (50, []) == (len(rig.agent.messages), rig.broken_laws())


def test_parallel_tools_keep_the_log(busy):
    """Eight parallel results, one of them an error, larger together than the budget."""
    calls = [*fetches(*range(800, 1_500, 100)), ToolCall("broken")]
    busy.run("Fetch eight.", calls, "Fetched.")
    busy.run("Now go on.", "The end.")
    assert [] == busy.broken_laws()


@pytest.mark.parametrize("prompt", [None, "Give the number as JSON."], ids=["default prompt", "custom prompt"])
def test_forced_structured_output_keeps_the_log(prompt, rig):
    """The model does not call the tool by itself, is forced to, and the next prompt follows a tool result."""
    rig.model._structured = {"number": 7}
    rig.fill()
    result = rig.run(
        "How many?", *fetches(900), "Seven.", structured_output_model=Answer, structured_output_prompt=prompt
    )
    rig.run("Now go on.", *fetches(900), "The end.")
    assert (7, []) == (result.structured_output.number, rig.broken_laws())


@pytest.mark.parametrize("prompt", [None, "Give the number as JSON."], ids=["default prompt", "custom prompt"])
def test_the_forcing_prompt_and_the_task_are_in_the_forced_view(prompt, rig):
    """The forced turn is part of the user's turn: neither the task nor the forcing prompt is left out."""
    rig.model._structured = {"number": 7}
    rig.fill()
    steps = *fetches(1_500, 1_600, 1_700), text_of(1_500)
    rig.run("How many?", *steps, structured_output_model=Answer, structured_output_prompt=prompt)
    shown = [text for message in rig.model.requests[-1].messages for text in texts(message)]
    forcing = prompt or "You must format the previous response as structured output."
    assert (True, True) == ("How many?" in shown, forcing in shown)


def test_the_tool_called_unforced_keeps_the_log(busy):
    """The model calls the structured output tool by itself."""
    result = busy.run("How many?", *fetches(900), ToolCall("Answer", {"number": 7}), structured_output_model=Answer)
    busy.run("Now go on.", "The end.")
    assert (7, []) == (result.structured_output.number, busy.broken_laws())


def test_an_interrupt_and_its_resume_keep_the_log(busy):
    """A run waits for a person before one of two parallel calls, and goes on."""
    approve(busy, when=1_300)
    result = busy.run("Fetch two.", *fetches(700), fetches(600, 1_300), "Fetched.")
    busy.mark()
    final = busy.agent(answers(result))
    busy.run("Now go on.", "The end.")
    assert ("interrupt", "end_turn", []) == (result.stop_reason, final.stop_reason, busy.broken_laws())


def test_the_task_stays_in_the_view_after_a_resume(busy):
    """A resume opens no turn: the user's prompt stays although the run grew past the budget."""
    approve(busy, when=1_300)
    result = busy.run("Fetch them all.", *fetches(1_500, 1_600, 1_700, 1_300, 1_800, 1_900), "Fetched.")
    busy.agent(answers(result))
    shown = [text for message in busy.model.requests[-1].messages for text in texts(message)]
    assert ("interrupt", True, []) == (result.stop_reason, "Fetch them all." in shown, busy.broken_laws())


def test_direct_tool_calls_between_runs_keep_the_log(busy):
    """A recorded and an unrecorded direct call, then a run."""
    length = len(busy.agent.messages)
    busy.mark()
    busy.agent.tool.fetch(size=1_800)
    busy.agent.tool.fetch(size=1_800, record_direct_tool_call=False)
    added = len(busy.agent.messages) - length
    busy.run("Now go on.", "The end.")
    assert (4, []) == (added, busy.broken_laws())


def test_direct_tool_calls_in_the_middle_of_a_run_keep_the_log(busy):
    """The host manages the conversation after every direct call, also inside a run: nothing may happen there."""
    busy.run("Fetch.", *fetches(1_500), ToolCall("nested", {"size": 1_600}), *fetches(1_700), "Fetched.")
    assert [] == busy.broken_laws()


@pytest.mark.parametrize("limits", [{"turns": 2}, {"output_tokens": 1}, {"total_tokens": 1}], ids=str)
def test_a_run_that_reaches_a_limit_and_is_resumed_keeps_the_log(limits, busy):
    """The limit ends the run after a tool result; agent(None) goes on from there."""
    result = busy.run("Fetch.", *fetches(1_500, 1_600, 1_700), "Fetched.", limits=limits)
    busy.mark()
    final = busy.agent(None)
    assert (True, "end_turn", []) == (result.stop_reason.startswith("limit_"), final.stop_reason, busy.broken_laws())


def test_runs_without_a_prompt_keep_the_log(busy):
    """agent(None) after an answer asks the model again; two assistant messages stand in a row in the log only."""
    busy.run(None, *fetches(900), "More.")
    busy.run("Now go on.", "The end.")
    assert [] == busy.broken_laws()


def test_a_prompt_of_several_messages_keeps_the_log(busy):
    """A prompt that is a list of messages or of blocks."""
    busy.run(
        [{"role": "user", "content": [{"text": "One."}]}, {"role": "user", "content": [{"text": "Two."}]}], "Good."
    )
    busy.run([{"text": "Three."}, {"text": text_of(900)}], "Good.")
    assert [] == busy.broken_laws()


def test_a_deferred_cancel_keeps_the_log(busy):
    """agent.cancel(after_current_tools=True), where the host knows it, ends the run on a tool result."""

    def cancel(event):
        if event.tool_use["input"]["size"] == 1_600:
            try:
                busy.agent.cancel(after_current_tools=True)
            except TypeError:
                busy.agent.cancel()

    busy.agent.hooks.add_callback(hooks.AfterToolCallEvent, cancel)
    busy.run("Fetch.", *fetches(1_500, 1_600, 1_700), "Fetched.")
    busy.run("Now go on.", "The end.")
    assert [] == busy.broken_laws()


def test_a_history_that_came_with_the_agent_keeps_its_messages():
    """Loaded messages stay the same objects, although the first view leaves most of them out."""
    donor = Rig("suffix")
    donor.fill()
    rig = Rig("suffix", messages=list(donor.agent.messages))
    rig.run("And now?", "Fine.")
    same = [a is b for a, b in zip(donor.agent.messages, rig.agent.messages, strict=False)]
    assert ([True] * 10, True, []) == (same, len(rig.views[0]) < 11, rig.broken_laws())


def test_the_checks_of_this_folder_see_a_manager_that_edits_the_log():
    """The host's sliding window breaks the laws, and the checks say so."""
    rig = Rig(manager=SlidingWindowConversationManager(window_size=4))
    rig.run("Fetch.", *fetches(300, 300), "Fine.")
    kinds = {problem.split(": ")[1].split(" by")[0] for problem in rig.watch.found}
    assert {"the log was edited"} <= kinds
