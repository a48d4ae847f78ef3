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
