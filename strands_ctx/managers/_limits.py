"""The limits of one call: from a manager's arguments and what the model says of itself."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from strands_ctx._host import HOST_COMPRESSION_THRESHOLD, HOST_DEFAULT_WINDOW_TOKENS
from strands_ctx.errors import ConfigError
from strands_ctx.plans import UNLIMITED_TOKENS, Limits
from strands_ctx.types import TokenCounter

DEFAULT_TARGET_RATIO = 0.3
"""What a cut leaves of the budget. Cutting far is cheap: the fewer cuts, the longer prompt caches stay warm."""

DEAR_TARGET_RATIO = 0.7
"""Above this a target is warned of: the boundary then moves so often that prompt caches hardly help."""

WINDOW_MARGIN_RATIO = 0.02
"""What is left free of a window beside the output, for what no count sees."""

UNKNOWN_WINDOW = (
    f"the model names no context_window_limit, assuming {HOST_DEFAULT_WINDOW_TOKENS:,} tokens; "
    "set context_window_limit in the model's configuration, or give the manager budget_tokens"
)

OUTPUT_KEYS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "num_predict")
"""Where models keep the number of tokens that they may produce. Source: ``strands.models``, 1.51 to 1.62."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A manager's arguments about size.

    Attributes:
        budget_tokens: The explicit budget; None for the model's window.
        target_tokens: What a cut leaves; None for 0.3 of the budget.
        working_set_tokens: The soft budget that applies where none is explicit, or None.
        threshold_ratio: Share of the window above which a boundary moves too, or None.
        unlimited: Whether only what the provider refuses is too large.
    """

    budget_tokens: int | None = None
    target_tokens: int | None = None
    working_set_tokens: int | None = None
    threshold_ratio: float | None = None
    unlimited: bool = False

    def limits(self, model: Any, fixed_tokens: int) -> Limits:
        """Work out the limits of one call.

        Args:
            model: The model that will be called.
            fixed_tokens: Estimate of system prompt and tools.

        Returns:
            The limits. An explicit budget that is larger than the window has room for is lowered to that.
        """
        if self.unlimited:
            return Limits(UNLIMITED_TOKENS, UNLIMITED_TOKENS, UNLIMITED_TOKENS)
        window = self._window(model)
        usable = usable_tokens(model, window)
        hard = usable if self.budget_tokens is None else min(self.budget_tokens, usable)
        trigger = hard
        if self.budget_tokens is None and self.working_set_tokens is not None:
            trigger = min(max(self.working_set_tokens, fixed_tokens + self.working_set_tokens // 2), hard)
        if self.threshold_ratio is not None:
            trigger = min(trigger, int(window * self.threshold_ratio))
        target = self.target_tokens if self.target_tokens is not None else int(trigger * DEFAULT_TARGET_RATIO)
        return Limits(trigger, min(target, trigger), hard)

    def _window(self, model: Any) -> int:
        """Return the model's window; where it names none, an explicit budget is all that there is to go by."""
        window = getattr(model, "context_window_limit", None)
        if isinstance(window, int) and not isinstance(window, bool) and window > 0:
            return window
        return HOST_DEFAULT_WINDOW_TOKENS if self._needs_window() else UNLIMITED_TOKENS

    def _needs_window(self) -> bool:
        return not self.unlimited and (self.budget_tokens is None or self.threshold_ratio is not None)

    def misses_window(self, model: Any) -> bool:
        """Tell whether a model names no window that a limit depends on."""
        return self._needs_window() and not getattr(model, "context_window_limit", None)


def model_key(model: Any) -> str:
    """Return a text that tells a model from another, the same in every process: class, id and window."""
    config = model.get_config() if hasattr(model, "get_config") else {}
    model_id = config.get("model_id") if isinstance(config, Mapping) else getattr(config, "model_id", None)
    return f"{type(model).__name__}/{model_id or ''}/{getattr(model, 'context_window_limit', None)}"


def usable_tokens(model: Any, window: int) -> int:
    """Return what a prompt may take of a window: less the configured output, at most half of it, less a margin."""
    output = min(output_tokens(model), window // 2)
    return max(int((window - output) * (1 - WINDOW_MARGIN_RATIO)), 1)


def output_tokens(model: Any) -> int:
    """Return how many tokens a model is configured to produce at most, 0 where it says nothing."""
    config = model.get_config() if hasattr(model, "get_config") else {}
    places = [config] if isinstance(config, Mapping) else [getattr(config, "__dict__", {})]
    for key in ("params", "options", "inference_config"):
        if isinstance(places[0].get(key), Mapping):
            places.append(places[0][key])
    found = [place[key] for place in places for key in OUTPUT_KEYS if isinstance(place.get(key), int)]
    return max([value for value in found if not isinstance(value, bool) and value > 0], default=0)


def positive(parameter: str, value: int | None) -> int | None:
    """Check a size in tokens or a count.

    Raises:
        ConfigError: If it is not a whole number above 0.
    """
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value <= 0):
        raise ConfigError(parameter, value, "must be a whole number above 0, or None")
    return value


def count(parameter: str, value: int | None) -> int:
    """Check a number that may be 0; None counts as 0.

    Raises:
        ConfigError: If it is not a whole number of at least 0.
    """
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise ConfigError(parameter, value, "must be a whole number of at least 0")
    return value or 0


def check_target(budget_tokens: int | None, target_tokens: int | None, against: str = "budget_tokens") -> None:
    """Check a target against its budget, and warn of a dear one.

    Raises:
        ConfigError: If the target is above the budget.
    """
    if target_tokens is None or budget_tokens is None:
        return
    if target_tokens > budget_tokens:
        raise ConfigError("target_tokens", target_tokens, f"must be at most {against} ({budget_tokens:,})")
    ratio = target_tokens / budget_tokens
    if ratio > DEAR_TARGET_RATIO:
        warnings.warn(
            f"target_tokens={target_tokens} is {ratio:.2f} of {against}: a cut frees so little that the next "
            f"follows soon, and each makes a prompt cache write the view anew; at most {DEAR_TARGET_RATIO} is advised",
            stacklevel=4,
        )


def threshold_ratio(proactive_compression: bool | Mapping[str, Any] | None) -> float | None:
    """Read ``proactive_compression`` as Strands defines it.

    Raises:
        ConfigError: If the threshold is not in (0, 1].
    """
    if proactive_compression is None or proactive_compression is False:
        return None
    if proactive_compression is True:
        return HOST_COMPRESSION_THRESHOLD
    if not isinstance(proactive_compression, Mapping):
        raise ConfigError("proactive_compression", proactive_compression, "must be a bool, a dict or None")
    ratio = proactive_compression.get("compression_threshold", HOST_COMPRESSION_THRESHOLD)
    if isinstance(ratio, bool) or not isinstance(ratio, (int, float)) or not 0 < ratio <= 1:
        raise ConfigError("compression_threshold", ratio, "must be above 0 and at most 1")
    return float(ratio)


def check_callables(counter: object, **callables: object) -> None:
    """Check what a manager will call.

    Raises:
        ConfigError: If the counter is no token counter, or something else can't be called.
    """
    if counter is not None and (isinstance(counter, type) or not isinstance(counter, TokenCounter)):
        raise ConfigError("counter", counter, "must be an object that can count_text, count_message and count_tools")
    for name, function in callables.items():
        if function is not None and not callable(function):
            raise ConfigError(name, function, "must be a function of one argument, or None")
