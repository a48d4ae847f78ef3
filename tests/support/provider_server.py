"""A server that answers, and refuses, in the protocols of several providers, for their real clients.

It speaks chat completions (OpenAI, LiteLLM, Mistral, llama.cpp), OpenAI's responses, Anthropic's messages, Ollama's
chat and Gemini's content stream. Every answer is the same short text; what tests are about is what comes before it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = "Fine."

_USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error of the provider, as an HTTP status or as an event of a stream that began well."""

    status: int
    body: Any
    in_stream: bool = False


@dataclass
class ProviderServer:
    """The service, on a port of its own while it is entered.

    Attributes:
        requests: The body of every request.
        crashes: What went wrong in the server itself.
    """

    requests: list[dict[str, Any]] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._refusals: list[Refusal] = []
        self._http = _HttpServer(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    def __enter__(self) -> ProviderServer:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        if self.crashes:
            raise AssertionError(f"the service itself failed: {self.crashes[0]}")

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def sizes(self) -> list[int]:
        """Bytes of the messages of each request."""
        keys = ("messages", "input", "contents")
        return [len(json.dumps([body.get(key) for key in keys])) for body in self.requests]

    def refuse(self, *refusals: Refusal) -> None:
        """Refuse the next requests, one each."""
        self._refusals += refusals

    def serve(self, body: dict[str, Any]) -> Refusal | None:
        """Note a request; return its refusal, if it is to have one."""
        self.requests.append(body)
        return self._refusals.pop(0) if self._refusals else None


def _events(*events: Any, names: bool = False) -> bytes:
    """Server-sent events, with or without their names."""
    lines = [
        (f"event: {event['type']}\n" if names else "")
        + f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n"
        for event in events
    ]
    return "".join(lines).encode()


def _chat(refusal: Any) -> bytes:
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    if refusal is not None:
        return _events(refusal)
    end = {**chunk({}, "stop"), "usage": _USAGE}
    return _events(chunk({"role": "assistant", "content": ANSWER}), end, "[DONE]")


def _responses(refusal: Any) -> bytes:
    response = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": [], "tools": []}
    if refusal is not None:
        return _events({**refusal["error"], "type": "error", "sequence_number": 1}, names=True)
    usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
    text = {"type": "response.output_text.delta", "delta": ANSWER, "item_id": "i", "output_index": 0}
    return _events(
        {"type": "response.created", "sequence_number": 0, "response": {**response, "status": "in_progress"}},
        {**text, "content_index": 0, "sequence_number": 1, "logprobs": []},
        {"type": "response.completed", "sequence_number": 2, "response": {**response, "usage": usage}},
        names=True,
    )


def _messages(refusal: Any) -> bytes:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
    usage = {"input_tokens": 10, "output_tokens": 2}
    start = {"type": "message_start", "message": {**message, "stop_sequence": None, "usage": usage}}
    if refusal is not None:
        return _events(start, refusal, names=True)
    return _events(
        start,
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ANSWER}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
        names=True,
    )


def _ollama(refusal: Any) -> bytes:
    base = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}
    counts = {"prompt_eval_count": 10, "eval_count": 2, "total_duration": 1, "eval_duration": 1}
    said = {"role": "assistant", "content": ANSWER}
    whole = {**base, "message": said, "done": True, "done_reason": "stop", **counts}
    return json.dumps(whole if refusal is None else refusal).encode() + b"\n"


def _gemini(refusal: Any) -> bytes:
    content = {"role": "model", "parts": [{"text": ANSWER}]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 12}
    answer = {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": usage}
    return _events(answer if refusal is None else refusal)


def _protocols(path: str) -> Iterator[Any]:
    for part, protocol in (
        ("/chat/completions", _chat),
        ("/responses", _responses),
        ("/messages", _messages),
        ("/api/chat", _ollama),
        (":streamGenerateContent", _gemini),
    ):
        if part in path:
            yield protocol


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, provider: ProviderServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.provider = provider

    def handle_error(self, request: Any, client_address: Any) -> None:
        import traceback

        self.provider.crashes.append(traceback.format_exc())


class _Handler(BaseHTTPRequestHandler):
    """HTTP/1.0: each answer ends with its connection, so that no client keeps one over a loop that is gone."""

    server: _HttpServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        protocol = next(_protocols(self.path))
        refusal = self.server.provider.serve(body)
        if refusal is not None and not refusal.in_stream:
            told = refusal.body if isinstance(refusal.body, str) else json.dumps(refusal.body)
            self._send(
                refusal.status, "text/html" if isinstance(refusal.body, str) else "application/json", told.encode()
            )
        else:
            kind = "application/x-ndjson" if protocol is _ollama else "text/event-stream"
            self._send(200, kind, protocol(None if refusal is None else refusal.body))

    def _send(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""
