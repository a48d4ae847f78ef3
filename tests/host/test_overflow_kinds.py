"""Refusals that the host does not know, those that are not for tokens, and those that are none."""

from __future__ import annotations

import pytest
from strands import hooks
from strands.types.exceptions import ContextWindowOverflowException

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
    return {"image": {"format": "png", "source": {"bytes": f"picture {number}".encode()}}}


@pytest.mark.parametrize(
    "text",
    [
        "too many images and documents: 16 + 0 > 5",
        "total payload size exceeds 25000000 bytes: too many total text bytes",
    ],
)
def test_a_refusal_for_images_or_bytes_drops_the_oldest_images(kind, text):
    """R13: half of them at each attempt, and no text; the next call shows as few, and no attempt is needed."""
    rig = narrow_rig(kind, window_tokens=90_000)
    error = ContextWindowOverflowException(text)
    rig.model._fail_at.update({1: error, 2: error})
    rig.run([{"text": "Look."}, *map(image, range(16))], "Seen.")
    rig.run("And now?", "Seen.")
    shown = [
        [block["image"]["source"]["bytes"] for block in view[0]["content"] if "image" in block] for view in rig.views
    ]
    newest = [f"picture {number}".encode() for number in range(16)]
    assert [newest, newest[8:], newest[12:], newest[12:]] == shown
    assert [True] * 4 == [any(block.get("text") == "Look." for block in view[0]["content"]) for view in rig.views]
    assert [] == rig.broken_laws()


def test_a_refusal_for_images_where_there_are_none_is_raised(kind):
    """A smaller text would not help."""
    rig = narrow_rig(kind, window_tokens=90_000)
    rig.model._fail_at[1] = ContextWindowOverflowException("too many images: 0")
    with pytest.raises(ContextWindowOverflowException):
        rig.run(text_of(20_000), "Seen.")
    assert (1, []) == (len(rig.model.requests), rig.broken_laws())
