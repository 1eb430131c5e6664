"""The reader of the crate kafka-protocol, for machines that have Rust."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from magicbyte_tools.bench.compiled import compiled, fetch, sources, tool

SOURCES = Path(__file__).with_name("rust")


def reader(cache: Path) -> list[str]:
    """Return the command of the Rust reader, compiled in *cache* if it is not there."""
    cargo = tool("cargo")
    environment = {"CARGO_HOME": str(cache.parent.absolute() / "cargo")}

    def build(program: Path) -> None:
        # Cargo writes the lock file that it works out beside what it compiles.
        with TemporaryDirectory(dir=cache) as name:
            folder = Path(name).absolute() / "rust"
            shutil.copytree(SOURCES, folder)
            fetch([cargo, "fetch", "--quiet"], folder=folder, environment=environment)
            command = [cargo, "build", "--release", "--quiet", "--offline", "--target-dir", "out"]
            subprocess.run(command, cwd=folder, env={**os.environ, **environment}, check=True)
            (folder / "out" / "release" / "segment-reader").rename(program)

    files = [path.read_bytes() for path in sources(SOURCES)]
    return [str(compiled("rust", files, cache, build))]
