"""Every kind of content reaches Bedrock as the log holds it, or not at all, and in an order that it accepts."""

from __future__ import annotations

import base64
import copy
from functools import partial

import pytest
from strands import Agent, tool

from strands_ctx import BudgetSuffixManager, CapToolResultsManager, ModelCounter, PerTurnManager
from strands_ctx.testing import ToolCall, provider_tokens
from tests.builders import assistant, cycle, result, turn, use, user
from tests.support.bedrock_client import Bedrock
from tests.support.bedrock_server import Answer

from .support.rig import Rig, fetch, fetches, text_of

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
PDF = b"%PDF-1.7\n" + bytes(range(256)) * 40
SIGNATURE = "c2lnbmVkIGJ5IHRoZSBzZXJ2aWNl" * 4
CACHE_POINT = {"cachePoint": {"type": "default"}}

MANAGERS = {
    "cap": lambda budget_tokens: CapToolResultsManager(100_000),
    "suffix": BudgetSuffixManager,
    "per_turn": partial(PerTurnManager, recent_tokens=1_000, old_result_max_bytes=200),
}


@pytest.fixture(params=sorted(MANAGERS))
def kind(request):
    """One of the three managers."""
    return request.param


@pytest.fixture(params=[True, False], ids=["stream", "converse"])
def streaming(request):
    """Whether answers are streamed."""
    return request.param


@pytest.fixture
def bedrock():
    """The service."""
    with Bedrock() as service:
        yield service


@tool
def scan(page: int) -> dict:
    """Scan a page.

    Args:
        page: Its number.
    """
    document = {"format": "pdf", "name": f"page {page}", "source": {"bytes": PDF}}
    image = {"format": "png", "source": {"bytes": PNG}}
    return {"status": "success", "content": [{"text": f"Page {page}"}, {"image": image}, {"document": document}]}


@tool
def look(page: int) -> dict:
    """Look at a page.

    Args:
        page: Its number.
    """
    return {"status": "success", "content": [{"image": {"format": "png", "source": {"bytes": PNG}}}]}


@tool
def say_nothing(kind: str) -> dict:
    """Return nothing.

    Args:
        kind: In which way.
    """
    contents = {"no block": [], "empty text": [{"text": ""}], "blank text": [{"text": " \n"}]}
    return {"status": "success", "content": contents[kind]}


@tool
def query(rows: int) -> dict:
    """Return rows.

    Args:
        rows: How many.
    """
    return {"status": "success", "content": [{"json": {"rows": [{"id": n, "name": f"漢字 {n}"} for n in range(rows)]}}]}


def rig_of(kind, bedrock, *tools, streaming=True, budget_tokens=6_000, **agent_arguments):
    """A rig in front of the service."""
    model = bedrock.model(streaming=streaming, context_window_limit=200_000)
    return Rig(kind, manager=MANAGERS[kind](budget_tokens), model=model, tools=tools, **agent_arguments)


def blocks(messages, name):
    """All blocks of a kind, in order, those inside tool results too."""
    outer = [block for message in messages for block in message["content"]]
    inner = [item for block in outer if "toolResult" in block for item in block["toolResult"]["content"]]
    return [block[name] for block in [*outer, *inner] if name in block]


def bytes_of(media):
    """The bytes of media on the wire."""
    return {base64.b64decode(item["source"]["bytes"]) for item in media}


def test_images_and_documents_of_results_go_over_the_wire(kind, streaming, bedrock):
    """As base64 of the same bytes; the log keeps them as bytes."""
    rig = rig_of(kind, bedrock, scan, streaming=streaming, budget_tokens=25_000)
    rig.run("Scan.", ToolCall("scan", {"page": 1}), "Scanned.")
    sent = bedrock.requests[-1].messages
    assert ({PNG}, {PDF}) == (bytes_of(blocks(sent, "image")), bytes_of(blocks(sent, "document")))
    assert (PNG, []) == (blocks(rig.agent.messages, "image")[0]["source"]["bytes"], rig.broken_laws())


@pytest.mark.parametrize("kind", ["suffix", "per_turn"])
def test_ten_scans_on_a_small_budget_stay_in_the_log(kind, streaming, bedrock):
    """The views hold fewer and fewer of them are sent twice; what is sent is whole."""
    rig = rig_of(kind, bedrock, scan, streaming=streaming, budget_tokens=25_000)
    rig.run("Scan.", *[ToolCall("scan", {"page": page}) for page in range(10)], "Scanned.")
    shown = [blocks(request.messages, "image") for request in bedrock.requests]
    assert (10, 10, True, []) == (
        len(blocks(rig.agent.messages, "image")),
        len(blocks(rig.agent.messages, "document")),
        all(len(images) < 10 and bytes_of(images) <= {PNG} for images in shown),
        rig.broken_laws(),
    )


