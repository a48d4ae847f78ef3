"""Cases from the field: the shapes of history that end sessions elsewhere, planned and built."""

from __future__ import annotations

import pytest

from strands_ctx.messages import STRUCTURED_OUTPUT_PROMPT, check_messages
from strands_ctx.plans import Boundaries, Policy
from strands_ctx.policies import plan_view
from strands_ctx.tokens import CharacterCounter
from strands_ctx.view import build_view
from tests.builders import (
    assistant,
    cycle,
    ids,
    ledger_of,
    limits_of,
    load_of,
    pinned,
    planned,
    result,
    texts,
    turn,
    use,
    user,
    words,
)

TIERS = Policy(old_result_max_bytes=64, recent_tokens=50)


def turns_of(count: int, tokens: int) -> list:
    """Turns of so many tokens each: a prompt of 10 words, and an answer of the rest."""
    return [message for _ in range(count) for message in turn(words(10), words(tokens - 18))]


def errors(call: str, size: int) -> list:
    """A tool call that failed, with a message of so many words."""
    return [assistant(use(call)), user(result(call, words(size), "error"))]


def test_one_prompt_and_50_pairs_are_cut_inside_the_turn():
    """S1: the prompt stays, the first message is the user's, and the rest is one suffix of whole cycles."""
    log = [user("the task"), *(message for number in range(50) for message in cycle(f"c{number}", words(100)))]
    plan, view = planned(log, limits_of(2_000))
    assert ((0,), 1) == (plan.lead, plan.cut % 2)
    assert "the task" == texts(view[0])[1]
    assert (log[plan.cut :], []) == (view[1:], check_messages(view))


@pytest.mark.parametrize("policy", [Policy(), TIERS])
def test_a_huge_newest_result_shrinks_and_nothing_is_left_out(policy):
    """S2: leaving out a prompt's tiny first cycle would not help, so it stays."""
    log = [user("the task"), *cycle("tiny", "found"), *cycle("huge", words(5_000))]
    plan, view = planned(log, limits_of(2_000), policy)
    assert (0, ["tiny", "huge"]) == (plan.omitted_messages, ids(view, "toolResult"))
    assert ("found", True, True) == (texts(view[2])[0], "bytes shown" in texts(view[4])[0], plan.view_tokens <= 2_000)


def test_a_high_message_count_alone_changes_nothing():
    """S3: 2,000 messages under the budget."""
    log = turns_of(1_000, 20)
    plan, view = planned(log, limits_of(1_000_000))
    assert ("log", True) == (plan.reason, all(a is b for a, b in zip(log, view, strict=True)))


def test_parallel_calls_stay_together():
    """S4 and S9: four calls answered in another order are kept or left out as a whole."""
    asked = [assistant(*(use(f"{name}{n}") for n in range(4))) for name in "ab"]
    answers = [user(*(result(f"{name}{n}", words(50)) for n in (2, 0, 3, 1))) for name in "ab"]
    log = [user("the task"), asked[0], answers[0], asked[1], answers[1]]
    plan, view = planned(log, limits_of(300))
    assert 3 == plan.cut
    assert (["b0", "b1", "b2", "b3"], ["b2", "b0", "b3", "b1"]) == (ids(view, "toolUse"), ids(view, "toolResult"))


def test_an_unanswered_last_call_is_left_alone():
    """S5: never removed, capped or answered by us, however small the budget."""
    log = [*turns_of(5, 200), user("the task"), assistant("I ask.", use("open"))]
    _, view = planned(log, limits_of(100))
    assert (log[-1], [], []) == (view[-1], ids(view, "toolResult"), check_messages(view))


@pytest.mark.parametrize("at", [0, 2, 4])
def test_a_result_without_its_call_is_left_out_of_the_view(at):
    """S6: at the head, in the middle and at the tail; the text beside it stays, and so does the log."""
    log = [user("one"), assistant("yes"), user("two"), assistant("yes"), user("three")]
    log[at]["content"].insert(0, result("gone"))
    _, view = planned(log, limits_of(1_000))
    assert ([], ["one", "two", "three"]) == (
        ids(view, "toolResult"),
        [text for message in view if message["role"] == "user" for text in texts(message)],
    )
    assert ("gone", []) == (log[at]["content"][0]["toolResult"]["toolUseId"], check_messages(view))


