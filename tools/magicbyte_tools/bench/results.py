"""Results of a benchmark run, which are saved as a JSON file."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from magicbyte_tools.bench.header_scan import HeaderScan
from magicbyte_tools.bench.jobs import ProcessJob
from magicbyte_tools.bench.measure import Cell
from magicbyte_tools.bench.profile import Profile


@dataclass(slots=True)
class Results:
    command: str
    """Command that repeats the run."""
    engine: str
    mb: int
    """MiB of records in each file."""
    seed: int
    repetitions: int
    jobs_mb: int
    """MiB of records in the file of the whole jobs."""
    threads_mb: int
    """MiB of records in the files that threads share."""
    machine: dict[str, str]
    left_out: dict[str, str] = field(default_factory=dict)
    """Reasons why contenders could not run, by name."""
    cells: list[Cell] = field(default_factory=list)
    profiles: list[Profile] = field(default_factory=list)
    threads: list[Cell] = field(default_factory=list)
    """Times per codec of one engine with several threads."""
    sizes: dict[str, Cell] = field(default_factory=dict)
    """Times by the file's MiB of records."""
    jobs: list[ProcessJob] = field(default_factory=list)
    starts: list[ProcessJob] = field(default_factory=list)
    headers: HeaderScan | None = None
    damage_mb: int = 0
    """MiB of records in the file that is damaged."""
    damage: Cell | None = None
    damage_profiles: list[Profile] = field(default_factory=list)
    """Profiles of reading the sound and the damaged file."""

    def save(self, path: Path) -> None:
        """Write the results to the JSON file *path*, atomically."""
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(json.dumps(asdict(self), indent=1) + "\n", "utf-8")
        new.replace(path)


def load(path: Path) -> Results:
    """Return the results that a run saved to the JSON file *path*."""
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    kinds = {"cells": Cell, "threads": Cell, "profiles": Profile, "damage_profiles": Profile}
    for name, kind in {**kinds, "jobs": ProcessJob, "starts": ProcessJob}.items():
        document[name] = [kind(**one) for one in document.get(name, [])]
    document["sizes"] = {size: Cell(**cell) for size, cell in document["sizes"].items()}
    if document.get("damage") is not None:
        document["damage"] = Cell(**document["damage"])
    headers = document.get("headers")
    if headers is not None:
        both = {name: ProcessJob(**headers[name]) for name in ("whole", "first")}
        document["headers"] = HeaderScan(**{**headers, **both})
    return Results(**document)
