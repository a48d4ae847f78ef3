"""What a manager tells of its calls: views before they are sent, receipts after, a log line for each."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import re
from itertools import pairwise

import pytest
from strands import hooks
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx import BudgetSuffixManager, PerTurnManager

from .support.rig import BUDGET_TOKENS, FaultyModel, Rig, fetches

GRAMMAR = re.compile(r"^(\w+=<[^<>]*>(, \w+=<[^<>]*>)* )\| [a-z][^|<>]*[^.|<>]$")


def sent(messages):
    """What the model gets of messages: roles and content."""
    return [(message["role"], message["content"]) for message in messages]


def record_views(rig, event_type):
    """Ask for the view at each event of a type; what was asked last before a request is what counts."""
    asked = {}

    def ask(event):
        asked[len(rig.model.requests)] = sent(rig.manager.view(rig.agent))

    rig.agent.hooks.add_callback(event_type, ask)
    return asked


def test_a_view_is_what_the_next_call_is_sent(busy):
    """Asked right before each call of two runs, with cuts and caps in between."""
    asked = record_views(busy, hooks.BeforeModelCallEvent)
    busy.run("Fetch.", *fetches(1_500, 1_600, 1_700, 1_800), "Fetched.")
    busy.run("Now go on.", *fetches(900), "The end.")
    views = [sent(view) for view in busy.views[5:]]
    assert (views, []) == ([asked[number] for number in range(5, 12)], busy.broken_laws())


@pytest.mark.parametrize(
    "per_turn",
    [
        True,
        pytest.param(
            3, marks=pytest.mark.xfail(strict=True, reason="view() judges by the last call whether boundaries may move")
        ),
    ],
)
def test_a_view_asked_for_when_the_log_is_complete_is_what_the_next_call_is_sent(per_turn):
    """Asked as soon as the last message before a call is in the log."""
    manager = PerTurnManager(
        12_000, recent_tokens=300, per_turn=per_turn, proactive_compression={"compression_threshold": 0.1}
    )
    rig = Rig(manager=manager)
    asked = record_views(rig, hooks.MessageAddedEvent)
    rig.run("Fetch.", *fetches(*range(1_000, 1_900, 100)), "Fetched.")
    assert [sent(view) for view in rig.views] == [asked[number] for number in range(10)]


def test_a_view_of_an_agent_at_rest_is_what_a_resume_is_sent(busy):
    """A run that a limit ended is asked for its view, and resumed."""
    busy.run("Fetch.", *fetches(1_500, 1_600, 1_700), "Fetched.", limits={"turns": 2})
    view = sent(busy.manager.view(busy.agent))
    busy.run(None, *busy.model.script[busy.model.position :])
    assert view == sent(busy.views[7])


def test_asking_for_a_view_changes_nothing(rig):
    """Not the log, not the state, not the receipts, not what later calls are sent."""
    rig.fill()
    before = copy.deepcopy((rig.agent.messages, rig.manager.get_state(), rig.manager.receipts(rig.agent)))
    view = rig.manager.view(rig.agent)
    view[0]["content"].clear()
    after = (rig.agent.messages, rig.manager.get_state(), rig.manager.receipts(rig.agent))
    assert (before, []) == (after, rig.broken_laws())


def test_asking_for_views_all_the_time_changes_no_later_view():
    """Two agents live the same life, one of them asked at every event."""
    quiet, asked = Rig("suffix"), Rig("suffix")
    for event_type in (hooks.MessageAddedEvent, hooks.BeforeModelCallEvent, hooks.AfterModelCallEvent):
        asked.agent.hooks.add_callback(event_type, lambda event: asked.manager.view(asked.agent))
    for rig in (quiet, asked):
        for _ in range(2):
            rig.fill()
    assert quiet.views == asked.views
    assert json.dumps(quiet.manager.get_state()) == json.dumps(asked.manager.get_state())


def test_every_call_has_a_receipt_with_what_was_billed(busy):
    """Numbered from 1, complete, with the provider's own number of prompt tokens and the size of log and view."""
    receipts = busy.manager.receipts(busy.agent)
    facts = [(r.call, r.outcome, r.billed_tokens, r.log_messages, r.view_messages) for r in receipts]
    expected = [
        (number + 1, "complete", request.prompt_tokens, 2 * number + 1, len(request.messages))
        for number, request in enumerate(busy.model.requests)
    ]
    assert expected == facts


