"""Frames of ``application/vnd.amazon.eventstream``, as Bedrock Runtime streams a Converse answer."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_STRING = 7
_PIECE_CHARS = 40


def encode_frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One frame: both lengths, their checksum, headers, payload, the checksum of all."""
    head = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", _STRING, len(value.encode())) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack("!II", 16 + len(head) + len(payload), len(head))
    frame = prelude + struct.pack("!I", zlib.crc32(prelude)) + head + payload
    return frame + struct.pack("!I", zlib.crc32(frame))


def encode_event(kind: str, payload: Mapping[str, Any]) -> bytes:
    """A frame with one event; like the service's, its payload carries padding that clients ignore."""
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return encode_frame(headers, json.dumps({**payload, "p": "abcdefgh"}, ensure_ascii=False).encode())


def encode_exception(code: str, message: str) -> bytes:
    """A frame with an exception, its type in lower camel case."""
    kind = code[0].lower() + code[1:]
    headers = {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}
    return encode_frame(headers, json.dumps({"message": message}).encode())


def answer_frames(
    content: Sequence[Mapping[str, Any]], stop_reason: str, usage: Mapping[str, int] | None
) -> Iterator[bytes]:
    """The frames of one whole answer; without usage, the stream ends before its metadata."""
    yield encode_event("messageStart", {"role": "assistant"})
    for index, block in enumerate(content):
        if "toolUse" in block:
            start = {"toolUse": {key: block["toolUse"][key] for key in ("toolUseId", "name")}}
            yield encode_event("contentBlockStart", {"contentBlockIndex": index, "start": start})
        for delta in _deltas(block):
            yield encode_event("contentBlockDelta", {"contentBlockIndex": index, "delta": delta})
        yield encode_event("contentBlockStop", {"contentBlockIndex": index})
    yield encode_event("messageStop", {"stopReason": stop_reason})
    if usage is not None:
        yield encode_event("metadata", {"usage": usage, "metrics": {"latencyMs": 1}})


def _deltas(block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if "text" in block:
        yield from ({"text": piece} for piece in _pieces(block["text"]))
    elif "toolUse" in block:
        text = json.dumps(block["toolUse"]["input"], ensure_ascii=False)
        yield from ({"toolUse": {"input": piece}} for piece in _pieces(text))
    elif "reasoningText" in block["reasoningContent"]:
        reasoning = block["reasoningContent"]["reasoningText"]
        yield from ({"reasoningContent": {"text": piece}} for piece in _pieces(reasoning["text"]))
        yield {"reasoningContent": {"signature": reasoning["signature"]}}
    else:
        yield {"reasoningContent": block["reasoningContent"]}


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _PIECE_CHARS] for start in range(0, len(text), _PIECE_CHARS))
