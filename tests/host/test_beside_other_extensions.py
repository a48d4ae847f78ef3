"""Beside an app's own middleware, plugins, hooks and routers: they see the log and their changes reach the model."""

from __future__ import annotations

import dataclasses

import pytest
from strands import Agent, hooks
from strands.plugins import Plugin
from strands.vended_plugins.context_injector import ContextInjector

from strands_ctx import BudgetSuffixManager, PerTurnManager

from .support.middleware import add_input_handler
from .support.rig import MANAGERS, FaultyModel, Rig, fetch, fetches, text_of


@pytest.fixture(params=sorted(MANAGERS))
def kind(request):
    """The name of a manager."""
    return request.param


class Redactor(Plugin):
    """An app's plugin: it hides a word in what the model is sent, and counts what it sees."""

    name = "redactor"

    def __init__(self):
        super().__init__()
        self.seen: list[int] = []

    def init_agent(self, agent):
        add_input_handler(agent, self.redact)

    def redact(self, context):
        self.seen.append(len(context.messages))
        for message in context.messages:
            for block in message["content"]:
                if "text" in block:
                    block["text"] = block["text"].replace("secret", "hidden")
        return context


def said(view):
    """All plain texts of a view."""
    return " ".join(block["text"] for message in view for block in message["content"] if "text" in block)


def test_a_plugins_middleware_sees_the_whole_log_and_its_change_reaches_the_model(kind):
    """It runs before ours: the view is made of what it returned, and the log is not changed by it."""
    plugin = Redactor()
    rig = Rig(kind, plugins=[plugin])
    rig.fill()
    rig.run("Tell the secret.", *fetches(1_500, 1_600), "It is told.")
    seen = [1, 3, 5, 7, 9, 11, 13, 15]
    assert (seen, True, False, "Tell the secret.", []) == (
        plugin.seen,
        "Tell the hidden." in said(rig.views[-1]),
        "secret" in said(rig.views[-1]),
        rig.agent.messages[10]["content"][0]["text"],
        rig.broken_laws(),
    )


def test_a_middleware_that_replaces_the_messages_is_followed(kind):
    """The view is made of the replacement, also where that is much larger than the log."""

    def replace(context):
        extra = {"role": "user", "content": [{"text": text_of(900)}]}
        answer = {"role": "assistant", "content": [{"text": "Noted."}]}
        return dataclasses.replace(context, messages=[extra, answer] * 8 + context.messages)

    class Replacer(Plugin):
        name = "replacer"

        def init_agent(self, agent):
            add_input_handler(agent, replace)

    rig = Rig(kind, plugins=[Replacer()])
    rig.fill()
    rig.run("And now?", "Nothing.")
    whole = len(rig.agent.messages) - 1 + 16
    assert ((whole,) if kind == "cap" else (len(rig.views[-1]),), []) == ((len(rig.views[-1]),), rig.broken_laws())
    if kind != "cap":
        assert max(request.prompt_tokens for request in rig.model.requests[3:]) <= 1_500


def test_a_middleware_that_is_added_later_sees_the_view(kind):
    """Registered after the agent was made, it runs after ours and has the last word."""
    seen = []
    rig = Rig(kind)
    add_input_handler(rig.agent, lambda context: (seen.append(len(context.messages)), context)[1])
    rig.fill()
    assert [len(view) for view in rig.views] == seen


@pytest.mark.parametrize("trigger", ["userTurn", "everyTurn"])
def test_injected_context_reaches_the_model_with_the_prompt(kind, trigger):
    """The host's injector adds a block to the last message for one call; it is in the view and in no log."""
    injector = ContextInjector(lambda context, **kwargs: "The time is 12:00.", trigger=trigger)
    rig = Rig(kind, plugins=[injector])
    rig.fill()
    rig.run("What time is it?", "Noon.")
    assert (True, False, []) == (
        "12:00" in said(rig.views[-1][-1:]),
        "12:00" in said(rig.agent.messages),
        rig.broken_laws(),
    )


def test_a_hook_that_changes_a_result_is_seen_by_the_model(kind):
    """An AfterToolCall hook replaces a result; the log and the view hold the replacement."""

    def replace(event):
        event.result = {**event.result, "content": [{"text": "replaced"}]}

    rig = Rig(kind)
    rig.agent.hooks.add_callback(hooks.AfterToolCallEvent, replace)
    rig.run("Fetch.", *fetches(1_500), "Fetched.")
    shown = rig.views[-1][-1]["content"][0]["toolResult"]["content"]
    assert ([{"text": "replaced"}], []) == (shown, rig.broken_laws())


