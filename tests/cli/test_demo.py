"""The demo prints one table with its meaning, refuses bad input in a line, and never shows a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields

import pytest

from strands_ctx.__main__ import main
from strands_ctx.analysis import Trial, contenders
from strands_ctx.cli.demo import COLUMNS

SHORT = ["demo", "--calls", "4", "--seed", "11"]


@pytest.fixture(scope="module")
def plain():
    """What a short demo writes when its output is no terminal, run as users run it."""
    command = [sys.executable, "-m", "strands_ctx", *SHORT]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_the_demo_succeeds_in_silence(plain):
    """Exit code 0 and nothing on the error stream, which is no terminal either."""
    assert (0, "") == (plain.returncode, plain.stderr)


def test_every_contender_has_a_row_and_a_meaning(plain):
    """Each name is there twice: in the table and in the lines below."""
    names = [contender.name for contender in contenders()]
    starts = [line.strip() for line in plain.stdout.splitlines()]
    assert dict.fromkeys(names, 2) == {n: sum(s.startswith(f"{n}  ") for s in starts) for n in names}


def test_every_column_has_a_meaning(plain):
    """Each heading is explained, and every number's line says that it is exact."""
    lines = [" ".join(line.split()) for line in plain.stdout.splitlines()]
    assert [] == [column.heading for column in COLUMNS if f"{column.heading} {column.meaning}" not in lines]


def test_json_holds_every_field_of_every_trial(capsys):
    """Machines get the fields under their names, and what the fields mean."""
    assert 0 == main([*SHORT, "--json"])
    document = json.loads(capsys.readouterr().out)
    names = {field.name for field in fields(Trial)} | {"summary"}
    assert [names] * len(contenders()) == [set(trial) for trial in document["trials"]]


def test_json_says_what_was_run(capsys):
    """Seed, calls and window are those that were asked for."""
    assert 0 == main([*SHORT, "--window", "50000", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert ("research", 11, 4, 50_000) == tuple(
        document[key] for key in ("workload", "seed", "calls", "context_window_limit_tokens")
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["demo", "--calls", "0"], "--calls"),
        (["demo", "--calls", "301"], "calls=301"),
        (["demo", "--window", "-5"], "--window"),
        (["demo", "--seed", "many"], "--seed"),
        (["demo", "--workload", "chess"], "--workload"),
        (["demo", "--colour"], "--colour"),
        (["dome"], "dome"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, named, capsys):
    """The line names what was wrong."""
    code = main(arguments)
    error = capsys.readouterr().err
    assert (2, 1, True) == (code, error.count("\n"), named in error)


def test_a_missing_workload_package_is_one_line_and_exit_code_2(monkeypatch, capsys):
    """The bfcl workload says how to install what it needs."""
    monkeypatch.setitem(sys.modules, "bfcl_eval", None)
    code = main(["demo", "--workload", "bfcl"])
    error = capsys.readouterr().err
    assert (2, 1, True) == (code, error.count("\n"), "pip install --no-deps bfcl-eval mpmath" in error)


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_a_missing_extra_is_one_line_and_exit_code_2(package):
    """Without the extra the command says what to install."""
    code = (
        f"import sys; sys.modules[{package!r}] = None; from strands_ctx.__main__ import main; sys.exit(main(['demo']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    expected = f"strands-ctx: {package} is not installed: pip install 'strands-ctx[cli]'\n"
    assert (2, expected) == (done.returncode, done.stderr)


def test_help_lists_the_command(capsys):
    """Asking for help is no error."""
    code = main(["--help"])
    assert (0, True) == (code, "demo" in capsys.readouterr().out)


def test_no_command_shows_the_help(capsys):
    """Nothing asked for gets what can be asked for."""
    code = main([])
    assert (0, True) == (code, "demo" in capsys.readouterr().out)
