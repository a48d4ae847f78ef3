"""Everything here talks to the real small model, and is run by `make test-llm`."""

from __future__ import annotations

import os

import pytest

from strands_ctx.analysis.small_model import serve_small_model
from tests.support.small_model import CountedModel, RealRuns, require_small_model


@pytest.fixture(scope="session")
def server():
    """The real small model's server, started once."""
    require_small_model()
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.lower().endswith("_proxy"):
                patch.delenv(name)
        with serve_small_model() as running:
            yield running


@pytest.fixture(scope="session")
def runs(server):
    """Runs against it, each made once."""
    return RealRuns(server)


@pytest.fixture
def counted(server):
    """A model that bills as the real one does and writes nothing."""
    return CountedModel(server)
