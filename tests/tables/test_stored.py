"""Tests of tables written to files: times become microseconds, and no loss goes unreported."""

from typing import Any

import pyarrow as pa
import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.tables.schemas import TABLES

FAR = 1 << 62
"""A time in milliseconds that 64-bit microseconds do not hold."""


@pytest.fixture
def far(folder: Any) -> tuple[mb.Dataset, int]:
    """A log whose second batch has a time beyond microseconds, and that batch's position."""
    near = build.batch(build.records(2))
    content = near + build.batch(build.records(2), 2, time=FAR) + build.batch(base=4)
    return mb.open(folder.segment("t-0", content).parent), len(near)


def read(dataset: mb.Dataset, table: str, *columns: str) -> tuple[pa.Table, list[mb.Finding]]:
    rows = dataset.stored(table, columns or None)
    return rows.to_table(), rows.report.findings


def test_a_record_whose_time_is_too_far_away_has_null_and_a_finding(far: Any) -> None:
    dataset, position = far
    table, (finding,) = read(dataset, "records")
    near = build.TIME * 1000
    times = table.column("timestamp").cast(pa.int64()).to_pylist()
    assert times == [near, near, None, None, near]
    assert (finding.code, finding.severity) == ("timestamp-out-of-range", "warning")
    assert (finding.topic, finding.partition, finding.position) == ("t", 0, position)
    assert finding.file == f"{0:020}.log"
    assert finding.message.startswith("2 times are beyond")


def test_an_entry_has_one_finding_whatever_lies_between_its_records(folder: Any) -> None:
    records = [build.record(delta=delta) for delta in (0, 5, 1)]
    log = folder.segment("t-0", build.batch(records, time=FAR, last_delta=5)).parent
    table, findings = read(mb.open(log, offsets=(0, 3)), "records")
    assert table.column("offset").to_pylist() == [0, 1]
    assert [finding.message[:7] for finding in findings] == ["2 times"]


def test_a_batch_whose_times_are_too_far_away_has_null_and_a_finding_for_each(far: Any) -> None:
    dataset, position = far
    table, findings = read(dataset, "batches", "base_timestamp", "max_timestamp")
    assert [row["max_timestamp"] is None for row in table.to_pylist()] == [False, True, False]
    assert [(f.field, f.position, f.file) for f in findings] == [
        ("base_timestamp", position, f"{0:020}.log"),
        ("max_timestamp", position, f"{0:020}.log"),
    ]
    assert findings[0].message.startswith("1 time is beyond")


def test_a_time_that_is_not_asked_for_is_not_lost(far: Any) -> None:
    dataset, _ = far
    assert read(dataset, "records", "offset") == (pa.table({"offset": [0, 1, 2, 3, 4]}), [])
    table, findings = read(dataset, "batches", "base_offset")
    assert (table.to_pydict(), findings) == ({"base_offset": [0, 2, 4]}, [])


def test_columns_come_as_asked_for_and_all_of_them_by_default(far: Any) -> None:
    dataset, _ = far
    assert read(dataset, "records", "value", "offset")[0].schema.names == ["value", "offset"]
    for name, table in TABLES.items():
        assert read(dataset, name)[0].schema.names == list(table.names)
    with pytest.raises(mb.InputError, match="no table 'nothing'"):
        dataset.stored("nothing")
    with pytest.raises(mb.InputError, match="no column 'nothing'"):
        dataset.stored("batches", ["nothing"])
