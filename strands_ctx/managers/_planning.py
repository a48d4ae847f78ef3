"""From the state of one agent and the input of one call to a decision, which changes nothing until it is committed."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

from strands_ctx import _host
from strands_ctx.drafts import Load
from strands_ctx.errors import BudgetError
from strands_ctx.ledger.ledger import Ledger
from strands_ctx.messages import MAX_CACHE_POINTS
from strands_ctx.plans import Boundaries, Limits, Plan, Policy
from strands_ctx.policies import plan_view
from strands_ctx.selection import lead_of
from strands_ctx.tokens import CharacterCounter
from strands_ctx.types import Messages, SystemPrompt, ToolSpec
from strands_ctx.view import build_view

from ._limits import Budget, model_key
from ._parking import Parking
from ._state import AgentState, StoredView

logger = logging.getLogger(__name__)

REFUSED_RATIO = 0.95
"""What a view may take of the smallest view that the provider ever refused."""


@dataclass(frozen=True, slots=True)
class Call:
    """The input of one model call.

    Attributes:
        model: The model that is called.
        messages: A copy of the log that nobody else changes.
        system_prompt: The system prompt.
        tool_specs: The tool specifications.
    """

    model: Any
    messages: Messages
    system_prompt: SystemPrompt
    tool_specs: list[ToolSpec]

    @property
    def max_cache_points(self) -> int:
        """How many cache points the system prompt and the model's configuration leave to the messages."""
        blocks = self.system_prompt if isinstance(self.system_prompt, list) else ()
        taken = sum("cachePoint" in block for block in blocks) + _host.own_cache_points(self.model)
        return max(MAX_CACHE_POINTS - taken, 0)


@dataclass(frozen=True, slots=True)
class Decision:
    """What one call is sent, and what committing to it would change.

    Attributes:
        plan: The plan.
        load: What else the call carries.
        limits: The limits that it was made for.
        standing: ``kept``, ``restored`` or ``reset``.
        claimed: The stored view that the agent's log turned out to belong to, or None.
        over_working_set: Whether the view exceeds the soft trigger.
        model_key: Which model it was made for.
    """

    plan: Plan
    load: Load
    limits: Limits
    standing: str
    claimed: StoredView | None
    over_working_set: bool
    model_key: str


class Planner:
    """Decides for one manager, by its policy, its sizes and what is parked of its sessions."""

    def __init__(self, policy: Policy, budget: Budget, parking: Parking, max_media: int | None) -> None:
        """Take what does not change between calls, and the parking that restored views wait in."""
        self._policy = policy
        self._budget = budget
        self._parking = parking
        self._max_media = max_media

    def decide(self, state: AgentState, call: Call) -> Decision:
        """Decide what one model call is sent.

        Args:
            state: What is known of the agent; only its ledger is brought up to date.
            call: The call's input.

        Returns:
            The decision.

        Raises:
            BudgetError: If nothing that may be sent fits.
            HistoryError: If a message is not a Converse message.
        """
        standing, boundaries, claimed = self._standing(state, call.messages)
        key = model_key(call.model)
        memory = claimed.memory if claimed is not None and claimed.memory.key == key else state.memory(key)
        state.ledger.media.max_media = _fewer(self._max_media, memory.max_media, state.attempt_media)
        self._update(state, call.messages)
        load = Load(*state.count_inputs(call.system_prompt, call.tool_specs), memory.calibration)
        limits = self._budget.limits(call.model, load.fixed_tokens)
        limits = _lowered(limits, memory.refused_tokens, state.attempt_tokens)
        plan = plan_view(state.ledger, load, self._policy, limits, boundaries, may_move=state.may_move)
        if state.recovering:
            plan = replace(plan, reason="overflow")
        over = load.tokens(plan.features) > limits.trigger_tokens
        return Decision(plan, load, limits, standing, claimed, over, key)

    def saying(self, state: AgentState, decision: Decision, said: str) -> Decision:
        """Place in the note of a decision what the app says of the messages that it leaves out, where there is room."""
        boundaries = replace(decision.plan.boundaries, said=said)
        try:
            plan = plan_view(state.ledger, decision.load, self._policy, decision.limits, boundaries)
        except BudgetError:
            return decision
        if plan.boundaries != boundaries:
            logger.debug("chars=<%d> | no room for what on_omit returned", len(said))
            return decision
        return replace(decision, plan=replace(plan, reason=decision.plan.reason))

    def view_by_characters(self, state: AgentState, call: Call) -> Messages | None:
        """Make a view with a counter that can't fail, for when the first plan has failed; None where that fails too."""
        ledger = Ledger(CharacterCounter(), rules=state.ledger.rules, max_media=self._max_media)
        try:
            decision = self.decide(replace(state, ledger=ledger, call_inputs=None, checked=False), call)
            return build_view(ledger, decision.plan, max_cache_points=call.max_cache_points)
        except Exception:
            logger.debug("calls=<%d> | no view by characters either", state.calls, exc_info=True)
            return None

    def _standing(self, state: AgentState, messages: Messages) -> tuple[str, Boundaries, StoredView | None]:
        """Find the boundaries that stand for a log: kept, restored, or none where the log is another one."""
        stored = state.stored
        if stored is not None and stored.belongs_to(messages):
            return "kept", state.boundaries, None
        claimed = self._parking.find(messages)
        if claimed is not None:
            return "restored", claimed.boundaries, claimed
        return ("kept", state.boundaries, None) if stored is None else ("reset", Boundaries(), None)

    def _update(self, state: AgentState, messages: Messages) -> None:
        """Bring the ledger up to date: wholly at the start of a run, then only what a view can hold."""
        ledger, cut = state.ledger, min(state.boundaries.cut, len(messages))
        if not state.checked or cut > len(ledger):
            ledger.update(messages)
            return
        ledger.update(messages, unchanged_before=cut, watched=lead_of(ledger, cut, pin_first=self._policy.pin_first))

    def obstacle(self, state: AgentState, call: Call, attempt_tokens: int) -> Exception | None:
        """Return what keeps a view within a number of tokens from being made, None if one can; nothing changes."""
        trial = replace(state, attempt_tokens=attempt_tokens, may_move=True)
        try:
            self.decide(trial, call)
        except Exception as error:
            logger.debug("attempt_tokens=<%d> | no smaller view can be made", attempt_tokens, exc_info=True)
            return error
        return None

    def commit(self, state: AgentState, decision: Decision) -> None:
        """Let a decision stand for the calls that follow."""
        if decision.standing == "reset":
            state.forget()
        if decision.claimed is not None:
            self._parking.take(state.ledger.messages)
            state.adopt(decision.claimed)
        state.model_key = decision.model_key
        state.stand(decision.plan.boundaries)
        state.plan = decision.plan
        state.checked = True


def _fewer(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _lowered(limits: Limits, refused_tokens: int | None, attempt_tokens: int | None) -> Limits:
    """Lower limits to what the provider was seen to refuse."""
    if refused_tokens is not None:
        limits = limits.within(int(refused_tokens * REFUSED_RATIO))
    if attempt_tokens is not None:
        limits = limits.within(attempt_tokens)
    return limits
