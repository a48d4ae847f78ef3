"""A Bedrock Runtime that speaks the real protocol over HTTP: Converse, ConverseStream and CountTokens.

What stands in front of it is the real client, so that requests are formatted, signed and parsed as in production. Its
answers follow a script; its window, its rules and its bill are its own.
"""

from __future__ import annotations

import json
import socket
import threading
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

from strands_ctx.testing import ToolCall, provider_tokens

from .bedrock_billing import Bill, PointCache, parts_of
from .bedrock_rules import wire_violations
from .event_stream import answer_frames, encode_event, encode_exception

TOO_LONG = "Input is too long for requested model."
TOO_LONG_WITH_OUTPUT = (
    "The model returned the following errors: input length and `max_tokens` exceed context limit: {} + {} > {}, "
    "decrease input length or `max_tokens` and try again"
)
OPERATIONS = ("converse", "converse-stream", "count-tokens")

_CHUNK_BYTES = 700
_ERROR_NAMESPACE = "http://internal.amazon.com/coral/com.amazon.bedrock/"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in blocks, where a text or a tool call does not say it all."""

    content: Sequence[dict[str, Any]]
    stop_reason: str = "end_turn"


@dataclass(frozen=True, slots=True)
class Fault:
    """An error of the service; inside a stream it follows the first event."""

    message: str
    code: str = "ValidationException"
    status: int = 400
    in_stream: bool = False


def throttle(*, in_stream: bool = False) -> Fault:
    """The refusal of a client that asks too often, in words that sound like an overflow."""
    text = "Too many tokens, please wait before trying again."
    return Fault(text, "ThrottlingException", 429, in_stream)


Step = str | ToolCall | Answer | Sequence[ToolCall]


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One request as it came over the wire, and what became of it."""

    operation: str
    model_id: str
    body: dict[str, Any]
    bill: Bill
    violations: tuple[str, ...]
    outcome: str

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages on the wire."""
        return list(self.body["messages"])


@dataclass(frozen=True, slots=True)
class _Reply:
    """Bytes to send back, or an error; a stream may hold both."""

    body: bytes = b""
    fault: Fault | None = None
    streams: bool = False


@dataclass
class BedrockServer:
    """The service, on a port of its own while it is entered.

    Attributes:
        script: The answers in order; it goes on only when an answer was given.
        window_tokens: What a prompt and the requested output may take together.
        strict: Whether the rules of the strictest models are enforced, or only those of all.
        overflow_in_stream: Whether streams are refused as too long inside the stream and not as HTTP 400.
        checks_counts: Whether the messages of CountTokens have to make a conversation, too.
        requests: Every request of Converse and ConverseStream.
        counts: Every request of CountTokens.
        crashes: What went wrong in the server itself; a test that ends with any is worthless.
    """

    script: list[Step] = field(default_factory=list)
    window_tokens: int = 200_000
    strict: bool = True
    overflow_in_stream: bool = False
    checks_counts: bool = False
    requests: list[WireRequest] = field(default_factory=list)
    counts: list[WireRequest] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._faults: list[Fault] = []
        self._cache, self._lock, self._ids = PointCache(), threading.Lock(), 0
        self._http = _HttpServer(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    def __enter__(self) -> BedrockServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.stop()
        self._thread.join()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def say(self, *steps: Step) -> None:
        """Replace what is left of the script."""
        self.script = list(steps)

    def fail(self, *faults: Fault) -> None:
        """Answer the next requests with these faults, one each."""
        self._faults += faults

    def outcomes(self) -> list[str]:
        """What became of each request, in order."""
        return [request.outcome for request in self.requests]

    def serve(self, operation: str, model_id: str, body: dict[str, Any]) -> _Reply:
        """Answer one request."""
        with self._lock:
            if operation == "count-tokens":
                return self._count(model_id, body["input"]["converse"])
            return self._converse(operation, model_id, body)

    def _count(self, model_id: str, body: dict[str, Any]) -> _Reply:
        bill = Bill(sum(part.tokens for part in parts_of(body)))
        broken = tuple(wire_violations(body, strict=self.strict)) if self.checks_counts else ()
        outcome = "refused" if broken else "answered"
        self.counts.append(WireRequest("count-tokens", model_id, body, bill, broken, outcome))
        return _Reply(fault=Fault(broken[0])) if broken else _Reply(_json({"inputTokens": bill.prompt_tokens}))

    def _converse(self, operation: str, model_id: str, body: dict[str, Any]) -> _Reply:
        streams = operation == "converse-stream"
        parts, broken = parts_of(body), tuple(wire_violations(body, strict=self.strict))
        bill = Bill(sum(part.tokens for part in parts))
        outcome, fault = self._verdict(body, bill.prompt_tokens, broken)
        if fault is None:
            bill = self._cache.bill(parts)
        self.requests.append(WireRequest(operation, model_id, body, bill, broken, outcome))
        if fault is not None:
            return _Reply(encode_event("messageStart", {"role": "assistant"}), fault, streams)
        answer = self._answer(self.script.pop(0))
        usage = bill.usage(sum(provider_tokens.count_block(block) for block in answer.content))
        if streams:
            return _Reply(b"".join(answer_frames(answer.content, answer.stop_reason, usage)), streams=True)
        message = {"role": "assistant", "content": answer.content}
        whole = {"output": {"message": message}, "stopReason": answer.stop_reason, "usage": usage}
        return _Reply(_json({**whole, "metrics": {"latencyMs": 1}}))

    def _verdict(self, body: dict[str, Any], tokens: int, broken: Sequence[str]) -> tuple[str, Fault | None]:
        if self._faults:
            return "failed", self._faults.pop(0)
        if broken:
            return "refused", Fault(broken[0])
        if not self.script:
            return "failed", Fault("the script of this test has no further answer")
        reserved = (body.get("inferenceConfig") or {}).get("maxTokens", 0)
        if tokens > self.window_tokens:
            return "overflowed", Fault(TOO_LONG, in_stream=self.overflow_in_stream)
        if tokens + reserved > self.window_tokens:
            text = TOO_LONG_WITH_OUTPUT.format(tokens, reserved, self.window_tokens)
            return "overflowed", Fault(text, in_stream=self.overflow_in_stream)
        return "answered", None

    def _answer(self, step: Step) -> Answer:
        if isinstance(step, Answer):
            return step
        if isinstance(step, str):
            return Answer([{"text": step}])
        calls = [step] if isinstance(step, ToolCall) else list(step)
        return Answer([self._tool_use(call) for call in calls], "tool_use")

    def _tool_use(self, call: ToolCall) -> dict[str, Any]:
        self._ids += 1
        name = call.id or f"tooluse_{self._ids:05d}"
        return {"toolUse": {"toolUseId": name, "name": call.name, "input": call.input}}


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, bedrock: BedrockServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bedrock = bedrock
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        self.bedrock.crashes.append(traceback.format_exc())

    def stop(self) -> None:
        """Stop listening, hang up on clients that keep a connection, and wait for the threads."""
        self.shutdown()
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _HttpServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prefix, _, rest = self.path.partition("/model/")
        model_id, _, operation = rest.partition("/")
        if prefix or operation not in OPERATIONS or not self.headers["Authorization"].startswith("AWS4-HMAC-SHA256 "):
            self._send(404, "application/json", _json({"message": self.path}), "UnknownOperationException")
            return
        reply = self.server.bedrock.serve(operation, unquote(model_id), body)
        fault = reply.fault
        if fault is not None and not (fault.in_stream and reply.streams):
            self._send(fault.status, "application/json", _json({"message": fault.message}), fault.code)
        elif reply.streams:
            self._send_stream(reply.body + (encode_exception(fault.code, fault.message) if fault else b""))
        else:
            self._send(200, "application/json", reply.body)

    def _send(self, status: int, content_type: str, body: bytes, error_type: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        if error_type:
            self.send_header("x-amzn-ErrorType", f"{error_type}:{_ERROR_NAMESPACE}")
        self.end_headers()
        self.wfile.write(body)

    def _send_stream(self, frames: bytes) -> None:
        """Send frames in chunks that begin and end in the middle of them."""
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.amazon.eventstream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for start in range(0, len(frames), _CHUNK_BYTES):
            chunk = frames[start : start + _CHUNK_BYTES]
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *args: object) -> None:
        """Say nothing."""
