"""Every provider's refusal as too large, through its real model class and client, is recognised and recovered."""

from __future__ import annotations

import copy
import gc
from itertools import cycle
from typing import Any

import pytest
from strands import Agent
from strands.agent.conversation_manager import NullConversationManager
from strands.hooks import AfterModelCallEvent
from strands.models.bedrock import BEDROCK_CONTEXT_WINDOW_OVERFLOW_MESSAGES
from strands.types.exceptions import ContextWindowOverflowException

from strands_ctx import BudgetSuffixManager, CapToolResultsManager, PerTurnManager
from strands_ctx.overflow.recognition import find_overflow
from tests.support.bedrock_client import Bedrock
from tests.support.bedrock_server import Fault
from tests.support.provider_cases import CASES, TOO_LONG, beginning
from tests.support.provider_models import PROVIDERS
from tests.support.provider_server import ProviderServer
from tests.support.provider_texts import OVERFLOWS

from .support.rig import Rig, text_of

# Clients that read an error leave connections and event loops to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:UserWarning"),
]

# Managers that have no reason to make a view smaller before a refusal.
UNBOUNDED = {
    "cap": lambda: CapToolResultsManager(8_000),
    "suffix": BudgetSuffixManager,
    "per_turn": lambda: PerTurnManager(recent_tokens=100_000),
}

PAIRS = [*zip(sorted(PROVIDERS), cycle(sorted(UNBOUNDED)), strict=False)]
OTHER_WORDS = ["max_tokens: 9 > 8, which is the maximum allowed number of output tokens", "a role is missing"]

OPENAI_WORDS = beginning("This model's maximum context length is 8192 tokens. However, you requested 9000")

BEDROCK = {
    "Input is too long for requested model.": True,
    beginning("input length and `max_tokens` exceed"): True,
    "too many total text bytes": True,
    TOO_LONG: True,
    OPENAI_WORDS: any(text in OPENAI_WORDS for text in BEDROCK_CONTEXT_WINDOW_OVERFLOW_MESSAGES),  # not in 1.51
    "too many images and documents: 21 + 0 > 20": False,
    beginning("Too many input tokens. Max input tokens"): False,
}


def name_of(case: Any) -> str:
    """How a case is called in the output."""
    if isinstance(case, str):
        return case
    return f"{case.provider}-{case.status}-{case.text[:24]}{'-in stream' if case.in_stream else ''}"


def with_managers(cases: list[Any]) -> list[tuple[Any, str]]:
    """The cases, a manager with each in turn."""
    return [*zip(cases, cycle(sorted(UNBOUNDED)), strict=False)]


@pytest.fixture
def server():
    """The service of all providers but Bedrock."""
    with ProviderServer() as service:
        yield service


@pytest.fixture
def bedrock():
    """Bedrock's service."""
    with Bedrock() as service:
        yield service


@pytest.fixture(scope="module", autouse=True)
def collected():
    """Collect what clients leave while the warning of it is expected."""
    yield
    gc.collect()


IMAGE = {"image": {"format": "png", "source": {"bytes": b"\x89PNG\r\n\x1a\n" + bytes(2_000)}}}


def history(kind: str = "tokens") -> list[dict[str, Any]]:
    """Turns that were answered, each with a tool's result, and with an image where images are too many."""
    messages: list[dict[str, Any]] = []
    pictures = [IMAGE] if kind == "images" else []
    for number in range(6):
        call = {"toolUseId": f"call_{number}", "name": "fetch", "input": {"size": 3_000}}
        result = {"toolUseId": f"call_{number}", "status": "success", "content": [{"text": text_of(3_000, number)}]}
        messages += [
            {"role": "user", "content": [{"text": f"Fetch number {number}."}, *copy.deepcopy(pictures)]},
            {"role": "assistant", "content": [{"text": "I fetch it."}, {"toolUse": call}]},
            {"role": "user", "content": [{"toolResult": result}]},
            {"role": "assistant", "content": [{"text": text_of(300, number)}]},
        ]
    return messages


def call_once(model: Any) -> BaseException | None:
    """Call a model through an agent without a manager; return what its hook is told."""
    told: list[BaseException | None] = []
    agent = Agent(
        model=model, conversation_manager=NullConversationManager(), callback_handler=None, retry_strategy=None
    )
    agent.hooks.add_callback(AfterModelCallEvent, lambda event: told.append(event.exception))
    with pytest.raises(Exception):  # noqa: B017, PT011 - which one it is, is what is asked
        agent("Hello.")
    return told[0]


