"""What an app says of single tools, checked: which are never capped, and which have a cap of their own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from strands_ctx.capping.results import check_cap
from strands_ctx.capping.rules import CapRules
from strands_ctx.capping.text import MIN_CAP_BYTES
from strands_ctx.errors import ConfigError
from strands_ctx.types import Keep

MAX_MEDIA = 20
"""Images and documents in one request. Source: Bedrock refuses more (Converse API, read 2026-11-30)."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def cap_rules(
    base_bytes: int | None,
    *,
    exempt_tools: Collection[str] = (),
    per_tool_max_bytes: Mapping[str, int] | None = None,
    keep: Keep = "head_tail",
    recall_tool: str | None = None,
) -> CapRules:
    """Check what an app says of caps.

    Args:
        base_bytes: The manager's own cap of results, which those of single tools replace; None for no cap.
        exempt_tools: Names of tools.
        per_tool_max_bytes: Caps in bytes by name of tool.
        keep: Which end of a capped text stays.
        recall_tool: Name of the tool that reads whole results by id, or None.

    Returns:
        The rules.

    Raises:
        ConfigError: If a name is no text, a cap is under 64 bytes, a tool is in both, or there is no cap to replace.
    """
    exempt, caps = _names(exempt_tools), _caps(per_tool_max_bytes)
    if caps and base_bytes is None:
        raise ConfigError(
            "per_tool_max_bytes", dict(caps), "must come with max_bytes_per_result, which it replaces for these tools"
        )
    if both := sorted(exempt.intersection(caps)):
        raise ConfigError("per_tool_max_bytes", both, "must not name tools that are in exempt_tools too")
    if recall_tool is not None and not (isinstance(recall_tool, str) and _PLAIN_NAME.fullmatch(recall_tool)):
        raise ConfigError("recall_tool", recall_tool, "must be the name of a tool, such as 'recall', or None")
    return CapRules(keep, exempt, caps, MIN_CAP_BYTES if base_bytes is None else base_bytes, recall_tool or "")


def _names(exempt_tools: Collection[str]) -> frozenset[str]:
    names = tuple(exempt_tools) if isinstance(exempt_tools, Iterable) else (None,)
    if isinstance(exempt_tools, str) or not all(isinstance(name, str) for name in names):
        raise ConfigError("exempt_tools", exempt_tools, "must be a collection of tool names, such as ('read_pdf',)")
    return frozenset(name for name in names if name is not None)


def _caps(per_tool_max_bytes: Mapping[str, int] | None) -> dict[str, int]:
    if per_tool_max_bytes is None:
        return {}
    if not isinstance(per_tool_max_bytes, Mapping) or not all(isinstance(name, str) for name in per_tool_max_bytes):
        raise ConfigError(
            "per_tool_max_bytes",
            per_tool_max_bytes,
            "must be a mapping of tool names to bytes, such as {'read_pdf': 40_000}",
        )
    for name, max_bytes in per_tool_max_bytes.items():
        check_cap(f"per_tool_max_bytes[{name!r}]", max_bytes)
    return dict(per_tool_max_bytes)
