"""Check what a built wheel holds: the package with its data, and nothing else."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

PACKAGE = "strands_ctx"
NOT_SHIPPED = {".pyc"}


def wheel_problems(names: set[str], source_files: set[str]) -> list[str]:
    """List what is missing from the wheel, and what should not be in it."""
    packaged = {name for name in names if ".dist-info/" not in name}
    problems = [f"missing: {name}" for name in sorted(source_files - packaged)]
    problems += [f"not ours: {name}" for name in sorted(packaged - source_files)]
    if not any(name.startswith(f"{PACKAGE}/tokens/data/") for name in packaged):
        problems.append("missing: token tables")
    if not any(name.endswith("/licenses/LICENSE") for name in names):
        problems.append("missing: LICENSE")
    return problems


def main(wheel: Path) -> int:
    """Print the problems of one wheel and return how many there are."""
    source_files = {
        path.as_posix() for path in Path(PACKAGE).rglob("*") if path.is_file() and path.suffix not in NOT_SHIPPED
    }
    with zipfile.ZipFile(wheel) as archive:
        problems = wheel_problems(set(archive.namelist()), source_files)
    for problem in problems:
        print(f"{wheel.name}: {problem}", file=sys.stderr)
    return len(problems)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