def test_more_than_twenty_images_are_not_sent(kind, bedrock):
    """A request with 21 of them would be refused, for ever."""
    rig = rig_of(kind, bedrock, look, budget_tokens=150_000)
    rounds = [[ToolCall("look", {"page": page}) for page in range(7)] for _ in range(4)]
    rig.run("Look.", *rounds, "Seen.")
    assert ([], 28) == (rig.broken_laws(), len(blocks(rig.agent.messages, "image")))


@pytest.mark.parametrize("way", ["no block", "empty text", "blank text"])
def test_a_result_that_says_nothing_is_accepted(kind, way, bedrock):
    """The service refuses blank text, and the host fills an empty result with just that."""
    rig = rig_of(kind, bedrock, say_nothing)
    rig.run("Say nothing.", ToolCall("say_nothing", {"kind": way}), "Nothing was said.")
    assert (["answered"] * 2, []) == (bedrock.outcomes(), rig.broken_laws())


def test_json_results_go_over_the_wire(kind, streaming, bedrock):
    """As JSON where they are whole."""
    rig = rig_of(kind, bedrock, query, streaming=streaming)
    rig.run("Query.", ToolCall("query", {"rows": 3}), ToolCall("query", {"rows": 4}), "Found.")
    assert [3, 4] == [len(item["rows"]) for item in blocks(bedrock.requests[-1].messages, "json")]
    assert [] == rig.broken_laws()


def test_cache_points_of_the_system_prompt_and_of_messages_survive(kind, streaming, bedrock):
    """Wherever the cut is: the system prompt has its own in each request, the task's stays behind the task's text."""
    system = [{"text": text_of(6_000)}, CACHE_POINT]
    rig = rig_of(kind, bedrock, streaming=streaming, system_prompt=system)
    rig.run([{"text": "Fetch, and remember this."}, CACHE_POINT], *fetches(*range(1_500, 1_520)), "Fetched.")
    tasks = [request.messages[0]["content"][-2:] for request in bedrock.requests]
    assert ([system] * 21, [[{"text": "Fetch, and remember this."}, CACHE_POINT]] * 21, []) == (
        [request.body["system"] for request in bedrock.requests],
        tasks,
        rig.broken_laws(),
    )
    assert [True] * 20 == [request.bill.read_tokens > 1_024 for request in bedrock.requests[1:]]


def test_cache_points_are_four_at_most_with_those_of_the_system_prompt(kind, bedrock):
    """One behind the system prompt and one in each of five prompts: the service counts them all."""
    rig = rig_of(kind, bedrock, system_prompt=[{"text": "Be brief."}, CACHE_POINT])
    for _ in range(5):
        rig.run([{"text": "Hello."}, CACHE_POINT], "Hello.")
    assert (["answered"] * 5, []) == (bedrock.outcomes(), rig.broken_laws())


def test_reasoning_comes_back_with_its_signature(kind, streaming, bedrock):
    """Text, signature and redacted bytes of a kept answer are those that the service sent."""
    thought = {"reasoningContent": {"reasoningText": {"text": "Let me think. " * 9, "signature": SIGNATURE}}}
    hidden = {"reasoningContent": {"redactedContent": base64.b64encode(PNG).decode()}}
    call = {"toolUse": {"toolUseId": "think_1", "name": "fetch", "input": {"size": 300}}}
    # The oldest supported host can't read a whole answer with redacted reasoning.
    answer = [thought, hidden, call] if streaming else [thought, call]
    rig = rig_of(kind, bedrock, streaming=streaming)
    rig.run("Think.", Answer(answer, "tool_use"), "Thought.")
    sent = [{"reasoningContent": block} for block in blocks(bedrock.requests[-1].messages, "reasoningContent")]
    assert (answer[:-1], []) == (sent, rig.broken_laws())


ILLEGAL = {
    "an orphan result first": [user(result("gone", "old")), assistant("Old."), *turn("Hello.", "Hello.")],
    "an answer first": [assistant("Hello."), *turn("And?", "Nothing.")],
    "a call without its result": [user("Fetch."), assistant(use("lost", "fetch")), user("Go on."), assistant("Yes.")],
    "results in two messages": [
        user("Fetch."),
        assistant(use("one", "fetch"), use("two", "fetch")),
        user(result("two", "2")),
        user(result("one", "1")),
        assistant("Fetched."),
    ],
    "two prompts in a row": [user("Hello?"), user("Anybody?"), *cycle("one", name="fetch"), assistant("Here.")],
    "a cache point first": [user(CACHE_POINT, "Hello."), assistant("Hello.")],
    "five cache points": [message for _ in range(5) for message in (user("Hello.", CACHE_POINT), assistant("Hello."))],
}


