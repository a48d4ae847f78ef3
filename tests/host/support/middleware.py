"""An app's own input middleware, on every supported version of the host."""

from __future__ import annotations


def add_input_handler(agent, handler):
    """Register a handler for the input of every model call, as an app or a plugin does."""
    try:
        from strands.middleware import InvokeModelStage
    except ImportError:
        # Up to 1.61 only the host's own plugins could.
        from strands._middleware.stages import InvokeModelStage

        agent._middleware_registry.add_middleware(InvokeModelStage.Input, handler)
    else:
        agent.add_middleware(InvokeModelStage.Input, handler)
