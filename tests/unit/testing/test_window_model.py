"""The scripted model answers, refuses, counts and bills as a provider does."""

from __future__ import annotations

import asyncio
import threading

import pytest
from pydantic import BaseModel
from strands import Agent
from strands.agent.conversation_manager import NullConversationManager, SummarizingConversationManager
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx.errors import ConfigError
from strands_ctx.testing import (
    LiveTool,
    ProviderRuleError,
    ScriptExhaustedError,
    ToolCall,
    WindowModel,
    record_run,
)
from tests.builders import assistant, user
from tests.support.requests import stream

PAGE = "The rack ran hot for several hours before the fan was replaced. " * 40
SCHEMA = {"type": "object", "properties": {"page": {"type": "integer"}}}
READ = LiveTool("read", "Read a page.", SCHEMA, lambda _, given: f"Page {given['page']}. {PAGE}")


class Verdict(BaseModel):
    """What the structured output tests ask for."""

    rating: int


def read(*pages):
    """One call of the tool for each page."""
    return [ToolCall("read", {"page": page}) for page in pages]


def text_of(events):
    """The text of a streamed answer."""
    return "".join(event["contentBlockDelta"]["delta"]["text"] for event in events if "contentBlockDelta" in event)


def run(model, prompts=("Go on.",), **arguments):
    """A recorded run of a real agent without management unless asked for."""
    return record_run(model, [READ], prompts, **{"conversation_manager": NullConversationManager(), **arguments})


def test_a_restored_log_keeps_its_ids_to_itself():
    """A new model with the same script, in a log that holds calls: the first new call has a free id too."""
    script = [*read(1, 2), "Read."]
    before = run(WindowModel(script)).agent.messages
    messages = run(WindowModel(script), messages=list(before)).agent.messages
    ids = [b["toolUse"]["toolUseId"] for m in messages for b in m["content"] if "toolUse" in b]
    assert (4, 4) == (len(ids), len(set(ids)))


@pytest.mark.parametrize("script", [[*read(1), ToolCall("reed"), "Read."], [[*read(1), ToolCall("reed")], "Read."]])
def test_a_script_that_calls_a_tool_that_is_not_there_says_so(script):
    """In a later step, or beside one that is there, it is an error that names both."""
    recording = run(WindowModel(script))
    error = recording.error.__cause__ or recording.error
    assert ("script", ["reed"], True) == (error.parameter, error.value, "['read']" in str(error))


def test_a_first_step_that_nobody_can_make_is_warned_of():
    """It may be a request of somebody else, so it is answered as one."""
    with pytest.warns(UserWarning, match=r"step 1 of the script calls \['reed'\], the request offers \['read'\]"):
        run(WindowModel([ToolCall("reed"), "Read."]))


def test_a_later_invocation_goes_on_with_the_script():
    """Two prompts are answered by the two turns of one script."""
    model = WindowModel([*read(1), "First.", *read(2), "Second."])
    recording = run(model, ["One.", "Two."])
    texts = [block["text"] for message in recording.added for block in message["content"] if "text" in block]
    assert ["One.", "First.", "Two.", "Second."] == texts


def test_parallel_calls_are_answered_in_one_message():
    """A list of calls makes one assistant message with as many toolUse blocks."""
    recording = run(WindowModel([read(1, 2, 3), "Done."]))
    assert [1, 3, 3, 1] == [len(message["content"]) for message in recording.added]


def test_tool_use_ids_are_unique_and_kept_where_given():
    """Calls without an id are numbered, others keep theirs."""
    recording = run(WindowModel([*read(1), ToolCall("read", {"page": 2}, id="mine"), *read(3), "Done."]))
    calls = [b["toolUse"]["toolUseId"] for m in recording.added for b in m["content"] if "toolUse" in b]
    assert ["tooluse_00001", "mine", "tooluse_00002"] == calls


def test_a_prompt_over_the_window_is_refused_in_a_providers_words():
    """The refusal names both numbers."""
    model = WindowModel(["Done."], context_window_limit=100)
    with pytest.raises(ContextWindowOverflowException) as caught:
        stream(model, [user(PAGE)])
    tokens = model.requests[0].prompt_tokens
    assert f"prompt is too long: {tokens} tokens > 100 maximum" == str(caught.value)


def test_a_prompt_of_exactly_the_window_is_answered():
    """The window is inclusive."""
    probe = WindowModel(["Done."])
    stream(probe, [user(PAGE)])
    model = WindowModel(["Done."], context_window_limit=probe.requests[0].prompt_tokens)
    assert "Done." == text_of(stream(model, [user(PAGE)]))


def test_the_reserved_output_counts_against_the_window():
    """A prompt that fits alone is refused together with max_tokens."""
    model = WindowModel(["Done."], context_window_limit=1_000, max_tokens=900)
    with pytest.raises(
        ContextWindowOverflowException, match=r"input length and `max_tokens` exceed .*: \d+ \+ 900 > 1000"
    ):
        stream(model, [user(PAGE)])
    assert model.requests[0].overflowed


def test_a_refused_request_does_not_advance_the_script():
    """The step that overflowed is given to the next request that fits."""
    model = WindowModel(["First.", "Second."], context_window_limit=100)
    with pytest.raises(ContextWindowOverflowException):
        stream(model, [user(PAGE)])
    assert "First." == text_of(stream(model, [user("Short.")]))


def test_the_refusal_can_be_one_that_the_host_does_not_know():
    """Text and exception class are settings."""
    model = WindowModel(
        ["Done."], context_window_limit=100, overflow_text="{tokens} is over {limit}", overflow_error=RuntimeError
    )
    with pytest.raises(RuntimeError, match=r"\d+ is over 100"):
        stream(model, [user(PAGE)])


