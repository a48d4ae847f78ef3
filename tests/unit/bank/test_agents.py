"""Which agent a result is of, and which calls of it are open."""

from __future__ import annotations

import gc

from strands_ctx.bank import ToolResultBank, _agents
from strands_ctx.bank._agents import UNKNOWN_AGENT, Desk, Desks
from strands_ctx.bank._encoding import encode

from .emission import Named


def test_a_key_is_the_id_or_the_name_where_nobody_gave_an_id():
    """The host gives every agent the same id."""
    named, known = Named("reader"), Named("reader")
    known.agent_id = "agent-7"
    desks = Desks()
    assert ("reader", "agent-7") == (desks.of(named).key, desks.of(known).key)


def test_no_two_agents_have_one_key():
    """Also where a name looks like a key, is our own word, or its first agent is gone."""
    desks, agents = Desks(), [Named(name) for name in ("a", "a", "a#2", "a", UNKNOWN_AGENT)]
    keys = [desks.of(agent).key for agent in agents]
    again = [desks.of(agent).key for agent in agents]
    del agents
    gc.collect()
    assert (["a", "a#2", "a#2#2", "a#3", "unknown agent#2"], keys, "a#4") == (keys, again, desks.of(Named("a")).key)


def test_a_bank_does_not_keep_its_agents():
    """An agent that is gone is gone; its results stay."""
    with ToolResultBank() as bank:
        agent = Named("short-lived")
        bank.agent_key(agent)
        del agent
        gc.collect()
        assert 0 == len(bank._desks._desks)


def test_a_call_whose_result_is_in_the_log_begins_anew():
    """Attempts are counted until then."""
    desk = Desk("a")
    attempts = [desk.result("t1")[0], desk.result("t1")[0]]
    ended = [desk.end("t1"), desk.end("t1")]
    assert ([1, 2], [2, 0], 1) == (attempts, ended, desk.result("t1")[0])


def test_a_call_that_only_began_has_no_result():
    """As one that is interrupted before its tool runs."""
    desk = Desk("a")
    desk.begin("t1", {}, encode({}))
    assert 0 == desk.end("t1")


def test_calls_that_never_end_are_forgotten_in_time(monkeypatch):
    """Direct calls that nobody records never reach the log."""
    monkeypatch.setattr(_agents, "MAX_OPEN_CALLS", 3)
    desk = Desk("a")
    for number in range(5):
        desk.result(f"t{number}")
    assert [0, 0, 1, 1, 1] == [desk.end(f"t{number}") for number in range(5)]
