"""The research run is the one that the measured figures are about."""

from __future__ import annotations

from statistics import median

import pytest

from strands_ctx.analysis.workloads import research_task, research_workload
from strands_ctx.errors import ConfigError
from strands_ctx.tokens import TiktokenCounter

SEEDS = [7, 11, 23]


@pytest.fixture(scope="module", params=SEEDS)
def sizes(request):
    """Tokens of each result of one seed."""
    counter = TiktokenCounter()
    return [counter.count_text(text) for text in research_task(request.param).results]


def test_results_total_383_000_tokens(sizes):
    """Within three percent, whatever the seed."""
    assert 383_000 == pytest.approx(sum(sizes), rel=0.03)


def test_sizes_are_skewed(sizes):
    """The median is far below the mean."""
    assert 3_500 == pytest.approx(median(sizes), rel=0.1)


def test_the_largest_result_is_a_fifth_of_a_small_window(sizes):
    """One or two results are over 20,000 tokens, none over 26,000."""
    assert (True, True) == (20_000 < max(sizes) < 26_000, sum(size > 22_000 for size in sizes) <= 2)


def test_the_same_seed_gives_the_same_bytes():
    """A run can be repeated anywhere."""
    assert research_task(7) == research_task(7)


def test_another_seed_gives_other_results():
    """No result of one seed is a result of another."""
    assert set() == set(research_task(7).results) & set(research_task(11).results)


def test_heads_and_tails_are_unique():
    """Any result can be recognised by its first or its last line, each with a mark or a checksum."""
    lines = [text.splitlines() for text in research_task(7).results]
    edges = [line[0] for line in lines] + [line[-1] for line in lines]
    assert 160 == len(set(edges))


def test_only_the_prompt_holds_the_task():
    """The task's sentence in a view means that the prompt is in it."""
    task = research_task(7)
    assert (True, False) == (task.task_sentence in task.prompt, any(task.task_sentence in t for t in task.results))


def test_content_is_mixed():
    """Prose, records, code, tables, logs and three other languages are all there."""
    kinds = {text.splitlines()[0].split(", ")[1] for text in research_task(7).results}
    assert {"article", "records", "source code", "table", "log", "Bericht", "報告", "보고서"} == kinds


def test_tools_return_the_results_and_write_them_down():
    """A session remembers what its tools returned, call by call."""
    session = research_workload(7, 3).open_session()
    text = session.tools[0].run("id-1", {"source": 2})
    assert [("id-1", text)] == [(result.tool_use_id, result.text) for result in session.results]


@pytest.mark.parametrize("calls", [0, 301])
def test_impossible_numbers_of_calls_are_refused(calls):
    """Strands ends one invocation of more calls by itself."""
    with pytest.raises(ConfigError, match=f"calls={calls}"):
        research_task(7, calls)
