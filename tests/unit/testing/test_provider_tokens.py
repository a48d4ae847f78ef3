"""The model's token rule differs in kind from what a manager can count."""

from __future__ import annotations

from random import Random

import pytest

from strands_ctx.analysis.workloads.passages import KINDS, write_passage
from strands_ctx.testing import provider_tokens
from strands_ctx.tokens import TiktokenCounter

PROSE = "The rack ran hot for several hours before the fan was replaced. " * 50


def result_message(text):
    """A user message with one tool result."""
    return {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "a", "status": "success", "content": [{"text": text}]}}],
    }


def test_a_text_costs_less_in_a_result_than_in_a_prompt():
    """No single rate fits both."""
    text = PROSE
    assert provider_tokens.count_result_text(text) < provider_tokens.count_prompt_text(text)


def test_no_one_ratio_to_tiktoken_fits_all_content():
    """The ratio of the two counts drifts by more than a fifth with the kind of text."""
    counter, rng = TiktokenCounter(), Random(7)
    texts = [write_passage(rng, kind, 2_000) for kind in KINDS]
    ratios = [provider_tokens.count_result_text(text) / counter.count_text(text) for text in texts]
    assert max(ratios) / min(ratios) > 1.2


def test_a_message_costs_its_frame_and_its_blocks():
    """The parts add up, with nothing in between."""
    message = result_message(PROSE)
    expected = (
        provider_tokens.MESSAGE_TOKENS + provider_tokens.TOOL_RESULT_TOKENS + provider_tokens.count_result_text(PROSE)
    )
    assert expected == provider_tokens.count_message(message)


def test_a_json_result_is_counted():
    """Structured results are no free lunch."""
    message = result_message("")
    message["content"][0]["toolResult"]["content"] = [{"json": {"temperatures_c": list(range(100))}}]
    assert provider_tokens.count_message(message) > 100


def test_reasoning_is_counted():
    """Text of kinds without a rule of their own counts as prompt text."""
    block = {"reasoningContent": {"reasoningText": {"text": PROSE, "signature": "abc"}}}
    assert provider_tokens.count_block(block) > provider_tokens.count_prompt_text(PROSE)


@pytest.mark.parametrize("kind", ["image", "document", "video"])
def test_media_are_never_free(kind):
    """A small picture or file has a price too."""
    block = {kind: {"format": "any", "source": {"bytes": b"x"}}}
    assert provider_tokens.IMAGE_TOKENS == provider_tokens.count_block(block)


def test_a_large_document_costs_by_its_size():
    """Six bytes are a token."""
    block = {"document": {"format": "pdf", "name": "a", "source": {"bytes": b"x" * 60_000}}}
    assert 10_000 == provider_tokens.count_block(block)


def test_tool_specifications_cost_each():
    """Twice the tools, twice the price."""
    spec = {"name": "read", "description": "Read a page.", "inputSchema": {"json": {}}}
    assert 2 * provider_tokens.count_tool_specs([spec]) == provider_tokens.count_tool_specs([spec, spec])


def test_nothing_costs_nothing():
    """An empty text has no tokens, one character has one."""
    assert (0, 1) == (provider_tokens.count_result_text(""), provider_tokens.count_result_text("a"))