def recover(kind: str, model: Any, too_large: str = "tokens") -> tuple[Any, ...]:
    """Run an agent with a long history whose first call is refused; return what a recovery looks like."""
    before = history(too_large)
    rig = Rig(kind, manager=UNBOUNDED[kind](), model=model, messages=copy.deepcopy(before), retry_strategy=None)
    result = rig.run("And now?", "Fine.")
    log = [{"role": message["role"], "content": message["content"]} for message in rig.agent.messages]
    return result.stop_reason, len(log), log[: len(before)] == before, rig.broken_laws()


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_what_a_provider_says_is_recognised_at_the_hook(case, server):
    """Whether Strands makes its own overflow of it or lets the client's error through."""
    model = PROVIDERS[case.provider].model(server)
    server.refuse(case.refusal)
    told = call_once(model)
    found = find_overflow(told)
    assert (case.mapped, case.kind) == (isinstance(told, ContextWindowOverflowException), found and found.kind)


@pytest.mark.parametrize(("case", "kind"), with_managers(CASES), ids=name_of)
def test_a_refusal_is_recovered_and_the_log_stays_whole(case, kind, server):
    """The same call is made once more, with less; the run completes and no message of the log changes."""
    model = PROVIDERS[case.provider].model(server)
    server.refuse(case.refusal)
    expected = ("end_turn", len(history()) + 2, True, [])
    assert (expected, 2, True) == (
        recover(kind, model, case.kind),
        len(server.sizes),
        server.sizes[1] < server.sizes[0],
    )


@pytest.mark.parametrize("in_stream", [False, True], ids=["http", "in stream"])
@pytest.mark.parametrize(("text", "mapped"), BEDROCK.items(), ids=range(len(BEDROCK)))
def test_what_bedrock_says_is_recognised_at_the_hook(text, mapped, in_stream, bedrock):
    """As an HTTP status and inside of a stream."""
    bedrock.fail(Fault(text, in_stream=in_stream))
    told = call_once(bedrock.model())
    found = find_overflow(told)
    assert (mapped, OVERFLOWS[text].kind, "bedrock") == (
        isinstance(told, ContextWindowOverflowException),
        found and found.kind,
        found and found.provider,
    )


@pytest.mark.parametrize("in_stream", [False, True], ids=["http", "in stream"])
@pytest.mark.parametrize(("text", "kind"), with_managers([*BEDROCK]))
def test_a_refusal_of_bedrock_is_recovered(text, in_stream, kind, bedrock):
    """Both ways, by the strict rules of the service."""
    bedrock.fail(Fault(text, in_stream=in_stream))
    expected = ("end_turn", len(history()) + 2, True, [])
    assert (expected, ["failed", "answered"]) == (
        recover(kind, bedrock.model(), OVERFLOWS[text].kind),
        bedrock.outcomes(),
    )


@pytest.mark.parametrize(("provider", "kind"), PAIRS)
def test_a_throttle_is_never_retried_by_a_manager(provider, kind, server):
    """HTTP 429 with the words of an overflow: one request, and the error reaches the app."""
    model = PROVIDERS[provider].model(server)
    server.refuse(*[PROVIDERS[provider].refusal(TOO_LONG, 429)] * 5)
    with pytest.raises(Exception) as raised:  # noqa: PT011 - each client has its own
        recover(kind, model)
    assert (1, None) == (len(server.requests), find_overflow(raised.value))


@pytest.mark.parametrize("text", OTHER_WORDS)
@pytest.mark.parametrize("provider", sorted(PROVIDERS))
def test_another_refusal_is_never_retried_by_a_manager(provider, text, server):
    """A parameter, a shape: one request."""
    model = PROVIDERS[provider].model(server)
    server.refuse(*[PROVIDERS[provider].refusal(text)] * 5)
    with pytest.raises(Exception) as raised:  # noqa: PT011
        recover("per_turn", model)
    assert (1, None) == (len(server.requests), find_overflow(raised.value))


@pytest.mark.parametrize(("provider", "kind"), PAIRS)
def test_a_provider_that_answers_is_asked_once(provider, kind, server):
    """The server of the tests speaks each protocol well enough for its client."""
    expected = ("end_turn", len(history()) + 2, True, [])
    assert (expected, 1) == (recover(kind, PROVIDERS[provider].model(server)), len(server.requests))
