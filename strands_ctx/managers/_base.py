"""What the three managers share: the hooks, the view of each call, and recovery from overflow."""

from __future__ import annotations

import copy
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from strands.agent.conversation_manager import NullConversationManager
from strands.hooks import (
    AfterInvocationEvent,
    AfterModelCallEvent,
    AgentInitializedEvent,
    BeforeInvocationEvent,
    BeforeModelCallEvent,
    HookRegistry,
    MessageAddedEvent,
)

from strands_ctx import _host
from strands_ctx.capping.media import newest_media
from strands_ctx.errors import BudgetError, HistoryError
from strands_ctx.ledger.ledger import Ledger
from strands_ctx.messages import shape_of
from strands_ctx.overflow import Overflow
from strands_ctx.plans import Policy
from strands_ctx.receipts import Receipt
from strands_ctx.repair import legal_view
from strands_ctx.tokens import TiktokenCounter
from strands_ctx.types import Messages, TokenCounter
from strands_ctx.view import build_view, is_legal, shows_log, standing_view

from ._errors import BudgetExceededError
from ._limits import UNKNOWN_WINDOW, Budget, check_callables, count, model_key
from ._log_caps import LogCaps
from ._omitting import Omitting, OnOmit
from ._parking import Parking, removed_count
from ._planning import Call, Decision, Planner
from ._receipting import abandon_receipt, close_receipt, open_receipt
from ._recovery import Recovery, overflow_of, recognised
from ._state import AgentState
from ._warnings import warn_gently

if TYPE_CHECKING:
    from strands import Agent

logger = logging.getLogger(__name__)

FALLING_BACK = "call=<%d> | management failed, sending the last view made legal"

OnReceipt = Callable[[Receipt], None]


