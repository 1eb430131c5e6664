"""Fixtures: a partition that tests damage, and the prediction of a broker's start on it."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from magicbyte.engines.factory import engine as make_engine
from magicbyte.engines.protocol import Engine
from magicbyte.storage import File
from magicbyte.verification.startup._producer_state import ProducerState
from magicbyte.verification.startup._segment_recovery import RecoveredSegment, recover_segment
from paths import DATA

TOPIC = "aborted"
LAST = f"{6:020}.log"
"""The partition's second and last segment; at the default index interval its indexes are empty."""

# Of LAST: the batch that is flipped, and the last three: marker, data, marker.
FLIPPED, NEXT = 1653, 1848
BOUNDS = {1848: 48, 1926: 49, 2139: 54, 2217: 55}
"""Positions at which batches begin, with their base offsets; the last is the file's end."""

END = 55


@dataclass
class Partition:
    """A log.dir with a single partition."""

    log_dir: Path

    @property
    def folder(self) -> Path:
        return self.log_dir / f"{TOPIC}-0"

    @property
    def last(self) -> Path:
        return self.folder / LAST

    def predict(self, **options: Any) -> tuple[str, int | None, dict[str, int | None]]:
        """Predict a start: return verdict, log end offset and bytes of each `.log` file."""
        found = mb.verify(self.log_dir, **options)
        (row,) = found.partitions
        sizes = {
            segment["file"]: segment["bytes_after_recovery"]
            for segment in found.segments
            if segment["file_kind"] == "log"
        }
        return row["verdict"], row["log_end_offset_after_recovery"], sizes

    def lost(self, **options: Any) -> tuple[int | None, list[tuple[int, int]]]:
        """Predict a start: return how many offsets it loses, and which."""
        (row,) = mb.verify(self.log_dir, **options).partitions
        return row["offsets_lost"], row["lost_ranges"]

    def sentences(self, **options: Any) -> list[str]:
        (row,) = mb.verify(self.log_dir, **options).partitions
        told: list[str] = row["recovery"]
        return told


def recovered(
    file: File,
    base_offset: int,
    *,
    begin: int = 0,
    interval_bytes: int = 4096,
    producers: ProducerState | None = None,
    engine: Engine | None = None,
) -> RecoveredSegment:
    """Recover the segment *file* from byte *begin* on, as a broker's start would."""
    return recover_segment(
        file,
        base_offset,
        producers or ProducerState(),
        begin=begin,
        end=file.size_bytes,
        interval_bytes=interval_bytes,
        engine=engine or make_engine("auto"),
        limits=mb.Limits(),
    )


@pytest.fixture
def make(tmp_path: Path) -> Callable[[], Partition]:
    """A function that writes a new copy of the partition, as the broker left it."""

    def fresh() -> Partition:
        log_dir = tmp_path / "log-0"
        shutil.rmtree(log_dir, ignore_errors=True)
        source = DATA / "4.3" / "transactions" / "log-0"
        shutil.copytree(source / f"{TOPIC}-0", log_dir / f"{TOPIC}-0")
        (log_dir / "meta.properties").write_bytes((source / "meta.properties").read_bytes())
        (log_dir / "recovery-point-offset-checkpoint").write_text(f"0\n1\n{TOPIC} 0 {END}\n")
        return Partition(log_dir)

    return fresh


@pytest.fixture
def partition(make: Callable[[], Partition]) -> Partition:
    return make()
