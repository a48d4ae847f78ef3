"""What is known of each message of one log, kept between calls."""

from __future__ import annotations

from .ledger import Capped, Ledger

__all__ = ["Capped", "Ledger"]
