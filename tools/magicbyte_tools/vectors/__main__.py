"""python -m magicbyte_tools.vectors [--check]: write tests/vectors, or check that it is current."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from magicbyte_tools.vectors.build import cases, files
from magicbyte_tools.vectors.scorer_file import scorer_file

VECTORS = Path(__file__).parents[3] / "tests" / "vectors"
SCORER = "score.py"
REMEDY = "run: make vectors"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check tests/vectors; return the exit status, 1 where --check finds a difference."""
    parser = argparse.ArgumentParser(prog="python -m magicbyte_tools.vectors")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    chosen = parser.parse_args(arguments)
    wanted = {**files(cases()), SCORER: scorer_file()}
    there = present(VECTORS)
    different = sorted(
        name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name)
    )
    if chosen.check:
        for name in different:
            print(f"tests/vectors/{name}: not what the cases say", file=sys.stderr)
        if different:
            print(REMEDY, file=sys.stderr)
        return 1 if different else 0
    write(VECTORS, wanted, different)
    print(f"{len(different)} of {len(wanted)} files written")
    return 0


def present(folder: Path) -> dict[str, bytes]:
    """Return the existing vectors, manifest and scorer of *folder*: contents by relative path."""
    kinds = [*(folder / "valid").rglob("*"), *(folder / "invalid").rglob("*")]
    found = [file for file in [*kinds, folder / "manifest.json", folder / SCORER] if file.is_file()]
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in found}


def write(folder: Path, data_by_name: dict[str, bytes], different: Sequence[str]) -> None:
    """Write the files named in *different* from *data_by_name*; delete those without new data."""
    for name in different:
        path = folder / name
        if name in data_by_name:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data_by_name[name])
        else:
            path.unlink()
    for kind in ("valid", "invalid"):
        for path in sorted((folder / kind).rglob("*"), reverse=True):
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()


if __name__ == "__main__":
    sys.exit(main())
