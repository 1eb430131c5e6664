"""Test vectors of Kafka's record formats: bytes, and the records that a reader must read from them."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "vectors"
"""Folder of the cases, the manifest, the schemas, README.md and the scorer."""


@dataclass(frozen=True)
class Vector:
    """A case: bytes, and the result that a reader must give."""

    id: str
    """Name that never changes: `kafka_log/v2-gzip`."""
    path: Path
    """File with the bytes; a folder if the format is `log_dir`."""
    content: dict[str, Any]
    """JSON of the case: `verdict`, `records`, `why` and more, as README.md describes it."""

    @property
    def data(self) -> bytes:
        """Bytes of the case; not for a folder."""
        return self.path.read_bytes()


def vectors(level: str | None = None, lacks: Collection[str] = ()) -> Iterator[Vector]:
    """Yield the cases of *level*, or all, without those that need a feature in *lacks*."""
    manifest = json.loads((FOLDER / "manifest.json").read_bytes())
    for item in manifest["cases"]:
        if level is not None and level not in item.get("levels", ()):
            continue
        if set(lacks) & set(item.get("needs", ())):
            continue
        base = FOLDER / item["path"]
        content = json.loads(base.with_name(f"{base.name}.json").read_bytes())
        path = base if "files" in item else base.with_name(f"{base.name}.bin")
        yield Vector(item["id"], path, content)
