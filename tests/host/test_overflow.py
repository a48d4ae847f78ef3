"""A refusal as too long is recovered by a smaller view, or raised at once where nothing helps; the log stays."""

from __future__ import annotations

import inspect
from itertools import pairwise

import pytest
from strands import hooks
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx import BudgetExceededError, BudgetSuffixManager, CapToolResultsManager, PerTurnManager

from .support.rig import FaultyModel, Rig, fetches, text_of

TOLD_WINDOW_TOKENS = 100_000

UNBOUNDED = {
    "cap": lambda: CapToolResultsManager(512),
    "suffix": BudgetSuffixManager,
    "per_turn": lambda: PerTurnManager(recent_tokens=100_000),
}


class NarrowModel(FaultyModel):
    """A model whose real window is narrower than it says, and may get narrower with each refusal."""

    def __init__(self, *, window_tokens, shrink_ratio=1.0, ends_after=None):
        super().__init__(context_window_limit=window_tokens)
        self.shrink_ratio, self.ends_after = shrink_ratio, ends_after
        self.depths: list[int] = []

    def get_config(self):
        return {**self.config, "context_window_limit": TOLD_WINDOW_TOKENS}

    async def stream(self, *args, **kwargs):
        self.depths.append(len(inspect.stack(0)))
        try:
            async for event in super().stream(*args, **kwargs):
                yield event
        except ContextWindowOverflowException:
            self.config["context_window_limit"] *= self.shrink_ratio
            if self.overflows == self.ends_after:
                self.script = (*self.script[: self.position + 1], "Fetched.")
            raise

    @property
    def overflows(self):
        return sum(request.overflowed for request in self.requests)


@pytest.fixture(params=sorted(UNBOUNDED))
def kind(request):
    """A manager that has no reason to make a view smaller before a refusal."""
    return request.param


def narrow_rig(kind, **arguments):
    """A rig whose model refuses what the manager believes to fit."""
    return Rig(kind, manager=UNBOUNDED[kind](), model=NarrowModel(**arguments))


def test_an_overflow_is_recovered_and_the_log_stays(kind):
    """One refusal in the middle of a run; the same call is made again with a smaller view."""
    rig = narrow_rig(kind, window_tokens=2_000)
    length = len(fetches(*[1_500] * 8)) * 2 + 2
    result = rig.run("Fetch.", *fetches(*[1_500] * 8), "Fetched.")
    assert (True, "end_turn", length, []) == (
        rig.model.overflows > 0,
        result.stop_reason,
        len(rig.agent.messages),
        rig.broken_laws(),
    )


def test_an_attempt_takes_at_most_three_quarters_of_the_refused_view(kind):
    """Each attempt makes progress, told by the receipts."""
    rig = narrow_rig(kind, window_tokens=2_000)
    rig.run("Fetch.", *fetches(*[1_500] * 8), "Fetched.")
    receipts = rig.manager.receipts(rig.agent)
    pairs = [(a, b) for a, b in pairwise(receipts) if a.outcome == "overflow"]
    ratios = [after.view_tokens / before.view_tokens for before, after in pairs]
    assert (True, True, {"overflow"}) == (
        len(pairs) > 0,
        all(ratio <= 0.75 for ratio in ratios),
        {after.reason for _, after in pairs},
    )


def test_a_retry_is_made_at_the_depth_of_the_call_and_asks_no_second_line(kind):
    """The refused call and its retry have the same stack; reduce_context, which recurses, is not called."""
    rig = narrow_rig(kind, window_tokens=2_000)
    reduced = []
    original = rig.manager.reduce_context
    rig.manager.reduce_context = lambda *args, **kwargs: (reduced.append(args), original(*args, **kwargs))
    rig.run("Fetch.", *fetches(*[1_500] * 8), "Fetched.")
    outcomes = [request.overflowed for request in rig.model.requests]
    deeper = [
        after - before
        for before, after, overflowed in zip(rig.model.depths, rig.model.depths[1:], outcomes, strict=False)
        if overflowed
    ]
    assert ([], {0}) == (reduced, set(deeper))


def test_a_retry_is_the_same_call(kind):
    """An attempt has the number of the call that it repeats."""
    rig = narrow_rig(kind, window_tokens=2_000)
    rig.run("Fetch.", *fetches(*[1_500] * 8), "Fetched.")
    receipts = rig.manager.receipts(rig.agent)
    complete = [receipt.call for receipt in receipts if receipt.outcome == "complete"]
    assert (list(range(1, 10)), len(rig.model.requests)) == (complete, len(receipts))


def refusals(*numbers):
    """The refusals of a provider that gives no numbers, by the number of the request."""
    return {number: ContextWindowOverflowException("Input is too long for requested model.") for number in numbers}


@pytest.mark.parametrize(("kind", "window_tokens"), [("cap", 40_000), ("suffix", 16_000), ("per_turn", 16_000)])
def test_eleven_overflows_in_one_run_succeed(kind, window_tokens):
    """R4: a window that gets narrower each time it is hit, without a word of how wide it is."""
    rig = narrow_rig(kind, window_tokens=window_tokens, shrink_ratio=0.86, ends_after=11)
    rig.model._overflow_text = "Input is too long for requested model."
    size = 8_000 if kind == "cap" else 4_000
    result = rig.run("Fetch.", *fetches(*[size] * 250))
    assert (True, "end_turn", []) == (rig.model.overflows >= 11, result.stop_reason, rig.broken_laws())


