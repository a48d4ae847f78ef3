"""Histories as real agents leave them, legal and not, and the situations in which they are planned."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from strands_ctx.drafts import Load
from strands_ctx.plans import Limits, Policy
from strands_ctx.tokens import Calibration, CharacterCounter, Features
from strands_ctx.types import Block, Message, Messages
from tests.builders import CACHE_POINT, assistant, pinned, result, use, user

SCRAPS = (
    "word ",
    "x",
    "漢字",
    "한국어 ",
    "👩‍👩‍👧 ",
    "🇫🇷",
    "e\u0301",
    "\ud800",
    "line\n",
    '{"key": [1, 2]} ',
    "\n[... 29 of 1,000 bytes shown ...]\n",
    "[strands_ctx: 4 earlier messages are not shown here.] ",
)
"""What texts are made of: ASCII, CJK, joined emoji, flags, combining marks, a lone surrogate, markers."""

BLANKS = ("", " ", "\n\t", "\u3000")
MAX_CACHE_POINTS = 4
MAX_MEDIA = 12
COUNTER = CharacterCounter()


@st.composite
def any_texts(draw: Any, max_repeats: int = 200) -> str:
    """A text that is not blank: one kind of scrap over and over, between two others."""
    repeats = draw(st.sampled_from([1, 2, 5, 40, max_repeats]))
    first, middle, last = (draw(st.sampled_from(SCRAPS)) for _ in range(3))
    return f"{first}{middle * repeats}{last}"


images: st.SearchStrategy[Block] = st.builds(
    lambda size: {"image": {"format": "png", "source": {"bytes": b"\x89PNG" + bytes(size)}}}, st.integers(0, 64)
)
documents: st.SearchStrategy[Block] = st.builds(
    lambda text: {"document": {"format": "txt", "name": "notes", "source": {"bytes": text.encode("utf-8", "replace")}}},
    any_texts(40),
)
reasonings: st.SearchStrategy[Block] = st.one_of(
    st.builds(
        lambda text, signature: {"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}},
        any_texts(40),
        st.text("abc123", min_size=1),
    ),
    st.builds(lambda data: {"reasoningContent": {"redactedContent": data}}, st.binary(min_size=1, max_size=40)),
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def tool_results(draw: Any, call: str, *, media: bool = True) -> Block:
    """One tool result: texts, JSON or media, with a status and at times the other keys of MCP."""
    items = draw(
        st.lists(
            st.one_of(
                st.builds(lambda text: {"text": text}, any_texts(600)),
                st.builds(lambda text: {"text": text}, any_texts()),
                st.builds(lambda value: {"json": value}, json_values),
                images if media else st.builds(lambda value: {"json": value}, json_values),
            ),
            min_size=1,
            max_size=3,
        )
    )
    block = result(call, status=draw(st.sampled_from(["success", "success", "error"])))
    block["toolResult"]["content"] = items
    if draw(st.integers(0, 5)) == 0:
        block["toolResult"]["structuredContent"] = {"kept": True}
    return block


class _Writer:
    """Numbers calls, and rations cache points and media, while a log is written."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.calls = self.cache_points = self.prompts = self.media = 0

    def maybe(self, one_in: int) -> bool:
        return bool(self.draw(st.integers(1, one_in)) == 1)

    def finish(self, message: Message) -> Message:
        if self.cache_points < MAX_CACHE_POINTS and self.maybe(12):
            self.cache_points += 1
            message["content"].append(copy.deepcopy(CACHE_POINT))
        return pinned(message) if self.maybe(15) else message

    def prompt(self) -> Message:
        self.prompts += 1
        blocks: list[Any] = [f"prompt {self.prompts}: {self.draw(any_texts())}"]
        if self.media < MAX_MEDIA and self.maybe(8):
            self.media += 1
            blocks.append(self.draw(images | documents))
        return self.finish(user(*blocks))

    def asks(self) -> tuple[Message, list[str]]:
        calls = []
        for _ in range(self.draw(st.sampled_from([1, 1, 1, 2, 4]))):
            self.calls += 1
            calls.append(f"call_{self.calls}")
        blocks: list[Any] = [self.draw(reasonings)] if self.maybe(4) else []
        blocks += [f"I look. {self.draw(any_texts(40))}"] if self.maybe(3) else []
        names = st.sampled_from(["search", "read_pdf"])
        return self.finish(assistant(*blocks, *(use(call, self.draw(names)) for call in calls))), calls

    def answers(self, calls: list[str]) -> Message:
        blocks: list[Any] = []
        for call in self.draw(st.permutations(calls)):
            blocks.append(self.draw(tool_results(call, media=self.media < MAX_MEDIA - 2)))
            self.media += sum("image" in item for item in blocks[-1]["toolResult"]["content"])
        blocks += [f"beside results: {self.draw(any_texts(40))}"] if self.maybe(6) else []
        return self.finish(user(*blocks))

    def says(self) -> Message:
        blocks: list[Any] = [self.draw(reasonings)] if self.maybe(4) else []
        return self.finish(assistant(*blocks, f"answer: {self.draw(any_texts())}"))


