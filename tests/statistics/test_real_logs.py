"""Tests that `magicbyte.stats` counts the entries and records that Kafka's own classes read."""

from collections import Counter, defaultdict
from typing import Any

import magicbyte as mb
from clusters import Cluster, each_cluster

Sums = dict[tuple[int, str], Counter[str]]
"""Counts by magic and codec."""


@each_cluster
def test_entries_of_each_format_and_codec_are_those_that_kafka_found(cluster: Cluster) -> None:
    expected: dict[str, Sums] = defaultdict(lambda: defaultdict(Counter))
    latest: dict[str, int] = {}
    for name, one in cluster.batches():
        latest[name] = max(one["max_timestamp"], latest.get(name, -1))
        if not one["is_control"]:
            kind = one["magic"], one["codec"]
            expected[name][kind].update(entries=1, records=one["count"], bytes=one["size"])
    assert latest
    # Rows without segments are folders that a broker would delete, or copies half made.
    rows = {
        f"{row['topic']}-{row['partition']}": row
        for row in mb.stats(*cluster.log_dirs).rows
        if row["segment_count"]
    }
    for name, time in latest.items():
        row: dict[str, Any] = rows[name]
        found = {
            (one["magic"], one["codec"]): Counter(
                entries=one["entry_count"],
                records=one["record_count"],
                bytes=one["stored_bytes"],
            )
            for one in row["contents"]
        }
        assert found == dict(expected[name]), name
        assert row["largest_timestamp"] == (None if time < 0 else time), name
