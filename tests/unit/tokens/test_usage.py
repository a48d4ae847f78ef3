"""The size of a prompt, read from usages of different providers."""

from __future__ import annotations

import pytest

from strands_ctx.tokens import prompt_tokens


def usage(sent, received, total, read=None, written=None):
    """A usage as the host reports it."""
    counts = {"inputTokens": sent, "outputTokens": received, "totalTokens": total}
    cached = {"cacheReadInputTokens": read, "cacheWriteInputTokens": written}
    return counts | {name: value for name, value in cached.items() if value is not None}


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        (usage(1_000, 50, 1_050), 1_000),
        (usage(10, 50, 60, read=90_000), 90_010),
        (usage(10, 50, 90_060, read=90_000), 90_010),
        (usage(10, 50, 90_060, read=80_000, written=10_000), 90_010),
        (usage(9_000, 50, 12_050, read=2_000, written=1_000), 12_000),
        (usage(90_010, 50, 90_060, read=90_000), 90_010),
        (usage(0, 50, 90_050, read=90_000), 90_000),
        ({"inputTokens": 700}, 700),
    ],
)
def test_cached_tokens_are_part_of_the_prompt(reported, expected):
    """Whether a provider reports them apart or includes them."""
    assert expected == prompt_tokens(reported)


@pytest.mark.parametrize(
    "reported",
    [None, {}, usage(0, 0, 0), usage(None, None, None), usage(-5, 3, -2), usage("9", 1, 10), usage(True, 1, 2), 7],
)
def test_an_absent_or_empty_usage_is_unknown(reported):
    """An unknown size is None and never 0."""
    assert prompt_tokens(reported) is None


@pytest.mark.parametrize(("near_tokens", "expected"), [(5_100, 5_000), (3_100, 3_000), (4_200, 3_000), (None, 3_000)])
def test_an_estimate_tells_a_total_that_fits_both_readings(near_tokens, expected):
    """Apart only where the estimate is clearly nearer to it."""
    assert expected == prompt_tokens(usage(3_000, 50, 3_050, read=2_000), near_tokens=near_tokens)
