"""``python -m strands_ctx`` and the ``strands-ctx`` command."""

from __future__ import annotations

import sys

_EXTRA = frozenset({"rich", "typer"})


def main(arguments: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: What follows the program's name; those of the process by default.

    Returns:
        Exit code: 0, or 2 for bad input and for a missing extra.
    """
    try:
        from strands_ctx.cli.app import run
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package not in _EXTRA:
            raise
        sys.stderr.write(f"strands-ctx: {package} is not installed: pip install 'strands-ctx[cli]'\n")
        return 2
    return run(sys.argv[1:] if arguments is None else arguments)


if __name__ == "__main__":
    sys.exit(main())
