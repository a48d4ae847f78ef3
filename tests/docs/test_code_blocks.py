"""Every code block of the documentation runs, and every command that it shows exists."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md")) if path.exists())
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`\n]*)$")


class Block(NamedTuple):
    """A fenced block: the line of its first code line, the words after the fence, its code."""

    line: int
    info: str
    code: str


def blocks(page: Path) -> list[Block]:
    """Read the fenced blocks of a page in order."""
    found: list[Block] = []
    open_fence: re.Match[str] | None = None
    start, lines = 0, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        fence = FENCE.match(line)
        if open_fence is None and fence:
            open_fence, start, lines = fence, number + 1, []
        elif open_fence is not None and fence and fence["ticks"] == open_fence["ticks"] and not fence["info"].strip():
            found.append(Block(start, open_fence["info"].strip(), "\n".join(lines)))
            open_fence = None
        elif open_fence is not None:
            lines.append(line.removeprefix(open_fence["indent"]))
    assert open_fence is None, f"{page.name}: the block before line {start} is never closed"
    return found


def commands(page: Path) -> list[list[str]]:
    """The words of every ``$ ...`` line in the page's console blocks, without the prompt."""
    return [
        shlex.split(line.removeprefix("$ "), comments=True)
        for block in blocks(page)
        if block.info == "console"
        for line in block.code.replace("\\\n", " ").splitlines()
        if line.startswith("$ ")
    ]


def our_arguments(words: list[str]) -> list[str] | None:
    """The arguments of a ``strands-ctx`` command, or none for another program."""
    if words and Path(words[0]).name == "strands-ctx":
        return words[1:]
    if words[1:3] == ["-m", "strands_ctx"]:
        return words[3:]
    return None


def help_of(*subcommand: str) -> subprocess.CompletedProcess[str]:
    """What the command line says of itself or of one command, on a wide and plain terminal."""
    return subprocess.run(
        [sys.executable, "-m", "strands_ctx", *subcommand, "--help"],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "300", "NO_COLOR": "1", "TERM": "dumb"},
        check=False,
    )


@pytest.fixture(params=PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])
def page(request):
    """One page of the documentation."""
    return request.param


def test_python_blocks_run_in_order(page, tmp_path, monkeypatch):
    """A reader who pastes a page's blocks one after the other sees them work."""
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for block in blocks(page):
        if block.info == "python":
            exec(compile("\n" * (block.line - 1) + block.code, str(page), "exec"), namespace)


def test_blocks_that_do_not_run_say_why(page):
    """A block marked ``python no-run`` starts with a comment that gives the reason."""
    excused = [block for block in blocks(page) if block.info.startswith("python") and block.info != "python"]
    wrong = [
        f"{page.name}:{block.line} {block.info}"
        for block in excused
        if block.info != "python no-run" or not re.match(r"# Not run here: \w.{9,}", block.code)
    ]
    assert [] == wrong


def test_commands_exist_with_their_options(page):
    """Every ``$ strands-ctx`` line names a command and options that the program has."""
    unknown = []
    for words in commands(page):
        arguments = our_arguments(words)
        if arguments is None:
            continue
        subcommand = [word for word in arguments[:1] if not word.startswith("-")]
        shown = help_of(*subcommand)
        options = {word.partition("=")[0] for word in arguments if word.startswith("-")} - {"--help"}
        missing = {option for option in options if not re.search(rf"(?<![\w-]){option}(?![\w-])", shown.stdout)}
        if shown.returncode != 0 or missing:
            unknown.append(" ".join(words))
    assert [] == unknown


def test_make_targets_exist(page):
    """Every ``$ make`` line names targets that the Makefile has."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {target for words in commands(page) if words[:1] == ["make"] for target in words[1:] if "=" not in target}
    assert set() == {target for target in targets if not re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE)}
