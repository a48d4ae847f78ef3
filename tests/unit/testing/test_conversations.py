"""The shipped histories hold what they promise, are legal or not as asked, and shrink to nothing much."""

from __future__ import annotations

import builtins
import json
import pickle
import random
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from strands_ctx.errors import ConfigError
from strands_ctx.messages import check_messages
from strands_ctx.testing import HypothesisMissingError, conversations, random_conversation, strict_violations
from strands_ctx.testing.conversation_faults import FAULTS
from strands_ctx.testing.conversation_parts import FEATURES, SCRAPS, SURROGATES, Picker
from strands_ctx.tokens.image_size import image_size
from strands_ctx.types import Block, Messages
from tests.builders import ids, result, texts, user
from tests.support.bedrock_rules import wire_violations

MANY = [random_conversation(seed) for seed in range(400)]
BROKEN = [random_conversation(seed, legal=False) for seed in range(400)]


def resumed(log: Messages) -> Messages:
    """The log as it is sent once the host has run the calls that the last message asks for."""
    asked = ids(log[-1:], "toolUse")
    return [*log, user(*(result(call) for call in asked))] if asked else log


def refusals(log: Messages) -> list[str]:
    """What each of the three rule sets says."""
    body = {"messages": resumed(log), "toolConfig": {"tools": [{"name": "search"}]}}
    return [*strict_violations(resumed(log)), *wire_violations(body), *(each.rule for each in check_messages(log))]


def blocks_of(log: Messages) -> Iterator[Block]:
    """Every block, those inside results too."""
    for message in log:
        for block in message["content"]:
            yield block
            yield from block.get("toolResult", {}).get("content") or []


def media_count(log: Messages) -> int:
    """Images and documents."""
    return sum("image" in block or "document" in block for block in blocks_of(log))


def keys_of(kind: str) -> set[str]:
    """The keys of the sources of one kind of media."""
    blocks = (block[kind] for log in MANY for block in blocks_of(log) if kind in block)
    return {key for block in blocks for key in block["source"]}


@given(conversations(max_media=20))
def test_a_legal_history_is_accepted_as_it_is(log):
    """By our own check and by both sets of a strict provider's rules."""
    assert [] == refusals(log)


@given(conversations(max_media=20, without=FEATURES))
def test_a_history_without_all_features_is_legal_too(log):
    """Plain text, calls, results and JSON."""
    kinds = {key for block in blocks_of(log) for key in block}
    assert ([], set()) == (refusals(log), kinds - {"text", "json", "toolUse", "toolResult"})


@pytest.mark.parametrize(
    "kind",
    [
        *("text", "json", "image", "document", "video", "toolUse", "toolResult"),
        *("reasoningContent", "cachePoint", "guardContent", "citationsContent"),
    ],
)
def test_every_kind_of_block_occurs(kind):
    """Each provider-neutral kind of content that the host knows and that a session can hold."""
    assert any(kind in block for log in MANY for block in blocks_of(log))


def test_media_come_from_everywhere():
    """Bytes, texts, lists of texts, and places in S3."""
    assert {
        "image": {"bytes", "location"},
        "document": {"bytes", "text", "content", "location"},
        "video": {"bytes", "location"},
    } == {kind: keys_of(kind) for kind in ("image", "document", "video")}


def test_headers_tell_the_size_of_most_images():
    """In each of the four formats."""
    sized = {
        block["image"]["format"]
        for log in MANY
        for block in blocks_of(log)
        if image_size(block.get("image", {"source": {}})["source"].get("bytes", b"")) == (800, 600)
    }
    assert {"png", "jpeg", "gif", "webp"} == sized


def test_parallel_results_come_in_another_order_than_their_calls():
    """Somewhere in many histories."""
    orders = [
        (ids([asked], "toolUse"), ids([answered], "toolResult")) for log in MANY for asked, answered in pairwise(log)
    ]
    assert any(sorted(calls) == sorted(results) and calls != results for calls, results in orders)


def test_some_histories_hold_more_media_than_a_request_may():
    """Twenty is the strictest limit; the ration holds."""
    counts = [media_count(log) for log in MANY]
    assert (True, True) == (max(counts) > 20, max(counts) <= 40)


