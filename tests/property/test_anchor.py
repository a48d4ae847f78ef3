"""Laws of the anchor: a delta is exactly what was added, or an error that says why it can't be told."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strands_ctx.anchor import DeltaAnchor
from strands_ctx.capping.messages import cap_message
from strands_ctx.errors import AnchorError
from tests.builders import ids, user

from .strategies import legal_logs


@st.composite
def marked_logs(draw):
    """A log, where it was marked, and an anchor that has seen the first message after the mark."""
    log = draw(legal_logs())
    mark = draw(st.integers(0, len(log)))
    anchor = DeltaAnchor(log[:mark])
    anchor.delta_of(log[: mark + 1])
    return log, mark, anchor


@given(marked_logs(), st.integers(64, 1_000))
def test_a_log_that_only_grew_gives_what_was_added(marked, cap):
    """The same objects, however often asked, also when results on either side were capped."""
    log, mark, anchor = marked
    assert [id(message) for message in log[mark:]] == [id(message) for message in anchor.delta_of(log)]
    capped = [cap_message(message, dict.fromkeys(ids([message], "toolResult"), cap))[0] for message in log]
    assert capped[mark:] == anchor.delta_of(capped)


@given(marked_logs())
def test_a_log_that_was_stored_and_read_again_is_the_same_log(marked):
    """Identity is told by content, and not only by object."""
    log, mark, anchor = marked
    assert log[mark:] == anchor.delta_of(copy.deepcopy(log))


@given(marked_logs(), st.data())
def test_no_deletion_before_the_delta_gives_a_slice(marked, data):
    """Whichever messages before the mark are gone: an error, and never another slice."""
    log, mark, anchor = marked
    if not mark:
        return
    gone = data.draw(st.sets(st.integers(0, mark - 1), min_size=1))
    with pytest.raises(AnchorError):
        anchor.delta_of([message for index, message in enumerate(log) if index not in gone])


@given(marked_logs(), st.data())
def test_no_insertion_before_the_delta_gives_a_slice(marked, data):
    """A message that is put in before the mark or just after it shifts the delta: an error."""
    log, mark, anchor = marked
    at = data.draw(st.integers(0, mark))
    if at == mark == len(log):
        return
    with pytest.raises(AnchorError):
        anchor.delta_of([*log[:at], user("put in"), *log[at:]])


@given(marked_logs(), st.booleans())
def test_no_replacement_at_the_mark_gives_a_slice(marked, after):
    """Another message on either side of the mark: an error that says which."""
    log, mark, anchor = marked
    at = mark if after else mark - 1
    if not 0 <= at < len(log):
        return
    with pytest.raises(AnchorError) as caught:
        anchor.delta_of([*log[:at], user("another"), *log[at + 1 :]])
    assert ("first_appended_message" if after else "boundary_message") == caught.value.change


@given(marked_logs())
def test_the_first_message_of_a_delta_can_not_vanish(marked):
    """Also where the log was empty at the mark, which a length alone never notices."""
    log, mark, anchor = marked
    if mark == len(log):
        return
    with pytest.raises(AnchorError):
        anchor.delta_of([*log[:mark], *log[mark + 1 :]])


@given(marked_logs(), st.integers(1, 9))
def test_a_manager_that_removed_messages_is_never_trusted(marked, removed):
    """A grown count is an error, whatever the log looks like."""
    log, _, anchor = marked
    with pytest.raises(AnchorError) as caught:
        anchor.delta_of(log, removed)
    assert ("removed_message_count", 0, removed) == (caught.value.change, caught.value.expected, caught.value.actual)
