"""Partitions that Kafka's own cleaner and ours compact: drawn ones, and those that real brokers wrote."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import magicbyte as mb
from paths import DATA, shared
from random_compacted_log import draw_partition, write_segments

ANSWERS = Path(__file__).with_name("writing") / "cleaner_answers.json"
"""Digests of what Kafka's cleaner leaves, by case; `make test-brokers` compares them, MAGICBYTE_RECORD=1 records."""

VERSIONS = {"4.x": "4.3.1", "3.9": "3.9.2"}
"""Version of Kafka whose cleaner has answered, by release of CleanerSettings."""

NUM_DRAWN = 200
HOUR_MS = 3_600_000
STOPS = "-delete", "-future", "-stray"


drawn_partition = cache(draw_partition)


@dataclass(frozen=True)
class CleanerCase:
    """A partition, and the settings of rounds over it, one after the other."""

    name: str
    rounds: list[dict[str, Any]]
    source: Path | None = None
    """Partition folder of a real broker; None: a drawn partition, whose number is in the name."""

    def write(self, folder: Path) -> Path:
        """Write the partition into *folder*, with fixed times of its files; return its folder."""
        if self.source is None:
            partition = folder / "t-0"
            write_segments(partition, drawn_partition(int(self.name.rpartition(" ")[2])))
            return partition
        partition = folder / self.source.name
        partition.mkdir(parents=True)
        for number, path in enumerate(sorted(self.source.glob("*.log"))):
            shutil.copyfile(path, partition / path.name)
            time = 1_700_000_000 + number * 43_200
            os.utime(partition / path.name, (time, time))
        return partition


def drawn_cases(numbers: range = range(NUM_DRAWN)) -> list[CleanerCase]:
    return [CleanerCase(f"drawn {number}", drawn_partition(number).settings) for number in numbers]


@cache
def real_cases() -> tuple[CleanerCase, ...]:
    """Return the partitions of real brokers, those of compacted topics among them."""
    return tuple(_real_cases())


def _real_cases() -> Iterator[CleanerCase]:
    seen = set()
    for root in (DATA, shared() / "logs"):
        for source in sorted(root.glob("*/*/log-*/*-[0-9]*")):
            name = source.relative_to(root).as_posix()
            is_partition = not name.endswith(STOPS) and "/killed/" not in f"/{name}"
            if name in seen or not is_partition or not list(source.glob("*.log")):
                continue
            seen.add(name)
            yield CleanerCase(name, _rounds_of(source), source)


def _rounds_of(source: Path) -> list[dict[str, Any]]:
    bases = sorted(int(path.name[:20]) for path in source.glob("*.log"))
    times = mb.open(str(source)).batches(["max_timestamp"], quick=True).to_table()
    column = times.column(0).cast("int64").drop_null().to_pylist()
    last = max(column, default=0)
    return [
        {
            "first_dirty_offset": first,
            "now_ms": now,
            "delete_retention_ms": 1000,
            "dedupe_buffer_bytes": 1 << 20,
            "includes_active_segment": True,
        }
        for first, now in (
            (bases[0], last + HOUR_MS),
            (bases[len(bases) // 2], last + HOUR_MS + 1000),
            (bases[0], last + 48 * HOUR_MS),
        )
    ]


def rounds_of_release(case: CleanerCase, release: str) -> list[dict[str, Any]]:
    """Return the settings of the rounds over *case* by the rules of *release*."""
    return [settings | {"release": release} for settings in case.rounds]


def recorded_answers(release: str) -> dict[str, str]:
    """Return the digests of what the cleaner of *release* leaves, by case."""
    answers: dict[str, dict[str, str]] = json.loads(ANSWERS.read_text())
    return answers[VERSIONS[release]]
