"""What is known of each message of one log, kept between calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strands_ctx._lazy import facade

if TYPE_CHECKING:
    from strands_ctx.ledger.capped import Capped as Capped
    from strands_ctx.ledger.ledger import Ledger as Ledger

__all__ = ["Capped", "Ledger"]

_HOMES = {
    "Capped": "capped",
    "Ledger": "ledger",
}

__getattr__, __dir__ = facade(globals(), _HOMES)
