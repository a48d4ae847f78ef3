"""Counting through a model's own asynchronous count."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys

import pytest
from strands.models.model import Model

from strands_ctx.testing import strict_violations
from strands_ctx.tokens import ModelCounter, TiktokenCounter
from strands_ctx.types import TokenCounter
from tests.builders import CACHE_POINT, assistant, cycle, result, use, user

MESSAGE = {"role": "user", "content": [{"text": "How large is this message?"}]}
IMAGE = {"image": {"format": "png", "source": {"bytes": b"not really a png"}}}
SPECS = [{"name": "look", "description": "Look something up.", "inputSchema": {"json": {"type": "object"}}}]


class EachBlock:
    """A model that counts 100 for each block of text and 10 for each tool, and may see media."""

    def __init__(self, image_tokens=0, error=None):
        self.calls = 0
        self.image_tokens = image_tokens
        self.error = error

    async def count_tokens(self, messages, tool_specs=None, system_prompt=None):
        """Count after giving the loop a turn, as a client would."""
        self.calls += 1
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        kinds = [kind for message in messages for block in message["content"] for kind in block]
        return 100 * kinds.count("text") + self.image_tokens * kinds.count("image") + 10 * len(tool_specs or [])


def test_the_counter_is_a_token_counter_and_never_exact():
    """A model's own count may be an estimate."""
    counter = ModelCounter(EachBlock())
    assert (True, False) == (isinstance(counter, TokenCounter), counter.exact)


def test_texts_messages_and_tools_are_the_models_numbers():
    """Tools count as what they add."""
    counter = ModelCounter(EachBlock())
    counts = [counter.count_text("some text of many words"), counter.count_message(MESSAGE), counter.count_tools(SPECS)]
    assert [100, 100, 10] == counts


def test_the_host_models_count_is_used():
    """A real model of the host, whose default count is a quarter of the characters."""

    class Host(Model):
        def update_config(self, **config): ...
        def get_config(self): ...
        def structured_output(self, *args, **kwargs): ...
        def stream(self, *args, **kwargs): ...

    assert 25 == ModelCounter(Host()).count_text("four" * 25)


def test_a_running_loop_can_count():
    """Synchronous code that runs inside a loop, as a hook does, gets its number."""

    async def hook():
        return ModelCounter(EachBlock()).count_message(MESSAGE)

    assert 100 == asyncio.run(hook())


class Bill:
    """A model that bills a request 7, each message 3 and each block the length of its JSON, and keeps what it saw."""

    def __init__(self):
        self.seen = []

    async def count_tokens(self, messages, tool_specs=None):
        """Count a conversation; nothing is forgiven."""
        self.seen.append((messages, tool_specs))
        blocks = [block for message in messages for block in message["content"]]
        return 7 + 3 * len(messages) + sum(map(json_size, [*blocks, *(tool_specs or [])]))


def json_size(value):
    """The length of a value's JSON, media as if they were text."""
    return len(json.dumps(value, default=repr))


CONVERSATION = [
    user("Find two things."),
    assistant("Looking.", use("call_1"), use("call_2")),
    user(result("call_2", "the second"), result("call_1", "the first" * 40), "Go on."),
    assistant("Found."),
    user("And a picture?", CACHE_POINT),
    assistant(use("call_3")),
    user({"toolResult": {"toolUseId": "call_3", "status": "success", "content": [IMAGE]}}),
    assistant("Here."),
    user("Thank you."),
]


def test_the_messages_of_a_conversation_add_up_to_it():
    """Whatever a request, a message and a pair of tools cost by themselves is counted once."""
    model = Bill()
    counter = ModelCounter(model)
    added = sum(map(counter.count_message, CONVERSATION)) + counter.count_tools(SPECS)
    whole = 7 + 3 * len(CONVERSATION) + json_size(SPECS[0])
    blocks = [block for message in CONVERSATION for block in message["content"] if block != CACHE_POINT]
    assert whole + sum(map(json_size, blocks)) == added


def test_a_text_is_what_it_adds():
    """Without a message around it and without what a request costs."""
    assert json_size({"text": "some text"}) == ModelCounter(Bill()).count_text("some text")


@pytest.mark.parametrize(
    "message",
    [
        *CONVERSATION,
        assistant(CACHE_POINT, "Hello."),
        user(" \n", "Hello."),
        user({"toolResult": {"toolUseId": "one", "status": "success", "content": []}}),
        user({"toolResult": {"toolUseId": "one", "status": "success", "content": [{"text": ""}, CACHE_POINT]}}),
    ],
)
def test_whatever_a_model_is_shown_is_a_legal_conversation(message):
    """A provider that checks it would refuse to count, and the host would guess in silence."""
    model = Bill()
    ModelCounter(model).count_message(message)
    refused = [strict_violations(messages) for messages, _ in model.seen]
    toolless = [specs for messages, specs in model.seen if "toolUse" in str(messages) and not specs]
    assert ([[]] * len(refused), [], True) == (refused, toolless, len(refused) > 0)


