"""The reference names every parameter with its default, every field and every error, and nothing that is gone."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

import strands_ctx
from strands_ctx import errors, harvest, testing
from strands_ctx.plans import Reason
from strands_ctx.testing.requests import Request

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
ROW = re.compile(r"^\| `(\w+)` \|([^|]*)\|", re.MULTILINE)

SIGNATURES = {
    "anchor": [strands_ctx.DeltaAnchor],
    "bank": [strands_ctx.ToolResultBank],
    "counting": [strands_ctx.ModelCounter, strands_ctx.TiktokenCounter],
    "harvest": [strands_ctx.run, strands_ctx.run_async],
    "managers": [strands_ctx.BudgetSuffixManager, strands_ctx.CapToolResultsManager, strands_ctx.PerTurnManager],
    "testing": [testing.LiveTool, testing.ToolCall, testing.WindowModel, testing.record_run],
}
RECORDS = {
    "bank": [strands_ctx.BankedResult],
    "harvest": [strands_ctx.RunOutcome, harvest.RunUsage, harvest.HarvestedResult],
    "overflow": [strands_ctx.Overflow],
    "receipts": [strands_ctx.Plan, strands_ctx.Receipt],
    "testing": [Request],
}

ELSEWHERE = {"AgentBusyError", "BudgetExceededError", "HypothesisMissingError", "ScriptExhaustedError"}


def page(name: str) -> str:
    """The text of a page of the reference."""
    return (REFERENCE / f"{name}.md").read_text(encoding="utf-8")


def first_table(name: str, heading: str) -> list[tuple[str, str]]:
    """The first two cells of each row of the first table below a heading."""
    section = page(name).split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    table = section[section.index("\n| ") :].split("\n\n", 1)[0]
    return [(row, cell.strip(" `")) for row, cell in ROW.findall(table)]


def default_of(parameter: inspect.Parameter) -> str:
    """How a page writes the default of a parameter."""
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return ""
    value = parameter.default
    if value is inspect.Parameter.empty:
        return "required"
    if isinstance(value, type):
        return value.__name__
    if type(value).__name__ == "_HAS_DEFAULT_FACTORY_CLASS":
        return "{}"
    return f"{value:_}" if type(value) is int else repr(value)


@pytest.mark.parametrize(("name", "documented"), [(name, item) for name, items in SIGNATURES.items() for item in items])
def test_every_parameter_has_its_row_and_its_default(name, documented):
    """The rows below the name are the parameters, in order, with the defaults that the code has."""
    parameters = inspect.signature(documented).parameters.values()
    expected = [(parameter.name, default_of(parameter)) for parameter in parameters]
    assert expected == first_table(name, documented.__name__)


@pytest.mark.parametrize(("name", "record"), [(name, item) for name, items in RECORDS.items() for item in items])
def test_every_field_has_its_row(name, record):
    """The rows below the name are the fields, in order."""
    assert [field.name for field in fields(record)] == [row for row, _ in first_table(name, record.__name__)]


def test_every_reason_is_explained():
    """The reasons that a receipt can give are the rows of their table."""
    table = page("receipts").split("\n### Reasons\n", 1)[1].split("\n## ", 1)[0]
    assert [*Reason.__args__] == [row for row, _ in ROW.findall(table)]


def test_every_error_is_named():
    """The page of errors has a row for each class of the error tree."""
    tree = {name for name, item in vars(errors).items() if inspect.isclass(item) and issubclass(item, Exception)}
    named = {row for row, _ in ROW.findall(page("errors"))}
    assert {*tree, *ELSEWHERE} == named


def test_every_public_name_is_in_the_reference():
    """Whatever can be imported from the package or from its testing part is looked up here."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.md"))
    public = {*strands_ctx.__all__, *testing.__all__} - {"__version__"}
    assert set() == {name for name in public if not re.search(rf"\b{name}\b", text)}
