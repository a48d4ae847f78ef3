"""Counting through a model's own asynchronous count."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys

import pytest
from strands.models.model import Model

from strands_ctx.tokens import ModelCounter, TiktokenCounter
from strands_ctx.types import TokenCounter

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
    cycle = {}
    cycle["self"] = cycle
    model = EachBlock()
    counter = ModelCounter(model)
    message = {"role": "user", "content": [{"text": "x"}, {"toolUse": {"name": "n", "input": cycle}}]}
    assert (100, 100, 2) == (counter.count_message(message), counter.count_message(message), model.calls)


@pytest.mark.parametrize("message", [{"role": "user"}, {"role": "user", "content": None}, {"content": [None, IMAGE]}])
def test_malformed_messages_are_counted(message):
    """A model that can't read a message is replaced, not raised through."""
    assert 0 <= ModelCounter(EachBlock()).count_message(message)


def test_the_host_is_not_imported():
    """Counting through a model needs nothing of the host."""
    code = "import sys, strands_ctx.tokens.model_counter; print('strands' in sys.modules)"
    environment = {"PYTHONPATH": ":".join(sys.path)}
    shown = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "False\n" == shown.stdout
