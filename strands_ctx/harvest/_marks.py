"""What is remembered of an agent before a run, and the outcome that is told from it afterwards."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal

from strands_ctx.anchor import DeltaAnchor
from strands_ctx.errors import AnchorError
from strands_ctx.receipts import Receipt
from strands_ctx.types import Message, Messages

from ._endings import Ending
from ._watch import message_key
from .outcome import HarvestedResult, ResultBank, ResultRecord, RunOutcome, RunUsage

if TYPE_CHECKING:
    from strands import Agent

logger = logging.getLogger(__name__)


class Marks:
    """Where an agent's log, bank, receipts and usage stood before a run."""

    def __init__(self, agent: Agent, bank: ResultBank | None) -> None:
        """Mark them.

        Args:
            agent: The agent.
            bank: The bank that the run's results come from, or None.
        """
        self._agent = agent
        self._bank = bank
        self._anchor = DeltaAnchor.mark(agent)
        self._banked = len(bank.get_results(agent=agent)) if bank is not None else 0
        self._calls = max((receipt.call for receipt in _receipts(agent)), default=0)
        self._usage: dict[str, int] = {**agent.event_loop_metrics.accumulated_usage}  # type: ignore[dict-item]

    def harvest(self, ending: Ending, resumes: int, added: Collection[Any]) -> RunOutcome:
        """Return what was achieved since the marks; the agent is only read.

        Args:
            ending: How the run ended.
            resumes: How often it was taken up again.
            added: Keys of the messages that the host announced.

        Returns:
            The outcome.
        """
        new_messages, anchor_error = self._delta(added)
        tool_results, origin = self._tool_results(new_messages)
        return RunOutcome(
            status=ending.status,
            reason=ending.reason,
            message=_last_answer(new_messages),
            result=ending.result,
            new_messages=new_messages,
            tool_results=tool_results,
            tool_results_from=origin,
            error=ending.error,
            raised=ending.raised,
            anchor_error=anchor_error,
            receipts=tuple(receipt for receipt in _receipts(self._agent) if receipt.call > self._calls),
            usage=self._used(),
            resumes=resumes,
        )

    def _delta(self, added: Collection[Any]) -> tuple[Messages | None, AnchorError | None]:
        try:
            delta = self._anchor.delta(self._agent)
            # Input that the host merged into the message before the mark is announced, but is no message of its own.
            before = self._agent.messages[: self._anchor.start][-1:]
            announced = len(set(added) - {message_key(message) for message in before})
            if announced > len(delta):
                raise AnchorError(
                    "added_messages", announced, len(delta), "messages that the run added were removed from the log"
                )
            return delta, None
        except AnchorError as error:
            logger.warning("change=<%s> | the messages that the run added can't be told", error.change)
            return None, error

    def _tool_results(
        self, new_messages: Messages | None
    ) -> tuple[Sequence[ResultRecord] | None, Literal["bank", "log"] | None]:
        logged = None if new_messages is None else _logged_results(new_messages, self._agent.messages)  # type: ignore[arg-type]
        if self._bank is None:
            return logged, (None if logged is None else "log")
        try:
            banked = self._bank.get_results(agent=self._agent)[self._banked :]
        except Exception as error:  # noqa: BLE001 - a bank that fails now must not cost what the run achieved
            logger.warning("error=<%s> | the bank can't be read, results are those of the log", type(error).__name__)
            return logged, (None if logged is None else "log")
        if logged and not banked and not self._banked:  # answers of its own recall tool are not banked
            logger.warning("results=<%d> | the bank holds none of them, is it a hook of this agent?", len(logged))
            return logged, "log"
        return banked, "bank"

    def _used(self) -> RunUsage | None:
        now: dict[str, Any] = {**self._agent.event_loop_metrics.accumulated_usage}
        used = {name: count - self._usage.get(name, 0) for name, count in now.items()}
        if not any(used.values()):
            return None
        return RunUsage(
            input_tokens=used["inputTokens"],
            output_tokens=used["outputTokens"],
            cache_read_tokens=used.get("cacheReadInputTokens"),
            cache_write_tokens=used.get("cacheWriteInputTokens"),
        )


def _receipts(agent: Agent) -> list[Receipt]:
    """Return the receipts that a manager of this library holds of an agent; another's ``receipts`` may be anything."""
    try:
        receipts = getattr(agent.conversation_manager, "receipts", None)
        held = list(receipts(agent)) if callable(receipts) else []
    except Exception as error:  # noqa: BLE001 - whatever a foreign manager calls so
        logger.warning("error=<%s> | the manager's receipts can't be read", type(error).__name__)
        return []
    return [receipt for receipt in held if isinstance(receipt, Receipt)]


def _last_answer(new_messages: Messages | None) -> Message | None:
    answers = (message for message in reversed(new_messages or []) if message.get("role") == "assistant")
    return next(answers, None)


def _logged_results(new_messages: Messages, log: Messages) -> tuple[HarvestedResult, ...]:
    names = {use["toolUseId"]: use.get("name") for use in _blocks(log, "toolUse")}
    return tuple(
        HarvestedResult(order, result["toolUseId"], names.get(result["toolUseId"]), result)
        for order, result in enumerate(_blocks(new_messages, "toolResult"), start=1)
    )


def _blocks(messages: Messages, kind: str) -> list[dict[str, Any]]:
    # Whatever an app put into its log, a failed run still hands out what can be read.
    blocks = (block for message in messages for block in message.get("content") or () if isinstance(block, dict))
    return [block[kind] for block in blocks if isinstance(block.get(kind), dict) and "toolUseId" in block[kind]]
