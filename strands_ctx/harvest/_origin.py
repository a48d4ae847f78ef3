"""Who raised an exception: the host at its door, a hook of the agent, or something else. Read from the traceback."""

from __future__ import annotations

from collections.abc import Iterator
from traceback import walk_tb
from types import FrameType
from typing import Any


def is_refusal(error: BaseException, agent: Any) -> bool:
    """Tell whether the host refused an agent's run before it began, since another one is under way.

    Source: ``stream_async`` raises that itself, before it does anything, 1.51 to 1.62, read 2026-12-01. An exception
    of the same class that a hook or a tool raised comes from deeper, and so does that of an agent that was called by
    its own hook.
    """
    frames = list(_frames(error))
    if not frames or frames[-1].f_code.co_name != "stream_async":
        return False
    entered = [frame for frame in frames if frame.f_code is frames[-1].f_code and frame.f_locals.get("self") is agent]
    return entered == [frames[-1]]


def is_of_hook(error: BaseException, agent: Any) -> bool:
    """Tell whether a hook of an agent raised an exception, which the host reports as one of the model call."""
    from strands.hooks import HookRegistry

    codes = {HookRegistry.invoke_callbacks.__code__, HookRegistry.invoke_callbacks_async.__code__}
    return any(frame.f_code in codes and frame.f_locals.get("self") is agent.hooks for frame in _frames(error))


def _frames(error: BaseException) -> Iterator[FrameType]:
    return (frame for frame, _ in walk_tb(error.__traceback__))
