"""Caps of the log, where they are asked for: results of finished runs, once they were seen, and nothing else."""

from __future__ import annotations

import copy

import pytest
from strands import hooks
from strands.types.exceptions import EventLoopException

from strands_ctx import CapToolResultsManager
from strands_ctx.testing import ToolCall

from .support.rig import CAPS_LOG, LOG_CAP_BYTES, FaultyModel, Rig, fetches, text_of
from .support.watch import result_bytes


@pytest.fixture(params=sorted(CAPS_LOG))
def rig(request):
    """An agent under a manager that caps its log."""
    return Rig(request.param)


def sizes(messages):
    """Bytes of the results of each message that has some."""
    return [result_bytes(message) for message in messages if any("toolResult" in b for b in message["content"])]


def history(*results):
    """A loaded history with one cycle a result and no answer yet after the last."""
    messages = [{"role": "user", "content": [{"text": "Fetch."}]}]
    for number, size in enumerate(results):
        tool_use = {"toolUseId": f"old_{number}", "name": "fetch", "input": {"size": size}}
        result = {"toolUseId": f"old_{number}", "status": "success", "content": [{"text": text_of(size)}]}
        messages += [
            {"role": "assistant", "content": [{"toolUse": tool_use}]},
            {"role": "user", "content": [{"toolResult": result}]},
        ]
    return messages


def test_results_of_a_finished_run_are_capped(rig):
    """After the run each result has at most the cap; small ones are whole."""
    rig.run("Fetch.", *fetches(100, 600, 1_700), "Fetched.")
    assert ([100, LOG_CAP_BYTES, LOG_CAP_BYTES], []) == (sizes(rig.agent.messages), rig.broken_laws())


def test_a_run_in_progress_sees_its_results_whole_in_the_log(rig):
    """At every model call of the run the log holds what the tools returned."""
    seen = []
    rig.agent.hooks.add_callback(hooks.BeforeModelCallEvent, lambda event: seen.append(sizes(event.agent.messages)))
    rig.run("Fetch.", *fetches(600, 1_700, 1_800), "Fetched.")
    assert [[], [600], [600, 1_700], [600, 1_700, 1_800]] == seen


def test_a_direct_call_in_the_middle_of_a_run_caps_nothing(rig):
    """The host manages the conversation after it, inside the run."""
    seen = []
    rig.agent.hooks.add_callback(hooks.BeforeModelCallEvent, lambda event: seen.append(sizes(event.agent.messages)))
    rig.run("Fetch.", *fetches(600), ToolCall("nested", {"size": 700}), "Fetched.")
    assert [[], [600], [600, 700]] == seen


def test_a_direct_call_between_runs_is_capped_once_a_model_has_seen_it(rig):
    """The host records it with an answer of its own, which no model gave: the next call carries the result whole."""
    rig.agent.tool.fetch(size=1_800)
    before = sizes(rig.agent.messages)
    rig.run("Fetch.", *fetches(600), "Fetched.")
    rig.agent.tool.fetch(size=1_800)
    assert ([1_800], [LOG_CAP_BYTES] * 2 + [1_800]) == (before, sizes(rig.agent.messages))
    assert 1_800 in sizes(rig.views[0])


def test_results_that_no_model_call_has_carried_are_never_capped(rig):
    """A limit ends the run right after a result: that one stays whole until a model has seen it."""
    rig.run("Fetch.", *fetches(600, 1_700, 1_800), "Fetched.", limits={"turns": 2})
    waiting = sizes(rig.agent.messages)
    rig.run(None, *rig.model.script[rig.model.position :])
    shown = sizes(rig.views[2])
    assert ([LOG_CAP_BYTES, 1_700], 1_700, []) == (waiting, shown[-1], rig.broken_laws())


def test_a_failed_run_is_finished_too(rig):
    """What was seen before the failure is capped, what was not is whole."""
    rig.model._fail_at[3] = ConnectionError("down")
    with pytest.raises(EventLoopException):
        rig.run("Fetch.", *fetches(600, 1_700, 1_800), "Fetched.")
    assert ([LOG_CAP_BYTES, 1_700], []) == (sizes(rig.agent.messages), rig.broken_laws())


