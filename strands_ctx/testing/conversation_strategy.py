"""Random histories as real agents leave them, for property tests and for long runs by seed.

They hold parallel calls answered in any order, JSON results, documents and images by bytes, text, list or place, video,
reasoning, cache points, pins, half-finished calls, large inputs, citations, guarded texts, the keys of MCP, the markers
of caps, and texts in every script. ``legal=False`` adds what crashes, restored sessions and other managers leave.

hypothesis is needed only by :func:`conversations`, and imported by it alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from strands_ctx.errors import ConfigError, StrandsCtxError
from strands_ctx.types import Messages

from .conversation_faults import FAULTS
from .conversation_parts import FEATURES, Picker
from .conversation_writer import Writer

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

MAX_FAULTS = 4
"""Faults that one history gets at most."""


class HypothesisMissingError(StrandsCtxError, ImportError):
    """The strategy was asked for where hypothesis is not installed."""

    def __init__(self) -> None:
        """Say how to get it, and what works without it."""
        super().__init__(
            "conversations() needs the package hypothesis, which is not installed: pip install hypothesis; "
            "random_conversation(seed) works without it"
        )


def conversations(
    *,
    legal: bool = True,
    max_turns: int = 4,
    max_cycles: int = 4,
    max_media: int = 40,
    without: Collection[str] = (),
) -> SearchStrategy[Messages]:
    """Make a hypothesis strategy of histories, which shrink to one short prompt.

    Args:
        legal: Whether every provider accepts the histories as they are, if ``max_media`` is at most 20; the last
            message may call tools that are not answered yet. False: with one to four faults.
        max_turns: How many turns a history has at most, at least 1.
        max_cycles: How many calls with their results a turn has at most, structured output apart.
        max_media: How many images and documents a history holds at most. Strict providers take 20 in one request.
        without: Names of ``FEATURES`` that the histories never have.

    Returns:
        The strategy. What it draws shares no object with other draws, so a test may edit it.

    Raises:
        HypothesisMissingError: If hypothesis is not installed.
        ConfigError: If a number is too small or a feature unknown.

    Example:
        >>> from hypothesis import find
        >>> find(conversations(), lambda log: len(log) > 1)[0]["content"]
        [{'text': 'prompt 1: word '}]
    """
    sizes = _checked(max_turns, max_cycles, max_media)
    return drawn(lambda pick: _written(pick, *sizes, legal=legal), without=without)


def drawn(write: Callable[[Picker], T], *, without: Collection[str] = ()) -> SearchStrategy[T]:
    """Make a hypothesis strategy of what a function writes with a picker.

    Args:
        write: Makes something new of the picker's choices alone.
        without: Names of ``FEATURES`` that the picker never has.

    Returns:
        The strategy; every choice shrinks toward 0.

    Raises:
        HypothesisMissingError: If hypothesis is not installed.
        ConfigError: If a feature is unknown.
    """
    unwanted = _features(without)
    try:
        from hypothesis import strategies
    except ModuleNotFoundError as error:
        raise HypothesisMissingError from error

    numbers = cache(lambda count: strategies.integers(0, count - 1))

    def written(draw: Callable[[SearchStrategy[int]], int]) -> T:
        return write(Picker(lambda count: draw(numbers(count)), unwanted))

    return strategies.composite(written)()


def random_conversation(
    seed: int,
    *,
    legal: bool = True,
    max_turns: int = 4,
    max_cycles: int = 4,
    max_media: int = 40,
    without: Collection[str] = (),
) -> Messages:
    """Write one history from a seed, the same in every process: fast, and without hypothesis.

    Args:
        seed: Any whole number.
        legal: As in :func:`conversations`, like the following.
        max_turns: How many turns it has at most.
        max_cycles: How many cycles a turn has at most.
        max_media: How many images and documents it holds at most.
        without: Names of ``FEATURES`` that it does not have.

    Returns:
        The history.

    Raises:
        ConfigError: If a number is too small or a feature unknown.

    Example:
        >>> log = random_conversation(7)
        >>> (log[0]["role"], log == random_conversation(7))
        ('user', True)
    """
    sizes = _checked(max_turns, max_cycles, max_media)
    return _written(Picker(random.Random(seed).randrange, _features(without)), *sizes, legal=legal)


def _checked(max_turns: int, max_cycles: int, max_media: int) -> tuple[int, int, int]:
    for name, value, least in (("max_turns", max_turns, 1), ("max_cycles", max_cycles, 0), ("max_media", max_media, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ConfigError(name, value, f"must be a whole number of at least {least}")
    return max_turns, max_cycles, max_media


def _features(without: Collection[str]) -> frozenset[str]:
    unwanted = frozenset(without)
    if not unwanted <= set(FEATURES):
        raise ConfigError("without", without, f"must be a collection of: {', '.join(FEATURES)}")
    return unwanted


def _written(pick: Picker, max_turns: int, max_cycles: int, max_media: int, *, legal: bool) -> Messages:
    log = Writer(pick, max_media).history(pick.below(max_turns) + 1, max_cycles)
    for _ in range(0 if legal else pick.below(MAX_FAULTS) + 1):
        pick.among(FAULTS)(log, pick.below(len(log)), pick)
    return log
