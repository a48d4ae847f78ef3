"""Views of random histories, legal and not, are sent to Bedrock over HTTP, and it answers each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strands_ctx.errors import BudgetError
from strands_ctx.ledger.ledger import Ledger
from strands_ctx.plans import Boundaries
from strands_ctx.policies import plan_view
from strands_ctx.testing import strict_violations
from strands_ctx.view import build_view
from tests.builders import ids, result, use, user
from tests.property.strategies import COUNTER, broken_logs, legal_logs, planned_logs
from tests.support.bedrock_client import Bedrock
from tests.support.bedrock_rules import wire_violations

TOOLS = [
    {"name": name, "description": name, "inputSchema": {"json": {"type": "object", "properties": {}}}}
    for name in ("search", "read_pdf")
]


@pytest.fixture(scope="module")
def bedrock():
    """The service, with a window that nothing here fills."""
    with Bedrock(window_tokens=10**9) as service:
        yield service


@pytest.fixture(scope="module")
def model(bedrock):
    """The real model in front of it."""
    return bedrock.model()


def resumed(messages):
    """The messages as they are sent once the host has run the calls that the last one asks for."""
    asked = ids(messages[-1:], "toolUse")
    return [*messages, user(*(result(call) for call in asked))] if asked else messages


def view_of(log, situation):
    """The view of a log, or None where nothing that may be sent fits."""
    ledger = Ledger(COUNTER)
    ledger.update(log)
    try:
        plan = plan_view(ledger, situation.load, situation.policy, situation.limits, Boundaries())
    except BudgetError:
        return None
    return build_view(ledger, plan)


@given(planned_logs(st.one_of(legal_logs(), broken_logs())))
def test_every_view_is_answered(bedrock, model, planned):
    """Whatever the log and the budget: formatted by the host, signed and sent by boto3, judged on the wire."""
    log, situation = planned
    view = view_of(log, situation)
    if view is None:
        return
    bedrock.say("Yes.")
    model.client.converse(**model.format_request(resumed(view), TOOLS))
    assert "answered" == bedrock.requests[-1].outcome


@given(st.one_of(legal_logs(), broken_logs()))
def test_the_two_strict_rule_sets_judge_alike(log):
    """What the service refuses on the wire, the rules that the package ships refuse too, and the other way round."""
    log = resumed(log)
    found = wire_violations({"messages": log, "toolConfig": {"tools": TOOLS}})
    assert (strict_violations(log) == []) == (found == [])


def test_the_two_rule_sets_refuse_a_result_without_content():
    """Some of the models behind Bedrock do."""
    log = [user("Find."), {"role": "assistant", "content": [use("a")]}, user(result("a"))]
    log[-1]["content"][0]["toolResult"]["content"] = []
    assert [1, 1] == [
        len(strict_violations(log)),
        len(wire_violations({"messages": log, "toolConfig": {"tools": TOOLS}})),
    ]


@given(legal_logs())
def test_a_legal_history_is_legal_by_the_relaxed_rules(log):
    """Relaxed is less than strict."""
    assert [] == wire_violations({"messages": resumed(log), "toolConfig": {"tools": TOOLS}}, strict=False)


def test_the_relaxed_rules_join_neighbours_of_one_role():
    """Two prompts in a row are one to such a model, and a call is still answered by the next message of the user."""
    messages = [
        user("Hello?"),
        user("Anybody?"),
        {"role": "assistant", "content": [use("a")]},
        {"role": "assistant", "content": [use("b")]},
        user(result("b")),
        user(result("a")),
    ]
    body = {"messages": messages, "toolConfig": {"tools": TOOLS}}
    assert ([], True) == (wire_violations(body, strict=False), len(wire_violations(body)) > 0)