@st.composite
def legal_logs(draw: Any, max_turns: int = 4, max_cycles: int = 4) -> Messages:
    """A log that every provider accepts, resting where a model call comes next or where a run was cut short."""
    writer = _Writer(draw)
    log: Messages = []
    turns = draw(st.integers(1, max_turns))
    for number in range(1, turns + 1):
        log.append(writer.prompt())
        for _ in range(draw(st.integers(0, max_cycles))):
            asked, calls = writer.asks()
            log += [asked, writer.answers(calls)]
        if number < turns:
            log.append(writer.says())
    ending = draw(st.sampled_from(["open", "open", "answered", "unanswered"]))
    if ending == "answered":
        log.append(writer.says())
    elif ending == "unanswered":
        log.append(writer.asks()[0])
    return log


Fault = Callable[[Messages, int], None]


def _drop_message(log: Messages, at: int) -> None:
    del log[at]


def _drop_block(log: Messages, at: int) -> None:
    del log[at]["content"][:1]


def _repeat_message(log: Messages, at: int) -> None:
    log.insert(at, copy.deepcopy(log[at]))


def _repeat_block(log: Messages, at: int) -> None:
    log[at]["content"] += copy.deepcopy(log[at]["content"][:1])


def _blank_first(log: Messages, at: int) -> None:
    log[at]["content"].insert(0, {"text": BLANKS[at % len(BLANKS)]})


def _blank_message(log: Messages, at: int) -> None:
    log[at]["content"][:] = [{"text": BLANKS[at % len(BLANKS)]}]


def _blank_results(log: Messages, at: int) -> None:
    for block in log[at]["content"]:
        if "toolResult" in block:
            block["toolResult"]["content"] = [{"text": " "}] if at % 2 else []


def _orphan_result(log: Messages, at: int) -> None:
    log[at]["content"].insert(0, result(f"gone_{at}"))


def _orphan_message(log: Messages, at: int) -> None:
    log.insert(at, user(result(f"lost_{at}"), copy.deepcopy(CACHE_POINT)))


def _stray_call(log: Messages, at: int) -> None:
    log[at]["content"].append(use(f"stray_{at}_{len(log)}"))


def _cache_point_first(log: Messages, at: int) -> None:
    log[at]["content"].insert(0, copy.deepcopy(CACHE_POINT))


def _many_cache_points(log: Messages, at: int) -> None:
    log[at]["content"] += [CACHE_POINT] * 4


def _another_prompt(log: Messages, at: int) -> None:
    log.insert(at, user(f"again {at}"))


FAULTS: tuple[Fault, ...] = (
    _drop_message,
    _drop_block,
    _repeat_message,
    _repeat_block,
    _blank_first,
    _blank_message,
    _blank_results,
    _orphan_result,
    _orphan_message,
    _stray_call,
    _cache_point_first,
    _many_cache_points,
    _another_prompt,
    lambda log, at: log.insert(0, assistant(f"before {at}")),
)
"""What a raising model, a forced structured output, a restored session or an app's own edit do to a log."""


@st.composite
def broken_logs(draw: Any) -> Messages:
    """A log with one to four faults; it may still be legal, and it is never empty."""
    log: Messages = copy.deepcopy(draw(legal_logs(max_turns=3, max_cycles=3)))
    for fault in draw(st.lists(st.sampled_from(FAULTS), min_size=1, max_size=4)):
        if len(log) > 1 or fault is not _drop_message:
            fault(log, draw(st.integers(0, len(log) - 1)))
    return log


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
        seen = Features(8_000, 2_000, 20)
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
