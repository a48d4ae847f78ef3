"""Laws of the algebra and of the ledger that keeps it up to date."""

from __future__ import annotations

import copy
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from strands_ctx.capping.messages import cap_message
from strands_ctx.capping.rules import Cap, CapRules
from strands_ctx.digests import digest
from strands_ctx.ledger.ledger import Ledger
from strands_ctx.messages import check_messages, pair_partners, shape_of
from strands_ctx.plans import Boundaries, Policy
from strands_ctx.testing.rules import strict_violations
from strands_ctx.types import Messages
from tests.builders import assistant, cycle, ids, result, user

from .strategies import COUNTER, broken_logs, legal_logs

WHOLE = Policy().stretches(Boundaries())
CAPS = (Cap(64), Cap(600, spares_errors=True), Cap(64, input_max_bytes=64))


def resumed(log: Messages) -> Messages:
    """The log as it is sent once the host has run the calls that the last message asks for."""
    asked = ids(log[-1:], "toolUse")
    return [*log, user(*(result(call) for call in asked))] if asked else log


@settings(max_examples=300)
@given(legal_logs() | broken_logs())
def test_our_check_and_a_providers_rules_agree(log):
    """Two checks that share no code call the same messages legal; ours also refuses a result without content."""
    ours = [problem for problem in check_messages(log) if problem.rule != "a toolResult is empty"]
    refused = bool(strict_violations(resumed(log)))
    assert refused == (bool(check_messages(log)) if refused else bool(ours))


@given(legal_logs())
def test_partners_share_a_call_and_are_each_others(log):
    """Pairs by id, both ways."""
    shapes = [shape_of(message) for message in log]
    pairs = {(index, partner) for index in range(len(log)) for partner in pair_partners(shapes, index)}
    assert {(partner, index) for index, partner in pairs} == pairs
    answered = [index for index in range(len(log)) if shapes[index].result_ids]
    assert answered == sorted(max(pair) for pair in pairs if pair[0] < pair[1])


@given(legal_logs())
def test_every_turn_opens_with_a_prompt_and_the_newest_start_is_behind_the_last(log):
    """Prompts have no results; nothing after the newest start opens anything."""
    ledger = Ledger(COUNTER)
    ledger.update(log)
    shapes, starts, newest = ledger.shapes, ledger.prompts, ledger.newest_start()
    assert [i for i, m in enumerate(log) if m["role"] == "user" and not ids([m], "toolResult")] == starts
    assert max(newest, starts[-1]) == newest
    assert [] == [index for index in range(newest + 1, len(log)) if shapes[index].use_ids or shapes[index].prompt]


@given(legal_logs(), st.integers(64, 1_000))
def test_a_digest_survives_caps_and_storage(log, cap):
    """Two messages with other texts or calls have other digests; a cap or JSON changes none."""
    plain = [message for message in log if not any("reasoningContent" in b for b in message["content"])]
    for message in plain:
        capped = cap_message(message, dict.fromkeys(ids([message], "toolResult"), cap))[0]
        stored = json.loads(json.dumps(message, default=str))
        assert [digest(message)] * 2 == [digest(capped), digest(stored)]
        edited = copy.deepcopy(message)
        edited["content"].append({"text": "edited"})
        assert digest(edited) != digest(message)


def seen(ledger: Ledger) -> tuple:
    """Everything that a ledger tells of its log."""
    size = len(ledger)
    return (
        ledger.messages,
        ledger.shapes,
        ledger.starts,
        ledger.pins,
        ledger.problems,
        [ledger.media.total_replaced(index) for index in range(size)],
        [ledger.features(index, index + 1) for index in range(size)],
        [[ledger.shown_features(index, index + 1, cap) for index in range(size)] for cap in CAPS],
        [[ledger.shown(index, cap) for index in range(size)] for cap in CAPS],
    )


@st.composite
def edits(draw, log: Messages) -> Messages:
    """The log as a later call may find it: grown, shortened, or changed in place, as a deep copy."""
    log = copy.deepcopy(log)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(log) - 1)) if log else 0
        match draw(st.sampled_from(["grow", "shorten", "text", "cap", "rename", "swap", "another"])):
            case "grow":
                log += cycle(f"grown_{len(log)}_{draw(st.integers(0, 99))}", "found " * 50)
            case "shorten":
                del log[at:]
            case "text" if log:
                log[at]["content"].append({"text": "[redacted]"})
            case "cap" if log:
                log[at] = cap_message(log[at], dict.fromkeys(ids([log[at]], "toolResult"), 100))[0]
            case "rename" if log:
                for use in (block["toolUse"] for block in log[at]["content"] if "toolUse" in block):
                    use["name"] = "read_pdf" if use["name"] == "search" else "search"
            case "swap" if log:
                log[at] = assistant("instead")
            case "another":
                log = copy.deepcopy(draw(legal_logs(max_turns=2)))
    return log


@settings(max_examples=150)
@given(st.data(), st.sampled_from([(), ("read_pdf",)]), st.sampled_from([None, 0, 1, 3]))
def test_a_ledger_kept_up_to_date_is_as_good_as_a_new_one(data, exempt, max_media):
    """After growth, truncation, edits in place and a change of log, it tells what a fresh one tells."""
    log, rules = data.draw(legal_logs(max_turns=3)), CapRules(exempt_tools=frozenset(exempt))
    kept = Ledger(COUNTER, rules=rules, max_media=max_media)
    for _ in range(data.draw(st.integers(2, 4))):
        kept.update(log)
        kept.limit_media(WHOLE, ())
        fresh = Ledger(COUNTER, rules=rules, max_media=max_media)
        fresh.update(copy.deepcopy(log))
        fresh.limit_media(WHOLE, ())
        assert seen(fresh) == seen(kept)
        log = data.draw(edits(log))


@given(legal_logs(), st.sampled_from(CAPS))
def test_a_ledger_never_changes_the_log(log, cap):
    """Whatever it is asked to show."""
    before = copy.deepcopy(log)
    ledger = Ledger(COUNTER)
    ledger.update(log)
    for index in range(len(log)):
        ledger.shown(index, cap, 64)
    assert before == log
