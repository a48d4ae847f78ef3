"""The ledger: what is known of a log, kept between calls."""

from __future__ import annotations

import copy

import pytest

from strands_ctx.capping.rules import Cap, CapRules
from strands_ctx.errors import HistoryError
from strands_ctx.ledger.ledger import Ledger
from tests.builders import WordCounter, assistant, cycle, ledger_of, pinned, texts, turn, user, words

SMALL = Cap(64)


class CountingCounter(WordCounter):
    """Also remembers how many messages it was asked for."""

    __slots__ = ("asked",)

    def __init__(self) -> None:
        self.asked = 0

    def count_message(self, message):
        """Count, and remember."""
        self.asked += 1
        return super().count_message(message)


def counts(ledger, start, stop, cap=None):
    """Tokens of results and of everything else over a range."""
    features = ledger.shown_features(start, stop, cap)
    return features.result_tokens, features.other_tokens


def test_unchanged_messages_are_not_counted_again():
    """Growing a log by two costs two counts, also when it comes as a deep copy."""
    counter = CountingCounter()
    log = [message for _ in range(50) for message in turn("go", "done")]
    ledger = ledger_of(log, counter)
    counter.asked = 0
    ledger.update([*copy.deepcopy(log), *turn("more", "done")])
    assert 2 == counter.asked


def test_a_message_changed_in_place_is_counted_anew():
    """A guardrail that redacts the last message, as S23 has it."""
    log = [user(words(50)), assistant("yes"), user(words(100))]
    ledger = ledger_of(log)
    ledger.update([*log[:2], user("[redacted]")])
    assert ((0, 5), ["[redacted]"]) == (counts(ledger, 2, 3), texts(ledger.shown(2, None)))


def test_tokens_are_split_into_results_calls_and_the_rest():
    """A result of 20 words: 20, and 8 for its wrapping, which goes with the calls, with 4 for the message."""
    ledger = ledger_of([user("go"), *cycle("a", words(20))])
    split = [(0, 5), (20, 4), 8]
    assert split == [counts(ledger, 0, 1), counts(ledger, 2, 3), ledger.features(2, 3).call_tokens]


def test_a_message_that_is_none_leaves_the_ledger_as_it_was():
    """The error names the index, and the next update goes on."""
    log = turn("go", "done")
    ledger = ledger_of(log)
    with pytest.raises(HistoryError) as caught:
        ledger.update([*log, {"role": "system", "content": []}])
    assert (2, 2) == (caught.value.index, len(ledger))


def test_a_shorter_log_is_forgotten_beyond_its_end():
    """Nothing of what is gone counts any more."""
    log = [*turn("go", "done"), user("x"), *cycle("a", words(99))]
    ledger = ledger_of(log)
    ledger.shown_features(0, 5, SMALL)
    ledger.update(log[:2])
    assert ([0], (0, 10), (0, 10)) == (ledger.starts, counts(ledger, 0, 2), counts(ledger, 0, 2, SMALL))


def test_a_tool_renamed_in_place_changes_what_is_exempt():
    """The caps of a message depend on the message before it."""
    log = [user("go"), *cycle("a", words(99), "search")]
    ledger = ledger_of(log, rules=CapRules(exempt_tools=frozenset({"read_pdf"})))
    ledger.shown_features(0, 3, SMALL)
    edited = [user("go"), *cycle("a", words(99), "read_pdf")]
    ledger.update(edited)
    assert words(99) == texts(ledger.shown(2, SMALL))[0]


def test_a_pin_that_arrives_later_pins_its_partner_too():
    """The call was known before its result came with a pin."""
    call, answer = cycle("a")
    ledger = ledger_of([user("go"), call])
    ledger.update([user("go"), call, pinned(answer)])
    assert [1, 2] == ledger.pins


def test_exempt_tools_have_no_cap():
    """By the name that the call before carries."""
    ledger = ledger_of(
        [user("go"), *cycle("a", words(99), "read_pdf"), *cycle("b", words(99))],
        rules=CapRules(exempt_tools=frozenset({"read_pdf"})),
    )
    shown = [ledger.shown(index, SMALL) is ledger.messages[index] for index in (2, 4)]
    assert ([True, False], set(), {"b"}) == (shown, ledger.shrinkable(2), ledger.shrinkable(4))


def test_what_has_no_cap_is_the_logs_own_object():
    """Nothing is copied without need."""
    log = [user("go"), *cycle("a", "small")]
    ledger = Ledger(WordCounter())
    ledger.update(log)
    assert [True] * 3 == [ledger.shown(index, SMALL, 64) is log[index] for index in range(3)]
