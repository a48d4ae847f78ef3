"""What a manager remembers of one agent, and the part of it that survives a restart."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from strands_ctx.digests import digest
from strands_ctx.ledger.ledger import Ledger
from strands_ctx.notes import said_text
from strands_ctx.plans import Boundaries, Plan
from strands_ctx.receipts import Receipt
from strands_ctx.tokens.calibration import Calibration
from strands_ctx.tokens.features import Features
from strands_ctx.types import Message, SystemPrompt, ToolSpec

STATE_VERSION = 1
RECEIPTS_KEPT = 512
"""Receipts kept per agent; older ones are gone (each was given to ``on_receipt``)."""


@dataclass(frozen=True, slots=True)
class ModelMemory:
    """What an agent's calls have shown of one model.

    Attributes:
        key: Which model; see ``_limits.model_key``.
        calibration: Its scale as far as it is known.
        refused_tokens: The size of the smallest view that it refused, or None.
        max_media: How many images and documents a request for it holds at most, where it was seen to refuse more.
    """

    key: str = ""
    calibration: Calibration = field(default_factory=Calibration)
    refused_tokens: int | None = None
    max_media: int | None = None

    def to_state(self) -> dict[str, Any]:
        """Return small JSON."""
        return {
            "model": self.key,
            "calibration": self.calibration.to_state(),
            "refused_tokens": self.refused_tokens,
            "max_media": self.max_media,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> ModelMemory:
        """Read what :meth:`to_state` wrote, and nothing from anything else."""
        key = state.get("model")
        return cls(
            key=key if isinstance(key, str) else "",
            calibration=Calibration.from_state(state.get("calibration")),
            refused_tokens=_index(state.get("refused_tokens")) or None,
            max_media=None if state.get("max_media") is None else _index(state["max_media"]),
        )


@dataclass(frozen=True, slots=True)
class StoredView:
    """The boundaries of one log, as sessions store them.

    Attributes:
        fingerprint: Tells the log that they belong to.
        boundaries: The boundaries.
        memory: What was known of the model when a boundary last moved or a run last ended.
        inner: Indices after the cut of prompts that open no turn.
    """

    fingerprint: str
    boundaries: Boundaries
    memory: ModelMemory
    inner: tuple[int, ...] = ()

    def to_state(self) -> dict[str, Any]:
        """Return small, versioned JSON."""
        return {
            "fingerprint": self.fingerprint,
            "cut": self.boundaries.cut,
            "cap_line": self.boundaries.cap_line,
            "old_max_bytes": self.boundaries.old_max_bytes,
            "error_line": self.boundaries.error_line,
            "said": self.boundaries.said,
            **self.memory.to_state(),
            "inner": list(self.inner),
        }

    @classmethod
    def from_state(cls, state: Any) -> StoredView | None:
        """Read what :meth:`to_state` wrote; None for anything else, since a session file can hold anything."""
        if not isinstance(state, dict) or not isinstance(state.get("fingerprint"), str):
            return None
        cut, cap_line = _index(state.get("cut")), _index(state.get("cap_line"))
        inner = state.get("inner")
        return cls(
            fingerprint=state["fingerprint"],
            boundaries=Boundaries(
                cut,
                max(cut, cap_line),
                _index(state.get("old_max_bytes")) or None,
                min(_index(state.get("error_line", cap_line)), cap_line),
                said_text(state.get("said")),
            ),
            memory=ModelMemory.from_state(state),
            inner=tuple(_index(index) for index in inner) if isinstance(inner, list) else (),
        )

    def belongs_to(self, messages: Sequence[Message]) -> bool:
        """Tell whether a log is the one that these boundaries were drawn in."""
        return bool(self.fingerprint) and self.fingerprint == fingerprint(messages, self.boundaries)


def _index(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def fingerprint(messages: Sequence[Message], boundaries: Boundaries) -> str:
    """Fingerprint a log at its boundaries: the first message and those on both sides of each boundary.

    It stays the same while the log grows, while results are capped, and after storage as JSON.

    Args:
        messages: The log.
        boundaries: The boundaries.

    Returns:
        32 hexadecimal digits, or an empty text where the log is too short for them.
    """
    places = {0, boundaries.cut - 1, boundaries.cut, boundaries.cap_line - 1, boundaries.cap_line} - {-1}
    if max(places) >= len(messages):
        return ""
    joined = ",".join(f"{place}:{digest(messages[place])}" for place in sorted(places))
    return hashlib.blake2b(joined.encode(), digest_size=16).hexdigest()


@dataclass(slots=True)
class Pending:
    """A model call in flight.

    Attributes:
        receipt: Its open receipt.
        features: What its estimate was made from.
    """

    receipt: Receipt
    features: Features


@dataclass(slots=True)
class AgentState:
    """What a manager remembers of one agent while the process lives.

    Attributes:
        ledger: The log as last seen.
        boundaries: The standing boundaries.
        models: What is known of each model that was called, by key.
        model_key: The model of the last plan.
        stored: What a session stores; None before a boundary has moved.
        plan: The last plan, for when making one fails.
        receipts: The latest receipts.
        pending: The call in flight.
        calls: Model calls so far, attempts after an overflow apart.
        retrying: Whether the next call is another attempt at the last one.
        may_move: Whether this call may move boundaries (``per_turn``).
        recovering: Whether a smaller attempt than the last was prepared.
        attempt_tokens: What that attempt may take; None where it only shows fewer images and documents.
        attempt_media: How many images and documents views hold for the rest of the run, after a refusal for its bytes.
        truncation_told: Whether this run has warned of a prompt that was cut in silence.
        tool_looked_for: Whether it was looked whether the agent has the recall tool.
        checked: Whether the whole log was compared with the ledger in this run; edits in place come between runs.
        in_run: Whether an invocation is under way.
        run_start: Length of the log when it began.
        turn_open: Whether it has had its prompt.
        goes_on: Whether the next invocation carries the same turn on.
        handed_to: Messages before this index were handed to ``on_omit``.
        said: What it last said of them.
        log_capped_to: Index up to which results in the log are capped already.
        log_capped_last: The message before that index; another one there means another log.
        log_capped_results: How many of them were capped.
        call_inputs: System prompt and tools as last counted, with their raw tokens.
    """

    ledger: Ledger
    boundaries: Boundaries = field(default_factory=Boundaries)
    models: dict[str, ModelMemory] = field(default_factory=dict)
    model_key: str = ""
    stored: StoredView | None = None
    plan: Plan | None = None
    receipts: deque[Receipt] = field(default_factory=lambda: deque(maxlen=RECEIPTS_KEPT))
    pending: Pending | None = None
    calls: int = 0
    retrying: bool = False
    may_move: bool = True
    recovering: bool = False
    attempt_tokens: int | None = None
    attempt_media: int | None = None
    truncation_told: bool = False
    tool_looked_for: bool = False
    checked: bool = False
    in_run: bool = False
    run_start: int = 0
    turn_open: bool = False
    goes_on: bool = False
    handed_to: int = 0
    said: str = ""
    log_capped_to: int = 0
    log_capped_last: Any = None
    log_capped_results: int = 0
    call_inputs: tuple[SystemPrompt, list[ToolSpec], int, int] | None = None

    def memory(self, key: str) -> ModelMemory:
        """Return what is known of a model."""
        return self.models.get(key) or ModelMemory(key)

    def adopt(self, stored: StoredView) -> None:
        """Go on from what a session stored."""
        self.stored = stored
        self.boundaries = stored.boundaries
        self.handed_to, self.said = stored.boundaries.cut, stored.boundaries.said
        self.models[stored.memory.key] = stored.memory
        self.ledger.inner.update(index for index in stored.inner if index < len(self.ledger))

    def forget(self) -> None:
        """Start anew with a log that is another one; what is known of the model stays."""
        self.stored = None
        self.boundaries = Boundaries()
        self.handed_to, self.said = 0, ""
        self.ledger.inner.clear()

    def stand(self, boundaries: Boundaries) -> None:
        """Let boundaries stand for the next calls; what a session stores of them changes only when they move."""
        if boundaries == self.boundaries:
            return
        self.boundaries = boundaries
        if boundaries == Boundaries():
            self.stored = None
            return
        self.stored = StoredView(
            fingerprint=fingerprint(self.ledger.messages, boundaries),
            boundaries=boundaries,
            memory=self.memory(self.model_key),
            inner=tuple(sorted(index for index in self.ledger.inner if index >= boundaries.cut)),
        )

    def settle(self) -> None:
        """Let what a session stores hold what was learnt in a run that has ended: the next view is then the same."""
        memory = self.memory(self.model_key)
        if self.stored is not None:
            self.stored = replace(self.stored, memory=memory)
        elif memory.calibration.bills and len(self.ledger):
            whole = Boundaries()
            self.stored = StoredView(fingerprint(self.ledger.messages, whole), whole, memory)

    @property
    def fixed_tokens(self) -> int:
        """Estimate of system prompt and tools as last counted, in tokens of the last model."""
        if self.call_inputs is None:
            return 0
        counted = Features(fixed_tokens=self.call_inputs[2] + self.call_inputs[3], prompts=1)
        return self.memory(self.model_key).calibration.estimate(counted)

    def count_inputs(self, system_prompt: SystemPrompt, specs: list[ToolSpec]) -> tuple[int, int]:
        """Count system prompt and tools, anew only when they changed."""
        known = self.call_inputs
        if known is None or known[0] != system_prompt or known[1] != specs:
            counter = self.ledger.counter
            known = system_prompt, specs, _system_tokens(self.ledger, system_prompt), counter.count_tools(specs)
            self.call_inputs = known
        return known[2], known[3]


def _system_tokens(ledger: Ledger, system_prompt: SystemPrompt) -> int:
    if not system_prompt:
        return 0
    if isinstance(system_prompt, str):
        return ledger.counter.count_text(system_prompt)
    return sum(ledger.counter.count_text(str(block["text"])) for block in system_prompt if "text" in block)
