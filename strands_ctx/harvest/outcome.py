"""What a run achieved, and how it is found on an exception that goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from strands_ctx.errors import AnchorError, StrandsCtxError
from strands_ctx.receipts import Receipt
from strands_ctx.types import Message, Messages

if TYPE_CHECKING:
    from strands.agent import AgentResult

Status: TypeAlias = Literal["complete", "partial", "cancelled"]
"""Whether a run came to its own end, was ended early, or was stopped from outside."""

Reason: TypeAlias = Literal[
    "finished",
    "interrupt",
    "checkpoint",
    "overflow",
    "budget",
    "recursion",
    "max_tokens",
    "throttled",
    "limit",
    "blocked",
    "error",
    "cancelled",
]
"""Why a run ended.

Complete: ``finished``, ``interrupt`` (it waits for a person), ``checkpoint`` (it waits to be taken up again). Partial:
``overflow`` of the provider's window, ``budget`` of this library, ``recursion`` of the host's loop, ``max_tokens`` of
one answer, ``throttled`` for good, a ``limit`` that was passed in, ``blocked`` by a guardrail or filter, any other
``error``. ``cancelled``: stopped from outside.
"""


class ResultRecord(Protocol):
    """One tool result of a run, from a bank or from the log."""

    @property
    def tool_use_id(self) -> str:
        """The call's id."""
        ...

    @property
    def tool_name(self) -> str | None:
        """The tool's name, or None where the call is unknown."""
        ...

    @property
    def result(self) -> Any:
        """The result with ``toolUseId``, ``status`` and ``content``."""
        ...

    @property
    def order(self) -> int:
        """Its place in the order of emission."""
        ...


class ResultBank(Protocol):
    """What a run needs of a bank of tool results."""

    def get_results(self, *, agent: Any) -> Sequence[ResultRecord]:
        """Return every result of one agent, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class HarvestedResult:
    """A tool result as the log holds it: capped, where the log was capped.

    Attributes:
        order: Its place among the results of the run, from 1.
        tool_use_id: The call's id.
        tool_name: The tool's name; None where the log does not hold the call.
        result: The log's own result with ``toolUseId``, ``status`` and ``content``.
    """

    order: int
    tool_use_id: str
    tool_name: str | None
    result: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RunUsage:
    """Tokens that the provider reported for the answered calls of a run.

    Attributes:
        input_tokens: Input, with or without cached tokens as the provider counts them.
        output_tokens: Output.
        cache_read_tokens: Read from its prompt cache; None where it said nothing.
        cache_write_tokens: Written to its prompt cache; None where it said nothing.
    """

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a run achieved. Its ``repr`` shows no content.

    Attributes:
        status: ``complete``, ``partial`` or ``cancelled``.
        reason: Why the run ended.
        message: The last assistant message that the run added, or None.
        result: The host's result; None where the run ended by an exception.
        new_messages: The messages that the run added, the log's own objects in order; None where ``anchor_error``
            says why that can't be told.
        tool_results: Every tool result of the run; None where the log can't tell and no bank was given.
        tool_results_from: ``bank``: whole, as the tools returned them; ``log``: as the log holds them; or None.
        error: What ended the run early, taken out of the host's ``EventLoopException``, or None.
        raised: The exception as the host raised it: ``error`` itself or the one around it.
        anchor_error: Why the added messages can't be told, or None.
        receipts: The receipts of the run's model calls, as far as the conversation manager still holds them.
        usage: Tokens of the run, or None where the provider reported none.
        resumes: How often the run was taken up again in the same log.
    """

    status: Status
    reason: Reason
    message: Message | None = field(repr=False)
    result: AgentResult | None = field(repr=False)
    new_messages: Messages | None = field(repr=False)
    tool_results: Sequence[ResultRecord] | None = field(repr=False)
    tool_results_from: Literal["bank", "log"] | None
    error: BaseException | None
    raised: BaseException | None = field(repr=False)
    anchor_error: AnchorError | None = field(repr=False)
    receipts: Sequence[Receipt] = field(repr=False)
    usage: RunUsage | None
    resumes: int


class AgentBusyError(StrandsCtxError):
    """The agent is already running; nothing was added and the other run goes on.

    Attributes:
        agent_name: The agent's name.
    """

    def __init__(self, agent_name: str) -> None:
        """Name the agent."""
        super().__init__(
            f"agent {agent_name!r} is already running and makes one run at a time; "
            "wait for that run to end, or use another agent"
        )
        self.agent_name = agent_name


def outcome_of(error: BaseException) -> RunOutcome | None:
    """Return the outcome that an exception carries which ended a run and went on.

    Args:
        error: An exception out of ``run`` or ``run_async``, or one that was raised from it: up to Python 3.10 asyncio
            hands on a cancellation as a new exception, and a timeout replaces it everywhere.

    Returns:
        The outcome, or None.
    """
    for link in chain_of(error):
        outcome = getattr(link, "outcome", None)
        if isinstance(outcome, RunOutcome):
            return outcome
    return None


def attach_outcome(error: BaseException | None, outcome: RunOutcome) -> None:
    """Let :func:`outcome_of` find an outcome on an exception."""
    if error is None:
        return
    added = "an unknown number of" if outcome.new_messages is None else len(outcome.new_messages)
    try:
        error.outcome = outcome  # type: ignore[attr-defined]
        if hasattr(error, "add_note"):
            error.add_note(f"the run added {added} messages; strands_ctx.harvest.outcome_of(error) returns them")
    except (AttributeError, TypeError):  # an exception of a C extension may take no attributes
        return


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and those that it was raised from on purpose, each once."""
    seen = set[int]()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and those that it came from, each once."""
    waiting, seen = [error], set[int]()
    while waiting:
        link = waiting.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        waiting += [origin for origin in (link.__cause__, link.__context__) if origin is not None]
