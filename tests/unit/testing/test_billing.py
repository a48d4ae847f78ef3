"""The scripted model bills, caches and reports usage as providers of each style do."""

from __future__ import annotations

import pytest
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx.testing import WindowModel
from tests.builders import assistant, user
from tests.support.requests import stream

PAGE = "The rack ran hot for several hours before the fan was replaced. " * 40


def usage_of(events):
    """The usage that a stream reported, or none."""
    return next((event["metadata"]["usage"] for event in events if "metadata" in event), None)


def test_a_refused_request_is_not_billed():
    """Providers bill no refusal."""
    model = WindowModel(["First."], context_window_limit=100)
    with pytest.raises(ContextWindowOverflowException):
        stream(model, [user(PAGE)])
    assert (0, 0.0) == (model.billed_tokens, model.cost)


@pytest.mark.parametrize("style", ["apart", "included"])
def test_usage_adds_up_to_the_whole_prompt(style):
    """Read, written and plain tokens are the prompt, whichever way they are told."""
    model = WindowModel(["One.", "Two."], usage=style)
    stream(model, [user(PAGE)])
    usage = usage_of(stream(model, [user(PAGE), assistant("One."), user("More.")]))
    request = model.requests[1]
    cached = usage["cacheReadInputTokens"] + usage.get("cacheWriteInputTokens", 0)
    prompt = usage["inputTokens"] + (cached if style == "apart" else 0)
    assert (request.prompt_tokens, request.cache_read_tokens) == (prompt, usage["cacheReadInputTokens"])


def test_usage_can_be_missing():
    """Some servers report none."""
    assert usage_of(stream(WindowModel(["One."], usage="none"), [user(PAGE)])) is None


def test_a_longer_prompt_reads_the_shorter_one_from_the_cache():
    """Everything that the last prompt held is read, the rest is written."""
    model = WindowModel(["One.", "Two."])
    stream(model, [user(PAGE)])
    stream(model, [user(PAGE), assistant("One."), user("More.")])
    first, second = model.requests
    assert (0, first.prompt_tokens) == (first.cache_read_tokens, second.cache_read_tokens)


def test_a_change_in_the_middle_ends_the_cached_prefix():
    """What follows a changed message is written again."""
    model = WindowModel(["One.", "Two."])
    stream(model, [user("Same."), assistant("One."), user(PAGE)])
    stream(model, [user("Same."), assistant("Changed."), user(PAGE)])
    assert 0 < model.requests[1].cache_read_tokens < model.requests[1].prompt_tokens / 4


def test_other_tools_end_the_cached_prefix_at_once():
    """System prompt and tools come first in the prompt."""
    model = WindowModel(["One.", "Two."])
    stream(model, [user(PAGE)])
    stream(model, [user(PAGE)], tool_specs=[{"name": "other", "description": "", "inputSchema": {"json": {}}}])
    assert 0 == model.requests[1].cache_read_tokens


def test_cost_follows_the_cache_prices():
    """Read at 0.1, written at 1.25, the last few tokens at 1."""
    model = WindowModel(["One.", "Two."])
    stream(model, [user(PAGE)])
    stream(model, [user(PAGE), assistant("One."), user("More.")])
    expected = sum(3 + 0.1 * r.cache_read_tokens + 1.25 * r.cache_write_tokens for r in model.requests)
    assert pytest.approx(expected) == model.cost


def test_without_a_cache_every_token_costs_one():
    """Plain input tokens are the unit of cost."""
    model = WindowModel(["One."], cache=False)
    stream(model, [user(PAGE)])
    assert model.billed_tokens == model.cost
