"""What an application that watches with OpenTelemetry sees of each model call, with the real SDK of the host."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx import PerTurnManager
from strands_ctx.managers import _telemetry
from strands_ctx.receipts import Receipt

from .support.rig import WORDS, Rig

RECEIPT = Receipt(7, "cut", 90, 9_000, 12, 1_200, 80, 84, 78, 39, 4, 5_000, outcome="complete", billed_tokens=1_234)
FIELDS = {field.name for field in fields(Receipt)}


def own(attributes):
    """Attributes without the prefix of their names."""
    return {name.removeprefix("strands_ctx."): value for name, value in (attributes or {}).items()}


def events_of(span):
    """The events of a span that are ours, by name, with their attributes."""
    return [(event.name, own(event.attributes)) for event in span.events if event.name.startswith("strands_ctx.")]


def metrics_of(reader):
    """The data points of every metric of ours: unit, and for each point its attributes, its sum and its count."""
    data = reader.get_metrics_data()
    scopes = [scope for resource in (data.resource_metrics if data else ()) for scope in resource.scope_metrics]
    return {
        metric.name: (
            metric.unit,
            [
                (own(point.attributes), *((point.sum, point.count) if hasattr(point, "sum") else (point.value, 1)))
                for point in metric.data.data_points
            ],
        )
        for scope in scopes
        if scope.scope.name == "strands_ctx"
        for metric in scope.metrics
    }


def observe():
    """Run an agent in a process of its own, watched as applications do it, and print what was seen."""
    rig = Rig(manager=PerTurnManager(1_500, recent_tokens=300, old_result_max_bytes=100))
    rig.run("Before anybody watches.", "Nothing.")
    exporter, reader, provider = InMemorySpanExporter(), InMemoryMetricReader(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([reader]))
    rig.fill()
    rig.model._fail_at[len(rig.model.requests) + 1] = ContextWindowOverflowException("prompt is too long")
    rig.run("A secret question.", "A secret answer.")
    spans = [(span.name, events_of(span)) for span in exporter.get_finished_spans()]
    receipts = [{name: getattr(receipt, name) for name in FIELDS} for receipt in rig.manager.receipts(rig.agent)]
    print(json.dumps({"spans": spans, "metrics": metrics_of(reader), "receipts": receipts}))


@pytest.fixture(scope="module")
def seen():
    """What a watched run shows, and its receipts."""
    code = "from tests.host.test_telemetry import observe; observe()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def meter():
    """A meter and the reader of what it measured."""
    reader = InMemoryMetricReader()
    return MeterProvider([reader]).get_meter("strands_ctx"), reader


@pytest.fixture
def span():
    """A span that is recorded and current."""
    with TracerProvider().get_tracer("test").start_as_current_span("cycle") as current:
        yield current


def test_every_call_has_two_events_on_the_span_of_its_cycle(seen):
    """The view when it is sent and the receipt when the call has ended, once more for each attempt, in order."""
    found = [(name, event) for name, events in seen["spans"] for event, _ in events]
    calls = 5 + 2
    assert [("execute_event_loop_cycle", "strands_ctx.view"), ("execute_event_loop_cycle", "strands_ctx.receipt")] * (
        calls
    ) == found


def test_events_tell_what_receipts_tell(seen):
    """Field by field, those of the first call apart, which nobody watched."""
    found = [event for _, events in seen["spans"] for event in events]
    shown = [{**view, **receipt} for (_, view), (_, receipt) in zip(found[::2], found[1::2], strict=True)]
    told = [{name: value for name, value in each.items() if value is not None} for each in seen["receipts"][1:]]
    assert told == shown


def test_metrics_have_the_sums_of_the_receipts(seen):
    """Each number of every call, and one overflow with its recovery; an SDK that is set up late is found."""
    receipts, found = seen["receipts"][1:], seen["metrics"]
    totals = {
        name: (unit, sum(total for _, total, _ in points), sum(count for *_, count in points))
        for name, (unit, points) in found.items()
    }
    billed = [receipt["billed_tokens"] for receipt in receipts if receipt["billed_tokens"] is not None]
    expected = {
        "strands_ctx.billed.tokens": ("{token}", sum(billed), len(receipts) - 1),
        "strands_ctx.overflows": ("{overflow}", 1, 1),
        "strands_ctx.recoveries": ("{recovery}", 1, 1),
    }
    for field, name, unit in [
        ("log_tokens", "log.tokens", "{token}"),
        ("view_tokens", "view.tokens", "{token}"),
        ("omitted_messages", "omitted.messages", "{message}"),
        ("omitted_results", "omitted.results", "{result}"),
        ("capped_results", "capped.results", "{result}"),
        ("dropped_bytes", "dropped.bytes", "By"),
    ]:
        expected[f"strands_ctx.{name}"] = unit, sum(receipt[field] for receipt in receipts), len(receipts)
    assert (expected, True) == (totals, min(total for _, total, _ in totals.values()) > 0)


def test_metrics_are_told_apart_by_reason_and_outcome_alone(seen):
    """Few values, so that no backend drowns in series."""
    names = {name for _, points in seen["metrics"].values() for attributes, *_ in points for name in attributes}
    assert {"reason", "outcome"} == names


def test_no_content_is_told(seen):
    """No word of prompts, answers and results, nor a name of a tool."""
    text = json.dumps([[events for _, events in seen["spans"]], seen["metrics"]])
    assert [] == [word for word in [*WORDS, "secret", "collect", "fetch"] if word in text.lower()]


def test_every_field_of_a_receipt_is_told():
    """A field that is added later is told too, or this is the place to say why not."""
    assert {*_telemetry.VIEW_FIELDS, *_telemetry.RESULT_FIELDS} == FIELDS


def test_what_is_unknown_is_left_out(span, meter):
    """No bill is no number, and not 0."""
    receipt = Receipt(1, "log", 1, 10, 1, 10, 0, 0, 0, 0, 0, 0, outcome="failed")
    _telemetry.record_view(receipt)
    _telemetry.Instruments.of(meter[0]).record(receipt)
    told = "limit_tokens" in events_of(span)[0][1], "strands_ctx.billed.tokens" in metrics_of(meter[1])
    assert (False, False) == told


def test_silent_truncation_is_counted(meter):
    """Where the receipt tells of one."""
    instruments = _telemetry.Instruments.of(meter[0])
    instruments.record(RECEIPT)
    instruments.record(replace(RECEIPT, silently_truncated=True))
    attributes = {"reason": "cut", "outcome": "complete"}
    assert ("{truncation}", [(attributes, 1, 1)]) == metrics_of(meter[1])["strands_ctx.silent_truncations"]


def test_an_attempt_that_fails_is_no_recovery(meter):
    """Refused again, or failed for another reason; and a refused attempt is an overflow of its own."""
    instruments = _telemetry.Instruments.of(meter[0])
    for outcome in ("overflow", "failed", "abandoned"):
        instruments.record(replace(RECEIPT, reason="overflow", outcome=outcome))
    found = metrics_of(meter[1])
    overflow = {"reason": "overflow", "outcome": "overflow"}
    assert ([(overflow, 1, 1)], False) == (found["strands_ctx.overflows"][1], "strands_ctx.recoveries" in found)


def test_a_span_that_has_ended_is_left_alone(caplog):
    """As one may be current still where a stream was abandoned: the SDK would log a warning for it."""
    with TracerProvider().get_tracer("test").start_as_current_span("cycle", end_on_exit=False) as span:
        span.end()
        _telemetry.record_receipt(RECEIPT)
    assert ([], []) == ([record.message for record in caplog.records], events_of(span))


def test_the_reference_names_every_metric_event_and_attribute(seen):
    """With its unit, and nothing that is gone."""
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "telemetry.md"
    halves = page.read_text(encoding="utf-8").split("\n## Metrics\n")
    events, numbers = (re.findall(r"^\| `strands_ctx\.([\w.]+)` \| ([^|]*) \|", part, re.MULTILINE) for part in halves)
    units = {name.removeprefix("strands_ctx."): unit for name, (unit, _) in seen["metrics"].items()}
    assert {**units, "silent_truncations": "{truncation}"} == {name: unit.strip("`") for name, unit in numbers}
    assert {*FIELDS, "view", "receipt"} == {name for name, _ in events}