def test_a_call_without_its_result_gets_a_stand_in():
    """S7: an error that states a fact; the log keeps its gap."""
    log = [user("go"), assistant(use("lost")), user("and?")]
    _, view = planned(log, limits_of(1_000))
    stand_in = view[2]["content"][0]["toolResult"]
    assert ("lost", "error", "and?") == (stand_in["toolUseId"], stand_in["status"], view[2]["content"][1]["text"])
    assert [{"text": "and?"}] == log[2]["content"]


def test_results_and_text_in_one_message_are_both_kept_in_order():
    """S8: as they are in the log."""
    log = [user("go"), assistant(use("a"), use("b")), user(result("a"), "by the way", result("b"))]
    _, view = planned(log, limits_of(1_000))
    assert log[2] is view[2]


def test_reasoning_of_kept_messages_is_byte_identical():
    """S10: signed and redacted reasoning, in the lead and in the suffix."""
    signed = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}}
    redacted = {"reasoningContent": {"redactedContent": b"\x00\x01"}}
    log = [user("go"), pinned(assistant(signed, "yes")), *turns_of(9, 100), user("so"), assistant(redacted, "no")]
    _, view = planned(log, limits_of(400))
    assert [signed, redacted] == [
        block for message in view for block in message["content"] if "reasoningContent" in block
    ]


def test_an_error_stays_whole_while_capping_the_others_is_enough():
    """S15: the cap line passes it by."""
    log = [user("go"), *errors("a", 60), *cycle("b", words(500)), *cycle("c", words(60))]
    plan, view = planned(log, limits_of(260), TIERS)
    assert ([words(60), 64], 0) == ([texts(view[2])[0], len(texts(view[4])[0])], plan.omitted_messages)


def test_a_capped_error_keeps_its_status():
    """S15: an error that is too large is capped before anything is left out, and still says that it failed."""
    log = [user("go"), *errors("a", 500), *cycle("b", "found")]
    plan, view = planned(log, limits_of(200), TIERS)
    capped = view[2]["content"][0]["toolResult"]
    assert ("error", 64, 0) == (capped["status"], len(capped["content"][0]["text"]), plan.omitted_messages)


def test_of_parallel_results_the_error_is_cut_last():
    """S15: in the newest message too, where the error takes more than its share."""
    answers = user(result("a", words(900)), result("b", words(250), "error"))
    _, view = planned([user("go"), assistant(use("a"), use("b")), answers], limits_of(400))
    assert (words(250), True) == (texts(view[2])[1], 64 <= len(texts(view[2])[0]) < len(words(250)))


@pytest.mark.parametrize("marker", ["\n[... 29 of 1,000 bytes shown ...]\n", "[truncated]", "... (truncated)"])
def test_a_result_that_holds_a_marker_is_capped_like_any_other(marker):
    """S17: ours or Strands'."""
    log = [user("go"), *cycle("a", f"{marker} {words(500)} {marker}"), *cycle("b", "found")]
    plan, view = planned(log, limits_of(200), TIERS)
    assert (1, 64) == (plan.capped_results, len(texts(view[2])[0]))


def test_ten_parallel_results_that_are_too_large_together_share_what_there_is():
    """S19: small ones stay whole, each large one keeps as much as the others."""
    sizes = {f"c{n}": 3 if n in (2, 5) else 400 for n in range(10)}
    answers = user(*(result(call, words(size)) for call, size in sizes.items()))
    log = [user("go"), assistant(*map(use, sizes)), answers]
    plan, view = planned(log, limits_of(2_000))
    shown = {b["toolResult"]["toolUseId"]: len(b["toolResult"]["content"][0]["text"]) for b in view[2]["content"]}
    large = [size for call, size in shown.items() if sizes[call] == 400]
    assert ([14, 14], True) == ([shown["c2"], shown["c5"]], max(large) - min(large) <= 1)
    assert "newest" == plan.reason


def test_of_equal_results_the_newest_is_cut_least():
    """S19: the odd byte goes to the last."""
    answers = user(*(result(call, words(400)) for call in "abc"))
    _, view = planned([user("go"), assistant(*map(use, "abc")), answers], limits_of(500))
    sizes = [len(text) for text in texts(view[2])]
    assert sorted(sizes) == sizes


