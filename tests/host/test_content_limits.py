"""What an app asks of single tools, of parallel results and of images, in logs and in views of real agents."""

from __future__ import annotations

import pytest
from strands import tool
from strands.models import BedrockModel

from strands_ctx import BudgetSuffixManager, CapToolResultsManager, PerTurnManager
from strands_ctx._host import own_cache_points
from strands_ctx.bank import ToolResultBank
from strands_ctx.testing import ToolCall

from .support.rig import Rig, fetches, text_of
from .support.watch import result_bytes

CACHE_POINT = {"cachePoint": {"type": "default"}}

LOG_CAPS = {
    "cap": lambda **arguments: CapToolResultsManager(10_000, **arguments),
    "suffix, capped log": lambda **arguments: BudgetSuffixManager(50_000, max_bytes_per_result=10_000, **arguments),
    "per_turn, capped log": lambda **arguments: PerTurnManager(50_000, max_bytes_per_result=10_000, **arguments),
}


@tool
def read_pdf(size: int) -> str:
    """Read a document.

    Args:
        size: How many bytes.
    """
    return text_of(size, seed=size)


@tool
def fails() -> str:
    """Fail with a long message."""
    raise ValueError(text_of(500))


@pytest.fixture(params=sorted(LOG_CAPS))
def kind(request):
    """A manager that caps its log."""
    return request.param


def rig_of(kind, **arguments):
    """A rig with one of them."""
    return Rig(kind, manager=LOG_CAPS[kind](**arguments), tools=[read_pdf, fails])


def sizes(rig):
    """Bytes of each result in the log, by message."""
    results = [[b for b in m["content"] if "toolResult" in b] for m in rig.agent.messages]
    return [[result_bytes({"content": [block]}) for block in blocks] for blocks in results if blocks]


def test_parallel_results_share_the_cap_of_their_message(kind):
    """S19: each under its own cap, together over that of the message; small ones stay whole, the sum is exact."""
    rig = rig_of(kind, max_bytes_per_message=12_000)
    rig.run("Fetch.", fetches(9_000, 300, 8_000, 7_000), *fetches(9_500), "Fetched.")
    assert ([[3_900, 300, 3_900, 3_900], [9_500]], []) == (sizes(rig), rig.broken_laws())


def test_of_parallel_results_an_error_is_cut_last(kind):
    """S15: what failed stays whole while the others can give way, also where it is larger than a fair share."""
    rig = rig_of(kind, max_bytes_per_message=900)
    rig.run("Fetch.", [ToolCall("fetch", {"size": 9_000}), ToolCall("fails"), ToolCall("fetch", {"size": 9_000})], "x")
    blocks = [block["toolResult"] for block in rig.agent.messages[2]["content"]]
    texts = [block["content"][0]["text"] for block in blocks]
    assert (True, True, []) == (text_of(500) in texts[1], 890 < sum(map(len, texts)) <= 900, rig.broken_laws())


def test_of_parallel_results_what_was_recalled_is_cut_last(kind):
    """It is in no bank by its own id, so nothing offers to recall it again."""
    with ToolResultBank() as bank:
        manager = LOG_CAPS[kind](max_bytes_per_message=4_000, recall_tool="recall")
        rig = Rig(kind, manager=manager, tools=[bank.as_tool()], hooks=[bank])
        rig.run("Fetch.", ToolCall("fetch", {"size": 3_000}, id="f1"), "Fetched.")
        again = ToolCall("recall", {"tool_use_id": "f1"}, id="r1")
        rig.run("Again.", [ToolCall("fetch", {"size": 9_000}, id="f2"), again], "Done.", "Never.")
        results = [block["toolResult"]["content"] for block in rig.agent.messages[6]["content"]]
    fetched, recalled = ["".join(item["text"] for item in content) for content in results]
    assert (True, True, False) == (text_of(3_000) in recalled, "by id f2" in fetched, "by id r1" in recalled)


def test_the_text_beside_results_is_not_capped(kind):
    """A message of results may hold what a user wrote."""
    rig = rig_of(kind, max_bytes_per_message=1_000)
    call = {"toolUse": {"toolUseId": "a", "name": "fetch", "input": {}}}
    result = {"toolUseId": "a", "status": "success", "content": [{"text": text_of(5_000)}]}
    rig.agent.messages += [
        {"role": "user", "content": [{"text": "Fetch."}]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"toolResult": result}, {"text": text_of(4_000)}]},
        {"role": "assistant", "content": [{"text": "Fetched."}]},
    ]
    rig.watch.look("given")
    rig.run("And now?", "Fine.")
    stored, beside = rig.agent.messages[2]["content"]
    size = len(stored["toolResult"]["content"][0]["text"])
    assert (True, 4_000) == (990 < size <= 1_000, len(beside["text"]))


def test_a_tools_own_cap_takes_the_place_of_the_others(kind):
    """A document is worth more than a page."""
    rig = rig_of(kind, per_tool_max_bytes={"read_pdf": 40_000})
    rig.run(
        "Read.", *fetches(20_000), ToolCall("read_pdf", {"size": 30_000}), ToolCall("read_pdf", {"size": 60_000}), "x"
    )
    [page], *documents = sizes(rig)
    assert (True, [[30_000], [40_000]], []) == (9_990 < page <= 10_000, documents, rig.broken_laws())


def test_a_tools_own_cap_of_the_log_does_not_depend_on_that_of_the_view():
    """A view that shows more than the log keeps does not lower what an app gave a tool."""
    manager = PerTurnManager(
        old_result_max_bytes=8_000, max_bytes_per_result=2_000, per_tool_max_bytes={"read_pdf": 9_000}
    )
    rig = Rig("per_turn, capped log", manager=manager, tools=[read_pdf])
    rig.run("Read.", ToolCall("read_pdf", {"size": 30_000}), "Read.")
    assert [[9_000]] == sizes(rig)


def test_a_tools_own_cap_holds_behind_the_cap_line_too():
    """In the view of a run in progress."""
    rig = Rig(
        "per_turn",
        manager=PerTurnManager(20_000, recent_tokens=100, per_tool_max_bytes={"read_pdf": 5_000}),
        tools=[read_pdf],
    )
    reads = [ToolCall("read_pdf", {"size": 9_000}), ToolCall("read_pdf", {"size": 4_000})]
    rig.run("Read.", *reads, *fetches(*[9_000] * 12), "Read.")
    shown = [result_bytes(message) for message in rig.views[-1] if "toolResult" in message["content"][-1]]
    assert ([5_000, 4_000, True], []) == ([*shown[:2], max(shown[2:-1]) <= 600], rig.broken_laws())


def test_the_cache_points_that_a_model_adds_by_itself_are_counted():
    """Four in a request, those of tools and system prompt included; the ones in front are left out."""
    rig = Rig("suffix")
    rig.model.config["cache_tools"] = "default"
    prompts = [[{"text": f"Prompt {number}."}, CACHE_POINT] for number in range(5)]
    for prompt in prompts:
        rig.run(prompt, "Fine.")
    points = [sum(block == CACHE_POINT for m in view for block in m["content"]) for view in rig.views]
    assert ([1, 2, 3, 3, 3], []) == (points, rig.broken_laws())


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, 0), ({"cache_tools": "default"}, 1), ({"cache_tools": None}, 0)],
)
def test_the_options_of_bedrock_are_read(options, expected):
    """From the configuration of the real model class."""
    model = BedrockModel(region_name="us-west-2", model_id="anthropic.claude-sonnet-4-20250514-v1:0")
    model.config.update(options)
    assert expected == own_cache_points(model)
