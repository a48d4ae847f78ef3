"""What each kind of block costs, through a counter that counts a token a character."""

from __future__ import annotations

import copy

import pytest

from strands_ctx.tokens import BlockCounter, CharacterCounter, counting, media, result_tokens
from strands_ctx.tokens.counting import call_tokens


class EachCharacter(BlockCounter):
    """A token a character."""

    exact = True

    def count_text(self, text):
        """Count the characters."""
        return len(text)


IMAGE = {"image": {"format": "png", "source": {"location": {"type": "s3", "uri": "s3://b/k"}}}}
CALL = {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"q": "é", "n": [1, 2]}}}
RESULT = {
    "toolResult": {"toolUseId": "t1", "status": "success", "content": [{"text": "four"}, {"json": {"a": 1}}, IMAGE]}
}


def blocks(*content):
    """Tokens of a user message's blocks, its overhead left out."""
    return EachCharacter().count_message({"role": "user", "content": list(content)}) - counting.MESSAGE_TOKENS


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"text": "twelve chars"}, 12),
        ({"text": ""}, 0),
        (CALL, 8 + len("look") + len('{"q":"é","n":[1,2]}')),
        (RESULT, 8 + 4 + len('{"a":1}') + media.MAX_IMAGE_TOKENS),
        ({"reasoningContent": {"reasoningText": {"text": "think", "signature": "s" * 900}}}, 5),
        ({"reasoningContent": {"redactedContent": b"x" * 41}}, 11),
        ({"guardContent": {"text": {"text": "guard", "qualifiers": ["query"]}}}, 5),
        ({"citationsContent": {"content": [{"text": "cited"}], "citations": [{"title": "t"}]}}, 5),
        ({"cachePoint": {"type": "default"}}, 0),
        (IMAGE, 1_600),
        ({"hologram": {"format": "h", "source": {"bytes": b"x" * 9_000}}}, 1_600),
        ({"other": {"a": 1}}, len('{"other":{"a":1}}')),
    ],
)
def test_each_kind_of_block_has_its_price(block, expected):
    """Payloads count, ids and signatures don't, media count by kind."""
    assert expected == blocks(block)


def test_parallel_calls_and_text_add_up():
    """A message costs its overhead and the sum of its blocks."""
    assert blocks(CALL) + blocks({"text": "and"}) + blocks(RESULT) == blocks(CALL, {"text": "and"}, RESULT)


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"role": "user"},
        {"role": "user", "content": None},
        {"role": "user", "content": "just text"},
        {"role": "user", "content": [None, 3, "text", [], {"text": None}, {"text": 5}, {None: 1}]},
        {
            "role": "user",
            "content": [{"toolUse": None}, {"toolUse": {}}, {"toolUse": "x"}, {"toolUse": {"input": {1}}}],
        },
        {"role": "user", "content": [{"toolResult": None}, {"toolResult": {}}, {"toolResult": {"content": "x"}}]},
        {"role": "user", "content": [{"toolResult": {"content": [None, 4, {"json": {(1, 2): object()}}]}}]},
        {"role": "user", "content": [{"image": None}, {"document": None}, {"video": 3}, {"audio": {"source": None}}]},
        {
            "role": "user",
            "content": [{"reasoningContent": None}, {"guardContent": {"text": None}}, {"citationsContent": []}],
        },
        {"role": "user", "content": [{"document": {"source": {"content": [None, {"text": 4}]}}}]},
        None,
        "text",
    ],
)
def test_malformed_messages_are_counted(message):
    """Whatever is missing or of the wrong type, a count comes back."""
    assert counting.MESSAGE_TOKENS <= EachCharacter().count_message(message)


def test_a_value_that_holds_itself_is_counted():
    """Neither a cycle nor deep nesting in a tool's input ends the count."""
    cycle = {}
    cycle["self"] = cycle
    deep = []
    for _ in range(100_000):
        deep = [deep]
    counted = [blocks({"toolUse": {"name": "n", "input": value}}) for value in (cycle, deep)]
    assert [True, True] == [tokens > 8 for tokens in counted]


def test_result_tokens_are_the_payloads_of_results_alone():
    """Ids, wrapping and other blocks of the message are left out."""
    message = {"role": "user", "content": [{"text": "ignored"}, RESULT, RESULT]}
    assert 2 * (4 + len('{"a":1}') + 1_600) == result_tokens(EachCharacter(), message)


def test_result_tokens_need_nothing_but_count_text():
    """Any object that counts text will do."""

    class Bare:
        def count_text(self, text):
            return 1

    assert 1 + 1 + 1_600 == result_tokens(Bare(), {"role": "user", "content": [RESULT]})


@pytest.mark.parametrize(
    "message", [{}, {"content": None}, {"content": "x"}, {"content": [None, {"toolResult": None}]}, None]
)
def test_a_message_without_results_has_no_result_tokens(message):
    """No result, or a malformed one, is 0."""
    assert 0 == result_tokens(EachCharacter(), message)


def test_call_tokens_are_calls_and_the_wrapping_of_results():
    """Texts beside the calls and payloads of the results are left out."""
    called = {"role": "assistant", "content": [{"text": "ignored"}, CALL, CALL]}
    answered = {"role": "user", "content": [RESULT, {"text": "ignored"}]}
    call = 8 + len("look") + len('{"q":"é","n":[1,2]}')
    assert [2 * call, 8] == [call_tokens(EachCharacter(), message) for message in (called, answered)]


@pytest.mark.parametrize("content", [None, "x", [None, {"text": "toolUse"}]])
def test_a_message_without_calls_has_no_call_tokens(content):
    """Malformed content has none either."""
    assert 0 == call_tokens(EachCharacter(), {"role": "user", "content": content})


def test_tools_count_by_their_compact_json():
    """Each specification costs its JSON and 8 more."""
    assert 2 * (8 + len('{"name":"t"}')) == EachCharacter().count_tools([{"name": "t"}, {"name": "t"}])


def test_no_tools_cost_nothing():
    """Neither an empty list nor none."""
    assert (0, 0) == (EachCharacter().count_tools([]), EachCharacter().count_tools(None))


def test_a_message_changed_in_place_is_counted_anew():
    """What is remembered is never of an older text."""
    counter = CharacterCounter()
    message = {"role": "user", "content": [copy.deepcopy(RESULT)]}
    before = counter.count_message(message)
    message["content"][0]["toolResult"]["content"][0]["text"] = "a much longer text than before, by far"
    assert before < counter.count_message(message)


def test_the_memory_of_counts_is_bounded(monkeypatch):
    """Old counts are forgotten, and counted again where they are needed again."""
    monkeypatch.setattr(counting, "MEMO_TEXTS", 8)
    memo = counting.CountMemo()
    texts = [f"a text that is number {number}" for number in range(100)]
    assert ([len(text) for text in texts], True) == ([memo.get(text, len) for text in texts], len(memo._counts) <= 8)
