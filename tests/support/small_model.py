"""The real small model for tests: its server, runs against it that several tests look at, and its tokenizer alone."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
from strands.models import Model
from strands.models.llamacpp import LlamaCppModel

from strands_ctx.analysis.contender import Contender
from strands_ctx.analysis.llm_trial import LlmRun, llm_contenders, run_llm_trial
from strands_ctx.analysis.small_model import SmallModelServer, missing_package
from strands_ctx.analysis.workloads.small_model import small_workload
from strands_ctx.testing.stream_events import stream_events

OWN = ("CapToolResults", "BudgetSuffix", "PerTurn")

WORKLOAD = small_workload()
"""What the real model is given to do: somewhat more than its window holds, as every token takes time."""

SESSIONS = {
    calls: tuple(small_workload(seed, runs) for seed in (7, 11, 23))
    for calls, runs in {"20 calls": (2, 7, 3, 3), "40 calls": (2, 7, 7, 7, 7, 7)}.items()
}
"""Several windows full, for the model that only counts: three sessions of each length."""


def require_small_model() -> None:
    """Skip where the packages are missing; fail where they are meant to be there."""
    missing = missing_package() or (None if find_spec("openai") else "openai")
    if missing is None:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"the package {missing} is not installed: run `make test-llm`")
    pytest.skip(f"the package {missing} is not installed; `make test-llm` installs it")


def contender_named(name: str) -> Contender:
    """The contender of a name."""
    return next(item for item in llm_contenders() if item.name == name)


class RealRuns:
    """Runs against the real model, each made once, when a test first asks for it."""

    def __init__(self, server: SmallModelServer):
        self.server = server
        self._done: dict[tuple[str, str], LlmRun] = {}
        self._counted: dict[tuple[str, str], list[LlmRun]] = {}

    def model(self, protocol: str) -> Model:
        """A fresh model of Strands' class for a protocol."""
        return self.server.llamacpp_model() if protocol == "llamacpp" else self.server.openai_model()

    def of(self, protocol: str, contender: str) -> LlmRun:
        """The run of a contender through the model class of a protocol."""
        key = protocol, contender
        if key not in self._done:
            found = contender_named(contender)
            self._done[key] = run_llm_trial(WORKLOAD, found, self.model(protocol))
        return self._done[key]

    def counted(self, contender: str, length: str) -> list[LlmRun]:
        """Sessions of a length under a contender, with the model that only counts."""
        key = contender, length
        if key not in self._counted:
            found = contender_named(contender)
            self._counted[key] = [
                run_llm_trial(workload, found, CountedModel(self.server)) for workload in SESSIONS[length]
            ]
        return self._counted[key]


class CountedModel(Model):
    """Bills what the real model would bill, by its own template and tokenizer, and saves the time of its answers.

    A prompt that does not fit is sent to the real model all the same, which refuses it at once.
    """

    def __init__(self, server: SmallModelServer):
        self.server = server
        self.inner: LlamaCppModel = server.llamacpp_model()

    def update_config(self, **model_config):
        """Change the real model's configuration."""
        self.inner.update_config(**model_config)

    def get_config(self):
        """The real model's configuration."""
        return self.inner.get_config()

    async def structured_output(self, *args, **kwargs):
        """Not needed here."""
        raise NotImplementedError
        yield

    async def stream(self, messages, tool_specs=None, system_prompt=None, **kwargs):
        """Answer in a word, with the real model's count of the prompt as usage, or raise its refusal."""
        tokens = self.server.count_request(self.inner._format_request(messages, tool_specs, system_prompt))
        if tokens >= self.get_config()["context_window_limit"]:
            async for event in self.inner.stream(messages, tool_specs, system_prompt):
                yield event
            return
        for event in stream_events(
            [{"text": "Noted."}], {"inputTokens": tokens, "outputTokens": 2, "totalTokens": tokens + 2}
        ):
            yield event
