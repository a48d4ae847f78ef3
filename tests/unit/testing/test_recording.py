"""A recording holds what a real agent's run added and how it ended."""

from __future__ import annotations

from strands.agent.conversation_manager import NullConversationManager
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx.testing import LiveTool, ToolCall, WindowModel, record_run

SCHEMA = {"type": "object", "properties": {"page": {"type": "integer"}}}
READ = LiveTool("read", "Read a page.", SCHEMA, lambda _, given: f"Page {given['page']}. " * 200)


def test_every_added_message_is_recorded():
    """The recording of an unmanaged run is the log."""
    recording = record_run(WindowModel([ToolCall("read", {"page": 1}), "Done."]), [READ], ["Go."])
    log = [(message["role"], message["content"]) for message in recording.agent.messages]
    assert log == [(message["role"], message["content"]) for message in recording.added]


def test_an_early_end_is_in_the_recording():
    """The overflow is kept as the provider raised it, without the loop's wrapping."""
    script = [ToolCall("read", {"page": page}) for page in range(9)]
    manager = NullConversationManager()
    recording = record_run(
        WindowModel([*script, "Done."], context_window_limit=1_500),
        [READ],
        ["Go.", "On."],
        conversation_manager=manager,
    )
    assert (ContextWindowOverflowException, 0) == (type(recording.error), recording.invocations)


def test_a_tool_that_raises_gives_an_error_result():
    """The host turns the exception into a result, and the run goes on."""

    def fail(tool_use_id, given):
        raise LookupError("no such page")

    broken = LiveTool("read", "Read a page.", SCHEMA, fail)
    recording = record_run(WindowModel([ToolCall("read", {"page": 1}), "Done."]), [broken], ["Go."])
    result = recording.added[2]["content"][0]["toolResult"]
    assert ("error", True) == (result["status"], "no such page" in result["content"][0]["text"])


def test_the_start_is_reported_before_the_first_prompt():
    """An anchor can be set on the empty log."""
    lengths = []
    record_run(WindowModel(["Done."]), [], ["Go."], on_start=lambda agent: lengths.append(len(agent.messages)))
    assert [0] == lengths


def test_the_cause_of_an_early_end_is_told_and_not_its_wrapping():
    """An exception deep inside the loop is recorded as it was raised."""
    model = WindowModel([ToolCall("read", {"page": 1}), "Done."], fail_at={2: LookupError("gone")})
    recording = record_run(model, [READ], ["Go."])
    assert "LookupError('gone')" == repr(recording.error)
