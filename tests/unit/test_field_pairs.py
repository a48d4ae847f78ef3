"""Cases from the field: calls, results and what stands beside them, where something is capped, missing or repeated."""

from __future__ import annotations

import copy

import pytest

from strands_ctx.capping.rules import CapRules
from strands_ctx.errors import BudgetError
from strands_ctx.messages import check_messages
from strands_ctx.plans import Policy
from tests.builders import assistant, cycle, ids, limits_of, planned, result, texts, turn, use, user, words

TIERS = Policy(old_result_max_bytes=64, recent_tokens=50, old_input_max_bytes=64)
TURNS = [message for _ in range(20) for message in turn(words(10), words(82))]


def wordy_call(call: str) -> dict:
    """A call whose input takes 60 words."""
    return {"toolUse": {"toolUseId": call, "name": "write", "input": {"text": words(60)}}}


@pytest.mark.parametrize("policy", [Policy(), TIERS])
def test_a_large_unanswered_call_is_whole_and_the_resumed_run_is_legal(policy):
    """S5: nothing answers it but the tool, whose result follows it in the view."""
    log = [*TURNS, user("the task"), assistant("I ask.", wordy_call("open"))]
    plan, view = planned(log, limits_of(300), policy)
    _, resumed = planned([*log, user(result("open"))], limits_of(300), policy, standing=plan.boundaries)
    assert (log[-1], log[-1], []) == (view[-1], resumed[-2], ids(view, "toolResult"))
    assert ([], [], ["open"]) == (check_messages(view), check_messages(resumed), ids(resumed, "toolResult"))


@pytest.mark.parametrize("place", [0, 1, 20, 39, 40])
@pytest.mark.parametrize("policy", [Policy(), TIERS])
def test_a_result_without_its_call_does_not_block_management(place, policy):
    """S6: alone in its message, wherever it stands, and call after call: cuts go on, and the log keeps it."""
    log = [*TURNS[:place], user(result("gone", words(50))), *TURNS[place:]]
    before, standing, cuts = copy.deepcopy(log), None, []
    for _ in range(3):
        plan, view = planned(log, limits_of(600), policy, standing=standing)
        assert (True, [], []) == (plan.view_tokens <= 600, ids(view, "toolResult"), check_messages(view))
        cuts.append(plan.cut)
        standing = plan.boundaries
        log = [*log, *TURNS[:10]]
    assert (before, True) == (log[:41], 0 < cuts[0] < cuts[1] < cuts[2])


def test_a_cap_of_results_leaves_the_text_beside_them_in_its_place():
    """S8: between two results, behind a cap line."""
    answers = user(result("a", words(500)), "by the way", result("b", words(500)))
    log = [user("go"), assistant(use("a"), use("b")), answers, *cycle("c")]
    plan, view = planned(log, limits_of(200), TIERS)
    assert ([64, 10, 64], 0) == ([len(text) for text in texts(view[2])], plan.omitted_messages)


def test_parallel_results_get_the_caps_of_their_own_tools():
    """S9: by id and not by position, where an exempt tool answers first and was called last."""
    answers = user(result("b", words(100)), result("a", words(100)))
    log = [user("go"), assistant(use("a"), use("b", "read_contract")), answers, *cycle("c")]
    rules = CapRules(exempt_tools=frozenset({"read_contract"}))
    _, view = planned(log, limits_of(200), TIERS, rules=rules)
    assert [("b", len(words(100))), ("a", 64)] == list(zip(["b", "a"], map(len, texts(view[2])), strict=True))


def test_of_parallel_calls_the_one_without_result_gets_the_stand_in():
    """S9: the others keep theirs, in the order in which they came."""
    log = [user("go"), assistant(use("a"), use("b"), use("c")), user(result("c", "third"), result("a", "first"))]
    _, view = planned(log, limits_of(1_000))
    answers = {block["toolResult"]["toolUseId"]: block["toolResult"] for block in view[2]["content"]}
    assert (["b", "c", "a"], "error") == (list(answers), answers["b"]["status"])
    assert ["third", "first"] == texts(view[2])[1:]


def test_reasoning_beside_what_is_capped_merged_or_renamed_is_byte_identical():
    """S10: the blocks around it change, it does not."""
    signed = {"reasoningContent": {"reasoningText": {"text": f" {words(90)}\n", "signature": "c2ln"}}}
    redacted = {"reasoningContent": {"redactedContent": b"\x00\x01"}}
    log = [
        user("go"),
        assistant(signed, wordy_call("a")),
        user(result("a", words(500))),
        assistant(redacted, wordy_call("a")),
        user(result("a", words(500))),
        assistant(signed, "one"),
        assistant(redacted, "two"),
        user("so"),
    ]
    _, view = planned(log, limits_of(600), TIERS)
    kept = [block for message in view for block in message["content"] if "reasoningContent" in block]
    assert ([signed, redacted, signed, redacted], ["a", "a-2"]) == (kept, ids(view, "toolUse"))
    shown = [text for message in view[2:5:2] for text in texts(message)]
    assert ([True, True], 7) == (["bytes shown" in text for text in shown], len(view))


def test_each_of_many_parallel_results_keeps_a_floor():
    """S19: 64 bytes, whatever the others take; what is smaller stays whole, and below that nothing is sent."""
    sizes = [3, *[400] * 8, 4_000]
    calls = [f"c{number}" for number in range(10)]
    answers = user(*(result(call, words(size)) for call, size in zip(calls, sizes, strict=True)))
    log = [user("go"), assistant(*map(use, calls)), answers]
    _, view = planned(log, limits_of(320))
    shown = [len(text.encode()) for text in texts(view[2])]
    assert ([14], True) == (shown[:1], all(64 <= size < 80 for size in shown[1:]))
    with pytest.raises(BudgetError, match="newest messages"):
        planned(log, limits_of(250))
