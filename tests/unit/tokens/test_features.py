"""Features: what kind of text a message is, in numbers that add up."""

from __future__ import annotations

from dataclasses import fields

import pytest

from strands_ctx.ledger.feature_sums import FeatureSums
from strands_ctx.tokens import CharacterCounter, Features, TiktokenCounter
from strands_ctx.tokens.features import message_features, text_features
from tests.builders import cycle, user

COUNTER = TiktokenCounter()
GERMAN = "Über den weiteren Betrieb entscheidet die Behörde, sobald das Gutachten vorliegt. " * 20
KOREAN = "운영사는 출력을 제한하고 시험 운전을 다시 시작했다. " * 20


def shares(text):
    """The features of a text that tell its kind, for each of its tokens."""
    features = message_features(COUNTER, user(text))
    kinds = features.digits, features.accented_tokens, features.wide_tokens
    return tuple(round(kind / features.tokens, 1) for kind in kinds)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The operator asked for a second opinion. " * 20, (0.0, 0.0, 0.0)),
        ("234.34, 212.46, 228.56, " * 20, (1.0, 0.0, 0.0)),
        (GERMAN, (0.0, 1.0, 0.0)),
        (KOREAN, (0.0, 0.0, 1.0)),
    ],
)
def test_kinds_of_text_differ_in_their_features(text, expected):
    """English has none of them; the others have one each."""
    assert expected == shares(text)


def test_a_long_run_of_spaces_is_bounded_by_its_tokens():
    """A thousand spaces are a few tokens, and must not outweigh the text beside them."""
    features = message_features(COUNTER, user(" " * 10_000 + "end"))
    assert (True, True) == (features.spaces <= 2 * features.tokens, features.extra_chars <= 4 * features.tokens)


def test_media_are_no_text():
    """An image has tokens, and no characters that would be missing."""
    image = {"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": b"x"}}}]}
    features = message_features(COUNTER, image)
    assert (1_600, 0, 0) == (features.other_tokens - 4, features.extra_chars, features.spaces)


def test_results_calls_and_the_rest_are_told_apart():
    """Payloads, calls with the wrapping of results, and the frame of each message; texts count for their kind."""
    counter, (called, answered) = CharacterCounter(), cycle("a", "7" * 40)
    seen = [message_features(counter, message) for message in (called, answered)]
    parts = [(part.result_tokens, part.call_tokens, part.other_tokens, part.digits) for part in seen]
    assert [(0, counter.count_message(called) - 4, 4, 0), (counter.count_text("7" * 40), 8, 4, 40)] == parts


class AskedCounter:
    """A counter that is no walk over blocks: twice the characters, and a record of what was asked."""

    exact = False

    def __init__(self):
        self.asked = []

    def count_text(self, text):
        """Count a text."""
        self.asked.append(text)
        return 2 * CharacterCounter().count_text(text)

    def count_message(self, message):
        """Count a message."""
        return 2 * CharacterCounter().count_message(message)

    def count_tools(self, specs):
        """Count no tools."""
        return 0


def test_calls_are_a_share_where_each_count_may_be_a_request():
    """A call beside a text is in proportion to the characters of both, and nothing more is asked for it."""
    counter, message = AskedCounter(), cycle("a", "short")[0]
    message = {**message, "content": [{"text": "Let me look. " * 8}, *message["content"]]}
    features = message_features(counter, message)
    characters = message_features(CharacterCounter(), message)
    parts = features.call_tokens, features.other_tokens, counter.asked
    assert (2 * characters.call_tokens, 2 * characters.other_tokens, []) == parts


def test_media_are_told_apart_but_not_documents_of_text():
    """An image in a result and one in a prompt, a PDF, and a text file that is read as other text is."""
    image = {"image": {"format": "png", "source": {"bytes": b"x"}}}
    pdf = {"document": {"format": "pdf", "name": "d", "source": {"bytes": b"%PDF-1.4"}}}
    note = {"document": {"format": "txt", "name": "d", "source": {"bytes": b"word " * 90}}}
    result = {"toolResult": {"toolUseId": "a", "status": "success", "content": [image, {"text": "seen"}, pdf, note]}}
    found = [message_features(COUNTER, user(*blocks)).media_tokens for blocks in ([image], [result], [note], ["hi"])]
    assert [1_600, 1_600 + 2_500 + COUNTER.count_text("d"), 0, 0] == found


def test_a_text_that_joins_a_message_has_no_frame():
    """A note of omission is a block of a message that is there."""
    text = "20 earlier messages are not shown."
    features = text_features(COUNTER, text)
    parts = features.other_tokens, features.messages, features.digits
    assert (COUNTER.count_text(text), 0, 2) == parts


def test_parts_add_up_and_can_be_taken_away():
    """The sum less a part is the other part."""
    size = len(fields(Features))
    first, second = Features(*range(size)), Features(*range(size, 0, -1))
    assert (Features(*[size] * size), first) == (first + second, first + second - second)


def test_sums_follow_what_is_entered_and_forgotten():
    """Any range at any time; what is not known counts nothing."""
    sums = FeatureSums()
    sums.resize(4)
    for index in range(4):
        sums[index] = Features(10**index)
    found = [sums.total(0, 4).result_tokens, sums.total(1, 3).result_tokens]
    sums[1] = None
    found += [sums.total(0, 4).result_tokens, list(sums.unknown(0, 4))]
    sums.resize(2)
    sums.resize(3)
    assert [1_111, 110, 1_101, [1], 1, [1, 2]] == [*found, sums.total(0, 3).result_tokens, list(sums.unknown(0, 3))]
