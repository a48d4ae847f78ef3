"""State that came out of a session and waits for the agent whose log it belongs to.

The host restores a manager before it hands over the messages (or after, from a snapshot) and does not say which
agent it restores. So stored views are parked, and the next plan whose log matches a fingerprint claims its own.
State that another manager left is adopted: its removed messages stay removed, its summary stays at the head of the
log.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Collection, Mapping
from typing import Any

from strands_ctx.errors import HistoryError
from strands_ctx.messages import shape_of
from strands_ctx.types import Message, Messages

from ._state import STATE_VERSION, AgentState, StoredView

logger = logging.getLogger(__name__)

MAX_PARKED = 64
"""Stored views that wait at the same time; older ones are dropped, and their logs start without a cut."""


class Parking:
    """Parked views, and what was adopted of other managers.

    Attributes:
        summary_message: The message that a summarising manager put in place of what it removed, or None.
    """

    def __init__(self) -> None:
        """Start with nothing parked."""
        self.summary_message: Message | None = None
        self._views: list[StoredView] = []

    def park(self, state: Any) -> Messages | None:
        """Take the state of a session.

        Args:
            state: What a manager's ``get_state`` returned, of ours or another's; anything unreadable in it is
                ignored.

        Returns:
            Messages to be put before the restored ones, or None.
        """
        if not isinstance(state, Mapping):
            logger.warning("state=<%s> | stored state is no state, starting without", type(state).__name__)
            return None
        version, views = state.get("version", STATE_VERSION), state.get("views")
        if views is not None and version != STATE_VERSION:
            logger.warning("version=<%s> | stored views are of another version, starting without a cut", version)
            views = None
        found = [StoredView.from_state(view) for view in views] if isinstance(views, list) else []
        newest = {view.fingerprint: view for view in (*self._views, *found) if view is not None}
        self._views = list(newest.values())[-MAX_PARKED:]
        self.summary_message = _message(state.get("summary_message"))
        return [copy.deepcopy(self.summary_message)] if self.summary_message else None

    def find(self, messages: Messages) -> StoredView | None:
        """Find the parked view that belongs to a log; of several, the one whose boundaries went farthest."""
        own = [view for view in self._views if view.belongs_to(messages)]
        return max(own, key=lambda view: (view.boundaries.cut, view.boundaries.cap_line), default=None)

    def take(self, messages: Messages) -> None:
        """Take out of the parking what belongs to a log, once its agent has claimed the farthest."""
        self._views = [view for view in self._views if not view.belongs_to(messages)]

    def to_state(self, live: Collection[AgentState]) -> dict[str, Any]:
        """Return what a session stores: the views of live agents, and those parked that belong to none of them."""
        waiting = (view for view in self._views if not any(view.belongs_to(s.ledger.messages) for s in live))
        views = [*waiting, *(state.stored for state in live if state.stored is not None)]
        state: dict[str, Any] = {"version": STATE_VERSION, "views": [view.to_state() for view in views]}
        if self.summary_message is not None:
            state["summary_message"] = self.summary_message
        return state


def _message(value: Any) -> Message | None:
    """Return a value if it is a message, else None."""
    try:
        shape_of(value)
        message: Message = copy.deepcopy(value)
    except (HistoryError, RecursionError):
        return None
    return message


def removed_count(state: Any) -> int:
    """Read how many stored messages a session leaves out when it restores; 0 where that is unreadable."""
    count = state.get("removed_message_count") if isinstance(state, Mapping) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0
