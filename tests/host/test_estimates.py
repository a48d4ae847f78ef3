"""Estimates against bills, in whole runs of real agents on a model that counts by another rule."""

from __future__ import annotations

import pytest

from strands_ctx import BudgetSuffixManager, PerTurnManager
from strands_ctx.analysis.workloads.research import research_workload
from strands_ctx.testing import WindowModel, record_run

BILLS_KNOWN = 3


def receipts_of(seed, manager, **arguments):
    """The receipts of a research run, those of the first calls left out."""
    receipts, workload = [], research_workload(seed)
    record_run(
        WindowModel(workload.script, context_window_limit=workload.context_window_limit),
        list(workload.open_session().tools),
        workload.prompts,
        system_prompt=workload.system_prompt,
        conversation_manager=manager(**arguments, on_receipt=receipts.append),
    )
    return [receipt for receipt in receipts if receipt.call > BILLS_KNOWN]


@pytest.mark.parametrize(
    ("seed", "manager", "arguments"),
    [
        (11, PerTurnManager, {"budget_tokens": 30_000, "recent_tokens": 4_000, "old_result_max_bytes": 400}),
        (23, PerTurnManager, {}),
        (105, BudgetSuffixManager, {"budget_tokens": 60_000}),
    ],
)
def test_bills_are_foretold_from_the_fourth_call_on(seed, manager, arguments):
    """Half of them within 1 %, nineteen of twenty within 5 %; and no bill is above an explicit budget."""
    receipts = receipts_of(seed, manager, **arguments)
    errors = sorted(abs(r.view_tokens - r.billed_tokens) / r.billed_tokens for r in receipts)
    exceeded = [r.call for r in receipts if r.billed_tokens > r.limit_tokens]
    assert (True, True, []) == (errors[len(errors) // 2] <= 0.01, errors[int(0.95 * len(errors))] <= 0.05, exceeded)
