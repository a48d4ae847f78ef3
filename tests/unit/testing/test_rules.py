"""Each rule of a strict provider refuses what breaks it, in the provider's words, and nothing else."""

from __future__ import annotations

import pickle

import pytest

from strands_ctx.testing import ProviderRuleError, strict_violations


def user(*blocks):
    """A user message of blocks or texts."""
    return {"role": "user", "content": [{"text": block} if isinstance(block, str) else block for block in blocks]}


def assistant(*blocks):
    """An assistant message of blocks or texts."""
    return {**user(*blocks), "role": "assistant"}


def call(name):
    """A tool call."""
    return {"toolUse": {"toolUseId": name, "name": "read", "input": {}}}


def result(name, text="page", items=None):
    """A tool result of one text, or of these items."""
    content = [{"text": text}] if items is None else items
    return {"toolResult": {"toolUseId": name, "status": "success", "content": content}}


POINT = {"cachePoint": {"type": "default"}}
IMAGE = {"image": {"format": "png", "source": {"bytes": b"1"}}}
DOCUMENT = {"document": {"format": "pdf", "name": "page", "source": {"bytes": b"1"}}}

LEGAL = {
    "a prompt": [user("Go.")],
    "an exchange": [user("Go."), assistant("Gone."), user("Again.")],
    "parallel results in another order": [user("Go."), assistant(call("a"), call("b")), user(result("b"), result("a"))],
    "results with text beside them": [user("Go."), assistant("Hm.", call("a")), user(result("a"), "And now?")],
    "twenty images": [user("Go.", *[IMAGE] * 20)],
    "four cache points": [user("Go.", POINT, "on", POINT, "and", POINT, "on", POINT)],
}

ILLEGAL = {
    "A conversation must start with a user message": [assistant("Hello."), user("Go.")],
    "roles must alternate": [user("Go."), user("Go on.")],
    "`tool_use` ids were found without `tool_result` blocks immediately after: a": [
        user("Go."),
        assistant(call("a")),
        user("Never mind."),
    ],
    "Expected toolResult blocks at messages.2.content for the following Ids: b": [
        user("Go."),
        assistant(call("a"), call("b")),
        user(result("a")),
    ],
    "The number of toolResult blocks at messages.2.content exceeds": [
        user("Go."),
        assistant(call("a")),
        user(result("a"), result("b")),
    ],
    "unexpected `tool_use_id` found in `tool_result` blocks: b": [user("Go."), assistant(call("a")), user(result("b"))],
    "each tool_use must have a single result": [user("Go."), assistant(call("a")), user(result("a"), result("a"))],
    "ids must be unique, repeated: a": [user("Go."), assistant(call("a"), call("a")), user(result("a"))],
    "`tool_use` blocks can only be in `assistant` messages": [user("Go.", call("a"))],
    "`tool_result` blocks can only be in `user` messages": [user("Go."), assistant("So.", result("a"))],
    "The content field in the Message object at messages.0 is empty": [user()],
    "messages.0.content.0 is blank": [user(" \n")],
    "messages.2.content.0.toolResult.content.0 is blank": [user("Go."), assistant(call("a")), user(result("a", ""))],
    "The content field in the ToolResultBlock object at messages.2.content.0.toolResult is empty": [
        user("Go."),
        assistant(call("a")),
        user(result("a", items=[])),
    ],
    "too many images and documents: 21": [user("Go.", *[IMAGE] * 11, *[DOCUMENT] * 10)],
    "A maximum of 4 blocks with cache_control": [user("Go.", *[POINT, "on"] * 5)],
    "messages.0.content.0: a cachePoint must come after": [user(POINT, "Go.")],
    "messages.1.content.0: a cachePoint must come after": [user("Go."), assistant(POINT)],
    "messages.2.content.0.toolResult.content.0: a cachePoint must come after": [
        user("Go."),
        assistant(call("a")),
        user(result("a", items=[POINT, {"text": "page"}])),
    ],
}


@pytest.mark.parametrize("messages", LEGAL.values(), ids=LEGAL.keys())
def test_a_legal_request_breaks_no_rule(messages):
    """What every provider accepts is accepted here."""
    assert [] == strict_violations(messages)


@pytest.mark.parametrize(("sentence", "messages"), ILLEGAL.items(), ids=ILLEGAL.keys())
def test_a_broken_rule_is_told_in_the_providers_words(sentence, messages):
    """The sentence is one that users find in their logs."""
    assert any(sentence in violation for violation in strict_violations(messages))


def test_an_unanswered_call_at_the_end_is_refused():
    """A conversation can't stop at a tool call."""
    assert 1 == len(strict_violations([user("Go."), assistant(call("a"))]))


def test_images_inside_results_count():
    """A provider counts media wherever they stand."""
    shown = result("a", items=[IMAGE] * 21)
    assert 1 == len(strict_violations([user("Go."), assistant(call("a")), user(shown)]))


def test_cache_points_inside_results_count():
    """Four in messages and one in a result are one too many."""
    shown = result("a", items=[{"text": "page"}, POINT])
    messages = [user("Go.", POINT), assistant(call("a"), POINT), user(shown, POINT, "And?", POINT)]
    assert ["A maximum of 4 blocks with cache_control may be provided. Found 5."] == strict_violations(messages)


TOOL = {"toolSpec": {"name": "read", "description": "Read.", "inputSchema": {"json": {"type": "object"}}}}
SYSTEM = [{"text": "Be brief."}, POINT]
THREE_POINTS = [user("Go.", POINT, "on", POINT, "and on", POINT)]

AROUND = {
    "nothing": ({"system_prompt": SYSTEM}, []),
    "a text": ({"system_prompt": "Be brief."}, []),
    "no text": ({"system_prompt": ""}, []),
    "one point too many": (
        {"system_prompt": SYSTEM, "tools": [TOOL, POINT]},
        ["A maximum of 4 blocks with cache_control may be provided. Found 5."],
    ),
    "a point first in the system prompt": (
        {"system_prompt": [POINT]},
        ["system.0: a cachePoint must come after the content that it caches"],
    ),
    "a point before the tools": (
        {"tools": [POINT, TOOL]},
        ["toolConfig.tools.0: a cachePoint must come after the content that it caches"],
    ),
    "a blank text": (
        {"system_prompt": " "},
        ["The text field in the ContentBlock object at system.0 is blank. Add text to the text field, and try again."],
    ),
    "a blank block": (
        {"system_prompt": [{"text": "Be brief."}, {"text": ""}]},
        ["The text field in the ContentBlock object at system.1 is blank. Add text to the text field, and try again."],
    ),
}


@pytest.mark.parametrize(("around", "violations"), AROUND.values(), ids=AROUND.keys())
def test_the_system_prompt_and_the_tools_are_judged_with_the_messages(around, violations):
    """Their cache points are of the same four; the messages here have three."""
    assert violations == strict_violations(THREE_POINTS, **around)


def test_no_messages_are_no_conversation():
    """An empty request is refused too."""
    assert 1 == len(strict_violations([]))


def test_the_error_survives_pickling():
    """Every violation is still there on the other side of a process border."""
    error = ProviderRuleError(["first", "second"])
    copy = pickle.loads(pickle.dumps(error))
    assert (["first", "second"], str(error)) == (copy.violations, str(copy))
