"""What the package promises under a public name is there, is documented, and is listed in order."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys

import pytest

import strands_ctx


def names_for_type_checkers(source) -> list[str]:
    """The names that the file imports under ``if TYPE_CHECKING:``."""
    return [
        alias.asname or alias.name
        for node in source.tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    ]


def test_exports_are_in_order(exporting_file):
    """A list in order shows a missing or a doubled name at a glance."""
    assert sorted(set(exporting_file.exports)) == exporting_file.exports


def test_every_export_resolves(exporting_file):
    """Each name of __all__ can be had from its module."""
    module = importlib.import_module(exporting_file.module)
    assert [] == [name for name in exporting_file.exports if not hasattr(module, name)]


def test_every_export_is_documented(exporting_file):
    """Each class and function of __all__ has a docstring of its own."""
    module = importlib.import_module(exporting_file.module)
    values = {name: getattr(module, name) for name in exporting_file.exports}
    documented = {name: value for name, value in values.items() if inspect.isclass(value) or inspect.isroutine(value)}
    assert [] == [name for name, value in documented.items() if not (value.__doc__ or "").strip()]


def test_a_folder_that_exports_is_lazy(exporting_folder):
    """No folder imports all its modules because somebody wanted one of them."""
    assert exporting_folder.is_lazy


def test_type_checkers_see_what_a_lazy_folder_hands_out(exporting_folder):
    """What mypy and editors are told is what ``__getattr__`` gives."""
    handed_out = [name for name in exporting_folder.exports if not name.startswith("__")]
    assert handed_out == sorted(names_for_type_checkers(exporting_folder))


def test_an_unknown_name_is_an_attribute_error():
    """A misspelt name fails as it does in any module."""
    with pytest.raises(AttributeError, match="module 'strands_ctx' has no attribute 'PerTurnManger'"):
        _ = strands_ctx.PerTurnManger


def test_dir_lists_every_export():
    """An interactive session can complete names that nobody has used yet."""
    command = [sys.executable, "-c", "import strands_ctx; print(*dir(strands_ctx))"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert set() == set(strands_ctx.__all__) - set(listed)
