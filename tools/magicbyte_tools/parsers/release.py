"""python -m magicbyte_tools.parsers.release [OUT]: write an archive of the parsers of each language.

The archives depend on nothing but the specifications and the sources: the same bytes each time, on each machine.
"""

import gzip
import io
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from magicbyte_tools.generate import source
from magicbyte_tools.generate.kaitai import CHECKOUT
from magicbyte_tools.parsers.compiler_output import Files, compile_targets
from magicbyte_tools.parsers.packages import LAYOUTS, package, version

DIAGRAMS = frozenset({"graphviz", "html"})
"""Targets that are no language."""


def archive(files: Files, folder: str) -> bytes:
    """Return a .tar.gz of *files*, text by relative path, in *folder*."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for path, text in sorted(files.items()):
            data = text.encode()
            member = tarfile.TarInfo(f"{folder}/{path}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def release(out: Path) -> list[Path]:
    """Write an archive for each language into the folder *out*; return their paths."""
    targets = sorted(LAYOUTS.keys() - DIAGRAMS)
    compiled, specs = compile_targets(targets), source.specs()
    out.mkdir(parents=True, exist_ok=True)
    paths = []
    for target in targets:
        name = f"kafka-formats-{target}-{version()}"
        path = out / f"{name}.tar.gz"
        path.write_bytes(archive(package(target, compiled[target], specs), name))
        paths.append(path)
    return paths


def main(arguments: Sequence[str]) -> int:
    """Write the archives, by default to dist/; return the exit status."""
    for path in release(Path(arguments[0]) if arguments else CHECKOUT / "dist"):
        print(f"{path}: {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
