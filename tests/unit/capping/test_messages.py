"""Caps of whole messages, by hand."""

from __future__ import annotations

import pytest

from strands_ctx.capping.json_values import json_text
from strands_ctx.capping.messages import cap_message, cap_texts
from tests.builders import assistant, result, texts, use, user


def test_a_message_counts_what_was_capped():
    """Only ids with a cap, and only where they are larger."""
    message = user(result("a", "x" * 200), result("b", "x" * 200), result("c", "small"), "beside")
    capped, results, dropped = cap_message(message, {"a": 64, "c": 64})
    assert (1, 136, [64, 200, 5, 6]) == (results, dropped, [len(text) for text in texts(capped)])


def test_a_message_of_which_nothing_is_capped_is_the_same_object():
    """No copy without need."""
    message = assistant("x", use("a"))
    assert (message, 0, 0) == cap_message(message, {"a": 64})
    assert cap_message(message, {})[0] is message


def test_texts_and_results_of_a_message_share_one_cap():
    """Its own text too; results with other ids stay whole."""
    message = user("p" * 300, result("a", "x" * 300), result("b", "x" * 300), "small")
    assert [97, 98, 300, 5] == [len(text) for text in texts(cap_texts(message, 200, ["a"]))]


def test_results_that_share_a_cap_spare_the_error():
    """S15: the error stays whole while the others can give way, and is cut like them when they can't."""
    message = user(result("a", "x" * 900), result("b", "e" * 300, "error"), result("c", "x" * 900))
    shown = {cap: [len(text) for text in texts(cap_texts(message, cap, "abc"))] for cap in (1_000, 400, 200)}
    assert {1_000: [350, 300, 350], 400: [64, 272, 64], 200: [64, 72, 64]} == shown


def test_media_of_a_message_count_by_what_they_take():
    """A picture of a megabyte is not worth more than the text beside it; where it does not fit it is described."""
    image = {"image": {"format": "png", "source": {"bytes": bytes(1_000_000)}}}
    message = user(image, "x" * 20_000)
    kept, described = cap_texts(message, 15_000, ()), cap_texts(message, 5_000, ())
    assert (image, 8_600) == (kept["content"][0], len(texts(kept)[0]))
    assert ["[image: png, 1,000,000 bytes]", 4_971] == [texts(described)[0], len(texts(described)[1])]


def call_of(**arguments):
    """A message with one call."""
    return assistant({"toolUse": {"toolUseId": "a", "name": "write", "input": arguments}})


def test_the_input_of_a_call_is_cut_to_a_smaller_object():
    """Its keys stay while they fit, and its id and name always do."""
    message = call_of(path="notes.txt", text="word " * 400)
    capped, results, dropped = cap_message(message, {}, input_max_bytes=200)
    call = capped["content"][0]["toolUse"]
    assert ("a", "write", "notes.txt", 0) == (call["toolUseId"], call["name"], call["input"]["path"], results)
    assert "of 2,000 bytes shown" in call["input"]["text"]
    assert len(json_text(message["content"][0]["toolUse"]["input"])) - dropped == len(json_text(call["input"])) <= 200


def test_an_input_of_which_no_key_fits_is_still_an_object():
    """It says how many keys it had."""
    capped, _, dropped = cap_message(call_of(**{"k" * 500: 1}), {}, input_max_bytes=64)
    assert ({"...": "0 of 1 keys shown"}, 479) == (capped["content"][0]["toolUse"]["input"], dropped)


@pytest.mark.parametrize("value", ["a text " * 100, None, ["word"] * 100])
def test_an_input_that_is_no_object_stays(value):
    """What a model made of it is not ours to judge."""
    message = assistant({"toolUse": {"toolUseId": "a", "name": "write", "input": value}})
    assert (message, 0, 0) == cap_message(message, {}, input_max_bytes=64)
