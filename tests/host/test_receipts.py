"""What a manager tells of each call after it was made: a receipt and a log line."""

from __future__ import annotations

import asyncio
import logging
import re

import pytest
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx import BudgetSuffixManager, PerTurnManager

from .support.rig import BUDGET_TOKENS, FaultyModel, Rig, fetches

GRAMMAR = re.compile(r"^(\w+=<[^<>]*>(, \w+=<[^<>]*>)* )\| [a-z][^|<>]*[^.|<>]$")


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


def test_a_raising_on_receipt_ends_no_run(caplog):
    """What an app does with its receipts is its own affair; the run goes on, and the log says so."""

    def raising(receipt):
        raise KeyError("table")

    rig = Rig(manager=BudgetSuffixManager(BUDGET_TOKENS, on_receipt=raising))
    rig.fill()
    warnings = [record for record in caplog.records if "on_receipt raised" in record.getMessage()]
    assert (5, []) == (len(warnings), rig.broken_laws())


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
