"""The ``strands-ctx`` application: its commands, and one line on the error stream for input that is wrong."""

from __future__ import annotations

import sys
from typing import Any

import typer

from strands_ctx.cli.demo import demo
from strands_ctx.cli.demo_llm import demo_llm
from strands_ctx.errors import StrandsCtxError

PROGRAM = "strands-ctx"

app = typer.Typer(
    name=PROGRAM,
    help="Measure what context management does to an agent's log, its model calls and its bill.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(demo)
app.command("demo-llm")(demo_llm)


@app.callback()
def _root() -> None:
    """Measure what context management does to an agent's log, its model calls and its bill."""


_USAGE_ERROR: type[Any] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def run(arguments: list[str]) -> int:
    """Run one command.

    Args:
        arguments: What follows the program's name.

    Returns:
        Exit code: 0, 1 where the output can't be written, 2 for bad input, 130 where the user interrupted.
    """
    if sys.stdout is None or sys.stderr is None:  # closed by whoever started the command
        return 1
    try:
        code = app(args=arguments or ["--help"], prog_name=PROGRAM, standalone_mode=False)
    except typer.Exit as stop:
        return stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except _USAGE_ERROR as error:
        return _refuse(error.format_message())
    except StrandsCtxError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        return 1
    except OSError as error:
        _refuse(f"the output can't be written: {error.strerror or error}")
        return 1
    return code if isinstance(code, int) else 0


def _refuse(message: str) -> int:
    sys.stderr.write(f"{PROGRAM}: {' '.join(message.split())}\n")
    return 2
