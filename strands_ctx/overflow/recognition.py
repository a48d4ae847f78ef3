"""Walk an error and all that it wraps, and weigh words, codes and status: is it an overflow, and of what?

Pure: no provider's package is imported; errors are read by the attributes that the real SDKs give them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from strands_ctx.errors import BudgetError

from .texts import CLASSES, CODES
from .words import (
    Overflow,
    even_out,
    is_throttle,
    match_overflow,
    names_parameter,
    read_number,
    repeats,
    speaks,
    tells_413,
)

__all__ = ["Overflow", "find_overflow"]

logger = logging.getLogger(__name__)

MAX_LINKS = 16
"""How many exceptions of a chain are looked at."""

MAX_JSON_CHARS = 4_000_000
MAX_DEPTH = 8
MAX_FIELDS = 400

OTHER_STATUSES = frozenset({401, 402, 403, 429})
"""HTTP statuses that are never an overflow: key, purse, permission, rate."""

HANDLED_CLASS = "ContextWindowOverflowException"
"""What the host handles while it calls the model again."""

_OTHER_CLASSES = ("Throttl", "RateLimit", "TooManyRequests", "ResourceExhausted", "Quota")
_BY_WORDS, _BY_CODE, _BY_CLASS = 3, 2, 1

_SDKS = {
    "anthropic": "anthropic",
    "botocore": "bedrock",
    "cohere": "cohere",
    "google": "gemini",
    "groq": "groq",
    "mistralai": "mistral",
    "ollama": "ollama",
}
_STATUS_NAMES = ("status_code", "http_status", "status", "code")
_BODY_NAMES = ("body", "error", "details", "response_body", "message")
_CODE_KEYS = frozenset({"code", "error_code", "error_type", "finish_reason", "status", "stop_reason", "type"})
_STATUS_KEYS = frozenset({"httpstatuscode", "originalstatuscode", "status_code"})


@dataclass(slots=True)
class _Evidence:
    """What one exception holds: words, codes, statuses, and the numbers that llama.cpp gives apart."""

    texts: list[str] = field(default_factory=list)
    codes: set[str] = field(default_factory=set)
    statuses: set[int] = field(default_factory=set)
    prompt_tokens: int | None = None
    limit_tokens: int | None = None
    provider: str = ""
    fields: int = 0


def find_overflow(error: BaseException | str | None) -> Overflow | None:
    """Tell whether an error means that a request was too large for the provider.

    Causes, contexts and originals of an exception are looked at too, the nearest first. A throttle, an exhausted quota,
    a refused key or argument, and our own ``BudgetError`` are never an overflow; HTTP 429 outweighs every text. Never
    raises, whatever it is given; a ``KeyboardInterrupt`` and the like go on.

    Args:
        error: What a model call raised, a text of a provider, or a stop reason.

    Returns:
        What is known of the overflow, or None if it is something else.

    Example:
        >>> find_overflow("prompt is too long: 204,512 tokens > 200000 maximum")
        Overflow(kind='tokens', prompt_tokens=204512, limit_tokens=200000, provider='anthropic')
        >>> find_overflow("Too many tokens, please wait before trying again.") is None
        True
    """
    try:
        return _find(error)
    except Exception:  # asked while another error is handled, which it must not replace
        logger.debug("type=<%s> | error could not be read", type(error).__name__, exc_info=True)
        return None


def find_call_overflow(error: BaseException) -> Overflow | None:
    """Tell whether what one model call of the host raised is an overflow of this call.

    As :func:`find_overflow`, but an overflow that the host was handling is left out: it calls the model again inside
    of the handler, so that every later error of the run has it as its context.
    """
    try:
        return _find(error, of_one_call=True)
    except Exception:  # asked while another error is handled, as above
        logger.debug("type=<%s> | error could not be read", type(error).__name__, exc_info=True)
        return None


def _find(error: Any, *, of_one_call: bool = False) -> Overflow | None:
    if not issubclass(type(error), (BaseException, str)):
        return None
    found, found_strength, provider = None, 0, ""
    for link in _chain(error, of_one_call):
        if isinstance(link, BudgetError):
            break
        evidence = _evidence_of(link)
        provider = provider or evidence.provider
        if _is_something_else(link, evidence):
            return None
        overflow, strength = _judge(link, evidence)
        if overflow is not None and strength > found_strength:
            found, found_strength = overflow, strength
        if found is not None and evidence.statuses:
            break
    return replace(found, provider=provider or found.provider) if found is not None else None


def _chain(error: Any, of_one_call: bool) -> Iterator[Any]:
    """Walk from an error to what it wraps, breadth first, each once."""
    waiting: list[Any] = [error]
    seen: set[int] = set()
    while waiting and len(seen) < MAX_LINKS:
        link = waiting.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        waiting += [inner for inner in _inside(link, of_one_call) if issubclass(type(inner), BaseException)]


def _inside(link: Any, of_one_call: bool) -> Iterator[Any]:
    yield _peek(link, "original_exception")
    yield _peek(link, "__cause__")
    context = None if _peek(link, "__suppress_context__") else _peek(link, "__context__")
    if not (of_one_call and any(kind.__name__ == HANDLED_CLASS for kind in type(context).__mro__)):
        yield context
    for name in ("args", "exceptions"):
        inner = _peek(link, name)
        if type(inner) is tuple:
            yield from inner[:MAX_LINKS]


def _peek(thing: Any, name: str) -> Any:
    try:
        return getattr(thing, name, None)
    except Exception:  # noqa: BLE001 - properties of SDK errors raise: that of a body nobody has read, for one
        return None


def _words_of(thing: Any) -> str:
    try:
        return str(thing)
    except Exception:  # noqa: BLE001 - as above
        return ""


def _evidence_of(link: Any) -> _Evidence:
    evidence = _Evidence(provider=_provider_of(link))
    if isinstance(link, str):
        _read(link, evidence)
        return evidence
    response = _peek(link, "response")
    for holder in (link, response):
        for name in _STATUS_NAMES:
            _read_code(_peek(holder, name), evidence)
    _read_code(_peek(link, "type"), evidence)
    for name in _BODY_NAMES:
        _read(_peek(link, name), evidence)
    _read(response if isinstance(response, Mapping) else _peek(response, "text"), evidence)
    _read(_words_of(link), evidence)
    return evidence


def _provider_of(link: Any) -> str:
    told = _peek(link, "llm_provider")
    if isinstance(told, str) and 0 < len(told) <= 40:
        return told.lower()
    return _SDKS.get(str(type(link).__module__).partition(".")[0], "")


def _read(value: Any, evidence: _Evidence, depth: int = 0, *, aloud: bool = True) -> None:
    """Collect what a value says: text if said aloud, and of JSON the fields in which a provider speaks itself."""
    evidence.fields += 1
    if depth > MAX_DEPTH or evidence.fields > MAX_FIELDS:
        return
    if isinstance(value, (bytes, bytearray)):
        value = bytes(value[:MAX_JSON_CHARS]).decode("utf-8", "replace")
    if isinstance(value, str) and aloud:
        parsed = _parse(value)
        if parsed is not None:
            _read(parsed, evidence, depth + 1)
        elif (text := even_out(value)) not in evidence.texts:
            evidence.texts.append(text)
    elif isinstance(value, Mapping):
        _read_fields(value, evidence, depth)
    elif isinstance(value, (list, tuple)):
        for item in value[:MAX_FIELDS]:
            _read(item, evidence, depth + 1, aloud=aloud)


def _read_fields(fields: Mapping[Any, Any], evidence: _Evidence, depth: int) -> None:
    for key, value in islice(fields.items(), MAX_FIELDS):
        name = key.lower() if isinstance(key, str) else ""
        if name in _CODE_KEYS or name in _STATUS_KEYS:
            _read_code(value, evidence)
        elif name == "n_prompt_tokens":
            evidence.prompt_tokens = read_number(value)
        elif name == "n_ctx":
            evidence.limit_tokens = read_number(value)
        if isinstance(value, (str, bytes, Mapping, list, tuple)) and not repeats(name):
            _read(value, evidence, depth + 1, aloud=speaks(name))


def _read_code(value: Any, evidence: _Evidence) -> None:
    if isinstance(value, str) and len(value) <= 80:
        if len(value) == 3 and value.isascii() and value.isdigit():
            evidence.statuses.add(int(value))
        evidence.codes.add(value.lower())
    elif isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
        evidence.statuses.add(int(value))


def _parse(text: str) -> Any:
    """Return the JSON object or array that a text consists of, or None."""
    if not text[:1_000].lstrip().startswith(("{", "[")) or len(text) > MAX_JSON_CHARS:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_something_else(link: Any, evidence: _Evidence) -> bool:
    names = [kind.__name__ for kind in type(link).__mro__]
    return (
        not evidence.statuses.isdisjoint(OTHER_STATUSES)
        or any(part in name for name in names for part in _OTHER_CLASSES)
        or any(is_throttle(text) for text in (*evidence.texts, *evidence.codes))
    )


def _judge(link: Any, evidence: _Evidence) -> tuple[Overflow | None, int]:
    """Return the overflow that one exception tells of, and how surely."""
    said = (match_overflow(text) for text in evidence.texts)
    overflow = next((match for match in said if match is not None), None)
    strength = _BY_WORDS
    if overflow is None:
        overflow, strength = _judge_form(link, evidence)
    if overflow is None:
        return None, 0
    return replace(
        overflow,
        prompt_tokens=overflow.prompt_tokens or evidence.prompt_tokens,
        limit_tokens=overflow.limit_tokens or evidence.limit_tokens,
    ), strength


def _judge_form(link: Any, evidence: _Evidence) -> tuple[Overflow | None, int]:
    """Judge an exception whose words say nothing, by its code, its status and its class."""
    parameter = any(names_parameter(text) for text in evidence.texts)
    kinds = [CODES[code] for code in sorted(evidence.codes) if code in CODES]
    if kinds and not parameter:
        return Overflow(kinds[0]), _BY_CODE
    if 413 in evidence.statuses or any(tells_413(text) for text in evidence.texts):
        return Overflow("payload_bytes"), _BY_CLASS
    named = [CLASSES[kind.__name__] for kind in type(link).__mro__ if kind.__name__ in CLASSES]
    if named and not parameter:
        return Overflow(named[0]), _BY_CLASS
    return None, 0
