"""Tests that captured traffic of a real broker has the records that its log has.

`make test-brokers` runs it; it needs Maven, Java, and tcpdump with the right to capture.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb

from .captured_broker import TOPICS, captured, write_and_read
from .one_broker import killed_at_the_end

pytestmark = pytest.mark.skipif(
    not os.environ.get("MAGICBYTE_BROKERS") or shutil.which("tcpdump") is None,
    reason="it takes Maven, Java, tcpdump and a minute: make test-brokers",
)

COLUMNS = ("topic", "offset", "timestamp", "key", "value", "headers", "producer_id", "codec")

Row = tuple[Any, ...]


def rows_of(rows: mb.Rows, *columns: str, **equal: Any) -> list[Row]:
    """Return COLUMNS of the rows whose *equal* columns have these values, in order."""
    found = [
        tuple(str(row[name]) if name == "headers" else row[name] for name in COLUMNS)
        for row in rows.to_pylist()
        if all(row[name] == value for name, value in equal.items())
    ]
    return sorted(found, key=lambda row: row[:2])


@pytest.mark.parametrize("release", ("2.8", "3.9", "4.3"))
def test_captured_records_are_those_of_the_log(release: str, tmp_path: Path) -> None:
    capture_path = tmp_path / "capture.pcap"
    with killed_at_the_end(release, tmp_path, {}) as cluster:
        cluster.start()
        port = int(cluster.bootstrap.rpartition(":")[2])
        with captured(port, capture_path):
            write_and_read(cluster)
        cluster.stop()
        logs: dict[str, list[Row]] = {}
        for level in ("read_uncommitted", "read_committed"):
            dataset = mb.open(*cluster.log_dirs, topics=TOPICS, isolation_level=level)
            logs[level] = rows_of(dataset.records(COLUMNS))
    capture = mb.read_pcap(capture_path, topics=TOPICS)
    everything = capture.records(dispositions=["delivered", "aborted"])
    appended = rows_of(everything, direction="produced", error_code=0)
    assert appended == logs["read_uncommitted"]
    delivered = capture.records()
    for level, expected in logs.items():
        assert rows_of(delivered, direction="fetched", client_id=level) == expected
    assert everything.report.findings == []
    assert everything.report.records["aborted"] == len(logs["read_uncommitted"]) - len(
        logs["read_committed"]
    )
    assert everything.report.records["aborted"] > 0