@pytest.mark.parametrize("history", sorted(ILLEGAL))
def test_a_restored_history_that_is_not_legal_is_accepted_as_a_view(kind, history, bedrock):
    """The service refuses the log itself; the view is answered, and the log stays as it was."""
    log = ILLEGAL[history]
    rig = rig_of(kind, bedrock, messages=copy.deepcopy(log))
    rig.run("Where were we?", *fetches(300), "Here.")
    kept = [{"role": message["role"], "content": message["content"]} for message in rig.agent.messages[: len(log)]]
    assert (["answered"] * 2, log, []) == (bedrock.outcomes(), kept, rig.broken_laws())


@pytest.mark.parametrize("history", sorted(ILLEGAL))
def test_the_service_refuses_the_same_history_from_no_manager(history, bedrock):
    """So that the test above is about refusals that are real."""
    model = bedrock.model()
    agent = Agent(model=model, messages=copy.deepcopy(ILLEGAL[history]), tools=[fetch], callback_handler=None)
    bedrock.say("Here.")
    with pytest.raises(model.client.exceptions.ValidationException):
        agent("Where were we?")
    assert ["refused"] == bedrock.outcomes()


@pytest.mark.parametrize("kind", ["suffix", "per_turn"])
def test_the_service_counts_for_a_manager(kind, streaming, bedrock):
    """ModelCounter asks CountTokens for each new message; after three calls the estimates are within a twentieth."""
    model = bedrock.model(streaming=streaming, use_native_token_count=True, context_window_limit=200_000)
    rig = Rig(kind, manager=MANAGERS[kind](6_000, counter=ModelCounter(model)), model=model)
    rig.run("Fetch.", *fetches(*range(1_500, 1_512)), "Fetched.")
    receipts = rig.manager.receipts(rig.agent)
    far = [r for r in receipts[3:] if abs(r.view_tokens - r.billed_tokens) > 0.05 * r.billed_tokens]
    assert (True, [], []) == (len(bedrock.counts) > 12, far, rig.broken_laws())


CHECKS_COUNTS = pytest.mark.parametrize("checks_counts", [False, True], ids=["any messages", "conversations"])
"""Whether the service counts whatever it is shown, or only what it would answer."""


def counter_of(bedrock, *, checks_counts):
    """A counter that asks the service."""
    bedrock.checks_counts = checks_counts
    return ModelCounter(bedrock.model(use_native_token_count=True))


@CHECKS_COUNTS
@pytest.mark.parametrize("message", [user("Hello."), assistant("Hello.")], ids=["prompt", "answer"])
def test_a_message_costs_what_the_service_counts_for_it(message, checks_counts, bedrock):
    """Its own tokens and nothing else's."""
    counter = counter_of(bedrock, checks_counts=checks_counts)
    assert provider_tokens.count_message(message) == counter.count_message(message)


@CHECKS_COUNTS
def test_a_call_and_its_result_cost_what_the_service_counts_for_them(checks_counts, bedrock):
    """Together; the tool specification that the host adds where an agent has none is no part of it."""
    counter = counter_of(bedrock, checks_counts=checks_counts)
    call, answer = cycle("one", text_of(900))
    counts = [counter.count_message(call), counter.count_message(answer)]
    expected = [provider_tokens.count_message(call), provider_tokens.count_message(answer)]
    assert (sum(expected), True) == (sum(counts), all(abs(a - b) <= 3 for a, b in zip(expected, counts, strict=True)))


@CHECKS_COUNTS
def test_whatever_the_counter_asks_for_is_counted(checks_counts, kind, bedrock):
    """No request is refused, which the host would answer with a guess; not even for media and empty results."""
    counter = counter_of(bedrock, checks_counts=checks_counts)
    rig = rig_of(kind, bedrock, scan, say_nothing, budget_tokens=25_000)
    calls = [ToolCall("scan", {"page": 1}), ToolCall("say_nothing", {"kind": "no block"})]
    rig.run([{"text": "Scan."}, CACHE_POINT], calls, ToolCall("say_nothing", {"kind": "blank text"}), "Scanned.")
    counts = [counter.count_message(message) for message in rig.agent.messages]
    assert ({"answered"}, True) == ({count.outcome for count in bedrock.counts}, min(counts) > 5)
