"""Hand over what a view leaves out, once per cut, and place what the app says of it in the note."""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from strands_ctx.notes import said_text
from strands_ctx.types import Messages

from ._planning import Call, Decision, Planner
from ._state import AgentState

logger = logging.getLogger(__name__)

RAISED = "messages=<%d> | on_omit raised, the call goes on"

OnOmit = Callable[[Messages], "str | Awaitable[str | None] | None"]
"""Takes the messages that a view newly leaves out; what it returns, at once or later, may stand in the note."""


@dataclass(frozen=True, slots=True)
class Omitting:
    """Calls ``on_omit`` of one manager.

    Attributes:
        on_omit: The app's function.
        planner: What decides views.
    """

    on_omit: OnOmit
    planner: Planner

    def apply(self, state: AgentState, call: Call, decision: Decision) -> Decision | Awaitable[Decision]:
        """Call the app's function where a decision leaves messages out that the last one did not.

        Args:
            state: What is known of the agent before the decision stands.
            call: The input of the call.
            decision: The decision.

        Returns:
            The decision, with a note that holds what the function said where there is room for it; later, where the
            function answers later. A function that raises costs a warning and nothing else.
        """
        omitted = _newly_omitted(state, call, decision)
        if not omitted:
            return self._with(state, decision, state.said) if state.said and decision.plan.note else decision
        try:
            said = self.on_omit(omitted)
        except Exception:
            logger.warning(RAISED, len(omitted), exc_info=True)
            said = None
        if inspect.isawaitable(said):
            return self._later(state, decision, said, len(omitted))
        state.handed_to = decision.plan.cut
        return self._with(state, decision, said)

    async def _later(self, state: AgentState, decision: Decision, said: Awaitable[Any], count: int) -> Decision:
        try:
            text = await said
        except Exception:
            logger.warning(RAISED, count, exc_info=True)
            text = None
        state.handed_to = decision.plan.cut  # where the call is cancelled while this waits, it is handed over again
        return self._with(state, decision, text)

    def _with(self, state: AgentState, decision: Decision, said: Any) -> Decision:
        text = said_text(said)
        if not text or text == decision.plan.boundaries.said:
            return decision
        state.said = text
        return self.planner.saying(state, decision, text)


def _newly_omitted(state: AgentState, call: Call, decision: Decision) -> Messages:
    """Copy the messages that the decision leaves out and that were not handed over before, for this log."""
    plan, handed = decision.plan, state.handed_to
    if decision.standing == "reset":
        handed, state.said = 0, ""
    elif decision.claimed is not None:
        handed, state.said = decision.claimed.boundaries.cut, decision.claimed.boundaries.said
    lead = state.plan.lead if state.plan is not None else ()
    newly = sorted((set(range(handed, plan.cut)) | {index for index in lead if index < handed}) - set(plan.lead))
    return [copy.deepcopy(call.messages[index]) for index in newly if index < plan.cut]
