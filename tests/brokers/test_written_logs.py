"""Tests that brokers take converted and salvaged partitions as they are, and that consumers get the records of the source.

One broker of each release takes all of them while it runs. `make test-brokers` runs it; it needs Maven and Java.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from clusters import clusters_in
from paths import DATA, shared

from .one_broker import killed_at_the_end
from .served_topics import (
    LEVELS,
    LOAD_PROBLEMS,
    QUIET,
    Record,
    Served,
    create,
    place,
    problems,
    records_of,
    served,
    uncommitted_offsets,
    wait_for_leaders,
)

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))

pytestmark = pytest.mark.skipif(
    not RUN, reason="it takes Maven, Java and minutes: make test-brokers"
)

RELEASES = ("3.9", "4.3", "4.4")

DAMAGED = shared() / "logs-damage"

CONVERSIONS: dict[str, dict[str, Any]] = {
    "none": {"magic": 2, "codec": "none"},
    "gzip": {"magic": 2, "codec": "gzip"},
    "snappy": {"magic": 2, "codec": "snappy"},
    "lz4": {"magic": 2, "codec": "lz4"},
    "zstd": {"magic": 2, "codec": "zstd"},
    "same-format": {"codec": "lz4"},
    "small-batches": {
        **{"magic": 2, "batch_bytes": 300},
        **{"segment_bytes": 4000, "index_interval_bytes": 500},
    },
    "large-batches": {"magic": 2, "codec": "zstd", "batch_bytes": 100_000},
    "v1": {"magic": 1, "codec": "snappy", "lossy": True},
    "v0": {"magic": 0, "codec": "gzip", "lossy": True},
}

DAMAGED_CLUSTERS, TIERED = "killed", "tiered"
"""Clusters with damaged segments, and with remote ones."""

LEFT_OUT = ("out-of-order-left-out", "transactional-left-out")
"""Changes of `salvage` that leave out sound batches, because a broker would not take them."""

MAX_ARGUMENT_CHARACTERS = 100_000
"""Linux limits a single argument to 128 KiB."""

DUMPED_FAULT = re.compile(" isvalid: false|mismatch|out of order|not found|Exception", re.I)
"""Part of a line of kafka-dump-log about a batch or an entry of an index that is wrong."""


@dataclass
class WrittenLogs:
    """Folders that magicbyte has written, and what a broker must serve from them."""

    outputs: dict[str, Path] = field(default_factory=dict)
    """Folders laid out like a log.dir, by the prefix of the topics."""
    expected: Served = field(
        default_factory=lambda: Served(records={level: {} for level in LEVELS})
    )
    incomplete: set[str] = field(default_factory=set)
    """Partitions that lack some sound records of the source."""

    def add(self, prefix: str, output: Path, source: dict[str, Any]) -> None:
        """Add the partitions in *output*, whose source is read by `mb.open` with the arguments *source*."""
        self.outputs[prefix] = output
        columns = ["topic", "partition", "log_start_offset", "log_end_offset", "last_stable_offset"]
        for row in mb.open(output).partitions(columns).to_pylist():
            name = f"{prefix}{row['topic']}-{row['partition']}"
            self.expected.bounds[name] = tuple(row[each] for each in columns[2:])
        for level in LEVELS:
            dataset = open_source(**source, isolation_level=level)
            self.expected.records[level] |= records_of(dataset, prefix)


def open_source(paths: list[str], **options: Any) -> mb.Dataset:
    return mb.open(*paths, **options)


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> WrittenLogs:
    """All sound logs in each conversion."""
    folder, logs = tmp_path_factory.mktemp("converted"), WrittenLogs()
    for cluster in clusters_in(shared() / "logs", DATA):
        if cluster.name.endswith((DAMAGED_CLUSTERS, TIERED)):
            continue
        for label, conversion in CONVERSIONS.items():
            output = folder / cluster.name / label
            report = mb.convert(mb.open(*cluster.log_dirs), output, **conversion)
            assert not report.failures, report.failures
            logs.add(f"{cluster.name}.{label}.", output, {"paths": cluster.log_dirs})
            records, prefix = logs.expected.records, f"{cluster.name}.{label}."
            if "magic" in conversion:
                with_create_time(records, prefix)
            if conversion.get("lossy"):
                hidden = uncommitted_offsets(cluster)
                for row in report.partitions:
                    name = f"{row['topic']}-{row['partition']}"
                    as_messages(records, prefix + name, hidden[name], conversion["magic"])
    return logs


def with_create_time(records: dict[str, dict[str, list[Record]]], prefix: str) -> None:
    """Give the records of topics with *prefix* the timestamp type of a batch, where a v0 message has none."""
    for by_partition in records.values():
        for name, rows in by_partition.items():
            if name.startswith(prefix):
                for row in rows:
                    if row["timestamp_type"] == "NoTimestampType":
                        row["timestamp_type"] = "CreateTime"


def as_messages(
    records: dict[str, dict[str, list[Record]]], name: str, hidden: set[int], magic: int
) -> None:
    """Give the partition *name* at both isolation levels all records but the *hidden* offsets, as messages of format *magic*."""
    changed: Record = {"headers": []}
    if magic == 0:
        changed |= {"timestamp": -1, "timestamp_type": "NoTimestampType"}
    rows = records["read_uncommitted"].get(name, [])
    rows = [row | changed for row in rows if row["offset"] not in hidden]
    records["read_uncommitted"][name] = records["read_committed"][name] = rows


@pytest.fixture(scope="module")
def salvaged(tmp_path_factory: pytest.TempPathFactory) -> WrittenLogs:
    """All damaged logs, salvaged."""
    folder, logs = tmp_path_factory.mktemp("salvaged"), WrittenLogs()
    for prefix, paths in damaged_logs():
        source = {"paths": paths, "on_damage": "skip"}
        report = mb.salvage(open_source(**source), folder / prefix)
        assert not report.failures, report.failures
        logs.add(prefix, folder / prefix, source)
        logs.incomplete |= {
            f"{prefix}{row['topic']}-{row['partition']}"
            for row in report.partitions
            if any(change in row["changed_entries"] for change in LEFT_OUT)
        }
    assert len(logs.expected.bounds) > len(logs.incomplete) * 10
    return logs


def damaged_logs() -> Iterator[tuple[str, list[str]]]:
    """Yield each damaged log.dir, or the log.dirs of a broker that was killed, after a prefix for its topics."""
    for folder in sorted(path for path in DAMAGED.glob("*/*") if path.is_dir()):
        yield f"{folder.parent.name}.{folder.name}.", [str(folder)]
    for cluster in clusters_in(shared() / "logs", DATA):
        if cluster.name.endswith(DAMAGED_CLUSTERS):
            yield f"{cluster.name}.", cluster.log_dirs


@pytest.mark.parametrize("release", ("2.8", *RELEASES))
def test_consumers_get_the_records_of_the_source_from_converted_logs(
    release: str, converted: WrittenLogs, tmp_path: Path
) -> None:
    check_that_a_broker_takes(converted, release, tmp_path)


@pytest.mark.parametrize("release", RELEASES)
def test_consumers_get_the_sound_records_from_salvaged_logs(
    release: str, salvaged: WrittenLogs, tmp_path: Path
) -> None:
    check_that_a_broker_takes(salvaged, release, tmp_path)


def check_that_a_broker_takes(logs: WrittenLogs, release: str, folder: Path) -> None:
    names, expected = sorted(logs.expected.bounds), logs.expected
    properties = QUIET | ({"broker.id": 1} if release == "2.8" else {})
    with killed_at_the_end(release, folder, properties) as broker:
        broker.start()
        for prefix, output in logs.outputs.items():
            place(output, broker.log_dirs[0], prefix)
        check_files(release, broker.log_dirs[0], names)
        create(broker.bootstrap, names, 1)
        assert not problems(broker.console(), names, LOAD_PROBLEMS)
        starts = log_starts_inside_segments(broker.log_dirs[0], expected)
        if starts:
            broker.delete_records(starts)
        before = served(broker.bootstrap, release)
        assert before.bounds == expected.bounds
        for level in LEVELS:
            for name in names:
                found = before.records[level].get(name, [])
                rows = expected.records[level].get(name, [])
                if name in logs.incomplete:
                    assert all(record in rows for record in found), name
                else:
                    assert found == rows, name
        broker.restart()
        wait_for_leaders(broker.bootstrap, names, {1})
        assert not problems(broker.console(), names, LOAD_PROBLEMS)
        assert served(broker.bootstrap, release) == before


def log_starts_inside_segments(log_dir: Path, expected: Served) -> dict[tuple[str, int], int]:
    """Return the log start offsets that no file of a partition folder states."""
    starts = {}
    for name, (start, *_) in expected.bounds.items():
        topic, _, number = name.rpartition("-")
        if start > min(int(path.stem) for path in (log_dir / name).glob("*.log")):
            starts[topic, int(number)] = start
    return starts


def check_files(release: str, log_dir: Path, names: list[str]) -> None:
    """Check that kafka-dump-log calls all batches of the partitions *names* valid, and all entries of indexes right."""
    for suffix in ("log", "index", "timeindex"):
        files = [path for name in names for path in sorted((log_dir / name).glob(f"*.{suffix}"))]
        while files:
            count = MAX_ARGUMENT_CHARACTERS // max(len(f"{path},") for path in files)
            text, files = dumped(release, files[:count]), files[count:]
            faults = [line for line in text.splitlines() if DUMPED_FAULT.search(line)]
            assert not faults, faults[:5]
            assert suffix != "log" or " isvalid: true" in text


def dumped(release: str, files: list[Path]) -> str:
    """Return all that kafka-dump-log prints about *files*: faults of indexes go to stderr."""
    import brokers  # `killed_at_the_end` has made its folder known

    release = brokers.TOOLS_OF.get(release, release)
    command = brokers.java(release, brokers.DUMP_LOG[release], "--files", ",".join(map(str, files)))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout
