"""Sessions: the next view has the same bytes with and without a restart, and state is written when a boundary moves."""

from __future__ import annotations

import copy
import json
from itertools import pairwise

import pytest
from strands.agent.conversation_manager import NullConversationManager
from strands.hooks import AfterModelCallEvent
from strands.session import FileSessionManager, SnapshotSessionManager
from strands.storage import InMemoryStorage

from strands_ctx import BudgetSuffixManager, CapToolResultsManager, PerTurnManager

from .support.rig import MANAGERS, FaultyModel, Rig, fetches


@pytest.fixture(params=sorted(MANAGERS))
def kind(request):
    """The name of a manager."""
    return request.param


@pytest.fixture(params=["file", "snapshot after runs", "snapshot after messages"])
def store(request, tmp_path):
    """Makes the session manager of a process; all of one test share a store."""
    storage = InMemoryStorage()
    return {
        "file": lambda: FileSessionManager("s", storage_dir=str(tmp_path)),
        "snapshot after runs": lambda: SnapshotSessionManager("s", storage=storage),
        "snapshot after messages": lambda: SnapshotSessionManager("s", storage=storage, save_latest_on="message"),
    }[request.param]


@pytest.fixture
def files(tmp_path):
    """The same for a file store only."""
    return lambda: FileSessionManager("s", storage_dir=str(tmp_path))


def plain(messages):
    """Messages without what the host adds to them when it stores or reads them."""
    return json.dumps([[message["role"], message["content"]] for message in messages])


def lived_in(kind, session, runs=2):
    """A rig with a session that has seen some runs."""
    rig = Rig(kind, session_manager=session)
    rig.watch.rebase()
    for number in range(runs):
        rig.run(f"Fetch, {number}.", *fetches(1_600, 1_700, 1_800, 1_900), "Fetched.")
    return rig


def reopened(kind, session, **arguments):
    """A new agent under a new manager that opens the session, with a model that knows which ids were used."""
    rig = Rig(kind, session_manager=session, **arguments)
    rig.model._ids = 1_000
    return rig


def next_view(rig):
    """What the model is sent for one more prompt."""
    rig.run("And now?", "Nothing.")
    return plain(rig.views[-1])


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_the_next_view_after_a_restart_has_the_same_bytes(kind, store, runs):
    """A process that ends between two prompts changes nothing for the model, so prompt caches stay warm."""
    live = lived_in(kind, store(), runs)
    restarted = reopened(kind, store())
    after = next_view(restarted)
    assert next_view(live) == after


def test_a_view_that_is_only_asked_for_is_the_same_after_a_restart(kind, store):
    """manager.view() of an agent that has not run yet since it was restored."""
    live = lived_in(kind, store())
    restarted = reopened(kind, store())
    assert plain(live.manager.view(live.agent)) == plain(restarted.manager.view(restarted.agent))


def test_a_second_restart_changes_nothing_either(kind, store):
    """State that was restored, used and stored again gives the same bytes to every later process."""
    lived_in(kind, store())
    once = reopened(kind, store())
    once.run("And now?", "Nothing.")
    twice = reopened(kind, store())
    expected = next_view(once)
    assert expected == next_view(twice)


def test_a_restored_receipt_says_so(store):
    """The first call after a restart is planned from the stored boundaries."""
    live = lived_in("suffix", store())
    cut = live.manager.receipts(live.agent)[-1].cut
    restarted = reopened("suffix", store())
    restarted.run("And now?", "Nothing.")
    receipt = restarted.manager.receipts(restarted.agent)[0]
    assert (True, cut, "restored") == (cut > 0, receipt.cut, receipt.standing)