def test_what_is_taken_off_is_asked_for_once():
    """A prompt without and with a tool, and a pair of calls and results: three requests more than messages."""
    model = Bill()
    counter = ModelCounter(model)
    messages = [message for number in range(10, 60) for message in cycle(f"call_{number}", f"page {number}")]
    for message in [*messages, assistant("Done."), *messages]:
        counter.count_message(message)
    assert len(messages) + 1 + 3 == len(model.seen)


def test_a_model_that_fails_in_the_middle_of_a_count_is_not_half_believed():
    """The whole number is tiktoken's, and what was not answered is asked for again."""

    class Flaky(Bill):
        async def count_tokens(self, messages, tool_specs=None):
            tokens = await super().count_tokens(messages, tool_specs)
            return -1 if len(self.seen) == 1 else tokens

    counter, result_of = ModelCounter(Flaky()), user(result("call_1", "found"))
    first, second = counter.count_message(result_of), counter.count_message(user(result("call_1", "found it")))
    again = counter.count_message(result_of)
    expected = TiktokenCounter().count_message(result_of)
    assert (expected, expected, ModelCounter(Bill()).count_message(user(result("call_1", "found it")))) == (
        first,
        again,
        second,
    )


def test_the_model_is_asked_once_for_a_message():
    """Equal content is remembered; changed content is asked for anew."""
    model = EachBlock()
    counter = ModelCounter(model)
    message = {"role": "user", "content": [{"text": "first"}]}
    counter.count_message(message)
    counter.count_message({"role": "user", "content": [{"text": "first"}], "metadata": {"custom": {}}})
    once = model.calls
    message["content"].append({"text": "second"})
    assert (1, 200) == (once, counter.count_message(message))


def test_media_that_a_model_leaves_out_are_added():
    """The host's default count gives 0 for an image."""
    message = {"role": "user", "content": [{"text": "Look:"}, IMAGE]}
    assert 1_700 == ModelCounter(EachBlock()).count_message(message)


def test_media_alone_are_never_0():
    """Also where nothing is left beside them."""
    assert 1_600 == ModelCounter(EachBlock()).count_message({"role": "user", "content": [IMAGE]})


def test_media_that_a_model_counts_are_not_added():
    """A provider's own number stands."""
    message = {"role": "user", "content": [{"text": "Look:"}, IMAGE]}
    assert 430 == ModelCounter(EachBlock(image_tokens=330)).count_message(message)


def test_a_model_that_raises_is_replaced_with_one_warning(caplog):
    """The number is tiktoken's, and after three failures the model is left alone."""
    caplog.set_level(logging.WARNING)
    model = EachBlock(error=ConnectionError("no route"))
    counter = ModelCounter(model)
    texts = [f"a text that is number {number}" for number in range(6)]
    counts = [counter.count_text(text) for text in texts]
    expected = [TiktokenCounter().count_text(text) for text in texts]
    assert (expected, 3, 1) == (counts, model.calls, len(caplog.records))


@pytest.mark.parametrize("answer", [None, -1, "7"])
def test_a_models_nonsense_is_replaced(answer):
    """What is not a number of tokens counts as a failure."""

    class Nonsense:
        async def count_tokens(self, messages, tool_specs=None):
            return answer

    assert TiktokenCounter().count_message(MESSAGE) == ModelCounter(Nonsense()).count_message(MESSAGE)


def test_a_message_that_holds_itself_is_counted():
    """What has no JSON is counted too, each time anew."""
    itself = {}
    itself["self"] = itself
    model = EachBlock()
    counter = ModelCounter(model)
    message = assistant("x", {"toolUse": {"toolUseId": "one", "name": "n", "input": itself}})
    assert (100, 100, 4) == (counter.count_message(message), counter.count_message(message), model.calls)


MALFORMED = [
    {"role": "user"},
    {"role": "user", "content": None},
    {"content": [None, IMAGE]},
    {"role": "system", "content": [{"text": "Hello."}]},
    {"role": "user", "content": [{"text": None}]},
    {"role": "user", "content": [{"toolResult": {"content": []}}]},
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": 7}}]},
    {"role": "assistant", "content": [{"toolUse": "look"}]},
]


@pytest.mark.parametrize("message", MALFORMED)
def test_malformed_messages_are_counted_without_the_model(message):
    """No model could read them, and its refusal would count as its failure."""
    model = EachBlock()
    assert (TiktokenCounter().count_message(message), 0) == (ModelCounter(model).count_message(message), model.calls)


def test_the_host_is_not_imported():
    """Counting through a model needs nothing of the host."""
    code = "import sys, strands_ctx.tokens.model_counter; print('strands' in sys.modules)"
    environment = {"PYTHONPATH": ":".join(sys.path)}
    shown = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "False\n" == shown.stdout