def test_a_message_that_was_redacted_in_the_log_is_redacted_in_the_next_view(kind):
    """A guardrail rewrites the last user message in place: what is kept of older calls is not sent instead."""
    rig = Rig(kind)
    rig.run("My number is 4711.", "Noted.")
    rig.agent.messages[0]["content"] = [{"text": "[redacted]"}]
    rig.watch.rebase()
    rig.anchors.clear()
    rig.run("Go on.", "Fine.")
    assert (False, True) == ("4711" in said(rig.views[-1]), "[redacted]" in said(rig.views[-1]))


@pytest.mark.parametrize("index", [10, 12, 14], ids=["task", "seen result", "new result"])
def test_a_message_that_a_hook_rewrites_in_the_middle_of_a_run_is_rewritten_in_the_next_view(kind, index):
    """An app's hook may edit the log in place before a call; the call is sent the edit, also where its view is cut."""

    def rewrite(event):
        if len(event.agent.messages) == 15:
            event.agent.messages[index]["content"].append({"text": "rewritten"})

    rig = Rig(kind)
    rig.fill()
    rig.agent.hooks.add_callback(hooks.BeforeModelCallEvent, rewrite)
    rig.run("Fetch.", *fetches(100, 120), "Fetched.")
    assert "rewritten" in said(rig.views[-1])


def test_a_task_that_a_hook_rewrites_behind_the_cut_is_rewritten_in_the_next_view():
    """The task stays in a view that is cut inside its turn, with every edit of it."""

    def rewrite(event):
        if len(event.agent.messages) == 9:
            event.agent.messages[0]["content"].append({"text": "rewritten"})

    rig = Rig("suffix")
    rig.agent.hooks.add_callback(hooks.BeforeModelCallEvent, rewrite)
    rig.run("Fetch.", *fetches(1_900, 1_900, 1_900, 1_900, 200), "Fetched.")
    receipt = rig.manager.receipts(rig.agent)[-2]
    assert (True, True) == (receipt.cut > 1, "rewritten" in said(rig.views[-1]))


class Swapper(Plugin):
    """A router: it picks the model of each call."""

    name = "swapper"

    def __init__(self, models):
        super().__init__()
        self.models, self.calls = models, 0

    def init_agent(self, agent):
        add_input_handler(agent, self.swap)

    def swap(self, context):
        self.calls += 1
        return dataclasses.replace(context, model=self.models[self.calls % len(self.models)])


@pytest.mark.parametrize("manager", [BudgetSuffixManager, lambda: PerTurnManager(recent_tokens=300)])
def test_a_view_fits_the_model_that_a_router_picked_for_the_call(manager):
    """Every second call goes to a model with a small window; neither is ever asked for more than it takes."""
    wide, narrow = FaultyModel(context_window_limit=20_000), FaultyModel(context_window_limit=2_500)
    rig = Rig(manager=manager(), model=wide, plugins=[Swapper([wide, narrow])])
    for round_number in range(3):
        for position, model in enumerate((narrow, wide)):
            model._ids = 1_000 * (2 * round_number + position)
            model.say(*fetches(1_500, 1_600, 1_700))
        wide.say(*fetches(1_500, 1_600), "Fetched.")
        narrow.say(*fetches(1_500, 1_600, 1_700), "Fetched.")
        rig.agent("Fetch.")
    outcomes = {request.outcome for model in (wide, narrow) for request in model.requests}
    assert ({"answered"}, True, [], []) == (
        outcomes,
        len(narrow.requests) > 3 < len(wide.requests),
        narrow.refused,
        rig.broken_laws(),
    )


def test_the_hosts_own_router_recovers_from_a_failing_model():
    """Where the host has one: the first model is down, the second answers, under the same view."""
    routing = pytest.importorskip("strands.models.routing")
    down, up = FaultyModel(context_window_limit=20_000), FaultyModel(context_window_limit=2_500)
    down._fail_at = dict.fromkeys(range(1, 100), ConnectionError("down"))
    up.say(*fetches(1_500, 1_600, 1_700, 1_800), "Fetched.")
    down.say("Never said.")
    agent = Agent(
        model=routing.ModelRouter([down, up]),
        tools=[fetch],
        conversation_manager=MANAGERS["suffix"](),
        callback_handler=None,
    )
    result = agent("Fetch.")
    assert ("end_turn", 10, []) == (result.stop_reason, len(agent.messages), up.refused)
