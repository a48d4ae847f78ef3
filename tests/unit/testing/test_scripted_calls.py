"""A real model with scripted calls: its words, counts and refusals are its own, the calls are the script's."""

from __future__ import annotations

import asyncio

import pytest
from strands import Agent
from strands.agent.conversation_manager import NullConversationManager
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx.testing import LiveTool, ScriptExhaustedError, ToolCall, WindowModel, record_run
from strands_ctx.testing.scripted_calls import SILENCE, ScriptedCalls

READ = LiveTool("read", "Read a page.", {"type": "object", "properties": {}}, lambda use_id, given: "A page. " * 40)
CALL = ToolCall("read", {"page": 1})


def run(inner, script, prompts=("Go.",)):
    """Run an agent whose model is another model, with scripted calls."""
    model = ScriptedCalls(inner, script)
    return model, record_run(model, [READ], prompts, conversation_manager=NullConversationManager())


def test_calls_are_added_to_what_the_model_wrote():
    """An answer holds the model's own text and then the step's call."""
    _, recording = run(WindowModel(["I look it up.", "It is a page."]), [CALL, "answer"])
    first = recording.added[1]["content"]
    assert ["I look it up.", "read"] == [first[0]["text"], first[1]["toolUse"]["name"]]


def test_a_text_in_the_script_ends_the_turn_with_the_model_s_own_words():
    """What the step says is not used."""
    _, recording = run(WindowModel(["It is a page."]), ["answer"])
    assert [{"text": "It is a page."}] == recording.added[-1]["content"]


def test_usage_is_what_the_model_reports():
    """Each exchange has the prompt tokens of the inner model's own bill."""
    inner = WindowModel(["I look it up.", "It is a page."], cache=False)
    model, _ = run(inner, [CALL, "answer"])
    assert [request.prompt_tokens for request in inner.requests] == [item.prompt_tokens for item in model.exchanges]


def test_a_refusal_comes_through_and_is_noted():
    """The inner model's overflow ends the run, and the script does not advance."""
    inner = WindowModel(["I look it up."] * 3, context_window_limit=150)
    model, recording = run(inner, [CALL, "answer"])
    assert (ContextWindowOverflowException, 1, recording.error) == (
        type(recording.error),
        model.position,
        model.exchanges[-1].error,
    )


def test_an_empty_answer_is_said_to_be_one():
    """Providers refuse blank texts, so that none gets into the log."""
    _, recording = run(WindowModel([" "], strict=False), ["answer"])
    assert [{"text": SILENCE}] == recording.added[-1]["content"]


def test_requests_without_the_script_s_tools_are_no_part_of_it():
    """A manager's own request gets the model's answer and takes no step."""
    model = ScriptedCalls(WindowModel(["A summary."]), [CALL, "answer"])

    async def ask():
        return [event async for event in model.stream([{"role": "user", "content": [{"text": "Summarise."}]}])]

    asyncio.run(ask())
    assert (0, [True]) == (model.position, [exchange.side for exchange in model.exchanges])


def test_a_script_that_is_too_short_is_an_error():
    """A request more than there are steps is not answered."""
    with pytest.raises(ScriptExhaustedError, match="the script has 0 steps"):
        Agent(model=ScriptedCalls(WindowModel(["More."]), []), callback_handler=None)("Go.")


def test_configuration_is_the_model_s_own():
    """Managers see the window and the output of the real model."""
    model = ScriptedCalls(WindowModel([], context_window_limit=2_048), [])
    model.update_config(max_tokens=8)
    assert (2_048, 8) == (model.context_window_limit, model.get_config()["max_tokens"])
