"""What planning costs while it cuts: it grows with the view, not with the log."""

from __future__ import annotations

import statistics
import time

from strands_ctx import TiktokenCounter
from strands_ctx.drafts import Load
from strands_ctx.ledger.ledger import Ledger
from strands_ctx.plans import Boundaries, Limits, Policy
from strands_ctx.policies import plan_view
from strands_ctx.selection import lead_of
from strands_ctx.tokens import Calibration
from strands_ctx.types import Message, Messages
from strands_ctx.view import build_view

ROUNDS = 200
LIMITS = Limits(60_000, 18_000, 60_000)
LOAD = Load(500, 500, Calibration())
POLICY = Policy()


def _cycle(number: int) -> Messages:
    use: Message = {
        "role": "assistant",
        "content": [{"toolUse": {"toolUseId": f"call_{number}", "name": "look", "input": {"at": number}}}],
    }
    items = [{"text": f"{number} " + "a result of about four kilobytes " * 121}]
    result = {"toolUseId": f"call_{number}", "status": "success", "content": items}
    return [use, {"role": "user", "content": [{"toolResult": result}]}]


def _log(messages: int) -> Messages:
    log: Messages = [{"role": "user", "content": [{"text": "Look at everything."}]}]
    for number in range(messages // 2):
        log += _cycle(number)
    return log


def _call_s(messages: int) -> float:
    """Return the median time of one call's plan and view, the log growing by a cycle each time.

    The log is not copied in between: that is the host's work, and so is what it leaves of the processor's cache.
    """
    ledger, log, boundaries, times = Ledger(TiktokenCounter()), _log(messages), Boundaries(), []
    ledger.update(log)
    for number in range(ROUNDS):
        log += _cycle(messages + number)
        cut = boundaries.cut
        start = time.perf_counter()
        ledger.update(log, unchanged_before=cut, watched=lead_of(ledger, cut))
        plan = plan_view(ledger, LOAD, POLICY, LIMITS, boundaries)
        build_view(ledger, plan)
        times.append(time.perf_counter() - start)
        boundaries = plan.boundaries
    return statistics.median(times)


def test_planning_costs_the_same_at_ten_times_the_messages() -> None:
    """At 4,000 messages a call is planned in at most 1.5 times the time of 400."""
    small, large = _call_s(400), _call_s(4_000)
    print(f"\nplan and view: {small * 1e3:.2f} ms at 400 messages, {large * 1e3:.2f} ms at 4,000 (medians)", end="")
    assert large <= 1.5 * small