def test_pinned_messages_stay_with_their_partners_and_the_note_counts_the_rest():
    """S20: a pinned result deep in what is left out keeps its call."""
    log = [*turns_of(3, 200), user("go"), *cycle("kept"), assistant("done"), *turns_of(5, 200)]
    log[8] = pinned(log[8])
    plan, view = planned(log, limits_of(600))
    assert ((7, 8), ["kept"], ["kept"]) == (plan.lead, ids(view, "toolUse"), ids(view, "toolResult"))
    assert f"[strands_ctx: {plan.cut - 2} earlier messages are not shown here.]" == texts(view[0])[0]
    assert [] == check_messages(view)


def test_one_message_larger_than_the_budget_is_elided_in_the_middle():
    """S21: a pasted file keeps its head and its tail, and says how much is shown."""
    log = [user(f"first {words(9_000)} last")]
    plan, view = planned(log, limits_of(1_000))
    text = texts(view[0])[0]
    assert ("newest", True, True) == (plan.reason, text.startswith("first"), text.endswith("last"))
    assert f"of {len(texts(log[0])[0]):,} bytes shown" in text


def test_the_forced_structured_output_prompt_stays_in_the_view():
    """S22: it opens no turn, so what it asks to format stays with it."""
    log = [*turns_of(4, 200), user("the task"), *cycle("a", words(100)), assistant("x"), user(STRUCTURED_OUTPUT_PROMPT)]
    plan, view = planned(log, limits_of(300))
    assert (STRUCTURED_OUTPUT_PROMPT, True) == (texts(view[-1])[-1], plan.cut < len(log) - 1)


def test_keys_beside_the_content_of_a_capped_result_stay():
    """S14: structuredContent and metadata of MCP, and what nobody knows."""
    log = [user("go"), *cycle("a", words(500)), *cycle("b", "found")]
    others = {"structuredContent": {"rows": [1]}, "metadata": {"server": "x"}, "unheard_of": 1}
    log[2]["content"][0]["toolResult"].update(others)
    _, view = planned(log, limits_of(200), TIERS)
    capped = view[2]["content"][0]["toolResult"]
    assert (others, 64) == ({key: capped[key] for key in others}, len(texts(view[2])[0]))


def test_json_is_capped_to_json_of_the_same_outer_type():
    """S13: an array stays an array, an object an object; what is too small for that becomes a text."""
    values = {"a": [{"id": n} for n in range(99)], "b": {"rows": "x" * 900}, "c": {"k" * 190: "x" * 90}}
    policy = Policy(old_result_max_bytes=200, recent_tokens=5)
    log = [user("go"), *(message for call in values for message in cycle(call)), *cycle("d", words(100))]
    for call, message in zip(values, log[2:7:2], strict=True):
        message["content"][0]["toolResult"]["content"] = [{"json": values[call]}]
    _, view = planned(log, limits_of(600), policy, counter=CharacterCounter())
    shown = [message["content"][0]["toolResult"]["content"][0] for message in view[2:7:2]]
    assert [list, dict] == [type(item["json"]) for item in shown[:2]]
    assert "bytes shown" in shown[2]["text"]


def test_old_inputs_are_capped_where_that_is_asked_for():
    """A file that was written long ago is not carried for ever; the newest call is whole, and so is its result."""
    calls = [assistant({"toolUse": {"toolUseId": n, "name": "write", "input": {"text": words(300)}}}) for n in "ab"]
    log = [user("go"), calls[0], user(result("a", words(90))), calls[1], user(result("b", words(90)))]
    policy = Policy(old_result_max_bytes=64, recent_tokens=5, old_input_max_bytes=150)
    plan, view = planned(log, limits_of(700), policy)
    shown = [message["content"][0]["toolUse"]["input"]["text"] for message in view[1:4:2]]
    assert (True, words(300), 0) == ("bytes shown" in shown[0], shown[1], plan.omitted_messages)


def test_a_view_shows_what_the_log_says_now():
    """S23: a guardrail rewrites the last user message after it was planned."""
    log = [user("go"), *cycle("a", words(50)), assistant("so"), user("my secret")]
    ledger = ledger_of(log)
    plan_view(ledger, load_of(), TIERS, limits_of(900), Boundaries())
    ledger.update([*log[:-1], user("[redacted]")])
    view = build_view(ledger, plan_view(ledger, load_of(), TIERS, limits_of(900), Boundaries()))
    assert ["[redacted]"] == texts(view[-1])
