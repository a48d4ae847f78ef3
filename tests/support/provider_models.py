"""The real model classes in front of the server of the tests; each provider in the form in which it refuses."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from .provider_server import ProviderServer, Refusal

_KEY = "x"


@dataclass(frozen=True, slots=True)
class Provider:
    """How one model class is built, and what its provider's errors look like.

    Attributes:
        package: What must be installed.
        module: The module of the class, and the class.
        arguments: The arguments of the class, given the server's address.
        body: The body of an error with a text.
    """

    package: str
    module: tuple[str, str]
    arguments: Callable[[str], dict[str, Any]]
    body: Callable[[str], Any]

    def model(self, server: ProviderServer) -> Any:
        """Build the model, or skip the test where its package is missing."""
        with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
            warnings.simplefilter("ignore")
            patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            pytest.importorskip(self.package)
            module = importlib.import_module(f"strands.models.{self.module[0]}")
        model = getattr(module, self.module[1])(**self.arguments(server.url))
        model.say, model.refused = lambda *steps: None, []
        return model

    def refusal(self, text: str, status: int = 400, *, in_stream: bool = False) -> Refusal:
        """A refusal in the words of a provider."""
        return Refusal(status, self.body(text), in_stream)


def _openai_body(text: str) -> dict[str, Any]:
    return {"error": {"message": text, "type": "invalid_request_error", "param": None, "code": None}}


def _anthropic_body(text: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": text}}


def _gemini_body(text: str) -> dict[str, Any]:
    return {"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}


def _client(path: str) -> Callable[[str], dict[str, Any]]:
    """The arguments of the classes over the clients that one generator makes."""
    return lambda url: {
        "client_args": {"api_key": _KEY, "base_url": f"{url}{path}", "max_retries": 0},
        "model_id": "m",
    }


PROVIDERS: dict[str, Provider] = {
    "openai": Provider("openai", ("openai", "OpenAIModel"), _client("/v1"), _openai_body),
    "responses": Provider("openai", ("openai_responses", "OpenAIResponsesModel"), _client("/v1"), _openai_body),
    "litellm": Provider(
        "litellm",
        ("litellm", "LiteLLMModel"),
        lambda url: {
            "client_args": {"api_key": _KEY, "api_base": f"{url}/v1", "num_retries": 0, "max_retries": 0},
            "model_id": "openai/m",
        },
        _openai_body,
    ),
    "anthropic": Provider(
        "anthropic",
        ("anthropic", "AnthropicModel"),
        lambda url: {**_client("")(url), "max_tokens": 100},
        _anthropic_body,
    ),
    "mistral": Provider(
        "mistralai",
        ("mistral", "MistralModel"),
        lambda url: {"api_key": _KEY, "client_args": {"server_url": url}, "model_id": "m"},
        lambda text: {"object": "error", "message": text, "type": "invalid_request_error", "code": 3051},
    ),
    "ollama": Provider(
        "ollama",
        ("ollama", "OllamaModel"),
        lambda url: {"host": url, "model_id": "m"},
        lambda text: {"error": text},
    ),
    "llama.cpp": Provider(
        "httpx",
        ("llamacpp", "LlamaCppModel"),
        lambda url: {"base_url": url, "model_id": "m"},
        lambda text: {"error": {"code": 400, "message": text, "type": "invalid_request_error"}},
    ),
    "gemini": Provider(
        "google.genai",
        ("gemini", "GeminiModel"),
        lambda url: {"client_args": {"api_key": _KEY, "http_options": {"base_url": url}}, "model_id": "m"},
        _gemini_body,
    ),
}
"""The classes that can be built without their service."""