@pytest.mark.parametrize("kind", ["cap", "suffix", "per_turn"])
def test_what_was_learnt_before_any_cut_is_restored(kind, store):
    """A long chat under its budget, restarted just before the first cut: the same view, and the same estimate."""

    def asked(rig):
        rig.run("And now?", *fetches(900), "Nothing.")
        receipts = rig.manager.receipts(rig.agent)[-2:]
        return [(receipt.view_tokens, receipt.reason, receipt.cut, receipt.billed_tokens) for receipt in receipts]

    live = Rig(kind, session_manager=store())
    live.watch.rebase()
    live.run("Fetch.", *fetches(300, 320), "Fetched.")
    uncut = live.manager.receipts(live.agent)[-1].cut
    after = asked(reopened(kind, store()))
    assert (0, asked(live)) == (uncut, after)


def test_the_log_of_a_session_is_whole(kind, store):
    """Every message that was ever added is restored, in order, with ids and status; the laws hold in both lives."""
    live = lived_in(kind, store(), runs=3)
    restarted = reopened(kind, store())
    ids = [[list(block) for block in message["content"]] for message in live.agent.messages]
    restarted.run("And now?", "Nothing.")
    assert (30, ids, [], []) == (
        len(live.agent.messages),
        [[list(block) for block in message["content"]] for message in restarted.agent.messages[:30]],
        live.broken_laws(),
        restarted.broken_laws(),
    )


def test_state_changes_in_a_run_only_when_a_boundary_moves(kind):
    """get_state is the same from call to call until the cut or the cap line moves, or the run ends."""
    rig = Rig(kind)
    seen = []

    def note(event):
        receipt = rig.manager.receipts(rig.agent)[-1]
        seen.append(((receipt.cut, receipt.cap_line), json.dumps(rig.manager.get_state())))

    rig.agent.hooks.add_callback(AfterModelCallEvent, note)
    for _ in range(4):
        rig.run("Fetch.", *fetches(400, 500, 600, 700), "Fetched.")
    runs = [seen[start : start + 5] for start in range(0, len(seen), 5)]
    moves = sum(before[0] != after[0] for run in runs for before, after in pairwise(run))
    changes = sum(before[1] != after[1] for run in runs for before, after in pairwise(run))
    assert (20, moves) == (len(seen), changes)


def agent_writes(session, **arguments):
    """Count how often a session writes an agent's state during some runs; return the rig too."""
    rig = Rig(session_manager=session, **arguments)
    writes = []
    original = session.session_repository.update_agent
    session.session_repository.update_agent = lambda *args, **kwargs: (writes.append(args), original(*args, **kwargs))
    for _ in range(4):
        rig.run("Fetch.", *fetches(400, 500, 600, 700), "Fetched.")
    return rig, len(writes)


def test_a_file_session_writes_once_more_for_each_moved_boundary(kind, tmp_path):
    """Beside what the host writes under no manager: one for each boundary that moved, and one at the end of a run."""
    sessions = [FileSessionManager("s", storage_dir=str(tmp_path / name)) for name in ("none", "ours")]
    _, without = agent_writes(
        sessions[0], manager=NullConversationManager(), model=FaultyModel(context_window_limit=20_000)
    )
    rig, writes = agent_writes(sessions[1], manager=MANAGERS[kind]())
    bounds = [(0, 0), *((receipt.cut, receipt.cap_line) for receipt in rig.manager.receipts(rig.agent))]
    moves = sum(before != after for before, after in pairwise(bounds))
    assert moves + len(bounds[5::5]) == writes - without


def test_state_is_small_json(kind):
    """A few hundred bytes, versioned, after a long life."""
    rig = Rig(kind)
    for _ in range(8):
        rig.run("Fetch.", *fetches(1_500, 1_600, 1_700, 1_800), "Fetched.")
    state = rig.manager.get_state()
    assert (True, 1, state) == (len(json.dumps(state)) < 2_000, state["version"], json.loads(json.dumps(state)))


OTHER_ARGUMENTS = {
    "cap": lambda: CapToolResultsManager(256, keep="head"),
    "suffix": lambda: BudgetSuffixManager(900, max_user_turns=1),
    "per_turn": lambda: PerTurnManager(900, recent_tokens=100, old_result_max_bytes=64),
}


