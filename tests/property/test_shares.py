"""Laws of fair shares: max-min fairness on whole numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from strands_ctx.shares import fair_shares

sizes_of = st.lists(st.integers(0, 5_000), max_size=20)


@given(sizes_of, st.integers(0, 60_000))
def test_nothing_is_lost_and_nobody_gets_more_than_its_size(sizes, total):
    """The shares add up to the total, or to the sizes where there is enough."""
    shares = fair_shares(sizes, total)
    assert min(total, sum(sizes)) == sum(shares)
    assert [min(share, size) for share, size in zip(shares, sizes, strict=True)] == shares


@given(sizes_of, st.integers(0, 60_000))
def test_nobody_could_get_more_without_a_smaller_share_getting_less(sizes, total):
    """Whoever is cut has the largest share of all, but for one unit."""
    shares = fair_shares(sizes, total)
    cut = [share for share, size in zip(shares, sizes, strict=True) if share < size]
    assert [] == [share for share in cut if share < max(shares) - 1]


@given(sizes_of.filter(bool), st.integers(0, 60_000))
def test_what_is_cut_gets_an_equal_part_at_least(sizes, total):
    """The floor that the docstring promises."""
    shares = fair_shares(sizes, total)
    assert [] == [s for s, size in zip(shares, sizes, strict=True) if s < min(size, total // len(sizes))]


@given(sizes_of, st.integers(0, 60_000), st.randoms())
def test_a_share_depends_on_the_size_and_not_on_the_place(sizes, total, random):
    """In another order the same sizes get the same shares, and of two equals the later never gets less."""
    places = list(range(len(sizes)))
    random.shuffle(places)
    shares, shuffled = fair_shares(sizes, total), fair_shares([sizes[place] for place in places], total)
    assert sorted(zip(sizes, shares, strict=True)) == sorted(zip((sizes[p] for p in places), shuffled, strict=True))
    in_order = [[share for share, size in zip(shares, sizes, strict=True) if size == one] for one in set(sizes)]
    assert [sorted(equals) for equals in in_order] == in_order
