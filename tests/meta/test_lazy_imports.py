"""Importing the package, or any pure part of it, does not pay for what it does not use."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"boto3", "botocore", "click", "mcp", "opentelemetry", "pydantic", "rich", "strands", "tiktoken", "typer"}
EDGES = {"", "__main__", "_host", "analysis", "anchor", "bank", "cli", "grounding", "managers", "sessions", "testing"}


def loaded_packages(*statements: str) -> set[str]:
    """The top-level packages that a fresh interpreter has loaded after the statements."""
    report = "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    code = "; ".join((*statements, report))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy():
    """``import strands_ctx`` loads none of strands, boto3, tiktoken, typer and rich."""
    assert set() == loaded_packages("import strands_ctx") & HEAVY


def test_the_pure_layers_load_without_the_host(package_files):
    """Every module below the managers can be imported alone, with neither strands nor tiktoken."""
    pure = [source.module for source in package_files if source.unit not in EDGES]
    assert set() == loaded_packages(*(f"import {module}" for module in pure)) & HEAVY


def test_the_command_line_starts_without_the_host(package_files):
    """``strands-ctx --help`` answers before strands, boto3 and tiktoken are loaded."""
    modules = [
        source.module for source in package_files if source.module in {"strands_ctx.cli", "strands_ctx.__main__"}
    ]
    assert set() == loaded_packages(*(f"import {module}" for module in modules)) & {"boto3", "strands", "tiktoken"}
