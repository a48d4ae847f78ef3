"""Fair shares of a whole number: max-min fairness on integers. Knows nothing of messages."""

from __future__ import annotations

from collections.abc import Sequence


def fair_shares(sizes: Sequence[int], total: int) -> list[int]:
    """Share a total among sizes: small ones whole, the rest equal parts of what is left.

    The shares depend on each size alone and not on its place, up to the single units of an uneven rest, which go to
    the largest and, among equals, to the last (the newest). No share is larger than its size; together they are
    ``total`` whenever the sizes reach it. What is cut gets at least ``total // len(sizes)``.

    Args:
        sizes: What each would take, at least 0.
        total: What there is, at least 0.

    Returns:
        One share a size, in the same order.

    Example:
        >>> fair_shares([10, 1_000, 400], 500)
        [10, 245, 245]
    """
    shares = [0] * len(sizes)
    left = total
    by_size = sorted(range(len(sizes)), key=lambda index: (sizes[index], index))
    for taken, index in enumerate(by_size):
        shares[index] = min(sizes[index], left // (len(by_size) - taken))
        left -= shares[index]
    return shares


def sparing_shares(sizes: Sequence[int], total: int, spared: Sequence[bool], *, floor: int) -> list[int]:
    """Share a total fairly, and cut what is spared only once everything else is down to a floor.

    Args:
        sizes: What each would take, at least 0.
        total: What there is, at least 0.
        spared: Which of them are cut last.
        floor: What the others keep at least, or all of it where they are smaller.

    Returns:
        One share a size, in the same order; those of :func:`fair_shares` where there is no room to spare any.

    Example:
        >>> sparing_shares([1_000, 300, 1_000], 500, [False, True, False], floor=64)
        [100, 300, 100]
    """
    least = sum(min(size, floor) for size in sizes)
    first = [size if is_spared else 0 for size, is_spared in zip(sizes, spared, strict=True)]
    if least > total or not any(first):
        return fair_shares(sizes, total)
    others = [size - share for size, share in zip(sizes, first, strict=True)]
    shares = fair_shares(first, total - sum(min(size, floor) for size in others))
    rest = fair_shares(others, total - sum(shares))
    return [share + other for share, other in zip(shares, rest, strict=True)]
