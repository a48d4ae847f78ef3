"""What a model call costs the host at 4,000 messages of 4 KB, with our managers over none."""

from __future__ import annotations

import copy
import itertools
import json
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
from botocore.awsrequest import AWSResponse
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.models import BedrockModel

from strands_ctx import BudgetSuffixManager, PerTurnManager
from strands_ctx.types import Messages

MESSAGES = 4_000
CALLS = 6
ROUNDS = 5
WINDOW_TOKENS = 50_000_000


class _Body:
    def __init__(self, payload: bytes) -> None:
        self._payload = payload

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self._payload


class _Service:
    """Answers Converse requests behind boto3, after it has formatted and signed them: tool calls, then a text."""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)
        self.times: list[float] = []

    def answer(self, request: Any, **_: Any) -> AWSResponse:
        self.times.append(time.process_time())
        number = next(self.numbers)
        content: list[dict[str, Any]] = [{"text": "done"}]
        if number % CALLS:
            content = [{"toolUse": {"toolUseId": f"call_{number}", "name": "look", "input": {}}}]
        answer = {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": "tool_use" if number % CALLS else "end_turn",
            "usage": {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0},
            "metrics": {"latencyMs": 1},
        }
        body: Any = _Body(json.dumps(answer).encode())
        return AWSResponse(request.url, 200, {"Content-Type": "application/json"}, body)


@tool
def look() -> str:
    """Look at something of 4 KB."""
    return _text(random.Random(5), 4_000)


def _text(rng: random.Random, size: int) -> str:
    return " ".join(f"w{rng.randrange(500)}" for _ in range(size // 4))[:size]


def _log() -> Messages:
    rng = random.Random(1)
    roles = itertools.cycle(("user", "assistant"))
    return [{"role": next(roles), "content": [{"text": f"{i} {_text(rng, 4_000)}"}]} for i in range(MESSAGES)]  # type: ignore[typeddict-item]


def _agent(manager: NullConversationManager, log: Messages) -> tuple[Agent, _Service]:
    service = _Service()
    model = BedrockModel(
        boto_session=boto3.Session("key", "secret", region_name="us-east-1"),
        model_id="a-model",
        streaming=False,
        context_window_limit=WINDOW_TOKENS,
    )
    model.client.meta.events.register("before-send.bedrock-runtime.Converse", service.answer)
    messages: Any = copy.deepcopy(log)
    return Agent(model, messages, [look], conversation_manager=manager, callback_handler=None), service


def _call_s(agent: Agent, service: _Service) -> float:
    """Run one invocation and return the least CPU time from one request to the next: what no other load adds to."""
    service.times.clear()
    agent("go on")
    return min(after - before for before, after in itertools.pairwise(service.times))


def test_model_call_costs_the_host_less_with_a_cut() -> None:
    """A cut view costs at most half of the whole log."""
    log = _log()
    contenders = {
        "none": NullConversationManager(),
        "suffix, 60,000 tokens": BudgetSuffixManager(60_000),
    }
    agents = {name: _agent(manager, log) for name, manager in contenders.items()}
    for agent, service in agents.values():
        _call_s(agent, service)
    times: dict[str, list[float]] = {name: [] for name in agents}
    for _ in range(ROUNDS):
        for name, (agent, service) in agents.items():
            times[name].append(_call_s(agent, service))
    ratios = {name: min(own) / min(times["none"]) for name, own in times.items()}
    for name, ratio in ratios.items():
        print(f"\n{name}: {min(times[name]) * 1_000:.0f} ms a call, {ratio:.2f} of none (least CPU time)", end="")
    assert ratios["suffix, 60,000 tokens"] <= 0.5


def test_looking_at_a_log_that_fits_costs_a_few_percent() -> None:
    """With nothing to cut, our callbacks take at most 5 % on top of what the host spends on a call."""
    manager, spent = PerTurnManager(WINDOW_TOKENS - 1), [0.0]
    for name in ("_on_model_input", "_on_model_call", "_on_model_answer", "_on_message"):
        setattr(manager, name, _timed(getattr(manager, name), spent))
    agent, _ = _agent(manager, _log())
    agent("go on")
    shares = []
    for _ in range(ROUNDS):
        spent[0], start = 0.0, time.process_time()
        agent("go on")
        shares.append(spent[0] / (time.process_time() - start - spent[0]))
    print(f"\nours with nothing to cut: {min(shares):.2%} to {max(shares):.2%} of the host's CPU time", end="")
    assert max(shares) <= 0.05


def _timed(callback: Callable[[Any], Any], spent: list[float]) -> Callable[[Any], Any]:
    def timed(event: Any) -> Any:
        start = time.process_time()
        try:
            return callback(event)
        finally:
            spent[0] += time.process_time() - start

    return timed
