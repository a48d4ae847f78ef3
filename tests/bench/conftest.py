"""Everything in this folder measures, and runs only when asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder before pytest selects by marker."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.bench)
