"""The laws of a view, checked for one history under every manager and budgets from generous to absurd.

What a manager sends is made by its own planner, so that its limits, its policy and its caps are those of production.
"""

from __future__ import annotations

import copy
import random
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from strands_ctx import BudgetSuffixManager, CapToolResultsManager, PerTurnManager
from strands_ctx.errors import BudgetError
from strands_ctx.managers._planning import Call, Decision
from strands_ctx.managers._state import AgentState, ModelMemory
from strands_ctx.messages import check_messages
from strands_ctx.testing import strict_violations
from strands_ctx.tokens import Calibration, CharacterCounter, Features
from strands_ctx.types import Messages
from strands_ctx.view import build_view
from tests.builders import ids, load_of, result, tokens_of, user
from tests.support.bedrock_rules import wire_violations

COUNTER = CharacterCounter()
BUDGET_RATIOS = (3.0, 0.9, 0.5, 0.2)
"""Budgets as shares of what the history takes."""

ABSURD_TOKENS = (1, 60, 400)
"""Budgets that hardly anything fits; one of them is tried."""

MERGED_RATIO = 1.005
"""Where a repair merges two messages, the margin is that of the view before it."""

MODEL_KEY = "object//None"

TOOLS = [
    {"name": name, "description": "Finds.", "inputSchema": {"json": {"type": "object", "properties": {}}}}
    for name in ("search", "read_pdf", "take_screenshot")
]


@dataclass(frozen=True)
class Breach:
    """A law that one history breaks.

    Attributes:
        law: Which.
        manager: The manager's name and arguments.
        budget_tokens: The budget.
        found: What was found.
    """

    law: str
    manager: str
    budget_tokens: int
    found: str


@dataclass
class Tally:
    """What came of many checks.

    Attributes:
        views: How many views were built.
        over: How many times nothing that may be sent fitted.
        cut: How many views left messages out.
        capped: How many views capped something.
        repaired: How many histories no provider would take as they are.
    """

    views: int = 0
    over: int = 0
    cut: int = 0
    capped: int = 0
    repaired: int = 0


@dataclass(frozen=True)
class _Case:
    """One manager as it was asked for, and the call that it plans."""

    name: str
    manager: Any
    system_prompt: Any
    tools: list[Any]
    calibration: Calibration
    budget_tokens: int

    def state(self) -> AgentState:
        """What is known of an agent before its first call."""
        state = AgentState(self.manager._new_ledger())
        state.models[MODEL_KEY] = ModelMemory(MODEL_KEY, self.calibration)
        if isinstance(self.manager, CapToolResultsManager):
            # It has no budget of its own: this is what it sends after the provider has refused more.
            state.attempt_tokens = self.budget_tokens
        return state

    def call(self, log: Messages) -> Call:
        """The call that a log is planned for."""
        return Call(object(), log, self.system_prompt, self.tools)

    def sent(self, state: AgentState, log: Messages) -> tuple[Decision, Messages]:
        """Plan as production does, and let the decision stand."""
        call = self.call(log)
        decision = self.manager._planner.decide(state, call)
        view = build_view(state.ledger, decision.plan, max_cache_points=call.max_cache_points)
        self.manager._planner.commit(state, decision)
        return decision, view


def breaches(log: Messages, seed: int, tally: Tally | None = None) -> list[Breach]:
    """List the laws that the views of one history break.

    Args:
        log: The history.
        seed: Chooses the managers' arguments, system prompts and calibrations.
        tally: Counts what was checked.

    Returns:
        The breaches; none where every law holds.
    """
    tally = tally if tally is not None else Tally()
    tally.repaired += bool(check_messages(log))
    before, twin = repr(log), copy.deepcopy(log)
    found = [breach for case in _cases(log, random.Random(seed)) for breach in _broken(case, log, twin, tally)]
    if [repr(log), repr(twin)] != [before] * 2:
        found.append(Breach("the log is as it was", "any", 0, "the log was changed"))
    return [*found, *_capped_log(log, random.Random(seed))]


def _cases(log: Messages, choices: random.Random) -> Iterator[_Case]:
    system: Any = choices.choice(
        [None, "Be brief. " * 20, [{"text": "Be exact."}, {"cachePoint": {"type": "default"}}]]
    )
    tools = choices.choice([[], TOOLS])
    calibration = _calibration(choices)
    load = load_of(COUNTER.count_text(str(system)) if system else 0, COUNTER.count_tools(tools), calibration)
    whole = tokens_of(log, COUNTER, load)
    for budget in (*(max(int(whole * ratio), 1) for ratio in BUDGET_RATIOS), choices.choice(ABSURD_TOKENS)):
        for name, manager in _managers(budget, choices):
            yield _Case(name, manager, system, tools, calibration, budget)


def _calibration(choices: random.Random) -> Calibration:
    calibration = Calibration()
    for _ in range(choices.choice([0, 0, 1, 3])):
        seen = Features(choices.randrange(9_000), 2_000, 20, prompts=1)
        billed = int(choices.uniform(0.6, 1.8) * calibration.estimate(seen))
        calibration = calibration.observe(seen, {"inputTokens": billed})
    return calibration


