"""Histories in the shapes that single laws can be read from, and the situations in which they are planned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from strands_ctx.drafts import Load
from strands_ctx.plans import Limits, Policy
from strands_ctx.testing.conversation_strategy import conversations, drawn
from strands_ctx.testing.conversation_writer import Writer
from strands_ctx.tokens import Calibration, CharacterCounter, Features
from strands_ctx.types import Block, Messages

MAX_MEDIA = 20
COUNTER = CharacterCounter()

PLAIN = ("metadata", "nested_cache_points", "s3_sources", "structured_output", "text_sources", "videos")
"""What the histories of single laws do without: their oracles read sizes, pins and turns off the messages, and some are
sent over HTTP."""


def any_texts(max_repeats: int = 200) -> st.SearchStrategy[str]:
    """A text that is not blank: one kind of scrap over and over, at times between two others."""
    return drawn(lambda pick: pick.text((1, 2, 5, 40, max_repeats)))


def tool_results(call: str, *, media: bool = True) -> st.SearchStrategy[Block]:
    """One tool result: texts, JSON or media, with a status and at times the other keys of MCP."""
    return drawn(lambda pick: {"toolResult": Writer(pick, MAX_MEDIA if media else 0).result(call)}, without=PLAIN)


def legal_logs(max_turns: int = 4, max_cycles: int = 4) -> st.SearchStrategy[Messages]:
    """A log that every provider accepts, resting where a model call comes next or where a run was cut short."""
    return conversations(max_turns=max_turns, max_cycles=max_cycles, max_media=MAX_MEDIA, without=PLAIN)


def broken_logs() -> st.SearchStrategy[Messages]:
    """A log with one to four faults; it may still be legal, and it is never empty."""
    return conversations(legal=False, max_turns=3, max_cycles=3, max_media=MAX_MEDIA // 2, without=PLAIN)


@dataclass(frozen=True)
class Situation:
    """What a log is planned for."""

    load: Load
    policy: Policy
    limits: Limits


@st.composite
def loads(draw: Any) -> Load:
    """A system prompt and tools, with a calibration that has learnt nothing or something."""
    calibration = Calibration()
    for ratio in draw(st.lists(st.floats(0.6, 1.8), max_size=3)):
        seen = Features(8_000, 2_000, 20, prompts=1)
        calibration = calibration.observe(seen, {"inputTokens": int(10_000 * ratio)})
    system, tools = draw(st.sampled_from([(0, 0), (40, 0), (200, 300)]))
    return Load(system, tools, calibration)


@st.composite
def policies(draw: Any) -> Policy:
    """What the managers can ask for, and what their parts can."""
    old = draw(st.sampled_from([None, None, 64, 200, 600]))
    first = draw(st.sampled_from([None, None, None, 600, 2_800])) if old is not None else None
    return Policy(
        cuts=old is None or draw(st.integers(1, 6)) > 1,
        old_result_max_bytes=old,
        recent_tokens=draw(st.sampled_from([0, 100, 1_000])),
        first_sight_max_bytes=first,
        max_user_turns=draw(st.sampled_from([None, None, 1, 3])),
        pin_first=draw(st.sampled_from([0, 0, 0, 1, 2, 3])),
    )


@st.composite
def situations(draw: Any, log: Messages) -> Situation:
    """A situation whose limits are near what the log takes, so that every tier is met."""
    load = draw(loads())
    whole = max(sum(COUNTER.count_message(message) for message in log), 10)
    ratio = draw(st.sampled_from([0.02, 0.1, 0.3, 0.3, 0.6, 0.6, 0.9, 1.5, 3.0]))
    hard = int(whole * ratio * draw(st.floats(0.8, 1.25))) + load.fixed_tokens + 30
    trigger = draw(st.sampled_from([hard, hard, hard * 7 // 10, hard // 2]))
    target = draw(st.sampled_from([trigger, trigger * 4 // 10, trigger // 10]))
    return Situation(load, draw(policies()), Limits(trigger, target, hard))


@st.composite
def planned_logs(draw: Any, logs: st.SearchStrategy[Messages]) -> tuple[Messages, Situation]:
    """A log and a situation made for it."""
    log = draw(logs)
    return log, draw(situations(log))
