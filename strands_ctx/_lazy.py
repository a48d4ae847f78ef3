"""Façades: a package that names what it offers and imports each name at its first use."""

from __future__ import annotations

# Importing typing and collections.abc for annotations would be most of what importing the package costs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def facade(namespace: dict[str, Any], homes: dict[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of a package.

    Args:
        namespace: The package's ``globals()``.
        homes: Module of the package that each name lives in, by name.

    Returns:
        Both functions; what the first one finds is remembered in the namespace.
    """
    package: str = namespace["__name__"]

    def getattribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        value = namespace[name] = getattr(import_module(f"{package}.{homes[name]}"), name)
        return value

    return getattribute, lambda: sorted({*namespace, *namespace["__all__"]})
