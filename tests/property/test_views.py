"""Laws of every view, whatever the log: the invariants of the design, checked from the built messages."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from strands_ctx.capping.media import media_bytes, media_of, media_weight
from strands_ctx.errors import BudgetError
from strands_ctx.ledger.ledger import Ledger
from strands_ctx.messages import check_messages
from strands_ctx.plans import Boundaries, Plan, Policy
from strands_ctx.policies import plan_view
from strands_ctx.testing.rules import strict_violations
from strands_ctx.types import Messages
from strands_ctx.view import build_view
from tests.builders import assistant, ids, limits_of, load_of, pinned, result, texts, tokens_of, use, user

from .strategies import COUNTER, Situation, broken_logs, legal_logs, planned_logs, situations

NOTE = re.compile(
    r"\[strands_ctx: ([\d,]+) earlier messages?(?:, with ([\d,]+) tool results?,)? (?:is|are) not shown here"
)


def view_of(
    log: Messages, situation: Situation, standing: Boundaries | None = None, ledger: Ledger | None = None
) -> tuple[Plan, Messages] | None:
    """The plan and the view, or None where nothing that may be sent fits."""
    ledger = ledger or Ledger(COUNTER)
    ledger.update(log)
    try:
        plan = plan_view(ledger, situation.load, situation.policy, situation.limits, standing or Boundaries())
    except BudgetError:
        return None
    return plan, build_view(ledger, plan)


def resumed(view: Messages) -> Messages:
    """The view as it is sent once the host has run the calls that the last message asks for."""
    asked = ids(view[-1:], "toolUse")
    return [*view, user(*(result(call) for call in asked))] if asked else view


def has_pin(log: Messages, index: int, pin_first: int) -> bool:
    """Whether a message is pinned by itself, as Strands defines it, or as one of the first."""
    return index < pin_first or "metadata" in log[index]


def lead_expected(log: Messages, cut: int, pin_first: int) -> set[int]:
    """What stays from before a cut: pins with the partners of their calls, and the task of the turn that is cut."""
    if not cut:
        return set()
    calls = [set(ids([message], "toolUse")) | set(ids([message], "toolResult")) for message in log]
    near = {
        index: [index, *(at for at in (index - 1, index + 1) if 0 <= at < len(log) and calls[at] & calls[index])]
        for index in range(cut)
    }
    kept = {index for index in range(cut) if any(has_pin(log, at, pin_first) for at in near[index])}
    prompts = [at for at, message in enumerate(log) if message["role"] == "user" and not ids([message], "toolResult")]
    if cut < len(log) and cut not in prompts:
        kept.add(max(at for at in prompts if at < cut))
    return kept


def blocks(messages: Messages, role: str) -> list[object]:
    """All blocks of one role, in order."""
    return [block for message in messages if message["role"] == role for block in message["content"]]


def generous() -> Situation:
    """A situation in which everything fits."""
    return Situation(load_of(), Policy(), limits_of(10**6))


def tight(log: Messages) -> tuple[Messages, Situation]:
    """A log with a situation in which it fits to the token."""
    return log, Situation(load_of(), Policy(), limits_of(tokens_of(log, COUNTER, load_of())))


@settings(max_examples=600)
@given(planned_logs(legal_logs()))
def test_a_view_keeps_every_law(case):
    """Legal, one unbroken suffix and its lead, an honest note, within the budget; and the log is as it was."""
    log, situation = case
    before = copy.deepcopy(log)
    planned = view_of(log, situation)
    assert before == log
    if planned is None:
        return
    plan, view = planned
    assert ([], []) == (check_messages(view), strict_violations(resumed(view)))

    lead = lead_expected(log, plan.cut, situation.policy.pin_first)
    assert lead == set(plan.lead)
    kept = [log[index] for index in sorted(lead)] + log[plan.cut :]
    assert blocks(kept, "assistant") == blocks(view, "assistant")
    assert ids(kept, "toolResult") == ids(view, "toolResult")

    omitted = len(log) - len(kept)
    notes = [match for message in view for text in texts(message)[:1] if (match := NOTE.match(text))]
    counts = [int(number.replace(",", "")) for number in notes[0].groups("0")] if omitted else []
    assert ([omitted, len(ids(log, "toolResult")) - len(ids(kept, "toolResult"))] if omitted else []) == counts

    taken = tokens_of(view, COUNTER, situation.load)
    assert min(taken, situation.limits.hard_tokens) == taken


@settings(max_examples=300)
@given(planned_logs(broken_logs()))
@example(([user(" ")], None))
@example(([user(result("gone"))], None))
@example(([user(result("gone"), "go on"), assistant("yes")], None))
@example(([user("go"), assistant("yes"), user(result("gone"), {"cachePoint": {"type": "default"}})], None))
def test_a_view_of_any_log_is_legal(case):
    """Whatever the log holds, every provider accepts the view, and the log is as it was."""
    log, situation = case
    situation = situation or generous()
    before = copy.deepcopy(log)
    planned = view_of(log, situation)
    assert before == log
    if planned is not None:
        assert ([], []) == (check_messages(planned[1]), strict_violations(resumed(planned[1])))


@settings(max_examples=300)
@given(planned_logs(broken_logs()))
@example(tight([user("go"), assistant(use("lost"), use("gone")), user("and?")]))
def test_a_repaired_view_is_within_the_budget(case):
    """What a repair adds counts against the hard limit too."""
    log, situation = case
    planned = view_of(log, situation)
    if planned is not None:
        taken = tokens_of(planned[1], COUNTER, situation.load)
        assert min(taken, situation.limits.hard_tokens) == taken


@given(planned_logs(legal_logs()))
def test_a_legal_log_under_the_budget_is_the_view(case):
    """The same objects, no note, and nothing stands."""
    log, situation = case
    policy = replace(situation.policy, first_sight_max_bytes=None)
    situation = replace(situation, policy=policy)
    if tokens_of(log, COUNTER, situation.load) > situation.limits.trigger_tokens:
        return
    plan, view = view_of(log, situation)
    assert ("log", Boundaries(), 0) == (plan.reason, plan.boundaries, plan.omitted_messages)
    assert [id(message) for message in log] == [id(message) for message in view]


@settings(max_examples=300)
@given(planned_logs(legal_logs()))
def test_planning_twice_changes_nothing(case):
    """A plan's boundaries, given back, give the same plan and the same bytes, in a ledger that knows nothing too."""
    log, situation = case
    first = view_of(log, situation)
    if first is None:
        return
    plan, view = first
    again, same_view = view_of(copy.deepcopy(log), situation, plan.boundaries)
    assert view == same_view
    assert replace(plan, reason="standing") == replace(again, reason="standing")


