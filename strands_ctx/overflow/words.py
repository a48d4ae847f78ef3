"""Find in one text the words that mean overflow, the numbers in them, and who says them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .texts import (
    ECHO,
    PARAMETER,
    PLAN,
    THROTTLE,
    TOO_LARGE_STATUS,
    OverflowKind,
    OverflowText,
    compiled,
    overflow_texts,
)

MAX_TEXT_CHARS = 20_000
"""How much of each end of a text is looked at; no provider says more, and what is longer quotes the request."""

MAX_NUMBER = 10**12

_MAX_MATCHES = 4
_ECHO_CHARS = 160
_KEY_CHARS = 60
_QUOTES = re.compile("[\"']")
_SPEAKS = re.compile("messag|msg|err|detail|reason|cause|fault|exception|desc|raw|body|respon|return|title|warning")
_REPEATS = re.compile(
    "(?:request|inputs?|messages|contents?|prompt|param(?:eter)?s?|arguments|values?|payload|text)(?:_.*)?"
)
_KEY_BEFORE = re.compile(r"([a-z_-]{1,40})[\"']?\s{0,3}[:=]?\s{0,3}\[?\s{0,3}[burf]?$")
_PART = re.compile(r"([0-9][0-9,_]{0,15}) ([^0-9,;)]{1,60})")
_OUTPUT = re.compile("output|completion|response")
_ADDRESS = re.compile(r"https?://[^\s\"']{1,500}")
_BLANKS = re.compile(r"\s+")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3}){1,5}")
_FACTORS = {"k": 1_000, "m": 1_000_000}


@dataclass(frozen=True, slots=True)
class Overflow:
    """What was too large, as far as the provider told.

    Attributes:
        kind: ``tokens``: the prompt. ``output_reserve``: the prompt with the output that was asked for.
            ``images``: images and documents, by number or size. ``payload_bytes``: the request in bytes.
        prompt_tokens: Tokens of the refused prompt, by the provider's count; with the output where the provider gives
            only the sum. None where not told.
        limit_tokens: The provider's limit in tokens, or None.
        provider: Short name of the provider, gateway or server, or ``""``.
    """

    kind: OverflowKind
    prompt_tokens: int | None = None
    limit_tokens: int | None = None
    provider: str = ""


def even_out(text: str) -> str:
    """Lower a text, even out blanks, quotes, escapes and addresses, and leave out the middle of a long one."""
    if len(text) > 2 * MAX_TEXT_CHARS:
        text = f"{text[:MAX_TEXT_CHARS]} \n {text[-MAX_TEXT_CHARS:]}"
    text = text.replace("\\n", " ").replace("\\", "").replace("`", "").replace("\u2019", "'").lower()
    return _BLANKS.sub(" ", _ADDRESS.sub("", text))


def match_overflow(text: str) -> Overflow | None:
    """Return the overflow that an evened out text tells of, or None.

    Args:
        text: What ``even_out`` made.

    Returns:
        By the first row of ``overflow_texts`` that matches words which are not quoted from somebody else.
    """
    found = _first_match(text)
    return None if found is None or _is_output_alone(*found) else _overflow_of(*found)


def is_throttle(text: str) -> bool:
    """Tell whether an evened out text refuses for the rate, the quota or the purse."""
    return compiled(THROTTLE).search(text) is not None


def names_parameter(text: str) -> bool:
    """Tell whether an evened out text refuses one argument of the request, an output larger than the limit too."""
    if compiled(PARAMETER).search(text):
        return True
    found = _first_match(text)
    return found is not None and _is_output_alone(*found)


def tells_413(text: str) -> bool:
    """Tell whether an evened out text gives 413 as its HTTP status."""
    return compiled(TOO_LARGE_STATUS).search(text) is not None


def speaks(key: str) -> bool:
    """Tell whether a provider speaks itself in the field of this name, rather than repeat what it was sent."""
    return _SPEAKS.search(key) is not None and not repeats(key)


def repeats(key: str) -> bool:
    """Tell whether a field of this name holds what the provider was sent."""
    return _REPEATS.fullmatch(key) is not None


def read_number(value: Any) -> int | None:
    """Read a positive count, whatever separates its thousands.

    Args:
        value: A number or a text such as ``200,000``, ``200_000``, ``1e5`` or ``128k``.

    Returns:
        The count, or None where it is none, or not a plausible one.
    """
    if isinstance(value, str):
        digits = value.replace(",", "").replace("_", "")
        factor = _FACTORS.get(digits[-1:], 1)
        digits = digits[:-1] if factor > 1 else digits
        digits = digits.replace(".", "") if _THOUSANDS.fullmatch(digits) else digits
        try:
            value = float(digits) * factor
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1 <= value < MAX_NUMBER:
        return None
    return int(value)


def _first_match(text: str) -> tuple[OverflowText, re.Match[str]] | None:
    strict = compiled(PARAMETER).search(text) or compiled(PLAN).search(text)
    for row in overflow_texts():
        if row.loose and strict:
            break
        for match in islice(row.pattern.finditer(text), _MAX_MATCHES):
            if not _is_echo(text, match.start()):
                return row, match
    return None


def _is_echo(text: str, start: int) -> bool:
    """Tell whether the words at ``start`` are somebody else's: of a tool, a message, a field of the request."""
    if compiled(ECHO).search(text, max(start - _ECHO_CHARS, 0), start):
        return True
    open_quotes: list[tuple[str, int]] = []
    for quote in _QUOTES.finditer(text, 0, start):
        mark, at = quote.group(), quote.start()
        before, after = text[max(at - 1, 0) : at], text[at + 1 : at + 2]
        if open_quotes and open_quotes[-1][0] == mark and not after.isalnum():
            open_quotes.pop()
        elif not before.isalnum() and after.strip():
            open_quotes.append((mark, at))
    keys = (_KEY_BEFORE.search(text, max(at - _KEY_CHARS, 0), at) for _, at in open_quotes)
    return any(key is not None and not speaks(key.group(1)) for key in keys)


def _numbers(match: re.Match[str]) -> tuple[int | None, int | None, int | None]:
    """Return the tokens of the prompt, of the output and of the limit, where a match tells them."""
    told = match.groupdict()
    prompt, output, limit = (read_number(told.get(name)) for name in ("prompt", "output", "limit"))
    if told.get("parts"):
        prompt, output = _add_up(told["parts"])
    return prompt, output, limit


def _is_output_alone(row: OverflowText, match: re.Match[str]) -> bool:
    """Tell whether the output that was asked for leaves no room for any prompt."""
    _, output, limit = _numbers(match)
    return output is not None and limit is not None and output >= limit


def _overflow_of(row: OverflowText, match: re.Match[str]) -> Overflow:
    prompt, output, limit = _numbers(match)
    excess = read_number(match.groupdict().get("excess"))
    if excess and limit:
        prompt = limit + excess
    kind = row.kind
    if kind == "tokens" and output and prompt and limit and prompt <= limit:
        kind = "output_reserve"
    return Overflow(kind, prompt, limit, row.provider)


def _add_up(listed: str) -> tuple[int | None, int | None]:
    """Return prompt and output of a list such as ``37552 in the messages, 4096 in the completion``."""
    prompt = output = 0
    for number, words in _PART.findall(listed):
        tokens = read_number(number.rstrip(",_")) or 0
        if _OUTPUT.search(words):
            output += tokens
        else:
            prompt += tokens
    return prompt or None, output or None
