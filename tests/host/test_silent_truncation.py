"""R11: a server that cuts prompts without a word is told of, once a run, with both numbers."""

from __future__ import annotations

import warnings

import pytest

from strands_ctx import BudgetSuffixManager, CapToolResultsManager, PerTurnManager
from strands_ctx.errors import SilentTruncationWarning

from .support.rig import FaultyModel, Rig, fetches, text_of

MANAGERS = {"cap": CapToolResultsManager, "suffix": BudgetSuffixManager, "per_turn": PerTurnManager}


class CuttingModel(FaultyModel):
    """A model behind a server that drops what does not fit, and bills what is left."""

    def __init__(self, context_tokens, **arguments):
        super().__init__(context_window_limit=100_000, **arguments)
        self.context_tokens, self.cheap_images = context_tokens, False

    async def stream(self, *args, **kwargs):
        async for event in super().stream(*args, **kwargs):
            usage = event.get("metadata", {}).get("usage")
            if usage and usage["inputTokens"]:
                sent = self.requests[-1].prompt_tokens
                if self.cheap_images:
                    sent -= 1_215 * sum("image" in b for m in self.requests[-1].messages for b in m["content"])
                usage.clear()
                usage.update(inputTokens=min(sent, self.context_tokens), outputTokens=5, totalTokens=0)
            yield event


@pytest.fixture(params=sorted(MANAGERS))
def kind(request):
    """One of the managers."""
    return request.param


def rig_of(kind, context_tokens):
    """A rig whose server has a context of so many tokens."""
    return Rig(kind, manager=MANAGERS[kind](), model=CuttingModel(context_tokens))


def test_a_prompt_that_is_cut_is_warned_of_with_both_numbers(kind):
    """Once, although every later call of the run is cut too."""
    rig = rig_of(kind, 2_048)
    with pytest.warns(SilentTruncationWarning) as caught:
        rig.run("Fetch.", *fetches(*[2_000] * 20), "Fetched.")
    cut = [receipt for receipt in rig.manager.receipts(rig.agent) if receipt.silently_truncated]
    warned = caught.pop(SilentTruncationWarning).message
    assert (0, True) == (len(caught.list), len(cut) > 5)
    assert (cut[0].view_tokens, 2_048, 2_048) == (warned.view_tokens, warned.billed_tokens, cut[0].billed_tokens)
    numbers = f"{cut[0].view_tokens:,} tokens (estimate) and billed 2,048 (exact)"
    assert (True, []) == (numbers in str(warned), rig.broken_laws())


def test_it_is_told_before_half_of_a_prompt_is_lost(kind):
    """A bill that stops to grow while prompts do is not learnt from."""
    rig = rig_of(kind, 8_000)
    with pytest.warns(SilentTruncationWarning):
        rig.run("Fetch.", *fetches(*[2_000] * 40), "Fetched.")
    first = next(receipt for receipt in rig.manager.receipts(rig.agent) if receipt.silently_truncated)
    assert (True, []) == (first.view_tokens < 12_000, rig.broken_laws())


def test_every_run_is_told_again(kind):
    """An app that runs for weeks hears of it more than once."""
    rig = rig_of(kind, 500)
    for _ in range(2):
        with pytest.warns(SilentTruncationWarning):
            rig.run(text_of(20_000), "Seen.")
    assert [] == rig.broken_laws()


def test_a_run_does_not_fail_where_warnings_are_errors(kind):
    """It is still in the receipt."""
    rig = rig_of(kind, 500)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rig.run(text_of(20_000), "Seen.")
    assert (True, []) == (rig.manager.receipts(rig.agent)[-1].silently_truncated, rig.broken_laws())


def test_a_server_that_bills_everything_is_not_warned_of(kind):
    """Neither in a long run nor after a cut."""
    rig = rig_of(kind, 10**9)
    rig.run("Fetch.", *fetches(*[3_000] * 60), "Fetched.")
    rig.run("And now?", *fetches(100, 9_000, 100), "Fetched.")
    cut = [receipt for receipt in rig.manager.receipts(rig.agent) if receipt.silently_truncated]
    assert ([], []) == (cut, rig.broken_laws())


def test_media_that_a_provider_bills_low_are_not_taken_for_a_cut(kind):
    """Images at 85 tokens each, where ours counts 1,600."""
    rig = Rig(kind, manager=MANAGERS[kind](), model=CuttingModel(10**9))
    pictures = [{"image": {"format": "png", "source": {"bytes": b"x"}}}] * 6
    rig.model.cheap_images = True
    for _ in range(4):
        rig.run([{"text": text_of(400)}, *pictures[:2]], "Seen.")
    receipts = rig.manager.receipts(rig.agent)
    assert ([], []) == ([receipt.call for receipt in receipts if receipt.silently_truncated], rig.broken_laws())
