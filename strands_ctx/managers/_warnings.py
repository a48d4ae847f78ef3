"""Warnings out of hooks: said where they can be, and never at the price of a run."""

from __future__ import annotations

import warnings


def warn_gently(warning: Warning) -> bool:
    """Warn, unless warnings are errors here: an exception out of a hook would end a run. Tell whether it was said."""
    try:
        warnings.warn(warning, stacklevel=3)
    except Warning:
        return False
    return True
