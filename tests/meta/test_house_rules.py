"""Files stay short, names say what they hold, and everything public is documented."""

from __future__ import annotations

import ast
from collections.abc import Iterator

MAX_FILE_LINES = 299
MAX_FUNCTION_LINES_P95 = 39
BANNED_NAMES = {"common", "helpers", "misc", "util", "utils"}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of a file."""
    return (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many lines a function's statements span, its docstring not counted."""
    statements = function.body[1:] if ast.get_docstring(function) else function.body
    return (statements[-1].end_lineno or 0) - statements[0].lineno + 1 if statements else 0


def undocumented(node: ast.AST, prefix: str = "") -> Iterator[str]:
    """Every public class, function and method that has no docstring, by its dotted name."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) or child.name.startswith("_"):
            continue
        name = f"{prefix}{child.name}"
        if ast.get_docstring(child) is None:
            yield name
        if isinstance(child, ast.ClassDef):
            yield from undocumented(child, f"{name}.")


def test_files_are_short(any_file):
    """A file of 300 lines or more has two subjects."""
    assert min(lines := len(any_file.path.read_text(encoding="utf-8").splitlines()), MAX_FILE_LINES) == lines


def test_file_names_say_what_is_inside(any_file):
    """No module is called after being shared."""
    assert any_file.path.stem not in BANNED_NAMES


def test_modules_are_documented(package_file):
    """Every module says what it is for."""
    assert ast.get_docstring(package_file.tree) is not None


def test_public_names_are_documented(package_file):
    """Every public class, function and method has a docstring."""
    assert [] == list(undocumented(package_file.tree))


def test_functions_are_mostly_short(package_files):
    """Nineteen of twenty functions fit a screen."""
    lengths = sorted(body_lines(function) for source in package_files for function in functions(source.tree))
    assert lengths[int(0.95 * (len(lengths) - 1))] <= MAX_FUNCTION_LINES_P95


def test_every_test_is_a_sentence(test_file):
    """Every test says in its docstring what it shows."""
    tests = (function for function in functions(test_file.tree) if function.name.startswith("test_"))
    assert [] == [function.name for function in tests if not ast.get_docstring(function)]
