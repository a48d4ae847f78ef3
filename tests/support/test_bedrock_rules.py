"""The service of the tests refuses, frames and bills as the real one does."""

from __future__ import annotations

import pytest
from botocore.eventstream import ChecksumMismatch, EventStreamBuffer

from tests.builders import CACHE_POINT, assistant, result, use, user
from tests.support.bedrock_billing import PointCache, parts_of
from tests.support.bedrock_rules import wire_violations
from tests.support.event_stream import answer_frames, encode_event, encode_exception

TOOLS = {"tools": [{"toolSpec": {"name": "search", "inputSchema": {"json": {}}}}]}
ASKED = [user("Find."), assistant(use("a"), use("b"))]
IMAGE = {"image": {"format": "png", "source": {"bytes": "aaaa"}}}
DOCUMENT = {"document": {"format": "txt", "name": "a.txt", "source": {"bytes": "aaaa"}}}
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "x"}}}

REFUSED = {
    "must start with a user message": [assistant("Hello.")],
    "roles must alternate": [user("Hello?"), user("Anybody?")],
    "messages.0 is empty": [user()],
    "messages.0.content.1 is blank": [user("Hello.", " \n")],
    "content.0.toolResult.content.0 is blank": [*ASKED, user(result("a", ""), result("b"))],
    "ToolResultBlock object at messages.2.content.1 is empty": [
        *ASKED,
        user(result("a"), {"toolResult": {"toolUseId": "b", "content": []}}),
    ],
    "Expected toolResult blocks at messages.2.content for the following Ids: b": [*ASKED, user(result("a"))],
    "without `tool_result` blocks immediately after: a, b": ASKED,
    "The number of toolResult blocks at messages.0.content exceeds": [user(result("a"))],
    "unexpected `tool_use_id`": [*ASKED, user(result("a"), result("c"))],
    "must have a single result": [user("Find."), assistant(use("a"), use("a")), user(result("a"), result("a"))],
    "ids must be unique": [user("Find."), assistant(use("a"), use("a")), user(result("a"))],
    "can only be in `assistant` messages": [user("Hello.", use("a"))],
    "can only be in `user` messages": [*ASKED, assistant(result("a"), result("b"))],
    "at 'toolUseId'": [user("Find."), assistant(use("a b")), user(result("a b"))],
    "cannot contain reasoning": [user("Hello.", THOUGHT)],
    "document file name": [user("Read.", DOCUMENT)],
    "too many images and documents: 21 + 0 > 20": [user("Look.", *[IMAGE] * 21)],
    "Found 5": [user("Hello.", *[CACHE_POINT] * 5)],
    "cachePoint cannot be first": [user(CACHE_POINT, "Hello.")],
}


@pytest.mark.parametrize("sentence", sorted(REFUSED))
def test_what_breaks_a_rule_is_refused_in_the_services_words(sentence):
    """One request for each rule."""
    assert [sentence] == [
        sentence for found in wire_violations({"messages": REFUSED[sentence], "toolConfig": TOOLS}) if sentence in found
    ][:1]


def test_tool_blocks_need_tools():
    """The host adds a stand-in tool for just this."""
    found = wire_violations({"messages": [*ASKED, user(result("a"), result("b"))]})
    assert ["The toolConfig field must be defined when using toolUse and toolResult content blocks."] == found


def test_cache_points_of_tools_and_system_count_too():
    """Four in all."""
    system = [{"text": "Be brief."}, CACHE_POINT, CACHE_POINT]
    tools = {"tools": [*TOOLS["tools"], CACHE_POINT]}
    body = {"system": system, "toolConfig": tools, "messages": [user("Hello.", CACHE_POINT, "And.", CACHE_POINT)]}
    assert ["A maximum of 4 blocks with cache_control may be provided. Found 5."] == wire_violations(body)


def parsed(data):
    """What the client makes of a stream."""
    buffer = EventStreamBuffer()
    buffer.add_data(data)
    return [(event.headers, event.payload) for event in buffer]


def test_a_stream_is_what_the_client_parses():
    """Names of all events in their order, and the exception's type in lower camel case."""
    content = [{"text": "漢字" * 40}, {"toolUse": {"toolUseId": "a", "name": "search", "input": {"query": "x"}}}]
    stream = b"".join(answer_frames(content, "tool_use", {"inputTokens": 1})) + encode_exception("SomeError", "Down.")
    names = [headers.get(":event-type") or headers[":exception-type"] for headers, _ in parsed(stream)]
    text, call = ["contentBlockDelta"] * 2, ["contentBlockStart", "contentBlockDelta"]
    ending = ["contentBlockStop", "messageStop", "metadata", "someError"]
    assert ["messageStart", *text, "contentBlockStop", *call, *ending] == names


@pytest.mark.parametrize("position", [4, 40, -2])
def test_a_frame_that_is_damaged_is_noticed(position):
    """In its lengths, in its body, in its checksum: the client checks both sums."""
    frame = bytearray(encode_event("messageStart", {"role": "assistant"}))
    frame[position] ^= 1
    with pytest.raises(ChecksumMismatch):
        parsed(bytes(frame))


def test_only_cache_points_fill_the_cache():
    """The first request writes up to its last point, the second reads that and writes the rest."""
    cache, text = PointCache(), "word " * 2_000
    first = {"system": [{"text": text}, CACHE_POINT], "messages": [user("Hello.")]}
    second = {**first, "messages": [user("Hello.", text, CACHE_POINT), assistant("Hello.")]}
    bills = [cache.bill(parts_of(body)) for body in ({"messages": [user(text)]}, first, second, second)]
    marked = [sum(part.tokens for part in parts_of(body)[:end]) for body, end in ((first, 1), (second, 4))]
    assert [(0, 0), (0, marked[0]), (marked[0], marked[1] - marked[0]), (marked[1], 0)] == [
        (bill.read_tokens, bill.write_tokens) for bill in bills
    ]


def test_usage_tells_cached_tokens_apart():
    """The parts add up to the prompt."""
    cache, text = PointCache(), "word " * 2_000
    body = {"messages": [user(text, CACHE_POINT, "Go on.")]}
    cache.bill(parts_of(body))
    bill = cache.bill(parts_of(body))
    usage = bill.usage(7)
    assert (True, bill.prompt_tokens, bill.prompt_tokens + 7) == (
        usage["inputTokens"] < 100,
        usage["inputTokens"] + usage["cacheReadInputTokens"] + usage["cacheWriteInputTokens"],
        usage["totalTokens"],
    )


def test_media_are_counted_by_their_bytes():
    """Not by the length of their base64; what is no base64 is an error of the request."""
    source = {"bytes": "AAAA" * 10_000}
    body = {"messages": [user("Read.", {"document": {"format": "pdf", "name": "a", "source": source}})]}
    assert 30_000 // 6 == parts_of(body)[1].tokens
    with pytest.raises(ValueError, match="base64"):
        parts_of({"messages": [user({"image": {"format": "png", "source": {"bytes": "?"}}})]})
