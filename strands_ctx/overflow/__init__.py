"""Recognise the provider errors that mean a request was too large, and those that only sound like it."""

from __future__ import annotations

from .recognition import find_overflow
from .words import Overflow

__all__ = ["Overflow", "find_overflow"]
