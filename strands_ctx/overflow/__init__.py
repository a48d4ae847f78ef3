"""Recognise the provider errors that mean a request was too large, and those that only sound like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strands_ctx._lazy import facade

if TYPE_CHECKING:
    from strands_ctx.overflow.recognition import find_overflow as find_overflow
    from strands_ctx.overflow.words import Overflow as Overflow

__all__ = ["Overflow", "find_overflow"]

_HOMES = {
    "Overflow": "words",
    "find_overflow": "recognition",
}

__getattr__, __dir__ = facade(globals(), _HOMES)
