"""Write one legal history, turn by turn, from the parts of :mod:`strands_ctx.testing.conversation_parts`."""

from __future__ import annotations

from typing import Any

from strands_ctx.messages import MAX_CACHE_POINTS, STRUCTURED_OUTPUT_PROMPT
from strands_ctx.types import Block, Message, Messages

from .conversation_parts import (
    HUGE,
    LARGE,
    MEDIUM,
    SMALL,
    Picker,
    cache_point,
    citations,
    document,
    guarded,
    image,
    json_value,
    reasoning,
    tool_input,
    video,
)

TOOLS = ("search", "read_pdf", "take_screenshot")
"""Names of the tools that are called."""

REDACTED = "[The user's message was removed by a guardrail.]"

PARALLEL = (1, 1, 1, 1, 2, 2, 4, 10)
ITEMS = (1, 1, 1, 2, 3)
STYLES = ("mixed", "mixed", "texts", "json", "media", "sizes")
"""What most results of one history are: everything, texts, JSON, images and documents, or small and huge ones."""


class Writer:
    """Numbers calls and rations cache points and media while one history is written."""

    def __init__(self, pick: Picker, max_media: int) -> None:
        """Choose a style and start with nothing written."""
        self.pick = pick
        self.style = pick.among(STYLES)
        self.media_left = max_media
        self.cache_points_left = MAX_CACHE_POINTS
        self.prompts = self.calls = self.documents = 0

    def history(self, turns: int, max_cycles: int) -> Messages:
        """Write a history that rests where a model call comes next, where a turn ended, or where one was cut short."""
        log: Messages = []
        for number in range(1, turns + 1):
            log += self.turn(self.pick.below(max_cycles + 1), ends=number < turns)
        ending = self.pick.among(("open", "open", "answered", "unanswered"))
        if ending == "answered":
            log.append(self.answer())
        elif ending == "unanswered":
            log.append(self.asks()[0])
        return log

    def turn(self, cycles: int, *, ends: bool) -> Messages:
        """Write a prompt, its cycles and, where the turn ends, the answer; at times the answer is then put in form."""
        log = [self.prompt()]
        for _ in range(cycles):
            log += self.cycle()
        if ends:
            log.append(self.answer())
            if self.pick.has("structured_output", 8):
                log += [{"role": "user", "content": [{"text": STRUCTURED_OUTPUT_PROMPT}]}, *self.cycle(), self.answer()]
        return log

    def cycle(self) -> Messages:
        """Write calls and, in any order, their results."""
        asked, calls = self.asks()
        return [asked, self.results(calls)]

    def prompt(self) -> Message:
        """Write what the user says, with what is attached to it."""
        self.prompts += 1
        if self.pick.once_in(12):
            return self._finish("user", [{"text": REDACTED}])
        sizes = HUGE if self.style == "sizes" else MEDIUM
        blocks: list[Block] = [{"text": f"prompt {self.prompts}: {self.pick.text(sizes)}"}]
        if self.pick.once_in(6):
            blocks += self._attachments(self.pick.among((1, 2, 12)))
        if self.pick.has("guards", 10):
            blocks.append(guarded(self.pick))
        return self._finish("user", blocks)

    def asks(self) -> tuple[Message, list[str]]:
        """Write an assistant message that calls tools, and return the ids of the calls."""
        calls: list[str] = []
        blocks = self._thoughts()
        if self.pick.once_in(3):
            blocks.append({"text": f"I look. {self.pick.text(SMALL)}"})
        for _ in range(self.pick.among(PARALLEL)):
            self.calls += 1
            call, name = f"call_{self.calls}", self.pick.among(TOOLS)
            calls.append(call)
            blocks.append({"toolUse": {"toolUseId": call, "name": name, "input": tool_input(self.pick, call)}})
        return self._finish("assistant", blocks), calls

    def results(self, calls: list[str]) -> Message:
        """Write the results of calls in any order, at times with a text before or after them."""
        blocks: list[Block] = [{"toolResult": self.result(call)} for call in self.pick.shuffled(calls)]
        if self.pick.once_in(8):
            blocks.insert(self.pick.among((len(blocks), 0)), {"text": f"beside results: {self.pick.text(SMALL)}"})
        return self._finish("user", blocks)

    def result(self, call: str) -> dict[str, Any]:
        """Write one result, with the other keys of MCP at times."""
        pick = self.pick
        status = "error" if pick.once_in(6) else "success"
        content = [self.item() for _ in range(pick.among(ITEMS))]
        if "nested_cache_points" not in pick.without and self._may_cache(20):
            content.append(cache_point(pick))
        result: dict[str, Any] = {"toolUseId": call, "status": status, "content": content}
        if pick.once_in(8):
            result |= {"structuredContent": {"rows": json_value(pick)}, "metadata": {"elapsed_s": 0.5, "call": call}}
        return result

    def item(self) -> Block:
        """Write one item of a result, most times of the history's style."""
        pick, style = self.pick, self.style
        if style in ("mixed", "sizes") or pick.once_in(5):
            style = pick.among(("texts", "texts", "json", "media")) if style != "sizes" else "sizes"
        if style == "json":
            return {"json": json_value(pick)}
        if style == "media" and (attached := self._attachments(1)):
            return attached[0]
        return {"text": pick.text({"sizes": HUGE, "texts": LARGE}.get(style, MEDIUM))}

    def answer(self) -> Message:
        """Write the answer that ends a turn, at times with citations."""
        blocks = [*self._thoughts(), {"text": f"answer: {self.pick.text()}"}]
        if self.pick.has("citations", 8):
            blocks.append(citations(self.pick))
        return self._finish("assistant", blocks)

    def _thoughts(self) -> list[Block]:
        return [reasoning(self.pick)] if self.pick.has("reasoning", 4) else []

    def _attachments(self, count: int) -> list[Block]:
        """Make so many images, documents or videos, as far as the ration goes."""
        kinds = [kind for kind in ("images", "images", "documents", "videos") if kind not in self.pick.without]
        made: list[Block] = []
        for _ in range(count if kinds else 0):
            kind = self.pick.among(kinds)
            if kind == "videos":
                made.append(video(self.pick))
            elif self.media_left > 0:
                self.media_left -= 1
                self.documents += kind == "documents"
                made.append(image(self.pick) if kind == "images" else document(self.pick, self.documents))
        return made

    def _may_cache(self, one_in: int) -> bool:
        """Take a cache point from the ration once in so many times."""
        if not self.cache_points_left or not self.pick.has("cache_points", one_in):
            return False
        self.cache_points_left -= 1
        return True

    def _finish(self, role: Any, blocks: list[Block]) -> Message:
        """Add what any message can carry: a cache point at its end, a pin, the host's metadata."""
        pick = self.pick
        if self._may_cache(12):
            blocks.append(cache_point(pick))
        message: Message = {"role": role, "content": blocks}
        metadata: dict[str, Any] = {}
        if pick.has("pins", 15):
            metadata["custom"] = {"pinned": True}
        if role == "assistant" and pick.has("metadata", 4):
            metadata["usage"] = {"inputTokens": 900, "outputTokens": 40, "totalTokens": 940}
        if metadata:
            message["metadata"] = metadata
        if pick.has("metadata", 4):
            message["tracking_id"] = f"00000000-0000-4000-8000-{pick.below(1_000_000):012d}"
        return message
