"""Cases from the field, R9 to R16 and S23: restored sessions, and what single calls of real agents are sent."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from strands import hooks
from strands.agent.conversation_manager import SlidingWindowConversationManager, SummarizingConversationManager
from strands.session import FileSessionManager

from strands_ctx import BudgetSuffixManager, CapToolResultsManager, PerTurnManager, TiktokenCounter
from strands_ctx.errors import SilentTruncationWarning
from tests.builders import texts

from .support.rig import BUDGET_TOKENS, MANAGERS, FaultyModel, Rig, fetches, text_of

CUTTING = {
    "per_turn": lambda **arguments: PerTurnManager(
        BUDGET_TOKENS, recent_tokens=300, old_result_max_bytes=100, **arguments
    ),
    "suffix": lambda **arguments: BudgetSuffixManager(BUDGET_TOKENS, **arguments),
}
SMALLER = {
    "cap": lambda: CapToolResultsManager(256),
    "per_turn": lambda: PerTurnManager(900, recent_tokens=100, old_result_max_bytes=64),
    "suffix": lambda: BudgetSuffixManager(900, max_bytes_per_result=256),
}
SEEN_MAX_BYTES = {"cap": 256, "per_turn": 64, "suffix": 256}
FOREIGN = {
    "sliding window": lambda: SlidingWindowConversationManager(window_size=6),
    "summarizing": lambda: SummarizingConversationManager(summary_ratio=0.5, preserve_recent_messages=4),
}
NOTE = re.compile(r"\[strands_ctx: [\d,]+ earlier messages?(, with [\d,]+ tool results?,)? (is|are) not shown here\.\]")


@pytest.fixture(params=sorted(SMALLER))
def kind(request):
    """The name of a manager."""
    return request.param


@pytest.fixture(params=sorted(CUTTING))
def cutting(request):
    """Makes a manager that leaves messages out."""
    return CUTTING[request.param]


@pytest.fixture
def session(tmp_path):
    """Makes the session manager of a process."""
    return lambda: FileSessionManager("s", storage_dir=str(tmp_path))


def reopened(session, manager):
    """A new agent that opens the session, with a model that knows which ids were used."""
    rig = Rig(manager=manager, session_manager=session())
    rig.model._ids = 1_000
    rig.watch.rebase()
    rig.watch.caps_log = True
    return rig


def seen_sizes(view):
    """Bytes of each result that an earlier call has carried."""
    last = max(index for index, message in enumerate(view) if message["role"] == "assistant")
    results = [block for message in view[:last] for block in message["content"] if "toolResult" in block]
    return [len(item["text"]) for block in results for item in block["toolResult"]["content"]]


@pytest.mark.parametrize("saved_by", sorted(SMALLER))
def test_a_session_opens_with_other_arguments_and_these_hold(kind, saved_by, session):
    """R9: another kind of ours or other sizes; caps and budgets are those of today, and no message is lost."""
    Rig(saved_by, session_manager=session()).fill()
    rig = reopened(session, SMALLER[kind]())
    rig.run("And now?", "Nothing.")
    assert [] == [size for size in seen_sizes(rig.views[-1]) if size > SEEN_MAX_BYTES[kind]]
    within = kind == "cap" or rig.model.requests[-1].prompt_tokens <= 900
    assert (12, True, []) == (len(rig.agent.messages), within, rig.broken_laws())


@pytest.mark.parametrize("foreign", sorted(FOREIGN))
def test_a_session_of_another_manager_opens_with_what_that_left(kind, foreign, session):
    """R10: what it removed stays removed, its summary stays at the head through two restarts, and runs go on."""
    left = Rig(manager=FOREIGN[foreign](), model=FaultyModel(strict=False), session_manager=session())
    for _ in range(3):
        left.model.say(*fetches(100, 200), "Fetched.")
        left.agent("Fetch.")
    if foreign == "summarizing":
        left.manager.reduce_context(left.agent)
        left.agent._session_manager.sync_agent(left.agent)
    expected = [message["content"] for message in left.agent.messages]
    removed, found = left.manager.removed_message_count, []
    for _ in range(2):
        rig = reopened(session, MANAGERS[kind]())
        head = [message["content"] for message in rig.agent.messages[: len(expected)]]
        found.append((head, rig.manager.removed_message_count))
        rig.run("And now?", "Nothing.")
    assert (True, [(expected, removed)] * 2, []) == (removed > 0, found, rig.broken_laws())


class CuttingModel(FaultyModel):
    """A model behind a server that drops what exceeds 2,048 tokens, and bills what is left."""

    async def stream(self, *args, **kwargs):
        async for event in super().stream(*args, **kwargs):
            if "metadata" in event:
                sent = self.requests[-1].prompt_tokens
                event["metadata"]["usage"] = {"inputTokens": min(sent, 2_048), "outputTokens": 5, "totalTokens": 0}
            yield event


@pytest.mark.parametrize("manager", [CapToolResultsManager, BudgetSuffixManager, PerTurnManager])
def test_a_prompt_that_a_server_cuts_in_silence_is_warned_of_once_a_run(manager):
    """R11: with both numbers, in each of two runs, although most of their calls are cut."""
    rig = Rig(manager=manager(), model=CuttingModel(context_window_limit=100_000))
    for _ in range(2):
        with pytest.warns(SilentTruncationWarning) as caught:
            rig.run("Fetch.", *fetches(*[2_000] * 12), "Fetched.")
        (warned,) = (warning.message for warning in caught)
        assert (True, 2_048) == (warned.view_tokens > 1.2 * 2_048, warned.billed_tokens)
        assert f"{warned.view_tokens:,} tokens (estimate) and billed 2,048" in str(warned)


def test_the_notice_of_omission_is_a_fact_in_front_of_the_users_words(cutting):
    """R14: no instruction, no turn of its own, and nowhere else in the view."""
    rig = Rig(manager=cutting())
    for number in range(20):
        rig.run(f"Prompt {number}.", *fetches(300), text_of(300))
    omitting = [
        view
        for view, receipt in zip(rig.views, rig.manager.receipts(rig.agent), strict=True)
        if receipt.omitted_messages
    ]
    notes = [[text for message in view for text in texts(message) if "strands_ctx: " in text] for view in omitting]
    firsts = [texts(view[0])[:2] for view in omitting]
    assert (True, [[note] for note, _ in firsts]) == (len(omitting) > 20, notes)
    assert [(True, True)] * len(firsts) == [
        (NOTE.fullmatch(note) is not None, said.startswith("Prompt ")) for note, said in firsts
    ]
    assert [] == rig.broken_laws()


def bytes_of(view):
    """What a prompt cache compares: the messages as text, up to where the next one would begin."""
    return json.dumps([[message["role"], message["content"]] for message in view])[:-1]


def common_bytes(text, other):
    """How long the beginning is that two texts share."""
    return next((place for place, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), len(text))


def test_a_history_that_hovers_at_the_budget_is_cut_rarely(cutting):
    """R15: sixty turns of which ten fit: five cuts, and 0.85 of the bytes of all requests begin the next one."""
    rig = Rig(manager=cutting())
    for number in range(60):
        rig.run(f"{number} {text_of(150, number)}", text_of(150, number + 1))
    cuts = [0, *(receipt.cut for receipt in rig.manager.receipts(rig.agent))]
    sent = [bytes_of(view) for view in rig.views]
    shared = sum(common_bytes(*pair) for pair in pairwise(sent))
    assert (True, True) == (1 < sum(a != b for a, b in pairwise(cuts)) <= 5, shared >= 0.85 * sum(map(len, sent[:-1])))


@pytest.mark.parametrize("in_run", [True, False], ids=["in the run", "after the run"])
def test_a_prompt_that_a_guardrail_rewrites_is_never_shown_again(cutting, in_run):
    """S23: whatever was planned and remembered of it, as the task before a cut in its turn, or in the next run."""
    rig, events = Rig(manager=cutting()), []
    rig.fill()

    def redact(event):
        events.append(event)
        if len(events) == (4 if in_run else 6):
            rig.agent.messages[10]["content"] = [{"text": "[redacted]"}]

    rig.agent.hooks.add_callback(hooks.AfterToolCallEvent, redact)
    rig.agent.hooks.add_callback(hooks.AfterInvocationEvent, redact)
    rig.run("My secret.", *fetches(1_500, 1_600, 1_700, 1_800, 100), "Fine.")
    rig.run("And now?", "Nothing.")
    said = {"My secret.": "secret", "[redacted]": "redacted"}
    shown = [[said[text] for message in view for text in texts(message) if text in said] for view in rig.views[5:]]
    first = 4 if in_run else 6
    assert [["secret"]] * first + [["redacted"]] * (7 - first) == shown
    assert ([], True) == (rig.model.refused, rig.manager.receipts(rig.agent)[-2].reason != "log")


class FailingCounter(TiktokenCounter):
    """A counter that stops working."""

    works = True

    def count_message(self, message):
        if not self.works:
            raise OSError("the table is gone")
        return super().count_message(message)


def test_a_failure_inside_management_sends_what_was_sent_last_time_and_what_is_new(cutting, caplog):
    """R16: the run goes on with a warning for each call; the bytes of the view before stay, and stay legal."""
    counter = FailingCounter()
    rig = Rig(manager=cutting(counter=counter))
    rig.fill()
    rig.run("Go on.", "I do.")
    counter.works = False
    rig.run("And now?", *fetches(200), "Nothing.")
    said = {"role": "assistant", "content": [{"text": "I do."}]}
    plain = [[{"role": m["role"], "content": m["content"]} for m in view] for view in rig.views[-3:]]
    asked = {"role": "user", "content": [{"text": "And now?"}]}
    assert ([*plain[0], said, asked], plain[1]) == (plain[1], plain[2][:-2])
    warned = [record for record in caplog.records if "management failed" in record.message]
    everything = len(bytes_of(rig.agent.messages))
    assert (2, True, []) == (len(warned), len(bytes_of(rig.views[-1])) < 0.5 * everything, rig.broken_laws())