def test_one_overflow_that_needs_eleven_steps_succeeds(kind):
    """R4: each attempt makes progress, and the twelfth is accepted."""
    rig = Rig(kind, manager=UNBOUNDED[kind](), model=FaultyModel(context_window_limit=TOLD_WINDOW_TOKENS))
    rig.model._fail_at.update(refusals(*range(1, 12)))
    rig.run(text_of(300_000), "Long.")
    tokens = [receipt.view_tokens for receipt in rig.manager.receipts(rig.agent)]
    ratios = [after / before for before, after in pairwise(tokens)]
    assert (12, [], []) == (len(tokens), [ratio for ratio in ratios if ratio > 0.75], rig.broken_laws())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("prompt is too long: {tokens} tokens > {limit} maximum", 2),
        ("Input is too long for requested model.", 5),
    ],
)
def test_the_numbers_of_a_provider_save_attempts(text, expected):
    """A view of three times the window is cut to the window at once, where the provider says how large that is."""
    model = NarrowModel(window_tokens=10_000)
    model._overflow_text = text
    rig = Rig("suffix", manager=BudgetSuffixManager(), model=model)
    rig.run(text_of(150_000), "Long.")
    assert (expected, []) == (len(rig.model.requests), rig.broken_laws())


def test_numbers_that_are_not_plausible_are_not_believed():
    """A hostile or mistaken text does not shrink a view to nothing."""
    model = NarrowModel(window_tokens=20_000)
    model._overflow_text = "prompt is too long: 900000000 tokens > 5 maximum"
    rig = Rig("suffix", manager=BudgetSuffixManager(), model=model)
    rig.run(text_of(100_000), "Long.")
    assert (2, True, []) == (
        len(rig.model.requests),
        rig.model.requests[-1].prompt_tokens > 10_000,
        rig.broken_laws(),
    )


@pytest.mark.parametrize("window_tokens", [1_000, 3_000])
def test_one_message_that_is_too_long_is_shown_in_part(kind, window_tokens):
    """A pasted text alone overflows: each attempt shows at most three quarters of the last, until one is accepted."""
    rig = narrow_rig(kind, window_tokens=window_tokens)
    rig.run(text_of(20_000), "Long.")
    tokens = [receipt.view_tokens for receipt in rig.manager.receipts(rig.agent)]
    steps = [after / before for before, after in pairwise(tokens)]
    assert (True, [], text_of(20_000), []) == (
        len(steps) > 0,
        [step for step in steps if step > 0.75],
        rig.agent.messages[0]["content"][0]["text"],
        rig.broken_laws(),
    )


def test_an_overflow_with_nothing_to_cut_is_raised_at_once(kind):
    """The provider's own error, after one attempt."""
    rig = narrow_rig(kind, window_tokens=200)
    with pytest.raises(ContextWindowOverflowException) as raised:
        rig.run("Hello.", "Hello.")
    assert (1, False, [], 1) == (
        len(rig.model.requests),
        isinstance(raised.value, BudgetExceededError),
        rig.broken_laws(),
        len(rig.agent.messages),
    )


def test_the_error_that_is_raised_is_the_providers_own_object(kind):
    """R3: neither wrapped nor replaced; a note on it gives the numbers."""
    rig = narrow_rig(kind, window_tokens=20_000)
    error = ContextWindowOverflowException("Input is too long for requested model.")
    rig.model._fail_at[1] = error
    with pytest.raises(ContextWindowOverflowException) as raised:
        rig.run("Hello.", "Hello.")
    assert (True, 1) == (raised.value is error, len(rig.model.requests))
    (note,) = error.__notes__
    assert (True, True) == (note.startswith("strands_ctx: a view of about"), "system prompt 0" in note)


def test_overflows_without_end_end(kind):
    """A provider that refuses everything is asked a few times, each time with less, and then its error is raised."""
    rig = narrow_rig(kind, window_tokens=20_000)
    rig.run("Fetch.", *fetches(*[1_500] * 8), "Fetched.")
    before = len(rig.model.requests)
    for number in range(before + 1, before + 100):
        rig.model._fail_at[number] = ContextWindowOverflowException("Input is too long for requested model.")
    with pytest.raises(ContextWindowOverflowException):
        rig.run("And now?", "Nothing.")
    tokens = [request.prompt_tokens for request in rig.model.requests[before:]]
    assert (True, sorted(tokens, reverse=True), []) == (len(tokens) < 12, tokens, rig.broken_laws())


def test_a_run_after_an_unrecovered_overflow_is_answered(kind):
    """The log is intact and the agent usable."""
    rig = narrow_rig(kind, window_tokens=3_000)
    with pytest.raises(ContextWindowOverflowException):
        rig.run([{"guardContent": {"text": {"text": text_of(20_000)}}}], "Fine.")
    rig.model.config["context_window_limit"] = 50_000
    rig.run("And now?", "Fine.")
    assert [] == rig.broken_laws()


def test_a_refusal_does_not_bind_a_wider_model():
    """After a swap to a model with a wider window, prompts that fit it are sent whole."""
    rig = Rig("cap", manager=CapToolResultsManager(512), model=NarrowModel(window_tokens=800))
    rig.run("Fetch.", *fetches(*[600] * 4), "Fetched.")
    rig.agent.model = rig.model = FaultyModel(context_window_limit=200_000)
    for _ in range(6):
        rig.run(text_of(2_000), "Fine.")
    assert text_of(2_000) == rig.views[-1][-1]["content"][0]["text"]


def test_the_second_line_recovers_where_a_hook_of_the_app_forbids_the_retry(kind):
    """An app's hook takes the retry back; the host then asks reduce_context, and the smaller view is accepted."""
    rig = narrow_rig(kind, window_tokens=2_000)

    rig.agent.hooks.add_callback(hooks.AfterModelCallEvent, lambda event: setattr(event, "retry", False), order=200)
    result = rig.run("Fetch.", *fetches(*[1_500] * 8), "Fetched.")
    assert (True, "end_turn", []) == (rig.model.overflows > 0, result.stop_reason, rig.broken_laws())
