"""``run`` and ``run_async``: invoke an agent, take it up again where that is safe, and hand out what was achieved."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from strands_ctx.errors import ConfigError

from ._attempts import Attempts, stack_frames
from ._endings import Ending
from ._marks import Marks
from ._origin import is_refusal
from .outcome import AgentBusyError, ResultBank, RunOutcome, attach_outcome

if TYPE_CHECKING:
    from strands import Agent
    from strands.agent import AgentResult

logger = logging.getLogger(__name__)

_OF_AGENT = ("conversation_manager", "event_loop_metrics", "hooks", "invoke_async", "messages")

T = TypeVar("T")
Invoke = Callable[..., Awaitable["AgentResult"]]


def run(
    agent: Agent,
    prompt: Any = None,
    *,
    bank: ResultBank | None = None,
    max_resumes: int = 3,
    reraise: bool = False,
    **invocation: Any,
) -> RunOutcome:
    """Run an agent as ``agent(prompt)`` does, and return what it achieved, however the run ends.

    Args:
        agent: The agent, at rest.
        prompt: What the agent takes as a prompt; None goes on from the log.
        bank: A ``ToolResultBank`` that the agent was made with; results then come from it, whole.
        max_resumes: How often a run that meets the recursion limit of the host's loop is taken up again in the same
            log, some 265 model calls each time.
        reraise: Whether the exception that ends a run is raised as the host raised it; :func:`outcome_of` finds the
            outcome on it.
        **invocation: Passed on to the agent. ``limits`` hold for the whole run.

    Returns:
        The outcome. Nothing is swallowed: ``error`` holds what ended the run early.

    Raises:
        AgentBusyError: If the agent is already running.
        ConfigError: If ``agent`` is no agent, ``max_resumes`` is negative, ``bank`` has no ``get_results``, or an
            ``idempotency_token`` would share one run between two callers.
        BaseException: What stops a run from outside, such as ``KeyboardInterrupt``, with the outcome on it.

    Example:
        >>> from strands import Agent
        >>> from strands_ctx.harvest import run
        >>> from strands_ctx.testing import WindowModel
        >>> outcome = run(Agent(model=WindowModel(["Hello."]), callback_handler=None), "Hello?")
        >>> outcome.status, len(outcome.new_messages)
        ('complete', 2)
    """

    async def invoke(prompt: Any, **arguments: Any) -> AgentResult:
        return agent(prompt, **arguments)

    _check_agent(agent)
    # The host gives each synchronous invocation a thread, and with it a stack of its own.
    started = _Run(agent, invoke, bank=bank, max_resumes=max_resumes, outer_frames=0, invocation=invocation)
    return _without_waiting(started.to_its_end(prompt, reraise=reraise))


async def run_async(
    agent: Agent,
    prompt: Any = None,
    *,
    bank: ResultBank | None = None,
    max_resumes: int = 3,
    reraise: bool = False,
    **invocation: Any,
) -> RunOutcome:
    """Run an agent as ``agent.invoke_async(prompt)`` does, and return what it achieved; see :func:`run`.

    Args:
        agent: The agent, at rest.
        prompt: What the agent takes as a prompt; None goes on from the log.
        bank: A ``ToolResultBank`` that the agent was made with.
        max_resumes: How often a run that meets the recursion limit is taken up again.
        reraise: Whether the exception that ends a run is raised.
        **invocation: Passed on to the agent. ``limits`` hold for the whole run.

    Returns:
        The outcome.

    Raises:
        AgentBusyError: If the agent is already running.
        ConfigError: As :func:`run`.
        BaseException: What stops a run from outside, ``asyncio.CancelledError`` above all, with the outcome on it.
    """
    frames = stack_frames()
    _check_agent(agent)
    invoke = agent.invoke_async
    started = _Run(agent, invoke, bank=bank, max_resumes=max_resumes, outer_frames=frames, invocation=invocation)
    return await started.to_its_end(prompt, reraise=reraise)


def _without_waiting(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the value of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    coroutine.close()
    raise RuntimeError("a synchronous run waited")


class _Run:
    """One run, invoked by the host's synchronous or asynchronous call."""

    def __init__(
        self,
        agent: Agent,
        invoke: Invoke,
        *,
        bank: ResultBank | None,
        max_resumes: int,
        outer_frames: int,
        invocation: dict[str, Any],
    ) -> None:
        _check(bank, max_resumes, invocation)
        limits = invocation.pop("limits", None)
        self._agent, self._invoke, self._invocation = agent, invoke, invocation
        self._marks = Marks(agent, bank)
        self._attempts = Attempts(agent, limits=limits, max_resumes=max_resumes, outer_frames=outer_frames)

    async def to_its_end(self, prompt: Any, *, reraise: bool) -> RunOutcome:
        """Invoke the agent as often as it takes, and return what came of it."""
        ending = await self._attempt(prompt)
        while self._attempts.goes_on(ending):
            logger.debug("resumes=<%d> | run taken up again in the same log", self._attempts.resumes)
            ending = await self._attempt(None)
        outcome = self._harvest(self._attempts.final(ending))
        if reraise and outcome.raised is not None:
            for error in {id(error): error for error in (outcome.error, outcome.raised)}.values():
                attach_outcome(error, outcome)
            raise outcome.raised
        return outcome

    async def _attempt(self, prompt: Any) -> Ending:
        from strands.types.exceptions import ConcurrencyException

        try:
            result = await self._invoke(prompt, limits=self._attempts.limits(), **self._invocation)
        except ConcurrencyException as error:
            if self._attempts.resumes == 0 and is_refusal(error, self._agent):
                raise AgentBusyError(self._agent.name) from error
            return self._ended_by(error)
        except Exception as error:  # noqa: BLE001 - whatever ended the run is handed on with what was achieved
            return self._ended_by(error)
        except BaseException as stop:
            attach_outcome(stop, self._harvest(self._ended_by(stop)))
            raise
        return Ending.of_result(result)

    def _ended_by(self, error: BaseException) -> Ending:
        return Ending.of_exception(error, self._attempts.overflow)

    def _harvest(self, ending: Ending) -> RunOutcome:
        return self._marks.harvest(ending, self._attempts.resumes, self._attempts.added)


def _check_agent(agent: Any) -> None:
    if isinstance(agent, type) or not all(hasattr(agent, name) for name in _OF_AGENT):
        raise ConfigError("agent", agent, "must be one strands.Agent; of a swarm or a graph, run each agent")


def _check(bank: Any, max_resumes: Any, invocation: dict[str, Any]) -> None:
    if type(max_resumes) is not int or max_resumes < 0:
        raise ConfigError("max_resumes", max_resumes, "must be an integer of at least 0")
    if bank is not None and not callable(getattr(bank, "get_results", None)):
        raise ConfigError("bank", bank, "must have get_results(agent=...), as a ToolResultBank has")
    token = invocation.get("idempotency_token")
    if token is not None:
        raise ConfigError("idempotency_token", token, "two callers can't harvest one run; call the agent itself")
