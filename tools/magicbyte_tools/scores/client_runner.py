"""Describes the runners in tests/vectors/runners: which library each reads by, and how it is built."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from magicbyte_tools.conformance.vectors_folder import VECTORS

RUNNERS = VECTORS / "runners"
SHARED = RUNNERS / "shared"
"""Folder of the code that several runners have in common, by toolchain."""


@dataclass(frozen=True, kw_only=True)
class ClientRunner:
    """A runner in tests/vectors/runners: its file runner.json."""

    folder: Path
    language: str
    toolchain: str
    """Name of the function in `toolchains` that builds it."""
    readers: Mapping[str, Sequence[str]]
    """Arguments of the runner by the name of the reader that they select; most runners have one."""
    reads_by: str
    """Part of the library that is called."""
    project: str
    """Address of the library's sources."""
    package: str = ""
    """Package of the library in the lock file."""
    releases: Sequence[str] = ()
    """Versions of the library where no lock file names one, from the oldest to the newest."""
    lacks: Sequence[str] = ()
    """Features that the library does not have; cases that need them are not run."""
    main: str = ""
    """Main class of a runner in Java."""
    into: str = ""
    """Vendored package of a runner in Go whose file inside.go is compiled inside that package."""

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def known_file(self) -> Path:
        """File of the cases that the newest version fails, for `score.py --known`."""
        return self.folder / "known.json"

    def locked_version(self) -> str:
        """Return the version of the library in the runner's manifest or lock file."""
        name = re.escape(self.package)
        patterns = {
            "go.mod": rf"{name} v(\S+)",
            "package.json": rf'"{name}": "([^"]+)"',
            "Cargo.lock": rf'name = "{name}"\nversion = "([^"]+)"',
            "requirements.txt": rf"^{name}==(\S+)",
        }
        for file, pattern in patterns.items():
            path = self.folder / file
            if path.is_file():
                match = re.search(pattern, path.read_text("utf-8"), re.MULTILINE)
                assert match is not None, f"{path}: no {self.package}"
                return match[1]
        raise AssertionError(f"{self.folder}: no manifest")

    def all_versions(self) -> Sequence[str]:
        return self.releases or (self.locked_version(),)


def load_runners() -> list[ClientRunner]:
    """Return all runners, sorted by folder."""
    return [
        ClientRunner(folder=file.parent, **json.loads(file.read_bytes()))
        for file in sorted(RUNNERS.glob("*/runner.json"))
    ]