@settings(max_examples=300)
@given(st.data())
def test_a_growing_log_keeps_what_was_sent_a_prefix(data):
    """Unless a boundary moves or the newest texts had to be capped, the next view begins with the last one's bytes."""
    log = data.draw(legal_logs())
    situation = data.draw(situations(log))
    ledger, standing, last = Ledger(COUNTER), Boundaries(), None
    stops = [stop for stop in range(1, len(log) + 1) if not ids(log[stop - 1 : stop], "toolUse")]
    for stop in stops:
        planned = view_of(log[:stop], situation, standing, ledger)
        if planned is None:
            last = None
            continue
        plan, view = planned
        if last is not None and plan.boundaries == standing and "newest" not in (plan.reason, last[0].reason):
            assert last[1] == view[: len(last[1])]
        last, standing = planned, plan.boundaries


@settings(max_examples=200)
@given(st.data())
def test_boundaries_never_move_back_while_the_log_is_over_the_budget(data):
    """A cut and a cap line stay or go forward; only a log that fits again resets them."""
    log = data.draw(legal_logs())
    situation = data.draw(situations(log))
    standing = Boundaries()
    for stop in range(1, len(log) + 1):
        planned = view_of(log[:stop], situation, standing)
        if planned is None:
            continue
        moved = planned[0].boundaries
        if planned[0].reason != "log":
            assert (max(standing.cut, moved.cut), max(standing.cap_line, moved.cap_line)) == (
                moved.cut,
                moved.cap_line,
            )
        standing = moved


@settings(max_examples=200)
@given(planned_logs(legal_logs()))
def test_nothing_in_a_view_is_larger_than_what_it_replaces(case):
    """Each result and each text is at most as large as in the log, and the view as the log and its note."""
    log, situation = case
    planned = view_of(log, situation)
    if planned is None:
        return
    plan, view = planned
    sizes = {call: size_of([block]) for block in blocks(log, "user") for call in ids_of(block)}
    shown = {call: size_of([block]) for block in blocks(view, "user") for call in ids_of(block)}
    assert [] == [call for call, size in shown.items() if size > sizes[call]]
    note = texts(view[0])[0].encode("utf-8", "surrogatepass") if plan.omitted_messages else b""
    largest = size_of(blocks(log, "user")) + len(note)
    assert largest == max(largest, size_of(blocks(view, "user")))


def ids_of(block: dict) -> list[str]:
    """The id of a toolResult block, in a list."""
    return [block["toolResult"]["toolUseId"]] if "toolResult" in block else []


def size_of(of: list) -> int:
    """UTF-8 bytes of the texts of blocks, JSON as compact text, and media by their bytes or four a token, if more."""
    total = 0
    for block in of:
        items = block["toolResult"]["content"] if "toolResult" in block else [block]
        for item in items:
            text = item.get("text", "")
            if "json" in item:
                text = json.dumps(item["json"], ensure_ascii=False, separators=(",", ":"))
            total += len(text.encode("utf-8", "surrogatepass"))
            if (media := media_of(item)) is not None:
                total += max(media_bytes(*media), media_weight(*media))
    return total


@given(planned_logs(legal_logs()))
def test_a_plan_tells_what_the_view_shows(case):
    """Its counts of omitted messages, capped results and dropped bytes are those of the built view."""
    log, situation = case
    planned = view_of(log, situation)
    if planned is None:
        return
    plan, view = planned
    whole = {call: block for block in blocks(log, "user") for call in ids_of(block)}
    capped = [call for block in blocks(view, "user") for call in ids_of(block) if block != whole[call]]
    assert (len(log), len(log) - len(plan.lead) - (len(log) - plan.cut)) == (plan.log_messages, plan.omitted_messages)
    if plan.reason != "newest":
        assert len(capped) == plan.capped_results


@given(legal_logs(max_turns=2))
def test_a_pinned_message_is_never_left_out(log):
    """However small the target, a pin and its partner are in the view, whole."""
    log = [pinned(log[0]), *log[1:], user("more"), assistant("yes"), user("and more")]
    situation = generous()
    limits = replace(situation.limits, trigger_tokens=1, target_tokens=1)
    plan, view = view_of(log, replace(situation, limits=limits))
    assert plan.cut > 0
    assert [] == [block for block in log[0]["content"] if block not in blocks(view, "user")]


@given(legal_logs(), st.integers(0, 3))
def test_the_newest_cycle_is_always_in_the_view(log, pin_first):
    """Whatever the target, the newest calls with their results stay."""
    situation = generous()
    limits = replace(situation.limits, trigger_tokens=1, target_tokens=1)
    policy = replace(situation.policy, pin_first=pin_first)
    _, view = view_of(log, replace(situation, limits=limits, policy=policy))
    newest = [message for message in log if ids([message], "toolUse")][-1:]
    last = log[-1]
    if newest and (last is newest[0] or log[-2] is newest[0]):
        assert set(ids(newest, "toolUse")) <= set(ids(view, "toolUse"))
    assert last["content"][-1] == view[-1]["content"][-1]


def test_a_repeated_id_is_told_apart_in_the_view():
    """A provider that names each call after its tool gives one id to two calls; others refuse that."""
    log = [
        user("go"),
        assistant(use("search")),
        user(result("search")),
        assistant(use("search")),
        user(result("search")),
    ]
    _, view = view_of(log, generous())
    assert (["search", "search-2"], ["search", "search-2"]) == (ids(view, "toolUse"), ids(view, "toolResult"))