def test_an_unknown_window_refuses_nothing():
    """A model that tells no window takes any prompt."""
    model = WindowModel(["Done."], context_window_limit=None)
    assert "Done." == text_of(stream(model, [user(PAGE * 100)]))


def test_a_managers_own_request_gets_the_side_reply():
    """A summary that Strands asks for in the middle of a run takes no step of the script."""
    model = WindowModel([*read(*range(8)), "Done."], context_window_limit=4_000, side_reply="In short: hot racks.")
    manager = SummarizingConversationManager(preserve_recent_messages=4)
    recording = run(model, conversation_manager=manager)
    asides = [request for request in model.requests if request.side]
    summaries = [m for m in recording.agent.messages if "In short: hot racks." in m["content"][0].get("text", "")]
    assert (None, True, 1, 9) == (recording.error, len(asides) >= 1, len(summaries), len(model.answered))


def test_a_request_that_comes_from_no_agent_gets_the_side_reply():
    """Even where the next step is a text, a direct request without tools is a manager's own."""
    model = WindowModel(["One."], side_reply="In short.")
    assert ("In short.", 0) == (text_of(stream(model, [user("Sum up.")], invocation_state=None)), model.position)


def test_any_tool_that_must_be_called_is_the_structured_one():
    """Some releases of the host force structured output without naming its tool."""
    specs = [{"name": name, "description": "", "inputSchema": {"json": {}}} for name in ("read", "Verdict")]
    model = WindowModel([*read(1), "Done."], structured={"rating": 3})
    events = stream(model, [user("Rate.")], tool_specs=specs, tool_choice={"any": {}})
    starts = [event["contentBlockStart"]["start"] for event in events if "contentBlockStart" in event]
    assert ["Verdict"] == [start["toolUse"]["name"] for start in starts]


def test_forced_structured_output_gets_the_structured_input():
    """The host's forced retry calls its tool with what the test gave."""
    model = WindowModel(["It was fine."], structured={"rating": 4})
    agent = Agent(model=model, callback_handler=None)
    result = agent("Rate the page.", structured_output_model=Verdict)
    assert (Verdict(rating=4), 1) == (result.structured_output, model.position)


def test_legacy_structured_output_gets_the_structured_input():
    """The older way asks the model directly."""
    agent = Agent(model=WindowModel(["Hello."], structured={"rating": 2}), callback_handler=None)
    with pytest.warns(DeprecationWarning, match="structured_output"):
        verdict = agent.structured_output(Verdict, "Rate the page.")
    assert Verdict(rating=2) == verdict


def test_forced_structured_output_without_an_input_says_so():
    """An answer is not made up."""
    specs = [{"name": "Verdict", "description": "", "inputSchema": {"json": {}}}]
    with pytest.raises(ConfigError, match="structured=None"):
        stream(WindowModel(["Fine."]), [user("Rate.")], tool_specs=specs, tool_choice={"tool": {"name": "Verdict"}})


def test_messages_that_break_a_rule_are_refused():
    """A strict provider refuses a conversation that starts with the assistant."""
    with pytest.raises(ProviderRuleError, match="A conversation must start with a user message"):
        stream(WindowModel(["One."]), [assistant("Hello.")])


def test_a_lenient_model_answers_and_records_what_was_broken():
    """Without strict rules the violation is only written down."""
    model = WindowModel(["One."], strict=False)
    stream(model, [assistant("Hello.")])
    assert 1 == len(model.requests[0].violations)


def test_a_planned_failure_hits_its_request_and_no_other():
    """The second request fails, and the third gets the step that it missed."""
    model = WindowModel(["One.", "Two."], fail_at={2: RuntimeError("throttled")})
    stream(model, [user("Go.")])
    with pytest.raises(RuntimeError, match="throttled"):
        stream(model, [user("Go.")])
    assert "Two." == text_of(stream(model, [user("Go.")]))


def test_a_cancelled_request_ends_without_a_stop_and_without_an_advance():
    """Cancelling during the delay leaves the step for the next request."""
    model = WindowModel(["One."], delay_s=30)
    signal = threading.Event()
    signal.set()
    assert ([], 0, "sent") == (
        stream(model, [user("Go.")], cancel_signal=signal),
        model.position,
        model.requests[0].outcome,
    )


def test_an_abandoned_stream_does_not_advance_the_script():
    """A consumer that leaves in the middle got no answer."""
    model = WindowModel(["One."])

    async def leave_early():
        events = model.stream([user("Go.")], invocation_state={})
        await anext(events)
        await events.aclose()

    asyncio.run(leave_early())
    assert (0, "sent") == (model.position, model.requests[0].outcome)


def test_requests_keep_what_was_sent():
    """A later edit of the log does not rewrite the record."""
    model, message = WindowModel(["One."]), user("Before.")
    stream(model, [message])
    message["content"][0]["text"] = "After."
    assert "Before." == model.requests[0].messages[0]["content"][0]["text"]


def test_an_exhausted_script_says_how_long_it_was():
    """The error names the number of steps."""
    model = WindowModel(["One."])
    stream(model, [user("Go.")])
    with pytest.raises(ScriptExhaustedError, match="the script has 1 steps"):
        stream(model, [user("Go.")])


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("context_window_limit", 0), ("max_tokens", -1), ("usage", "sometimes"), ("delay_s", -0.1)],
)
def test_bad_arguments_are_refused_by_name(parameter, value):
    """Construction names the parameter and its value."""
    with pytest.raises(ConfigError, match=f"{parameter}={value!r}"):
        WindowModel(["One."], **{parameter: value})
