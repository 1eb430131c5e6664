"""Tests that rows of indexes and snapshots as Arrow columns hold what Kaitai's classes read."""

import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kaitaistruct
import pyarrow as pa
import pytest

from extent import WIDE
from magicbyte.engines.companion_rows import FILES, read_rows
from magicbyte_formats.kaitai.kafka_offset_index import KafkaOffsetIndex
from magicbyte_formats.kaitai.kafka_producer_snapshot import KafkaProducerSnapshot
from magicbyte_formats.kaitai.kafka_time_index import KafkaTimeIndex
from magicbyte_formats.kaitai.kafka_transaction_index import KafkaTransactionIndex
from magicbyte_formats.wire import COLUMNS
from paths import CHECKOUT, DATA, shared

PARSERS: dict[str, tuple[Any, str]] = {
    "index": (KafkaOffsetIndex, "entries"),
    "timeindex": (KafkaTimeIndex, "entries"),
    "txnindex": (KafkaTransactionIndex, "aborted_transactions"),
    "snapshot": (KafkaProducerSnapshot, "producers"),
}
"""Kaitai's class for each kind of file, and its attribute that has the rows."""


def of_brokers(kind: str) -> Iterator[Path]:
    for folder in [DATA, shared() / "logs"] if WIDE else [DATA]:
        yield from sorted(folder.rglob(f"*.{kind}"))
        yield from sorted(folder.rglob(f"*.{kind}.deleted"))


def plain(rows: pa.RecordBatch) -> list[dict[str, Any]]:
    """Return *rows* as dicts with the stored integers: -1 for null, milliseconds for times."""
    columns = [column.cast(pa.int64()).fill_null(-1).to_pylist() for column in rows.itercolumns()]
    return [dict(zip(rows.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def agrees(kind: str, data: bytes) -> bool | None:
    """Return whether the columns hold Kaitai's rows; None where Kaitai rejects *data*."""
    rows, end = read_rows(kind, data)
    file = FILES[kind]
    assert end == file.HEADER.itemsize + rows.num_rows * file.ROW.itemsize
    parser, attribute = PARSERS[kind]
    try:
        entries = getattr(parser.from_bytes(data), attribute) or []
    except (kaitaistruct.KaitaiStructError, EOFError):
        return None
    names = rows.column_names
    return plain(rows) == [{name: getattr(entry, name) for name in names} for entry in entries]


@pytest.mark.parametrize("kind", FILES)
def test_files_of_brokers_are_read_as_by_kaitai(kind: str) -> None:
    seen: set[bytes] = set()
    for path in of_brokers(kind):
        data = path.read_bytes()
        if data not in seen:
            assert agrees(kind, data), path
        seen.add(data)
    assert len(seen) > 3


@pytest.mark.parametrize("kind", FILES)
def test_cases_are_read_as_by_kaitai(kind: str) -> None:
    found: Counter[bool | None] = Counter()
    name = PARSERS[kind][0].__module__.rpartition(".")[2]
    for path in CHECKOUT.glob(f"tests/vectors/*valid/{name}/*.bin"):
        found[agrees(kind, path.read_bytes())] += 1
    assert found[True] >= 4 and not found[False]


@pytest.mark.parametrize("kind", FILES)
def test_every_number_of_a_row_is_a_column(kind: str) -> None:
    assert FILES[kind].ROW.names == tuple(column.name for column in COLUMNS[FILES[kind].TABLE])


def test_sentinels_are_null_and_timestamps_have_their_type() -> None:
    row = struct.pack(">qhiqiqiq", 7, 2, -1, -1, 0, -1, -1, -1)
    other = struct.pack(">qhiqiqiq", -1, -1, 0, 1, -1, 1714000000000, 0, 5)
    rows, end = read_rows("snapshot", struct.pack(">hIi", 1, 0, 2) + row + other + b"more")
    assert end == 10 + 2 * 46
    assert rows.schema.equals(
        pa.schema(
            [
                ("producer_id", pa.int64()),
                ("epoch", pa.int16()),
                ("last_sequence", pa.int32()),
                ("last_offset", pa.int64()),
                ("offset_delta", pa.int32()),
                ("timestamp", pa.timestamp("ms", "UTC")),
                ("coordinator_epoch", pa.int32()),
                ("current_transaction_first_offset", pa.int64()),
            ]
        )
    )
    first, second = (list(one.values()) for one in rows.to_pylist())
    assert first == [7, 2, None, None, 0, None, None, None]
    assert second[:5] == [-1, -1, 0, 1, -1] and second[6:] == [0, 5]
    assert second[5].timestamp() == 1714000000


def test_a_time_index_has_no_time_that_stands_for_none() -> None:
    rows, _ = read_rows("timeindex", struct.pack(">qi", -1, -1))
    assert rows.column("timestamp").cast(pa.int64()).to_pylist() == [-1]
    assert rows.column("relative_offset").to_pylist() == [-1]


@pytest.mark.parametrize("kind", FILES)
def test_empty_companion_file_has_no_rows(kind: str) -> None:
    rows, _ = read_rows(kind, b"")
    assert rows.num_rows == 0
    assert rows.column_names == [column.name for column in COLUMNS[FILES[kind].TABLE]]
