"""Imports point down: the decisions can be read, used and tested without the host and without an agent."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

PACKAGE = "strands_ctx"
FOLDER = Path(__file__).resolve().parents[2] / PACKAGE

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"_lazy", "errors", "types"}),
    frozenset({"messages", "overflow", "shares", "tokens"}),
    frozenset({"capping", "digests", "notes", "plans", "repair"}),
    frozenset({"ledger"}),
    frozenset({"drafts", "selection", "view"}),
    frozenset({"inherit", "policies", "receipts"}),
    frozenset({"_host", "anchor", "bank", "grounding", "harvest", "managers", "sessions", "testing"}),
    frozenset({"analysis"}),
    frozenset({"cli"}),
    frozenset({"__main__"}),
)
RANKS = {unit: rank for rank, units in enumerate(LAYERS) for unit in units} | {"": len(LAYERS)}
NO_RANK = -1  # a module without a layer turns one test red, not all that meet it

HOST_AT_TOP = {"_host", "anchor", "bank", "managers", "sessions", "testing"}
HOST_IN_FUNCTIONS = HOST_AT_TOP | {"analysis", "harvest", "inherit"}
AT_TOP = {"cli": {"click", "rich", "typer"}, "__main__": set()}


class Import(NamedTuple):
    """One imported module as a file names it, and whether the import waits inside a function."""

    name: str
    line: int
    deferred: bool


def absolute(node: ast.ImportFrom, source) -> str:
    """The dotted name of the module that a ``from`` statement names, its leading dots resolved."""
    if node.level == 0:
        return str(node.module)
    folder = source.module.split(".")
    keep = len(folder) - node.level + (source.path.name == "__init__.py")
    return ".".join([*folder[:keep], *([node.module] if node.module else [])])


def run_time_imports(source, node: ast.AST | None = None, deferred: bool = False) -> Iterator[Import]:
    """Find the imports that run: those of ``if TYPE_CHECKING:`` blocks do not."""
    for child in ast.iter_child_nodes(node or source.tree):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, child.lineno, deferred) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            origin = absolute(child, source)
            yield from (Import(f"{origin}.{alias.name}", child.lineno, deferred) for alias in child.names)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from run_time_imports(source, ast.Module(child.orelse, []), deferred)
        else:
            inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from run_time_imports(source, child, deferred or inside)


def our_imports(source) -> Iterator[tuple[str, Import]]:
    """Find the imports of other units of the package, each with its unit (``""`` for the façade)."""
    for found in run_time_imports(source):
        package, _, rest = found.name.partition(".")
        first = rest.partition(".")[0]
        unit = first if (FOLDER / first).is_dir() or (FOLDER / f"{first}.py").exists() else ""
        if package == PACKAGE and unit != source.unit:
            yield unit, found


def test_every_module_has_a_layer(package_files):
    """A new module is given its place before it is given imports."""
    units = {source.unit for source in package_files} - {""}
    assert set() == units - set(RANKS)


def test_imports_point_down(package_file):
    """A module imports only from its own layer and from those below, and nothing from the façade but the version."""
    upwards = [
        f"{package_file.name}:{found.line} imports {found.name}"
        for unit, found in our_imports(package_file)
        if package_file.unit != ""
        and found.name != f"{PACKAGE}.__version__"
        and RANKS.get(unit, NO_RANK) > RANKS.get(package_file.unit, len(LAYERS))
    ]
    assert [] == upwards


def test_no_two_modules_import_each_other(package_files):
    """Inside a layer too, what imports what has an order."""
    graph: dict[str, set[str]] = {}
    for source in package_files:
        graph.setdefault(source.unit, set()).update(unit for unit, _ in our_imports(source))
    graph.pop("")
    assert set(graph) <= set(TopologicalSorter(graph).static_order())


def test_the_host_is_imported_only_at_the_edges(package_file):
    """The pure layers never import strands; what runs agents for measurements does so inside functions."""
    misplaced = [
        f"{package_file.name}:{found.line} imports {found.name}"
        for found in run_time_imports(package_file)
        if found.name.partition(".")[0] == "strands"
        and package_file.unit not in (HOST_IN_FUNCTIONS if found.deferred else HOST_AT_TOP)
    ]
    assert [] == misplaced


def test_private_names_of_the_host_are_known_to_one_file(package_file):
    """Only _host.py imports what Strands marks as private."""
    private = [
        f"{package_file.name}:{found.line} imports {found.name}"
        for found in run_time_imports(package_file)
        if found.name.startswith("strands.") and package_file.unit != "_host" and "._" in found.name
    ]
    assert [] == private


def test_heavy_packages_wait_inside_functions(package_file):
    """Nothing but the standard library, the host at the edges and the command line's own packages loads at import."""
    allowed = {PACKAGE, "strands", *sys.stdlib_module_names, *AT_TOP.get(package_file.unit, set())}
    eager = [
        f"{package_file.name}:{found.line} imports {found.name}"
        for found in run_time_imports(package_file)
        if not found.deferred and found.name.partition(".")[0] not in allowed
    ]
    assert [] == eager
