"""The table of a demo: drawn on a terminal, plain text elsewhere, with what each row and column means below."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from shutil import get_terminal_size
from textwrap import fill
from typing import Any, Generic, TypeVar

from rich.console import Console
from rich.table import Table

from strands_ctx.analysis.contender import Contender

Measured = TypeVar("Measured")
"""What a row shows: a trial of some demo."""


@dataclass(frozen=True, slots=True)
class Column(Generic[Measured]):
    """One column of the table.

    Attributes:
        heading: Short heading.
        field: The field that it shows.
        meaning: What it says, its unit, and whether it is exact or an estimate.
        cell: Makes the cell's text.
    """

    heading: str
    field: str
    meaning: str
    cell: Callable[[Measured], str]


def yes_or_no(value: bool) -> str:
    """Write a truth value as a cell's text."""
    return "yes" if value else "no"


DONE: Column[Any] = Column("done", "completes", "every prompt was answered", lambda t: yes_or_no(t.completes))
CALLS: Column[Any] = Column("calls", "calls_made", "tool calls that were executed (exact)", lambda t: str(t.calls_made))
KEPT: Column[Any] = Column(
    "kept",
    "messages_kept",
    "messages of the run that are still in agent.messages, of those that were added (exact)",
    lambda t: f"{t.messages_kept}/{t.messages_total}",
)


def slice_column(checked: str) -> Column[Any]:
    """Make the column that says whether a run's delta slice is right.

    Args:
        checked: By what it was checked.

    Returns:
        The column.
    """
    meaning = f"agent.messages[start of the run:] is what the run appended: checked {checked}"
    return Column("slice", "delta_ok", meaning, lambda t: yes_or_no(t.delta_ok))


def print_rows(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: drawn on a terminal, plain elsewhere.

    Args:
        title: The line above it.
        headings: Heading of each column.
        rows: A text for each column of each row.
    """
    if sys.stdout.isatty():
        _print_drawn(title, headings, rows)
    else:
        _print_plain(title, headings, rows)


def _print_drawn(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Draw the table, in as many parts as the terminal is too narrow for it."""
    console = Console(markup=False, highlight=False)
    widths = [max(len(row[index]) for row in (headings, *rows)) + 3 for index in range(len(headings))]
    for part in _parts(widths, console.width):
        table = Table(title=title if part[0] == 1 else None, title_justify="left", pad_edge=False)
        for index in (0, *part):
            table.add_column(headings[index], justify="right" if index else "left", no_wrap=True)
        for row in rows:
            table.add_row(*(row[index] for index in (0, *part)))
        console.print(table)


def _parts(widths: Sequence[int], room: int) -> list[list[int]]:
    """Split the columns after the first into parts that fit beside it."""
    parts: list[list[int]] = [[]]
    left = room - widths[0]
    for index, width in enumerate(widths[1:], 1):
        if parts[-1] and width > left:
            parts.append([])
            left = room - widths[0]
        parts[-1].append(index)
        left -= width
    return parts


def _print_plain(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[index]) for row in (headings, *rows)) for index in range(len(headings))]
    lines = [title, ""]
    for row in (headings, *rows):
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join((row[0].ljust(widths[0]), *cells)))
    sys.stdout.write("\n".join(lines) + "\n")


def _folded(line: str) -> str:
    """Fold a line at the width of a terminal, under its second column."""
    if not sys.stdout.isatty():
        return line
    indent = len(line) - len(line[line.find("  ", 3) :].lstrip()) if line.startswith("  ") else 0
    return fill(line, get_terminal_size().columns, subsequent_indent=" " * indent, drop_whitespace=True) or line


def print_meanings(
    entrants: Sequence[Contender], columns: Sequence[Column[Any]], failed: Sequence[tuple[str, str]]
) -> None:
    """Print what the rows and columns mean, and what ended runs early.

    Args:
        entrants: The contenders.
        columns: The columns after the first.
        failed: A contender's name and the error's line, for each run that ended early.
    """
    width = max(len(contender.name) for contender in entrants)
    lines = ["", "Rows: how the agent's context was managed."]
    lines += [f"  {contender.name.ljust(width)}  {contender.summary}" for contender in entrants]
    lines += ["", "Columns: what the run came to. No number is an estimate."]
    lines += [f"  {column.heading.ljust(width)}  {column.meaning}" for column in columns]
    if failed:
        lines += ["", "Runs that ended early:"]
        lines += [f"  {name.ljust(width)}  {error}" for name, error in failed]
    sys.stdout.write("\n".join(map(_folded, lines)) + "\n")
