"""The clusters of tests/data and what Kafka itself read from them (the oracle)."""

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from extent import WIDE
from paths import DATA, shared


class Cluster:
    """The log.dirs of a cluster, and the records, batches and offsets that Kafka read from them."""

    def __init__(self, folder: Path) -> None:
        self.name = f"{folder.parent.name}-{folder.name}"
        self.oracle = folder / "oracle"
        self.facts: dict[str, Any] = json.loads((self.oracle / "facts.json").read_text())
        self.log_dirs = [str(folder / name) for name in self.facts["log_dirs"]]

    def __str__(self) -> str:
        return self.name

    def open(self, isolation_level: str = "read_uncommitted", **options: Any) -> mb.Dataset:
        return mb.open(
            *self.log_dirs, isolation_level=isolation_level, include_internal=True, **options
        )

    def offsets(self) -> dict[str, dict[str, Any]]:
        """Return the offsets that Kafka's admin client listed, by partition."""
        rows = json.loads((self.oracle / "offsets.json").read_text())
        return {f"{row['topic']}-{row['partition']}": row for row in rows}

    def batches(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield (partition, batch) for the batches that Kafka's FileRecords read."""
        for file in sorted((self.oracle / "batches").glob("*.ndjson.gz")):
            for row in lines(file):
                yield file.name.removesuffix(".ndjson.gz"), row

    def records(self, isolation_level: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield (partition, record) for the records that Kafka's consumer delivered.

        A read_committed file exists only where it differs from the read_uncommitted one.
        """
        offsets, folder = self.offsets(), self.oracle / "records"
        for file in sorted(folder.glob("*.read_uncommitted.ndjson.gz")):
            name = file.name.removesuffix(".read_uncommitted.ndjson.gz")
            chosen = folder / f"{name}.{isolation_level}.ndjson.gz"
            # Of a tiered partition the files hold the local part only.
            local = offsets.get(name, {}).get("local_log_start_offset") or 0
            for row in lines(chosen if chosen.exists() else file):
                if row["offset"] >= local:
                    yield name, row


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def short(data: bytes | None) -> str | None:
    """Return *data* in the oracle's form: hex, or SHA-256 and length if over 256 bytes."""
    if data is None:
        return None
    if len(data) <= 256:
        return data.hex()
    return f"sha256:{hashlib.sha256(data).hexdigest()}:{len(data)}"


def clusters_in(*roots: Path) -> list[Cluster]:
    """Return the clusters in *roots*; of those with the same name, the one in the first root."""
    found = [
        Cluster(facts.parents[1]) for root in roots for facts in root.glob("*/*/oracle/facts.json")
    ]
    return sorted({each.name: each for each in reversed(found)}.values(), key=str)


def _clusters() -> list[Cluster]:
    wide = shared() / "logs"
    return clusters_in(wide if WIDE and wide.is_dir() else DATA)


each_cluster = pytest.mark.parametrize("cluster", _clusters(), ids=str)
