"""What no smaller prompt answers is no overflow, also where it stands in an error with a code or a class."""

from __future__ import annotations

import pytest

from strands_ctx.overflow.recognition import Overflow, find_overflow


class ApiError(Exception):
    """An error with the attributes of the SDKs."""

    def __init__(self, message, **attributes):
        super().__init__(message)
        self.__dict__.update(attributes)


def refused(output, limit, prompt=20):
    """A refusal of the output that was asked for."""
    return (
        f"'max_tokens' or 'max_completion_tokens' is too large: {output}. This model's maximum context length is "
        f"{limit} tokens and your request has {prompt} input tokens"
    )


@pytest.mark.parametrize("code", [None, "context_length_exceeded", "too_many_tokens"])
def test_an_output_that_exceeds_the_limit_alone_is_a_wrong_argument(code):
    """The smallest prompt would be refused too, whatever the code says; with room for a prompt it is an overflow."""
    wrong, tight = (ApiError(refused(output, 8192), code=code) for output in (8192, 8191))
    assert (None, Overflow("output_reserve", 20, 8192, "vllm")) == (find_overflow(wrong), find_overflow(tight))


@pytest.mark.parametrize(
    "text",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 100020 tokens (20 in the messages, "
        "100000 in the completion). Please reduce the length of the messages or completion.",
        "input length and `max_tokens` exceed context limit: 20 + 200000 > 200000, decrease input length",
    ],
)
def test_that_holds_in_everybodys_words(text):
    """Wherever prompt and output are told apart."""
    assert None is find_overflow(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("context_length_exceeded_error", "tokens"),
        ("model_context_window_exceeded", "tokens"),
        ("stream ended: context_window_exceeded.", "tokens"),
        ("Error 413: Request Entity Too Large", "payload_bytes"),
        ("error 413 from upstream", "payload_bytes"),
        ("HTTP 413 records too large", "payload_bytes"),
        ("Prompt is too long for this model. Upgrade your plan for a larger context.", "tokens"),
        ("Input tokens exceed the context of the free tier.", "tokens"),
    ],
)
def test_neighbours_of_the_lookalikes_are_told_apart(text, kind):
    """What was cut off from the patterns is no more than that."""
    found = find_overflow(text)
    assert kind == (found and found.kind)
