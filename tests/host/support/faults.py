"""What goes wrong outside of this library."""

from __future__ import annotations


class ProviderDownError(Exception):
    """What a provider's client raises."""


def fail_in(agent, event_type):
    """Let the first event of a type raise, after the manager has seen it."""
    calls = []

    def hook(event):
        calls.append(event)
        if len(calls) == 1:
            raise RuntimeError("a hook of the app fails")

    agent.hooks.add_callback(event_type, hook)
