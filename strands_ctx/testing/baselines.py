"""Strands' own ways to manage context, as arguments for an agent."""

from __future__ import annotations

from typing import Any

from strands.agent.conversation_manager import (
    NullConversationManager,
    SlidingWindowConversationManager,
    SummarizingConversationManager,
)


def null_manager() -> dict[str, Any]:
    """No management at all.

    Returns:
        Arguments for ``Agent``.
    """
    return {"conversation_manager": NullConversationManager()}


def sliding_window() -> dict[str, Any]:
    """What an agent gets that asks for nothing: the sliding window of 40 messages.

    Returns:
        Arguments for ``Agent``.
    """
    return {"conversation_manager": SlidingWindowConversationManager()}


def sliding_window_per_turn() -> dict[str, Any]:
    """The sliding window, applied before every model call.

    Returns:
        Arguments for ``Agent``.
    """
    return {"conversation_manager": SlidingWindowConversationManager(per_turn=True)}


def summarizing() -> dict[str, Any]:
    """Summaries at 70 % of the window.

    Returns:
        Arguments for ``Agent``.
    """
    return {"conversation_manager": SummarizingConversationManager(proactive_compression=True)}


def auto() -> dict[str, Any]:
    """The host's own combination of previews and summaries.

    Returns:
        Arguments for ``Agent``.
    """
    return {"context_manager": "auto"}
