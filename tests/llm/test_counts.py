"""Our counts against those of a model whose tokenizer is another one: how far off before it bills, and after."""

from __future__ import annotations

import asyncio
import base64
import json
from random import Random

import pytest
from strands import Agent

from strands_ctx import BudgetSuffixManager, TiktokenCounter
from strands_ctx.analysis.workloads.passages import write_passage

pytestmark = pytest.mark.llm

SIZE_TOKENS = 250
CALIBRATED_ERROR_RATIO = 0.05

EMOJI = ("👩‍🚀", "🇩🇪", "👍🏽", "🔥", "😀", "🧪", "🚀", "❤️", "👨‍👩‍👧‍👦", "✅")


def passage(kind):
    """A writer of one kind of source material."""
    return lambda rng: write_passage(rng, kind, SIZE_TOKENS)


def emoji(rng):
    """A line of emoji, most of them of several code points."""
    return " ".join(rng.choices(EMOJI, k=80))


def encoded(rng):
    """Random bytes as base64."""
    return base64.b64encode(rng.randbytes(300)).decode()


def document(rng):
    """An indented JSON document."""
    rows = [{"id": n, "value": round(rng.gauss(20, 5), 2), "state": rng.choice(("on", "off"))} for n in range(12)]
    return json.dumps({"rows": rows}, indent=1)


WRITERS = {
    "English": (passage("article"), (0.85, 1.0)),
    "code": (passage("source code"), (0.85, 1.0)),
    "JSON": (document, (0.85, 1.0)),
    "table": (passage("table"), (0.8, 1.0)),
    "log": (passage("log"), (0.7, 0.9)),
    "German": (passage("Bericht"), (0.5, 0.7)),
    "Japanese": (passage("報告"), (0.4, 0.6)),
    "Korean": (passage("보고서"), (0.25, 0.4)),
    "emoji": (emoji, (0.5, 0.7)),
    "base64": (encoded, (0.7, 0.95)),
}
"""What writes a text of each kind, and within what of the real count our own is before anything was billed."""


@pytest.fixture(params=WRITERS)
def kind(request):
    """A kind of text."""
    return request.param


def texts(kind, number=4):
    """Different texts of one kind."""
    return [WRITERS[kind][0](Random(seed)) for seed in range(number)]


async def billed_for(model, text):
    """The prompt tokens that the real model bills for a text."""
    events = [event async for event in model.stream([{"role": "user", "content": [{"text": text}]}])]
    return next(event["metadata"]["usage"]["inputTokens"] for event in events if "metadata" in event)


@pytest.mark.parametrize("text", ["The log is not the view.", "日本語の文章です。", "🔥 👩‍🚀 🇩🇪", "<|im_end|>"])
def test_the_server_bills_what_it_counts(server, text):
    """Its count endpoint and the usage of a real call agree, so that the count may stand for a bill."""
    assert server.count_message(text) == asyncio.run(billed_for(server.llamacpp_model(), text))


def test_both_protocols_bill_the_same(server):
    """Through OpenAI's protocol and through llama.cpp's own the same prompt costs the same."""
    models = server.llamacpp_model(), server.openai_model()
    billed = [asyncio.run(billed_for(model, "Which part failed first?")) for model in models]
    assert billed[0] == billed[1]


def test_uncalibrated_counts_are_within_documented_bounds(server, kind):
    """By kind of text, our count over the model's own lies where the documentation says."""
    low, high = WRITERS[kind][1]
    ratios = [TiktokenCounter().count_text(text) / server.count_text(text) for text in texts(kind)]
    print(f"{kind}: our count is {min(ratios):.3f} to {max(ratios):.3f} of the model's")
    assert [] == [ratio for ratio in ratios if not low <= ratio <= high]


def test_two_bills_are_enough_to_estimate_the_third(counted, kind):
    """After two bills of a kind, the estimate of the next prompt of that kind is within 5 % of its bill."""
    manager = BudgetSuffixManager()
    counted.update_config(context_window_limit=100_000)
    agent = Agent(model=counted, conversation_manager=manager, callback_handler=None)
    for text in texts(kind, 3):
        agent(text)
    receipt = manager.receipts(agent)[2]
    off = abs(receipt.view_tokens - receipt.billed_tokens) / receipt.billed_tokens
    print(f"{kind}: third estimate {receipt.view_tokens}, billed {receipt.billed_tokens}, off by {off:.3f}")
    assert off <= CALIBRATED_ERROR_RATIO
