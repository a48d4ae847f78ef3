"""The error tree, by whose fault it is.

::

    StrandsCtxError
    ├── ConfigError (also ValueError)      an argument is not allowed; raised at construction
    ├── HistoryError                       a message is not a Converse message
    ├── BudgetError                        nothing that may be sent fits the budget
    │   └── managers.BudgetExceededError   the same, also the host's ContextWindowOverflowException
    ├── AnchorError                        the log is no longer the one that was marked
    ├── BankLookupError (also KeyError)    a bank can't hand out the result that was asked for
    └── harvest.AgentBusyError             an agent was asked to run while it runs

Every error carries its data in attributes, survives pickling, and says what, the value, the limit and the remedy. A
:class:`SilentTruncationWarning` (a ``UserWarning``) tells of a server that cut a prompt without a word.
"""

from __future__ import annotations

from typing import Any


class StrandsCtxError(Exception):
    """Base of every error that this library raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by attributes, since the constructors take data and not a message."""
        return _restore, (type(self), self.args, self.__dict__)


def _restore(cls: type[StrandsCtxError], args: tuple[Any, ...], attributes: dict[str, Any]) -> StrandsCtxError:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(attributes)
    return error


class ConfigError(StrandsCtxError, ValueError):
    """An argument is not allowed.

    Attributes:
        parameter: Name of the argument.
        value: What was passed.
        requirement: What is allowed instead.
    """

    def __init__(self, parameter: str, value: object, requirement: str) -> None:
        """Name the argument, its value and the requirement."""
        super().__init__(f"{parameter}={_shown(value)} is not allowed: {requirement}")
        self.parameter = parameter
        self.value = value
        self.requirement = requirement


def _shown(value: object) -> str:
    """Show a value in at most 80 characters; a hostile one may refuse to be shown at all."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - whatever a foreign __repr__ raises
        return f"<{type(value).__name__}>"
    return text if len(text) <= 80 else f"{text[:77]}..."


class HistoryError(StrandsCtxError):
    """A message of the log is not a Converse message.

    Attributes:
        index: Its index in the log.
        problem: What is wrong with it.
    """

    def __init__(self, index: int, problem: str) -> None:
        """Name the message and its problem."""
        super().__init__(
            f"messages[{index}] is not a Converse message: {problem}; "
            "a message is a dictionary with role 'user' or 'assistant' and a list as content"
        )
        self.index = index
        self.problem = problem


class BudgetError(StrandsCtxError):
    """Nothing that may be sent fits the budget.

    All sizes are estimates in tokens of the model that the call was meant for.

    Attributes:
        budget_tokens: The budget.
        system_tokens: The system prompt.
        tools_tokens: The tool specifications.
        newest_tokens: The smallest view that keeps the task and the newest cycle.
    """

    def __init__(self, *, budget_tokens: int, system_tokens: int, tools_tokens: int, newest_tokens: int) -> None:
        """Give the breakdown of what does not fit."""
        parts = {"system prompt": system_tokens, "tools": tools_tokens, "newest messages": newest_tokens}
        largest = max(parts, key=lambda name: parts[name])
        super().__init__(
            f"the smallest view needs about {sum(parts.values()):,} tokens (estimate: system prompt {system_tokens:,}, "
            f"tools {tools_tokens:,}, newest messages {newest_tokens:,}) but the budget is {budget_tokens:,}; "
            f"raise the budget or shrink the {largest}"
        )
        self.budget_tokens = budget_tokens
        self.system_tokens = system_tokens
        self.tools_tokens = tools_tokens
        self.newest_tokens = newest_tokens


class SilentTruncationWarning(UserWarning):
    """A server was sent more than it billed: it cut the prompt without a word, or its usage leaves tokens out.

    Attributes:
        view_tokens: What it was sent (estimate).
        billed_tokens: What it billed (exact).
    """

    def __init__(self, view_tokens: int, billed_tokens: int) -> None:
        """Give both numbers."""
        super().__init__(view_tokens, billed_tokens)
        self.view_tokens = view_tokens
        self.billed_tokens = billed_tokens

    def __str__(self) -> str:
        """Say what, both numbers, and the remedy."""
        return (
            f"the model was sent about {self.view_tokens:,} tokens (estimate) and billed {self.billed_tokens:,} "
            "(exact): its server cut the prompt without a word, or its usage leaves tokens out; raise the server's "
            "context size, or give the manager a budget_tokens below it"
        )


class AnchorError(StrandsCtxError):
    """The log is no longer the one that was marked, so its delta can't be told.

    Attributes:
        change: What changed: ``fewer_messages``, ``boundary_message``, ``first_appended_message``, ``added_messages``
            or ``removed_message_count``.
        expected: What was marked.
        actual: What is there now.
    """

    def __init__(self, change: str, expected: object, actual: object, explanation: str) -> None:
        """Name the change, both sides of it and its meaning."""
        super().__init__(
            f"{explanation} (expected {expected!r}, found {actual!r}); a slice from the mark would hold the wrong "
            "messages: use a conversation manager that leaves the log alone, or save before it runs"
        )
        self.change = change
        self.expected = expected
        self.actual = actual


_BANK_REASONS = {
    "unknown": "no result with this id is banked; ids are those of toolUse blocks, and get_results() gives them all",
    "ambiguous": "several agents have a result with this id; pass agent=",
    "dropped": "the bank was full, closed, or could not write it down when it came; raise max_bytes, or read the log",
    "recall": "what the recall tool hands out is not banked again; ask for the id that it was given",
    "closed": "the bank is closed; read its results before, or give it a path and open that again",
    "unreadable": "its bytes can't be read back from the file, or the file is that of the process that was forked",
}


class BankLookupError(StrandsCtxError, KeyError):
    """A bank can't hand out the result that was asked for.

    Attributes:
        tool_use_id: The id.
        reason: ``unknown``, ``ambiguous``, ``dropped``, ``recall``, ``closed`` or ``unreadable``.
        banked: How many results are banked.
    """

    def __init__(self, tool_use_id: object, reason: str, banked: int) -> None:
        """Name the id, the reason and how many are banked."""
        super().__init__(f"result {_shown(tool_use_id)}: {_BANK_REASONS[reason]} ({banked:,} banked)")
        self.tool_use_id = tool_use_id
        self.reason = reason
        self.banked = banked

    __str__ = Exception.__str__  # a KeyError shows its message in quotes
