"""Agents whose results are banked."""

from __future__ import annotations

from strands import Agent
from strands.agent.conversation_manager import NullConversationManager

from strands_ctx.testing import WindowModel

from .rig import broken, fetch


def agent_with(bank, *steps, tools=(), **arguments):
    """An agent whose results are banked, with a script."""
    arguments = {"hooks": [bank], "conversation_manager": NullConversationManager(), **arguments}
    model = arguments.pop("model", None) or WindowModel(steps)
    return Agent(model=model, tools=[fetch, broken, *tools], **{"callback_handler": None, **arguments})


def results_of(messages):
    """The results in a log, in order."""
    return [block["toolResult"] for message in messages for block in message["content"] if "toolResult" in block]


def texts(banked):
    """The first text of each banked result."""
    return [result.result["content"][0]["text"] for result in banked]


def texts_of_log(agent):
    """The first text of each result in the log."""
    return [result["content"][0]["text"] for result in results_of(agent.messages)]