class ViewManager(NullConversationManager):
    """Sends each model call a view of the log: the base of the three managers. One manager may serve many agents."""

    def __init__(
        self,
        *,
        policy: Policy,
        budget: Budget,
        per_turn: int = 1,
        counter: TokenCounter | None = None,
        on_receipt: OnReceipt | None = None,
        on_omit: OnOmit | None = None,
        log_caps: LogCaps,
        max_media: int | None = None,
    ) -> None:
        """Take the arguments that the managers have checked."""
        check_callables(counter, on_receipt=on_receipt, on_omit=on_omit)
        super().__init__()
        self._per_turn = per_turn
        self._counter: TokenCounter = counter if counter is not None else TiktokenCounter()
        self._on_receipt = on_receipt
        self._log_caps = log_caps
        self._parking = Parking()
        self._budget = budget
        most = None if max_media is None else count("max_media_per_request", max_media)
        self._planner = Planner(policy, budget, self._parking, most)
        self._recovery = Recovery(self._planner)
        self._omitting = Omitting(on_omit, self._planner) if on_omit is not None else None
        self._windowless: set[str] = set()
        self._states: WeakKeyDictionary[Agent, AgentState] = WeakKeyDictionary()

    def view(self, agent: Agent) -> Messages:
        """Return what the next model call of an agent would be sent; nothing changes.

        Args:
            agent: An agent, at rest or not.

        Returns:
            A deep copy: messages that every provider accepts.

        Raises:
            BudgetExceededError: If nothing that may be sent fits.
        """
        state, call = self._state(agent), _call_of(agent)
        self._log_caps.preview(call.messages, state.run_start if state.in_run else len(call.messages))
        ledger = self._new_ledger()
        ledger.inner.update(state.ledger.inner)
        upcoming = replace(state, ledger=ledger, checked=False, may_move=(state.calls + 1) % self._per_turn == 0)
        try:
            decision = self._planner.decide(upcoming, call)
        except BudgetError as error:
            raise BudgetExceededError.of(error) from error
        return copy.deepcopy(build_view(ledger, decision.plan, max_cache_points=call.max_cache_points))

    def receipts(self, agent: Agent) -> list[Receipt]:
        """Return the latest receipts of an agent, oldest first, that of a call in flight included."""
        state = self._state(agent)
        return [*state.receipts, *([state.pending.receipt] if state.pending else [])]

    def register_hooks(self, registry: HookRegistry, **kwargs: Any) -> None:
        """Register the callbacks; called by the host."""
        super().register_hooks(registry, **kwargs)
        registry.add_callback(AgentInitializedEvent, self._on_initialized)
        registry.add_callback(BeforeInvocationEvent, self._on_run_start)
        registry.add_callback(MessageAddedEvent, self._on_message)
        registry.add_callback(BeforeModelCallEvent, self._on_model_call)
        registry.add_callback(AfterModelCallEvent, self._on_model_answer)
        registry.add_callback(AfterInvocationEvent, self._on_run_end)

    def apply_management(self, agent: Agent, **kwargs: Any) -> None:
        """Cap results of finished runs in the log, where that was asked for.

        The host calls this at the end of each invocation, and for direct tool calls also in the middle of one: then
        it does nothing.
        """
        state = self._state(agent)
        if not state.in_run:
            self._log_caps.apply(state, agent.messages, len(agent.messages))

    def reduce_context(self, agent: Agent, e: Exception | None = None, **kwargs: Any) -> None:
        """Tighten the view of the next call after an overflow that could not be retried; the log stays.

        Args:
            agent: The agent.
            e: The overflow; None where the host or an app only wants a smaller view, at best effort.
            **kwargs: Ignored.

        Raises:
            Exception: ``e`` itself, if it is our own budget error or no smaller view can be made.
        """
        state = self._state(agent)
        overflow = Overflow("tokens") if e is None else recognised(e)
        if (overflow is None or not self._recovery.prepare(state, _call_of(agent), overflow, e)) and e is not None:
            raise e

    def get_state(self) -> dict[str, Any]:
        """Return what a session stores: small JSON that changes when a boundary moves or a run ends."""
        agents = [reference() for reference in self._states.keyrefs()]  # a list made at once: other threads add agents
        live = [self._state(agent) for agent in agents if agent is not None]
        return {**super().get_state(), **self._parking.to_state(live)}

    def restore_from_session(self, state: dict[str, Any]) -> Any:
        """Take the state that a session stored, whichever manager left it.

        Args:
            state: What ``get_state`` of this manager or of another one returned.

        Returns:
            The summary that a summarising manager left, to be put before the restored messages; else None.
        """
        self.removed_message_count = removed_count(state)
        return self._parking.park(state)

    def _state(self, agent: Agent) -> AgentState:
        state = self._states.get(agent)
        if state is None:
            state = self._states[agent] = AgentState(self._new_ledger())
        return state

    def _new_ledger(self) -> Ledger:
        return Ledger(self._counter, rules=self._log_caps.rules)

    def _on_initialized(self, event: AgentInitializedEvent) -> None:
        _host.install_view_handler(event.agent, self._on_model_input)

    def _on_run_start(self, event: BeforeInvocationEvent) -> None:
        state = self._state(event.agent)
        if not state.goes_on:
            state.run_start = len(event.agent.messages)
        state.in_run, state.checked = True, False
        state.turn_open, state.goes_on = state.goes_on or not event.messages, False

    def _on_message(self, event: MessageAddedEvent) -> None:
        state = self._state(event.agent)
        index = len(event.agent.messages) - 1
        if not state.in_run or not shape_of(event.message, index).prompt:  # type: ignore[arg-type]
            return
        if state.turn_open:
            state.ledger.inner.add(index)
        state.turn_open = True

    def _on_model_call(self, event: BeforeModelCallEvent) -> None:
        state = self._state(event.agent)
        if not state.retrying:
            state.calls += 1
            state.may_move = state.calls % self._per_turn == 0
            self._warn_of_unknown_window(event.agent.model)
        self._log_caps.apply(state, event.agent.messages, state.run_start)

    def _warn_of_unknown_window(self, model: Any) -> None:
        """Warn of a model that names no window, once for each model."""
        if self._budget.misses_window(model) and (key := model_key(model)) not in self._windowless:
            self._windowless.add(key)
            if not warn_gently(UserWarning(UNKNOWN_WINDOW)):
                logger.warning("model=<%s> | %s", key, UNKNOWN_WINDOW)

    def _on_model_input(self, context: Any) -> Any:
        """Replace the messages of one call by the view; the last input handler to run."""
        state = self._state(context.agent)
        call = Call(context.model, context.messages, context.system_prompt, context.tool_specs)
        self._log_caps.warn_of_missing_tool(state, call.tool_specs)
        try:
            decision = self._planner.decide(state, call)
            told = decision if self._omitting is None else self._omitting.apply(state, call, decision)
            if not isinstance(told, Decision):
                return self._send_later(context, state, call, told)
            return self._send(context, state, call, told)
        except BudgetError as error:
            raise BudgetExceededError.of(error) from error
        except HistoryError:
            raise
        except Exception:
            logger.warning(FALLING_BACK, state.calls, exc_info=True)
            return self._send_standing(context, state, call)

    async def _send_later(self, context: Any, state: AgentState, call: Call, told: Awaitable[Decision]) -> Any:
        try:
            return self._send(context, state, call, await told)
        except Exception:
            logger.warning(FALLING_BACK, state.calls, exc_info=True)
            return self._send_standing(context, state, call)

    def _send(self, context: Any, state: AgentState, call: Call, decision: Decision) -> Any:
        """Let a decision stand, and send its view; the log's own copy where the view is the log."""
        plan, points = decision.plan, call.max_cache_points
        legal = is_legal(state.ledger, plan, max_cache_points=points)
        whole = legal and shows_log(plan)
        view = call.messages if whole else build_view(state.ledger, plan, max_cache_points=points)
        self._planner.commit(state, decision)
        abandoned = abandon_receipt(state)
        if abandoned is not None:
            self._hand_out(abandoned)
        open_receipt(state, decision, view_messages=len(view), repaired=not legal)
        return context if whole else _host.with_messages(context, view)

    def _send_standing(self, context: Any, state: AgentState, call: Call) -> Any:
        """Send what was sent last time, made legal, or what a count by characters allows; never everything."""
        view = self._planner.view_by_characters(state, call) if state.plan is None else None
        if view is None:
            view = standing_view(call.messages, state.plan, self._log_caps.rules)
        limited = newest_media(view, state.ledger.media.max_media)
        points = call.max_cache_points
        return _host.with_messages(context, legal_view(limited, max_cache_points=points)[0])

    def _on_model_answer(self, event: AfterModelCallEvent) -> None:
        state = self._state(event.agent)
        state.retrying = False
        if isinstance(event.exception, BudgetError):
            return
        overflow = overflow_of(event)
        if (
            overflow is not None or event.exception is None
        ):  # a throttle in between leaves the attempt as small as it was
            state.recovering, state.attempt_tokens = False, None
        receipt = close_receipt(state, event.stop_response, overflow=overflow is not None)
        if receipt is None:
            return
        self._hand_out(receipt)
        if overflow and self._recovery.prepare(state, _call_of(event.agent), overflow, event.exception):
            event.retry = state.retrying = True

    def _hand_out(self, receipt: Receipt) -> None:
        if self._on_receipt is None:
            return
        try:
            self._on_receipt(receipt)
        except Exception:
            logger.warning("call=<%d> | on_receipt raised, the run goes on", receipt.call, exc_info=True)

    def _on_run_end(self, event: AfterInvocationEvent) -> None:
        state = self._state(event.agent)
        state.in_run = state.checked = state.retrying = state.recovering = state.truncation_told = False
        state.attempt_tokens = state.attempt_media = None
        state.settle()
        state.goes_on = _host.carries_on(event) or _host.is_interrupted(event)
        if not state.goes_on:
            self._log_caps.apply(state, event.agent.messages, len(event.agent.messages))


def _call_of(agent: Agent) -> Call:
    """Return the input that the next model call of an agent would have."""
    system_prompt, tool_specs = _host.call_inputs(agent)
    return Call(agent.model, copy.deepcopy(agent.messages), system_prompt, tool_specs)  # type: ignore[arg-type]
