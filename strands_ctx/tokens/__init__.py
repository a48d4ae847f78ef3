"""Counting tokens: exactly and offline where a table exists, by characters where none does, by the model where it can.

The counters share one walk over messages, so that they differ in how they count a text and in nothing else. Calibration
learns from what a provider bills how far such a count is from the provider's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from strands_ctx._lazy import facade

if TYPE_CHECKING:
    from strands_ctx.tokens.calibration import Calibration as Calibration
    from strands_ctx.tokens.characters import CharacterCounter as CharacterCounter
    from strands_ctx.tokens.counting import BlockCounter as BlockCounter
    from strands_ctx.tokens.counting import result_tokens as result_tokens
    from strands_ctx.tokens.features import Features as Features
    from strands_ctx.tokens.model_counter import ModelCounter as ModelCounter
    from strands_ctx.tokens.tiktoken_counter import TiktokenCounter as TiktokenCounter
    from strands_ctx.tokens.usage import prompt_tokens as prompt_tokens

__all__ = [
    "BlockCounter",
    "Calibration",
    "CharacterCounter",
    "Features",
    "ModelCounter",
    "TiktokenCounter",
    "prompt_tokens",
    "result_tokens",
]

_HOMES = {
    "BlockCounter": "counting",
    "Calibration": "calibration",
    "CharacterCounter": "characters",
    "Features": "features",
    "ModelCounter": "model_counter",
    "TiktokenCounter": "tiktoken_counter",
    "prompt_tokens": "usage",
    "result_tokens": "counting",
}

__getattr__, __dir__ = facade(globals(), _HOMES)