def test_a_cache_point_stands_inside_a_result_at_times():
    """As some providers take it."""
    items = [block["toolResult"]["content"] for log in MANY for block in blocks_of(log) if "toolResult" in block]
    assert any("cachePoint" in item for content in items for item in content)


@pytest.mark.parametrize("scrap", [*SCRAPS, *SURROGATES])
def test_every_scrap_of_text_occurs(scrap):
    """Every script, emoji, half pair and marker is met in a result or a prompt."""
    assert any(scrap in text for log in MANY for message in log for text in texts(message))


def test_results_carry_the_keys_of_mcp_and_errors():
    """Beside the content, and as a status."""
    results = [block["toolResult"] for log in MANY for block in blocks_of(log) if "toolResult" in block]
    assert (True, {"success", "error"}) == (
        any({"structuredContent", "metadata"} <= set(each) for each in results),
        {each["status"] for each in results},
    )


def test_large_inputs_and_half_finished_calls_occur():
    """A file to write as an input; a last message that calls tools."""
    inputs = [block["toolUse"]["input"] for log in MANY for block in blocks_of(log) if "toolUse" in block]
    assert (True, True) == (
        any(len(json.dumps(each)) > 2_000 for each in inputs),
        any(ids(log[-1:], "toolUse") for log in MANY),
    )


def test_most_histories_with_faults_are_refused():
    """The others got faults that change nothing, such as a lost tail."""
    assert sum(bool(refusals(log)) for log in BROKEN) > 300


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_every_fault_changes_some_history(fault):
    """In place, and never down to nothing."""
    changed = [random_conversation(seed) for seed in range(40)]
    for seed, log in enumerate(changed):
        fault(log, seed % len(log), Picker(random.Random(seed).randrange))
    assert (True, True) == (changed != MANY[:40], all(changed))


def test_a_history_shrinks_to_a_short_prompt():
    """Every choice is plainest at 0."""
    simplest = find(conversations(), lambda log: len(log) == 1)
    assert [user("prompt 1: word ")] == simplest


def test_a_failure_shrinks_to_what_caused_it():
    """One cycle with one image is left of all that a history can hold."""
    shrinking = settings(max_examples=300, phases=[Phase.generate, Phase.shrink], database=None)
    found = find(conversations(), lambda log: any("image" in block for block in blocks_of(log)), settings=shrinking)
    assert (1, True) == (media_count(found), len(found) <= 3)


@given(st.integers(0, 10**9), st.booleans())
def test_a_seed_gives_one_history(seed, legal):
    """The same again, and no object of it in the other one."""
    first, second = (random_conversation(seed, legal=legal) for _ in range(2))
    assert first == second
    assert set() == {id(block) for block in blocks_of(first)} & {id(block) for block in blocks_of(second)}


@given(conversations(max_turns=1, max_cycles=0, max_media=0, without=["structured_output"]))
def test_sizes_are_bounds(log):
    """One turn without cycles: a prompt and, at times, its answer or a call that is not answered yet."""
    assert (True, 0) == (len(log) <= 2, media_count(log))


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"max_turns": 0}, "max_turns"),
        ({"max_cycles": -1}, "max_cycles"),
        ({"max_media": True}, "max_media"),
        ({"without": "videos"}, "without"),
        ({"without": ["vidoes"]}, "without"),
    ],
)
def test_bad_arguments_are_refused(arguments, parameter):
    """By the strategy when it is made, and by the seeded one."""
    for make in (conversations, lambda **named: random_conversation(1, **named)):
        with pytest.raises(ConfigError) as caught:
            make(**arguments)
        assert parameter == caught.value.parameter


def test_a_missing_hypothesis_is_named(monkeypatch):
    """The error is one line that says what to install, is an ImportError too, and survives pickling."""
    real = builtins.__import__

    def without_hypothesis(name, *arguments, **named):
        if name.partition(".")[0] == "hypothesis":
            raise ModuleNotFoundError(f"No module named {name!r}")
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without_hypothesis)
    with pytest.raises(ImportError, match="pip install hypothesis") as caught:
        conversations()
    monkeypatch.undo()
    assert (HypothesisMissingError, str(caught.value)) == (
        type(caught.value),
        str(pickle.loads(pickle.dumps(caught.value))),
    )
