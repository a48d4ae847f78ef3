"""The source files that the tests of this folder read."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "strands_ctx"


@dataclass(frozen=True)
class Source:
    """One Python file of the repository."""

    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed file."""
        return ast.parse(self.path.read_text(encoding="utf-8"))

    @property
    def name(self) -> str:
        """The path from the repository's root."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def module(self) -> str:
        """The dotted name, such as ``strands_ctx.tokens.media``."""
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def unit(self) -> str:
        """The module or folder directly under the package, which is what the layers order; ``""`` for the façade."""
        return ".".join(self.module.split(".")[1:2])

    @cached_property
    def exports(self) -> list[str]:
        """The names in the file's ``__all__``, or none."""
        for node in self.tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
                return list(ast.literal_eval(node.value))
        return []

    @property
    def is_lazy(self) -> bool:
        """Whether the file hands out names at their first use."""
        return any(isinstance(node, ast.Assign) and "facade(" in ast.unparse(node.value) for node in self.tree.body)


def python_files(*folders: str) -> list[Source]:
    """Every Python file of the folders that exist."""
    return [Source(path) for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each file of the kind that its argument names."""
    package = python_files(PACKAGE)
    exporting = [source for source in package if source.exports]
    kinds = {
        "package_file": package,
        "exporting_file": exporting,
        "exporting_folder": [source for source in exporting if source.path.name == "__init__.py"],
        "test_file": python_files("tests"),
        "any_file": python_files(PACKAGE, "tests", "examples", "scripts", ".ci"),
    }
    for argument in kinds.keys() & set(metafunc.fixturenames):
        metafunc.parametrize(argument, kinds[argument], ids=lambda source: source.name)


@pytest.fixture(scope="session")
def package_files() -> list[Source]:
    """Every Python file of the package."""
    return python_files(PACKAGE)
