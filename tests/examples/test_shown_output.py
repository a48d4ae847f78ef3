"""What the documentation shows below a code block is what the block prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    page
    for page in sorted((ROOT / "README.md", *ROOT.glob("docs/**/*.md")))
    if "```python\n" in page.read_text(encoding="utf-8")
]
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:^```text\n(?P<shown>.*?)^```$)?", re.DOTALL | re.MULTILINE)
SIZE = re.compile(r"\d{1,3}(?:,\d{3})+")
TOLERANCE_RATIO = 0.05


def printed(code: str, namespace: dict[str, object]) -> str:
    """What a block prints."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, namespace)
    return output.getvalue()


def wording(text: str) -> list[str]:
    """The lines with sizes and widths taken out: what has to be the same to the letter."""
    return [" ".join(SIZE.sub("SIZE", line).split()) for line in text.rstrip().splitlines()]


def sizes(text: str) -> list[int]:
    """The numbers with a comma for thousands, in order."""
    return [int(number.replace(",", "")) for number in SIZE.findall(text)]


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])
def test_shown_output_is_printed_output(page, tmp_path, monkeypatch):
    """Each block prints the lines below it; sizes from 1,000 on, most of them estimates, may be a twentieth off."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    found = list(BLOCK.finditer(page.read_text(encoding="utf-8")))
    shown = [block["shown"] or "" for block in found]
    actual = [printed(block["code"], namespace) for block in found]
    assert list(map(wording, shown)) == list(map(wording, actual))
    assert list(map(sizes, shown)) == [pytest.approx(sizes(text), rel=TOLERANCE_RATIO) for text in actual]
