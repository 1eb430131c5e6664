"""python -m magicbyte_tools.vectors_release FOLDER: write the tarball and the packages into FOLDER."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from magicbyte_tools.vectors_release.packages import release_archives


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the archives into a folder, and print their names and sizes; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m magicbyte_tools.vectors_release")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, archive in release_archives().items():
        (folder / name).write_bytes(archive)
        print(f"{folder / name}: {len(archive):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
