"""Which cap applies to a result, by the level, its tool and its status."""

from __future__ import annotations

import pytest

from strands_ctx.capping.rules import Cap, CapRules
from strands_ctx.messages import shape_of
from tests.builders import result, user

NAMES = {"a": "search", "b": "read_pdf", "c": "read_contract"}
SHAPE = shape_of(user(result("a"), result("b", status="error"), result("c")))


def test_a_level_is_the_cap_of_every_result():
    """Where an app says nothing."""
    assert {"a": 600, "b": 600, "c": 600} == CapRules().result_caps(SHAPE, {}, Cap(600))


def test_errors_stay_whole_where_the_level_spares_them():
    """S15: errors are the last to be capped."""
    assert {"a": 600, "c": 600} == CapRules().result_caps(SHAPE, {}, Cap(600, spares_errors=True))


def test_a_tools_own_cap_takes_the_place_of_the_level():
    """And an exempt tool has none."""
    rules = CapRules(exempt_tools=frozenset({"read_contract"}), tool_max_bytes={"read_pdf": 40_000}, base_bytes=600)
    assert {"a": 600, "b": 40_000} == rules.result_caps(SHAPE, NAMES, Cap(600))


@pytest.mark.parametrize(("level", "own"), [(600, 40_000), (8_000, 40_000), (300, 20_000), (64, 4_266)])
def test_a_tools_own_cap_falls_with_the_level(level, own):
    """Below the manager's own cap, in proportion; else an overflow would be recovered at the cost of the others."""
    assert own == CapRules(tool_max_bytes={"read_pdf": 40_000}, base_bytes=600).tool_cap("read_pdf", level)


def test_a_tools_own_cap_never_falls_under_the_smallest():
    """Room for the marker."""
    assert 64 == CapRules(tool_max_bytes={"read_pdf": 100}, base_bytes=8_000).tool_cap("read_pdf", 64)