def test_an_estimate_is_near_what_was_billed(busy):
    """After three calls the estimates are within a tenth."""
    for _ in range(2):
        busy.fill()
    pairs = [(r.view_tokens, r.billed_tokens) for r in busy.manager.receipts(busy.agent)[3:]]
    assert [] == [(estimate, billed) for estimate, billed in pairs if abs(estimate - billed) > 0.1 * billed]


def test_receipts_count_what_is_left_out():
    """Omitted messages and results, and the note in the view says the same."""
    rig = Rig("suffix")
    rig.fill()
    receipt = rig.manager.receipts(rig.agent)[-1]
    note = rig.views[-1][0]["content"][0]["text"]
    omitted, results = re.match(r"\[strands_ctx: (\d+) earlier messages, with (\d+) tool results,", note).groups()
    lead = 1
    assert (receipt.cut - lead, (receipt.cut - 1) // 2) == (int(omitted), int(results))
    assert (receipt.omitted_messages, receipt.omitted_results) == (int(omitted), int(results))


def test_receipts_count_what_is_capped():
    """Capped results and the bytes that they lose are those of the view."""
    rig = Rig("per_turn")
    rig.fill()
    receipt = rig.manager.receipts(rig.agent)[-1]
    shown = [
        len(block["toolResult"]["content"][0]["text"])
        for message in rig.views[-1]
        for block in message["content"]
        if "toolResult" in block
    ]
    whole = [1_600, 1_700, 1_800, 1_900]
    capped = [size for size, full in zip(shown, whole, strict=True) if size < full]
    assert (len(capped), sum(whole) - sum(shown)) == (receipt.capped_results, receipt.dropped_bytes)


def test_a_failed_call_has_a_receipt(busy):
    """The provider is down: no bill, outcome failed."""
    busy.model._fail_at[len(busy.model.requests) + 1] = ConnectionError("down")
    with pytest.raises(ConnectionError):
        busy.run("Hello?", "Hello.")
    receipt = busy.manager.receipts(busy.agent)[-1]
    assert ("failed", None) == (receipt.outcome, receipt.billed_tokens)


def test_an_overflowed_call_has_a_receipt_for_each_attempt():
    """One refused, one complete, of the same call."""
    rig = Rig(manager=BudgetSuffixManager())
    rig.run("Fetch.", *fetches(1_500, 1_600, 1_700), "Fetched.")
    rig.model._fail_at[len(rig.model.requests) + 1] = ContextWindowOverflowException("prompt is too long")
    rig.run("And now?", "Nothing.")
    receipts = rig.manager.receipts(rig.agent)[-2:]
    assert [(5, "overflow", "log"), (5, "complete", "overflow")] == [(r.call, r.outcome, r.reason) for r in receipts]


def test_an_abandoned_call_has_a_receipt(busy):
    """The consumer went away in the middle of the answer: the receipt stays open until the next call, then says so."""

    async def scenario():
        busy.model.say("Once upon a time. " * 40)
        stream = busy.agent.stream_async("Tell a story.")
        async for event in stream:
            if "data" in event:
                break
        await stream.aclose()
        pending = busy.manager.receipts(busy.agent)[-1]
        await busy.run_async("Now go on.", "The end.")
        return pending

    pending = asyncio.run(scenario())
    outcomes = [(r.call, r.outcome) for r in busy.manager.receipts(busy.agent)[-2:]]
    assert ([(6, "abandoned"), (7, "complete")], (6, "abandoned")) == (outcomes, (pending.call, pending.outcome))


class EarlyBillModel(FaultyModel):
    """A model that reports its usage before it answers, and twice what it should."""

    async def stream(self, *args, **kwargs):
        async for event in super().stream(*args, **kwargs):
            yield event
            tokens = 2 * self.requests[-1].prompt_tokens
            yield {"metadata": {"usage": {"inputTokens": tokens, "outputTokens": 1, "totalTokens": tokens + 1}}}


def test_a_cancelled_call_teaches_nothing():
    """What a cancelled call reports is not taken for a bill: the next estimate is what it would have been."""

    async def cancel():
        rig.agent.cancel()

    rig = Rig("suffix")
    rig.fill()
    rig.agent.model = EarlyBillModel(context_window_limit=20_000)
    before = rig.manager.receipts(rig.agent)[-1].log_tokens
    rig.agent.model.say("Once upon a time. " * 40)
    rig.agent.model.at_event = (3, cancel)
    result = rig.agent("Tell a story.")
    rig.agent.model = rig.model
    rig.run("Go on.", "The end.")
    after = rig.manager.receipts(rig.agent)[-1].log_tokens
    assert ("cancelled", True) == (result.stop_reason, before <= after < 1.1 * before)


@pytest.mark.parametrize("manager", [BudgetSuffixManager, PerTurnManager])
def test_on_receipt_gets_each_receipt_when_its_call_has_ended(manager):
    """In order, complete, the refused and the failed ones too."""
    got = []
    rig = Rig(manager=manager(BUDGET_TOKENS, on_receipt=got.append))
    rig.fill()
    rig.model._fail_at[len(rig.model.requests) + 1] = ContextWindowOverflowException("prompt is too long")
    rig.run("And now?", "Nothing.")
    rig.model._fail_at = {len(rig.model.requests) + 1: ConnectionError("down")}
    with pytest.raises(ConnectionError):
        rig.run("Hello?", "Hello.")
    outcomes = [receipt.outcome for receipt in got]
    assert (["complete"] * 5 + ["overflow", "complete", "failed"], rig.manager.receipts(rig.agent)) == (outcomes, got)


@pytest.mark.parametrize("every", [2, 3, 4])
def test_boundaries_move_only_before_every_nth_call(every):
    """per_turn=n: in between the standing plan is applied; the budget has room for that here."""
    manager = PerTurnManager(
        12_000, recent_tokens=300, per_turn=every, proactive_compression={"compression_threshold": 0.1}
    )
    rig = Rig(manager=manager)
    rig.run("Fetch.", *fetches(*range(1_000, 2_600, 100)), "Fetched.")
    bounds = [(0, 0), *((receipt.cut, receipt.cap_line) for receipt in rig.manager.receipts(rig.agent))]
    moved = [call for call, (a, b) in enumerate(pairwise(bounds), start=1) if a != b]
    assert (True, []) == (len(moved) > 1, [call for call in moved if call % every])


def test_between_nth_calls_a_plan_that_does_not_fit_is_made_anew():
    """The hard limit holds before every call, also where boundaries should not move yet."""
    rig = Rig(manager=PerTurnManager(BUDGET_TOKENS, recent_tokens=300, old_result_max_bytes=100, per_turn=50))
    rig.run("Fetch.", *fetches(*range(1_000, 2_600, 100)), "Fetched.")
    billed = [request.prompt_tokens for request in rig.model.requests[3:]]
    assert (True, []) == (max(billed) <= BUDGET_TOKENS, rig.broken_laws())


def test_log_lines_speak_the_hosts_grammar_and_hold_no_content(busy, caplog):
    """field=<value>, ... | message, in lower case without a full stop; ids and sizes, no text of the conversation."""
    caplog.set_level(logging.DEBUG, logger="strands_ctx")
    busy.fill()
    busy.model._fail_at[len(busy.model.requests) + 1] = ContextWindowOverflowException("prompt is too long")
    busy.run("And now?", *fetches(1_500, 1_600), "Nothing.")
    busy.manager.restore_from_session({"version": 7, "views": []})
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("strands_ctx")]
    assert (True, [], []) == (
        len(lines) > 16,
        [line for line in lines if not GRAMMAR.match(line)],
        [line for line in lines if "maple" in line or "Collect" in line],
    )


def test_only_what_costs_something_is_a_warning(caplog):
    """Ordinary plans are told at debug, an overflow as a warning."""
    caplog.set_level(logging.DEBUG, logger="strands_ctx")
    rig = Rig(manager=BudgetSuffixManager())
    rig.run("Fetch.", *fetches(1_500, 1_600, 1_700), "Fetched.")
    ordinary = {record.levelname for record in caplog.records if record.name.startswith("strands_ctx")}
    rig.model._fail_at[len(rig.model.requests) + 1] = ContextWindowOverflowException("prompt is too long")
    rig.run("And now?", "Nothing.")
    warned = [r.getMessage() for r in caplog.records if r.name.startswith("strands_ctx") and r.levelname == "WARNING"]
    assert ({"DEBUG"}, 1, True) == (ordinary, len(warned), "reason=<overflow>" in warned[0])