@pytest.mark.parametrize("new", sorted(OTHER_ARGUMENTS))
def test_a_manager_of_another_kind_or_size_opens_the_session(kind, new, store):
    """The session restores whichever of ours saved it, and the new arguments hold."""
    lived_in(kind, store())
    rig = reopened(kind, store(), manager=OTHER_ARGUMENTS[new]())
    rig.watch.caps_log = new == "cap"
    rig.run("And now?", *fetches(600), "Nothing.")
    limit = 20_000 if new == "cap" else 900
    assert (24, True, []) == (
        len(rig.agent.messages),
        all(request.prompt_tokens <= limit for request in rig.model.requests),
        rig.broken_laws(),
    )


def test_a_snapshot_loaded_into_a_live_agent_goes_back_in_time(kind):
    """After load_snapshot the next view is what it was when the snapshot was taken."""
    rig = lived_in(kind, None, runs=1)
    snapshot = rig.agent.take_snapshot(preset="session")
    then = plain(rig.manager.view(rig.agent))
    rig.run("Fetch more.", *fetches(1_500, 1_600, 1_700), "Fetched.")
    rig.agent.load_snapshot(snapshot)
    rig.watch.rebase()
    rig.anchors.clear()
    assert then == plain(rig.manager.view(rig.agent))
    rig.run("And now?", *fetches(1_000), "Nothing.")
    assert ("kept" if "cap" == kind else rig.manager.receipts(rig.agent)[-2].standing, []) == (
        rig.manager.receipts(rig.agent)[-2].standing,
        rig.broken_laws(),
    )


def test_a_snapshot_of_messages_only_starts_without_a_wrong_cut():
    """Messages without the manager's state: what stood for another log does not stand for this one."""
    rig = lived_in("suffix", None, runs=1)
    snapshot = rig.agent.take_snapshot(include=["messages"])
    rig.run("Fetch more.", *fetches(1_500, 1_600, 1_700), "Fetched.")
    rig.agent.load_snapshot(snapshot)
    rig.watch.rebase()
    rig.anchors.clear()
    rig.run("And now?", "Nothing.")
    assert [] == rig.broken_laws()


GARBAGE = [
    {},
    {"__name__": "SomethingElse"},
    {"views": "none"},
    {"version": 99, "views": [{"fingerprint": "x"}]},
    {"version": 1, "views": [None, 7, {"fingerprint": 7}, {"fingerprint": "", "cut": "many", "inner": ["a"]}]},
    {"version": 1, "views": [{"fingerprint": "", "cut": -5, "cap_line": True, "calibration": [1, "x"]}]},
    {"version": [], "views": {}, "removed_message_count": "three", "summary_message": "text"},
    {"removed_message_count": -1, "summary_message": {"role": "user"}},
    {"version": None, "views": [{"fingerprint": "f", "calibration": {"samples": [[1], "x", None]}}]},
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_as_state_never_raises(kind, garbage):
    """Whatever a store holds, restoring it raises nothing, and runs after it keep the laws."""
    rig = Rig(kind)
    rig.manager.restore_from_session(copy.deepcopy(garbage))
    rig.watch._removed = rig.manager.removed_message_count
    rig.fill()
    assert (0, []) == (rig.manager.removed_message_count, rig.broken_laws())


def test_a_restored_session_with_a_broken_end_is_answered(files):
    """A process that died between a tool call and its result leaves a session that goes on."""
    rig = Rig("suffix", session_manager=files())
    rig.watch.rebase()
    rig.run("Fetch.", *fetches(1_600, 1_700), "Fetched.")
    call = {"toolUse": {"toolUseId": "lost", "name": "fetch", "input": {"size": 1}}}
    rig.agent._session_manager.append_message({"role": "user", "content": [{"text": "One more."}]}, rig.agent)
    rig.agent._session_manager.append_message({"role": "assistant", "content": [call]}, rig.agent)
    again = reopened("suffix", files())
    again.run("And now?", "Nothing.")
    assert [] == again.broken_laws()
