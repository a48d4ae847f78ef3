"""A rig under each manager."""

from __future__ import annotations

import pytest

from .support.rig import MANAGERS, Rig


@pytest.fixture(params=sorted(MANAGERS))
def rig(request):
    """An agent under one of the managers, before its first run."""
    return Rig(request.param)


@pytest.fixture
def busy(rig):
    """The same after a run whose results take more than the budget."""
    rig.fill()
    return rig
