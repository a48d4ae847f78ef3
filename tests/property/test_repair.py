"""Laws of the repair: legal whatever comes in, the identity where nothing is wrong."""

from __future__ import annotations

import copy
from collections import Counter
from itertools import pairwise

from hypothesis import example, given, settings

from strands_ctx.messages import check_messages
from strands_ctx.repair import legal_view
from strands_ctx.testing.rules import strict_violations
from strands_ctx.types import Messages
from tests.builders import CACHE_POINT, assistant, ids, result, use, user

from .strategies import broken_logs, legal_logs


def resumed(view: Messages) -> Messages:
    """The view as it is sent once the host has run the calls that the last message asks for."""
    asked = ids(view[-1:], "toolUse")
    return [*view, user(*(result(call) for call in asked))] if asked else view


@settings(max_examples=500)
@given(broken_logs())
@example([user("go"), assistant("yes"), user(result("gone"), CACHE_POINT), assistant("and")])
@example([user(" ")])
@example([assistant(use("a"))])
@example([user("go"), assistant(use("a")), assistant(use("b")), user(result("b"))])
def test_any_messages_become_legal(log):
    """By our own check and by a provider's rules, which share no code; and what came in is as it was."""
    before = copy.deepcopy(log)
    view, _ = legal_view(log)
    assert before == log
    assert ([], []) == (check_messages(view), strict_violations(resumed(view)))


@given(legal_logs())
def test_legal_messages_are_left_alone(log):
    """The same objects in a new list, and nothing to report."""
    view, repairs = legal_view(log)
    assert ([id(message) for message in log], False) == ([id(message) for message in view], bool(repairs))
    assert view is not log


@settings(max_examples=150)
@given(broken_logs())
@example([user("go"), assistant("yes"), user(result("gone"), CACHE_POINT), assistant("and")])
def test_repairing_twice_changes_nothing(log):
    """What was repaired is legal, and stays as it is."""
    view, _ = legal_view(log)
    again, repairs = legal_view(view)
    assert (view, False) == (again, bool(repairs))


@settings(max_examples=150)
@given(broken_logs())
def test_reasoning_is_kept_byte_for_byte(log):
    """Every reasoning block that came in goes out, in order."""
    view, _ = legal_view(log)
    assert reasoning_of(log) == reasoning_of(view)


def reasoning_of(messages: Messages) -> list:
    """All reasoning blocks, in order."""
    return [block for message in messages for block in message["content"] if "reasoningContent" in block]


@settings(max_examples=150)
@given(broken_logs())
def test_no_text_is_lost(log):
    """Every text that is not blank is still there, in a message of its role, in order within its message."""
    view, _ = legal_view(log)
    for role in ("user", "assistant"):
        kept = said(view, role)
        assert [text for text in said(log, role) if text in kept] == said(log, role)


def said(messages: Messages, role: str) -> list[str]:
    """The texts of one role that are not blank, results apart."""
    blocks = [block for message in messages if message["role"] == role for block in message["content"]]
    return [block["text"] for block in blocks if block.get("text", "").strip()]


@settings(max_examples=150)
@given(broken_logs())
def test_a_result_that_follows_its_call_is_kept_as_it_is(log):
    """Its first occurrence, whole, in the message after the call's; ids that occur again are renamed."""
    view, _ = legal_view(log)
    shown = {block["toolResult"]["toolUseId"]: block for m in view for block in m["content"] if "toolResult" in block}
    once = [call for call, count in Counter(ids(log, "toolUse")).items() if count == 1]
    for before, after in pairwise(log):
        if before["role"] != "assistant" or after["role"] != "user":
            continue
        for block in after["content"]:
            call = block.get("toolResult", {}).get("toolUseId")
            items = block.get("toolResult", {}).get("content")
            if (
                call in once
                and call in ids([before], "toolUse")
                and items
                and all(i.get("text", "x").strip() for i in items)
            ):
                assert items == shown[call]["toolResult"]["content"]