def _managers(budget: int, choices: random.Random) -> Iterator[tuple[str, Any]]:
    media = choices.choice([20, 20, 20, 1])
    arguments: dict[str, Any] = {
        "max_bytes_per_result": choices.choice([64, 600, 8_000]),
        "max_media_per_request": media,
    }
    manager: Any = CapToolResultsManager(**arguments)
    manager._counter = COUNTER
    yield f"CapToolResultsManager({arguments})", manager
    shared = {"max_user_turns": choices.choice([None, None, 1]), "pin_first": choices.choice([0, 0, 0, 1, 3])}
    shared |= {"max_media_per_request": media, "recall_tool": choices.choice([None, None, "recall"])}
    yield f"BudgetSuffixManager({shared})", BudgetSuffixManager(budget, counter=COUNTER, **shared)
    arguments = {
        **shared,
        "recent_tokens": choices.choice([0, min(500, budget), 12_000]),
        "old_result_max_bytes": choices.choice([64, 600]),
        "first_sight_max_bytes": choices.choice([None, None, 2_800]),
        "old_input_max_bytes": choices.choice([None, None, 64, 600]),
        "exempt_tools": choices.choice([(), (), ("read_pdf",)]),
        "per_tool_max_bytes": choices.choice([None, None, {"search": 4_000}]),
    }
    yield f"PerTurnManager({arguments})", PerTurnManager(budget, counter=COUNTER, **arguments)


def resumed(view: Messages) -> Messages:
    """The view as it is sent once the host has run the calls that the last message asks for."""
    asked = ids(view[-1:], "toolUse")
    return [*view, user(*(result(call) for call in asked))] if asked else view


def refusals(view: Messages, system_prompt: Any = None) -> list[str]:
    """What a strict provider refuses in a view, by each of the rule sets, that share nothing."""
    messages = resumed(view)
    body: dict[str, Any] = {"messages": messages, "toolConfig": {"tools": TOOLS}}
    if isinstance(system_prompt, list):
        body["system"] = system_prompt
    ours = [problem.rule for problem in check_messages(view)]
    return [*strict_violations(messages, system_prompt=system_prompt), *wire_violations(body), *ours]


def _broken(case: _Case, log: Messages, twin: Messages, tally: Tally) -> Iterator[Breach]:
    def breach(law: str, found: object) -> Breach:
        return Breach(law, case.name, case.budget_tokens, str(found)[:600])

    state = case.state()
    try:
        decision, view = case.sent(state, log)
    except BudgetError:
        tally.over += 1
        return
    except Exception:  # noqa: BLE001 - whatever it is, it is what this looks for
        yield breach("a history is planned or over the budget", traceback.format_exc(limit=-3))
        return
    tally.views += 1
    tally.cut += bool(decision.plan.omitted_messages)
    tally.capped += bool(decision.plan.capped_results or decision.plan.shrinks)
    if refused := refusals(view, case.system_prompt):
        yield breach("no provider refuses a view", refused)
    load = load_of(*state.count_inputs(case.system_prompt, case.tools), case.calibration)
    taken, estimate = tokens_of(view, COUNTER, load), load.tokens(decision.plan.features)
    if taken > estimate * MERGED_RATIO:
        yield breach("a view is not larger than its plan says", f"{taken} > {estimate}")
    if estimate > decision.limits.hard_tokens or taken > decision.limits.hard_tokens * MERGED_RATIO:
        yield breach("a view is within the budget", f"{estimate} or {taken} > {decision.limits.hard_tokens}")
    shown = repr(view)
    again, same = case.sent(state, log)
    if repr(same) != shown or replace(again.plan, reason="log") != replace(decision.plan, reason="log"):
        yield breach("planning twice changes nothing", f"{decision.plan} and then {again.plan}")
    _, anew = case.sent(case.state(), twin)
    if repr(anew) != shown:
        yield breach("the same log gives the same bytes", "another process would send something else")


def _capped_log(log: Messages, choices: random.Random) -> Iterator[Breach]:
    """Cap a copy of the log as the managers do that were asked to, once and again."""
    max_bytes = choices.choice([64, 600, 8_000])
    manager = CapToolResultsManager(max_bytes)
    capped = copy.deepcopy(log)
    manager._log_caps.preview(capped, len(capped))
    again = copy.deepcopy(capped)
    manager._log_caps.preview(again, len(again))
    if _without_results(capped) != _without_results(log):
        yield Breach("a cap edits nothing but content of results", "CapToolResultsManager", max_bytes, "it did")
    if repr(again) != repr(capped):
        yield Breach("capping twice changes nothing", "CapToolResultsManager", max_bytes, "it did")
    if not refusals(log) and (refused := refusals(capped)):
        yield Breach("a capped legal log is legal", "CapToolResultsManager", max_bytes, str(refused))


def _without_results(log: Messages) -> str:
    bare = copy.deepcopy(log)
    for message in bare:
        for block in message["content"]:
            if "toolResult" in block:
                block["toolResult"]["content"] = []
    return repr(bare)
