"""What OpenTelemetry is told of each model call: numbers and reasons, never content.

Only the API is used, which the host brings along. Where an application has set up no SDK, nothing is kept and a call
costs a few microseconds.

Source: names and units by OpenTelemetry's conventions, buckets of tokens as its GenAI metrics have them (read
2026-11-30).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from strands_ctx.receipts import Receipt

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter, Histogram, Meter

SCOPE = "strands_ctx"
"""Name of the meter, and what the names of events, attributes and metrics begin with."""

SIZE_BUCKETS = tuple(4**power for power in range(14))
"""Upper bounds of the buckets of token counts; those of bytes are the same."""

VIEW_FIELDS = (
    "call",
    "reason",
    "log_messages",
    "log_tokens",
    "view_messages",
    "view_tokens",
    "cut",
    "cap_line",
    "omitted_messages",
    "omitted_results",
    "capped_results",
    "dropped_bytes",
    "replaced_media",
    "repaired",
    "limit_tokens",
    "over_working_set",
    "standing",
)
"""Fields of a receipt that are known when its view is sent."""

RESULT_FIELDS = ("call", "reason", "view_tokens", "billed_tokens", "silently_truncated", "outcome")
"""Fields of a receipt that tell what came of it."""

_HISTOGRAMS = (
    ("log_tokens", "log.tokens", "{token}", "Tokens that the whole log would take (estimate)."),
    ("view_tokens", "view.tokens", "{token}", "Tokens of the view that a model call was sent (estimate)."),
    ("billed_tokens", "billed.tokens", "{token}", "Prompt tokens that the provider billed for a model call."),
    ("omitted_messages", "omitted.messages", "{message}", "Messages of the log that the view left out."),
    ("omitted_results", "omitted.results", "{result}", "Tool results of the log that the view left out."),
    ("capped_results", "capped.results", "{result}", "Tool results that the view showed capped."),
    ("dropped_bytes", "dropped.bytes", "By", "Bytes that the caps of the view left out."),
)


@dataclass(frozen=True, slots=True)
class Instruments:
    """The metrics of one meter.

    Attributes:
        histograms: One for each number of a receipt, by the name of its field.
        overflows: Counts views that a provider refused as too large.
        recoveries: Counts calls that went through with a smaller view after that.
        silent_truncations: Counts calls whose prompt the provider cut without a word.
    """

    histograms: dict[str, Histogram]
    overflows: Counter
    recoveries: Counter
    silent_truncations: Counter

    @classmethod
    def of(cls, meter: Meter) -> Instruments:
        """Make them; a meter gives the same one for the same name."""
        return cls(
            histograms={
                field: meter.create_histogram(
                    f"{SCOPE}.{name}",
                    unit=unit,
                    description=description,
                    explicit_bucket_boundaries_advisory=SIZE_BUCKETS if unit in ("{token}", "By") else None,
                )
                for field, name, unit, description in _HISTOGRAMS
            },
            overflows=meter.create_counter(
                f"{SCOPE}.overflows", unit="{overflow}", description="Views that the provider refused as too large."
            ),
            recoveries=meter.create_counter(
                f"{SCOPE}.recoveries", unit="{recovery}", description="Calls that a smaller view saved after that."
            ),
            silent_truncations=meter.create_counter(
                f"{SCOPE}.silent_truncations",
                unit="{truncation}",
                description="Calls whose prompt the provider cut without a word.",
            ),
        )

    def record(self, receipt: Receipt) -> None:
        """Record a receipt whose call has ended; what is unknown is left out."""
        attributes = _attributes(receipt, ("reason", "outcome"))
        for field, histogram in self.histograms.items():
            number = getattr(receipt, field)
            if number is not None:
                histogram.record(number, attributes)
        if receipt.outcome == "overflow":
            self.overflows.add(1, attributes)
        elif receipt.outcome == "complete" and receipt.reason == "overflow":
            self.recoveries.add(1, attributes)
        if receipt.silently_truncated:
            self.silent_truncations.add(1, attributes)


def record_view(receipt: Receipt) -> None:
    """Add an event to the current span for a view that is about to be sent.

    Args:
        receipt: Its open receipt.
    """
    _add_event("view", receipt, VIEW_FIELDS)


def record_receipt(receipt: Receipt) -> None:
    """Add an event to the current span and to the metrics for a call that has ended, or was abandoned.

    Args:
        receipt: Its receipt.
    """
    _add_event("receipt", receipt, RESULT_FIELDS)
    _instruments().record(receipt)


def _add_event(name: str, receipt: Receipt, fields: tuple[str, ...]) -> None:
    from opentelemetry.trace import get_current_span

    span = get_current_span()
    if span.is_recording():
        span.add_event(f"{SCOPE}.{name}", _attributes(receipt, fields))


def _attributes(receipt: Receipt, fields: tuple[str, ...]) -> dict[str, Any]:
    values = ((field, getattr(receipt, field)) for field in fields)
    return {f"{SCOPE}.{field}": value for field, value in values if value is not None}


@cache
def _instruments() -> Instruments:
    """Those of the process; an SDK that is set up later takes them over."""
    from opentelemetry.metrics import get_meter

    from strands_ctx import __version__

    return Instruments.of(get_meter(SCOPE, __version__))
