"""Tests that brokers serve partitions that were restored from their remote segments alone.

The local folders are taken for lost: only the remote storage is opened, and the log ends where the last upload did.
`make test-brokers` runs it; it needs Maven and Java.
"""

import os
from collections import defaultdict
from pathlib import Path

import pytest

import magicbyte as mb
from clusters import lines
from paths import shared

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
    served,
    wait_for_leaders,
)

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))

pytestmark = pytest.mark.skipif(not RUN, reason="it takes Maven and Java: make test-brokers")

TIERED = shared() / "logs" / "3.9" / "tiered"


def ended_offsets(dataset: mb.Dataset) -> dict[str, set[int]]:
    """Return the offsets of *dataset*, by partition, whose records no open transaction holds back."""
    offsets: dict[str, set[int]] = defaultdict(set)
    for row in dataset.records(["topic", "partition", "offset", "outcome"]).to_pylist():
        if row["outcome"] not in ("open", "aborted"):
            offsets[f"{row['topic']}-{row['partition']}"].add(row["offset"])
    return offsets


def oracle_records(name: str, level: str, end: int) -> list[Record]:
    """Return the records below *end* that a consumer got from the cluster while it had its local files."""
    folder = TIERED / "oracle" / "records"
    paths = [folder / f"{name}.{each}.ndjson.gz" for each in (level, "read_uncommitted")]
    records = [row for row in lines(next(filter(Path.exists, paths))) if row["offset"] < end]
    for record in records:
        del record["leader_epoch"]  # it is 0 in the new topic
    return records


def restored_from_remote(folder: Path) -> Served:
    """Restore the remote segments into *folder*, and return what consumers must get."""
    expected = Served(records={level: {} for level in LEVELS})
    source = mb.open(TIERED / "remote", isolation_level="read_uncommitted")
    report = mb.restore(source, folder)
    assert not report.failures, report.failures
    ended, num_open = ended_offsets(source), 0
    for bounds, row in zip(source.partitions().to_pylist(), report.partitions, strict=True):
        name = f"{row['topic']}-{row['partition']}"
        num_markers = row["changed_entries"].get("abort-marker-added", 0)
        num_open += num_markers
        end = bounds["log_end_offset"]
        expected.bounds[name] = (bounds["log_start_offset"], end + num_markers, end + num_markers)
        for level in LEVELS:
            records = oracle_records(name, level, end)
            if level == "read_committed":
                records = [record for record in records if record["offset"] in ended[name]]
            expected.records[level][name] = records
            assert len(records) > 100
    assert num_open > 2, "transactions whose markers were in the local files alone"
    return expected


@pytest.mark.parametrize("release", ["2.8", "3.9", "4.3"])
def test_consumers_get_the_records_that_were_uploaded(release: str, tmp_path: Path) -> None:
    expected = restored_from_remote(tmp_path / "restored")
    names = sorted(expected.bounds)
    properties = QUIET | ({"broker.id": 1} if release == "2.8" else {})
    with killed_at_the_end(release, tmp_path, properties) as broker:
        broker.start()
        place(tmp_path / "restored", broker.log_dirs[0])
        create(broker.bootstrap, names, 1)
        assert not problems(broker.console(), names, LOAD_PROBLEMS)
        found = served(broker.bootstrap, release)
        assert found.bounds == expected.bounds
        for level in LEVELS:
            for name in names:
                assert found.records[level].get(name, []) == expected.records[level][name], name
        broker.restart()
        wait_for_leaders(broker.bootstrap, names, {1})
        assert not problems(broker.console(), names, LOAD_PROBLEMS)
        assert served(broker.bootstrap, release) == found
