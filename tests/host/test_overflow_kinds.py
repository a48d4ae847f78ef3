"""Refusals that the host does not know, those that are not for tokens, and those that are none."""

from __future__ import annotations

import pytest
from strands import hooks
from strands.types.exceptions import ContextWindowOverflowException, ModelThrottledException

from strands_ctx import BudgetSuffixManager, CapToolResultsManager, PerTurnManager

from .support.rig import FaultyModel, Rig, fetches, text_of

UNBOUNDED = {
    "cap": lambda: CapToolResultsManager(512),
    "suffix": BudgetSuffixManager,
    "per_turn": lambda: PerTurnManager(recent_tokens=100_000),
}


@pytest.fixture(params=sorted(UNBOUNDED))
def kind(request):
    """A manager that has no reason to make a view smaller before a refusal."""
    return request.param


class NarrowModel(FaultyModel):
    """A model whose real window is narrower than it says."""

    def get_config(self):
        return {**self.config, "context_window_limit": 100_000}


def narrow_rig(kind, *, window_tokens):
    """A rig whose model refuses what the manager believes to fit."""
    return Rig(kind, manager=UNBOUNDED[kind](), model=NarrowModel(context_window_limit=window_tokens))


def overflows(rig):
    """How many requests were refused as too large."""
    return sum(request.overflowed for request in rig.model.requests)


@pytest.mark.parametrize(
    "text",
    [
        "request (21032 tokens) exceeds the available context size (2048 tokens), try increasing it",
        "This model's maximum prompt length is 8192 but the request contains 21032 tokens",
    ],
)
def test_a_refusal_that_the_host_does_not_know_is_recovered(kind, text):
    """R12: a plain error of the provider's class, which the host lets through."""
    rig = narrow_rig(kind, window_tokens=2_000)
    rig.model._overflow_error, rig.model._overflow_text = RuntimeError, text
    result = rig.run("Fetch.", *fetches(*[1_500] * 8), "Fetched.")
    assert (True, "end_turn", []) == (overflows(rig) > 0, result.stop_reason, rig.broken_laws())


@pytest.mark.parametrize("text", ["Too many tokens per minute", "max_tokens: integer above maximum value"])
def test_what_only_sounds_like_a_refusal_is_not_retried(kind, text):
    """R12: a rate and an argument are not ours to mend."""
    rig = narrow_rig(kind, window_tokens=20_000)
    rig.run("Fetch.", *fetches(*[1_500] * 4), "Fetched.")
    asked = len(rig.model.requests)
    rig.model._fail_at[asked + 1] = RuntimeError(text)
    with pytest.raises(Exception, match=text):
        rig.run("And now?", "Nothing.")
    assert (asked + 1, "failed") == (len(rig.model.requests), rig.manager.receipts(rig.agent)[-1].outcome)


def test_an_answer_that_ran_into_the_window_is_asked_for_again(kind):
    """The stop reason with which a provider ends an answer for which there was no room left."""
    rig = narrow_rig(kind, window_tokens=20_000)
    rig.run("Fetch.", *fetches(*[1_500] * 6), "Fetched.")
    stopped = []

    async def stop_at_the_window(event):
        if not stopped and event.stop_response is not None:
            stopped.append(event.stop_response.message)
            event.stop_response.stop_reason = "model_context_window_exceeded"

    rig.agent.hooks.add_callback(hooks.AfterModelCallEvent, stop_at_the_window)
    rig.run("And now?", "Half an", "A whole answer.")
    last = rig.manager.receipts(rig.agent)[-2:]
    assert (["overflow", "complete"], True) == (
        [r.outcome for r in last],
        last[1].view_tokens <= 0.75 * last[0].view_tokens,
    )
    assert ("A whole answer.", []) == (rig.agent.messages[-1]["content"][0]["text"], rig.broken_laws())


def image(number):
    """An image of no known size."""
    return {"image": {"format": "png", "source": {"bytes": f"picture {number:03}".encode() * 100}}}


TOO_MANY = "too many images and documents: 16 + 0 > 5"
TOO_HEAVY = "total payload size exceeds 25000000 bytes: too many total text bytes"


@pytest.mark.parametrize(("text", "later"), [(TOO_MANY, 4), (TOO_HEAVY, 16)], ids=["images", "bytes"])
def test_a_refusal_for_images_or_bytes_drops_the_oldest_images(kind, text, later):
    """R13: half of them at each attempt, and no text. How many a model takes holds later, a weight does not."""
    rig = narrow_rig(kind, window_tokens=90_000)
    error = ContextWindowOverflowException(text)
    rig.model._fail_at.update({1: error, 2: error})
    rig.run([{"text": "Look."}, *map(image, range(16))], "Seen.")
    rig.run("And now?", "Seen.")
    shown = [
        [block["image"]["source"]["bytes"] for block in view[0]["content"] if "image" in block] for view in rig.views
    ]
    newest = [image(number)["image"]["source"]["bytes"] for number in range(16)]
    assert [newest, newest[8:], newest[12:], newest[-later:]] == shown
    assert [True] * 4 == [any(block.get("text") == "Look." for block in view[0]["content"]) for view in rig.views]
    assert [] == rig.broken_laws()


def test_a_refusal_for_bytes_that_are_text_spares_the_image(kind):
    """R13: a heavy text beside a small picture; the next turn's picture is shown too."""
    rig = narrow_rig(kind, window_tokens=90_000)
    rig.model._fail_at[1] = ContextWindowOverflowException(TOO_HEAVY)
    rig.run([{"text": text_of(60_000)}, image(1)], "Seen.")
    rig.run([{"text": "And this?"}, image(2)], "Seen.")
    images = [[b for m in view for b in m["content"] if "image" in b] for view in rig.views]
    assert ([1, 1], image(2), []) == ([len(shown) for shown in images[:2]], images[2][-1], rig.broken_laws())


def test_a_throttle_between_two_refusals_does_not_undo_the_first(kind):
    """R12: each attempt is at most three quarters of the last, whatever the service answers in between."""
    rig = narrow_rig(kind, window_tokens=90_000)
    refused, throttled = ContextWindowOverflowException("Input is too long."), ModelThrottledException("Slow down.")
    rig.model._fail_at.update({1: refused, 2: throttled, 3: refused, 4: throttled})
    rig.run(text_of(60_000), "Seen.")
    sizes = [request.prompt_tokens for request in rig.model.requests]
    assert (5, True, True, []) == (len(sizes), sizes[2] <= sizes[1], sizes[4] <= 0.8 * sizes[2], rig.broken_laws())


def test_a_large_system_prompt_does_not_keep_messages_from_shrinking():
    """R3: the whole can't shrink to three quarters, the messages can."""
    model = NarrowModel(context_window_limit=12_000)
    rig = Rig("suffix", manager=BudgetSuffixManager(), model=model, system_prompt="Be exact. " * 4_000)
    rig.run(text_of(12_000), "Seen.")
    assert (True, []) == (overflows(rig) > 0, rig.broken_laws())


def test_a_limit_that_can_not_be_the_models_does_not_bind_later_calls(kind):
    """A mistaken number in one refusal must not shrink the agent for good."""
    rig = narrow_rig(kind, window_tokens=90_000)
    rig.model._fail_at[1] = ContextWindowOverflowException("prompt is too long: 12000 tokens > 1200 maximum")
    rig.run(text_of(40_000), "Seen.")
    rig.run("And now?", "Seen.")
    assert (True, []) == (rig.model.requests[-1].prompt_tokens > 4_000, rig.broken_laws())


def test_a_refusal_for_images_where_there_are_none_is_raised(kind):
    """A smaller text would not help."""
    rig = narrow_rig(kind, window_tokens=90_000)
    rig.model._fail_at[1] = ContextWindowOverflowException("too many images: 0")
    with pytest.raises(ContextWindowOverflowException):
        rig.run(text_of(20_000), "Seen.")
    assert (1, []) == (len(rig.model.requests), rig.broken_laws())
