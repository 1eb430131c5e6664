"""Tests that a cluster takes partitions without erased records: it serves, replicates and compacts them.

The records of every seventh key are erased, and the rest is restored as topics of a new cluster of two brokers, as the
guide says: the folders are placed before the second broker, the first one copies them, and then serves them alone.
`make test-brokers` runs it; it needs Maven and Java.
"""

import os
import time
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from clusters import Cluster, short
from magicbyte.logdir.checkpoints import parse_offsets
from paths import DATA, shared
from restored_folders import suitable_clusters

from .served_topics import (
    COPY_PROBLEMS,
    LEVELS,
    LOAD_PROBLEMS,
    QUIET,
    Served,
    create,
    place,
    problems,
    reassign,
    served,
    wait_for_leaders,
)
from .several_brokers import several_brokers
from .test_restored_topics import check, expectations, produce_one_each

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))

pytestmark = pytest.mark.skipif(
    not RUN, reason="it takes Maven, Java and minutes: make test-brokers"
)

WAIT_S = 240

BEFORE_CLEANING = QUIET | {"log.cleanup.policy": "compact", "log.roll.ms": 1}

CLEANING = {
    "log.cleaner.enable": "true",
    "log.cleaner.min.cleanable.ratio": 0.0,
    "log.cleaner.backoff.ms": 200,
}

CLEANER_PROBLEMS = ("ncleanable", "Exception", "Error")
"""Parts of the lines that a broker prints where its cleaner gives up a partition."""


def erased(cluster: Cluster, folder: Path) -> tuple[mb.RewriteReport, set[bytes]]:
    """Erase every seventh key of *cluster* and restore the rest in *folder*; return the report and the keys."""
    source = mb.open(*cluster.log_dirs, isolation_level="read_uncommitted")
    keys = {key for key in source.records(["key"]).to_table()["key"].to_pylist() if key}
    chosen_keys = set(sorted(keys)[::7])
    report = mb.erase(source, folder / "erased", mb.erasure_of(keys=chosen_keys))
    assert not report.failures, report.failures
    report = mb.restore(mb.open(folder / "erased"), folder / "restored")
    assert not report.failures, report.failures
    return report, chosen_keys


def erased_topics(log_dir: Path, folder: Path) -> tuple[Served, dict[str, set[bytes]]]:
    """Place erased partitions in *log_dir*; return what consumers must get, and the erased keys by prefix of the topics."""
    expected, num_erased = Served(records={level: {} for level in LEVELS}), 0
    keys_by_prefix = {}
    for cluster in suitable_clusters(shared() / "logs", DATA):
        report, keys = erased(cluster, folder / cluster.name)
        hidden_keys, prefix = {short(key) for key in keys}, f"{cluster.name}."
        keys_by_prefix[prefix] = keys - {b"key"}  # a record with this key is produced afterwards
        place(folder / cluster.name / "restored", log_dir, prefix)
        for name, bounds, records in expectations(cluster, report):
            expected.bounds[prefix + name] = bounds
            for level in LEVELS:
                other = [row for row in records[level] if row["key"] not in hidden_keys]
                num_erased += len(records[level]) - len(other)
                expected.records[level][prefix + name] = other
    assert num_erased > 1000
    return expected, keys_by_prefix


def last_values(log_dir: Path, names: list[str]) -> dict[tuple[str, bytes], Any]:
    """Return offset and value of the last record of each key of the partitions *names*."""
    rows = mb.open(*(log_dir / name for name in names)).latest(
        ["topic", "partition", "key", "offset", "value"]
    )
    return {
        (f"{row['topic']}-{row['partition']}", row["key"]): (row["offset"], row["value"])
        for row in rows.to_pylist()
    }


def wait_until_clean(log_dir: Path, ends: dict[str, int]) -> None:
    """Wait until the cleaner has cleaned each partition of *ends* up to its offset."""
    until = time.monotonic() + WAIT_S
    while True:
        checkpoint = log_dir / "cleaner-offset-checkpoint"
        offsets = parse_offsets(checkpoint.read_bytes()) if checkpoint.exists() else {}
        clean = {f"{topic}-{number}": offset for (topic, number), offset in offsets.items()}
        late = [name for name, end in ends.items() if clean.get(name, -1) < end]
        if not late:
            return
        assert time.monotonic() < until, f"the broker has not cleaned {len(late)}: {late[:5]}"
        time.sleep(0.5)


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_a_cluster_serves_replicates_and_compacts_what_is_left(
    release: str, tmp_path: Path
) -> None:
    with several_brokers(release, tmp_path, 2, BEFORE_CLEANING) as (one, two):
        one.start()
        two.start()
        expected, keys_by_prefix = erased_topics(two.log_dirs[0], tmp_path / "erased")
        names = sorted(expected.bounds)
        create(two.bootstrap, names, 2)
        check(served(two.bootstrap, release), expected)
        reassign(two, names, [2, 1])
        wait_for_leaders(two.bootstrap, names, {1, 2})
        assert not problems(two.console(), names, LOAD_PROBLEMS)
        assert not problems(one.console(), names, COPY_PROBLEMS)
        two.stop()
        wait_for_leaders(one.bootstrap, names, {1}, leader=1)
        check(served(one.bootstrap, release), expected)

        log_dir = one.log_dirs[0]
        ends = {name: end for name, (start, end, _) in expected.bounds.items() if start < end}
        produce_one_each(one.bootstrap, names)  # the broker begins a new segment with it
        before = last_values(log_dir, names)
        one.stop()
        one.properties |= CLEANING
        one.start()
        wait_until_clean(log_dir, ends)
        assert not problems(one.console(), names, CLEANER_PROBLEMS)
        one.stop()
        assert last_values(log_dir, names) == before
        num_before = sum(len(rows) for rows in expected.records["read_uncommitted"].values())
        copies = [mb.open(log_dir / name, isolation_level="read_uncommitted") for name in names]
        num_after = sum(len(copy.records(["offset"]).to_table()) for copy in copies)
        assert num_after < 0.8 * num_before
        for prefix, keys in keys_by_prefix.items():
            folders = [log_dir / name for name in names if name.startswith(prefix)]
            search = mb.search_erased(mb.open(*folders), mb.erasure_of(keys=keys))
            assert search.is_absent, search
