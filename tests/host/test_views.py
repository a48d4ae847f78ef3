"""What a manager would send, told before it is sent; when boundaries move; what is sent where planning fails."""

from __future__ import annotations

import copy
import json
from itertools import pairwise

import pytest
from strands import hooks

from strands_ctx import BudgetSuffixManager, PerTurnManager, TiktokenCounter

from .support.rig import BUDGET_TOKENS, FaultyModel, Rig, fetches


def sent(messages):
    """What the model gets of messages: roles and content."""
    return [(message["role"], message["content"]) for message in messages]


def record_views(rig, event_type):
    """Ask for the view at each event of a type; what was asked last before a request is what counts."""
    asked = {}

    def ask(event):
        asked[len(rig.model.requests)] = sent(rig.manager.view(rig.agent))

    rig.agent.hooks.add_callback(event_type, ask)
    return asked


def test_a_view_is_what_the_next_call_is_sent(busy):
    """Asked right before each call of two runs, with cuts and caps in between."""
    asked = record_views(busy, hooks.BeforeModelCallEvent)
    busy.run("Fetch.", *fetches(1_500, 1_600, 1_700, 1_800), "Fetched.")
    busy.run("Now go on.", *fetches(900), "The end.")
    views = [sent(view) for view in busy.views[5:]]
    assert (views, []) == ([asked[number] for number in range(5, 12)], busy.broken_laws())


@pytest.mark.parametrize("per_turn", [True, 3])
def test_a_view_asked_for_when_the_log_is_complete_is_what_the_next_call_is_sent(per_turn):
    """Asked as soon as the last message before a call is in the log."""
    manager = PerTurnManager(
        12_000, recent_tokens=300, per_turn=per_turn, proactive_compression={"compression_threshold": 0.1}
    )
    rig = Rig(manager=manager)
    asked = record_views(rig, hooks.MessageAddedEvent)
    rig.run("Fetch.", *fetches(*range(1_000, 1_900, 100)), "Fetched.")
    assert [sent(view) for view in rig.views] == [asked[number] for number in range(10)]


def test_a_view_of_an_agent_at_rest_is_what_a_resume_is_sent(busy):
    """A run that a limit ended is asked for its view, and resumed."""
    busy.run("Fetch.", *fetches(1_500, 1_600, 1_700), "Fetched.", limits={"turns": 2})
    view = sent(busy.manager.view(busy.agent))
    busy.run(None, *busy.model.script[busy.model.position :])
    assert view == sent(busy.views[7])


def test_asking_for_a_view_changes_nothing(rig):
    """Not the log, not the state, not the receipts, not what later calls are sent."""
    rig.fill()
    before = copy.deepcopy((rig.agent.messages, rig.manager.get_state(), rig.manager.receipts(rig.agent)))
    view = rig.manager.view(rig.agent)
    view[0]["content"].clear()
    after = (rig.agent.messages, rig.manager.get_state(), rig.manager.receipts(rig.agent))
    assert (before, []) == (after, rig.broken_laws())


def test_asking_for_views_all_the_time_changes_no_later_view():
    """Two agents live the same life, one of them asked at every event."""
    quiet, asked = Rig("suffix"), Rig("suffix")
    for event_type in (hooks.MessageAddedEvent, hooks.BeforeModelCallEvent, hooks.AfterModelCallEvent):
        asked.agent.hooks.add_callback(event_type, lambda event: asked.manager.view(asked.agent))
    for rig in (quiet, asked):
        for _ in range(2):
            rig.fill()
    assert quiet.views == asked.views
    assert json.dumps(quiet.manager.get_state()) == json.dumps(asked.manager.get_state())


class FailingCounter(TiktokenCounter):
    """A counter that stops working."""

    works = True

    def count_message(self, message):
        if not self.works:
            raise OSError("the table is gone")
        return super().count_message(message)


@pytest.mark.parametrize("manager", [BudgetSuffixManager, PerTurnManager])
def test_a_run_goes_on_with_a_legal_view_where_planning_fails(manager):
    """A counter that raises in the middle of a run: calls are made with what stood, never with everything."""
    counter = FailingCounter()
    rig = Rig(manager=manager(BUDGET_TOKENS, counter=counter))
    rig.fill()
    counter.works = False
    rig.run("And now?", *fetches(300, 400), "Nothing.")
    everything = max(request.prompt_tokens for request in rig.model.requests[5:]) > 2_500
    assert (18, False, []) == (len(rig.agent.messages) + 2, everything, rig.broken_laws())


@pytest.mark.parametrize("works_at_first", [True, False])
@pytest.mark.parametrize("manager", [BudgetSuffixManager, PerTurnManager])
def test_the_newest_images_are_sent_where_planning_fails(manager, works_at_first):
    """With a plan that stands and with none: 20 of 25 images are sent, since providers refuse more."""
    counter = FailingCounter()
    rig = Rig(manager=manager(100_000, counter=counter), model=FaultyModel(context_window_limit=200_000))
    image = {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}}
    counter.works = works_at_first
    rig.run("Look.", "Seen.")
    counter.works = False
    rig.run([{"text": "And at these."}, *[image] * 25], "Seen too.")
    sent = sum("image" in block for message in rig.views[-1] for block in message["content"])
    assert (20, []) == (sent, rig.broken_laws())


@pytest.mark.parametrize("every", [2, 3, 4])
def test_boundaries_move_only_before_every_nth_call(every):
    """per_turn=n: in between the standing plan is applied; the budget has room for that here."""
    manager = PerTurnManager(
        12_000, recent_tokens=300, per_turn=every, proactive_compression={"compression_threshold": 0.1}
    )
    rig = Rig(manager=manager)
    rig.run("Fetch.", *fetches(*range(1_000, 2_600, 100)), "Fetched.")
    bounds = [(0, 0), *((receipt.cut, receipt.cap_line) for receipt in rig.manager.receipts(rig.agent))]
    moved = [call for call, (a, b) in enumerate(pairwise(bounds), start=1) if a != b]
    assert (True, []) == (len(moved) > 1, [call for call in moved if call % every])


def test_between_nth_calls_a_plan_that_does_not_fit_is_made_anew():
    """The hard limit holds before every call, also where boundaries should not move yet."""
    rig = Rig(manager=PerTurnManager(BUDGET_TOKENS, recent_tokens=300, old_result_max_bytes=100, per_turn=50))
    rig.run("Fetch.", *fetches(*range(1_000, 2_600, 100)), "Fetched.")
    billed = [request.prompt_tokens for request in rig.model.requests[3:]]
    assert (True, []) == (max(billed) <= BUDGET_TOKENS, rig.broken_laws())
