"""Builds the contender that reads by the crate kafka-protocol, on machines with Rust."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from magicbyte_tools.bench.foreign_programs import attempt, compiled, sources, tool

SOURCES = Path(__file__).with_name("rust")


def reader(cache: Path) -> list[str]:
    """Return the command of the Rust reader; it is compiled into *cache* unless it is there already."""
    cargo = tool("cargo")
    environment = {"CARGO_HOME": str(cache.parent.absolute() / "cargo")}

    def build(program: Path) -> None:
        # Cargo writes its lock file beside the sources that it compiles.
        with TemporaryDirectory(dir=cache) as name:
            folder = Path(name).absolute() / "rust"
            shutil.copytree(SOURCES, folder)
            command = [cargo, "build", "--quiet", "--release", "--target-dir", "out"]
            attempt(command, folder=folder, environment=environment)
            (folder / "out" / "release" / "segment-reader").rename(program)

    files = [path.read_bytes() for path in sources(SOURCES)]
    return [str(compiled("rust", files, cache, build))]