def test_a_run_that_waits_for_a_person_is_not_finished(rig):
    """Its results are whole while it waits, when it goes on, and until it has ended."""
    seen = []

    def ask(event):
        if event.tool_use["input"].get("size") == 1_700:
            event.interrupt("approval", reason="large")

    rig.agent.hooks.add_callback(hooks.BeforeToolCallEvent, ask)
    result = rig.run("Fetch.", *fetches(600, 800, 1_700, 900), "Fetched.")
    waiting = sizes(rig.agent.messages)
    rig.agent.hooks.add_callback(hooks.AfterModelCallEvent, lambda event: seen.append(sizes(event.agent.messages)))
    rig.agent([{"interruptResponse": {"interruptId": i.id, "response": "yes"}} for i in result.interrupts])
    assert ([600, 800], [[600, 800, 1_700], [600, 800, 1_700, 900]]) == (waiting, seen)


def test_loaded_history_is_capped_before_the_first_model_call(rig):
    """Results in a history that came with the agent and that were answered; the newest unanswered one is whole."""
    rig = Rig("cap", manager=rig.manager, messages=[*history(600, 1_700), *_answer()])
    rig.run("And now?", "Nothing.")
    assert [LOG_CAP_BYTES, LOG_CAP_BYTES] == sizes(rig.views[0])


def _answer():
    return [{"role": "assistant", "content": [{"text": "Fetched."}]}]


def test_a_loaded_result_that_waits_for_the_model_is_whole(rig):
    """A history that ends on a result is resumed with that result whole, the older ones capped."""
    rig = Rig("cap", manager=rig.manager, messages=history(600, 1_700))
    rig.run(None, "Fetched.")
    assert ([LOG_CAP_BYTES, 1_700], []) == (sizes(rig.views[0]), rig.broken_laws())


def test_the_dictionaries_that_a_recorder_holds_are_not_changed(rig):
    """An AfterToolCall hook keeps the results it was given; the log's caps do not reach them."""
    held = []
    rig.agent.hooks.add_callback(hooks.AfterToolCallEvent, lambda event: held.append(event.result))
    rig.run("Fetch.", *fetches(600, 1_700), "Fetched.")
    texts = [result["content"][0]["text"] for result in held]
    assert ([600, 1_700], [LOG_CAP_BYTES] * 2) == ([len(text) for text in texts], sizes(rig.agent.messages))


def test_messages_and_content_lists_stay_the_same_objects(rig):
    """Whoever holds a message sees its cap."""
    held = []
    rig.agent.hooks.add_callback(
        hooks.MessageAddedEvent, lambda event: held.append((event.message, event.message["content"]))
    )
    rig.run("Fetch.", *fetches(600, 1_700), "Fetched.")
    same = [a is b and a["content"] is c for a, (b, c) in zip(rig.agent.messages, held, strict=True)]
    assert [True] * 6 == same


def test_a_second_run_caps_nothing_twice(rig):
    """Capping is done once: a capped result is the same after later runs."""
    rig.run("Fetch.", *fetches(600, 1_700), "Fetched.")
    once = copy.deepcopy(rig.agent.messages)
    rig.run("And now?", *fetches(900), "Nothing.")
    assert [message["content"] for message in once] == [message["content"] for message in rig.agent.messages[:6]]


def test_exempt_tools_stay_whole():
    """Results of a tool that is exempt are never capped in the log, parallel ones of others are."""
    rig = Rig("cap", manager=CapToolResultsManager(512, exempt_tools=("nested",)))
    rig.run("Fetch.", [ToolCall("nested", {"size": 900}), *fetches(900)], "Fetched.")
    assert ([900 + 512], []) == (sizes(rig.agent.messages), rig.broken_laws())


def test_error_results_keep_their_status(rig):
    """A capped error is an error still."""
    rig.run("Fetch.", [ToolCall("broken"), *fetches(900)], "Fetched.")
    statuses = [block["toolResult"]["status"] for block in rig.agent.messages[2]["content"]]
    assert (["error", "success"], []) == (statuses, rig.broken_laws())


@pytest.mark.parametrize("kind", ["suffix", "per_turn"])
def test_without_the_argument_the_log_is_never_capped(kind):
    """Every byte of every result is in the log after many runs."""
    rig = Rig(kind, model=FaultyModel(context_window_limit=20_000))
    for _ in range(3):
        rig.fill()
    assert ([1_600, 1_700, 1_800, 1_900] * 3, []) == (sizes(rig.agent.messages), rig.broken_laws())
