"""Tests of the generated parsers on files of brokers 2.8, 3.9 and 4.3: plain, compacted, killed."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extent import WIDE
from magicbyte_formats import wire
from magicbyte_formats.kaitai.kafka_control_record import KafkaControlRecord
from magicbyte_formats.kaitai.kafka_log import KafkaLog
from magicbyte_formats.kaitai.kafka_message import KafkaMessage
from magicbyte_formats.kaitai.kafka_offset_index import KafkaOffsetIndex
from magicbyte_formats.kaitai.kafka_producer_snapshot import KafkaProducerSnapshot
from magicbyte_formats.kaitai.kafka_record_batch import KafkaRecordBatch
from magicbyte_formats.kaitai.kafka_time_index import KafkaTimeIndex
from magicbyte_formats.kaitai.kafka_transaction_index import KafkaTransactionIndex

Logs = list[tuple[Path, bytes, KafkaLog]]

MOST_BYTES = 16 * 1024
"""Size up to which logs are parsed: nine of ten of them, and a third of the bytes."""


@pytest.fixture(scope="module")
def logs(real_files: list[Path]) -> Logs:
    """(path, bytes, parsed log) of the real brokers' segments and metadata snapshots: of all if WIDE.

    Otherwise of those of killed brokers, which end in zeros, and of those up to MOST_BYTES.
    """
    found = []
    for path in real_files:
        is_drawn = WIDE or "killed" in path.parts or path.stat().st_size <= MOST_BYTES
        if is_drawn and (".log" in path.name or path.suffix == ".checkpoint"):
            data = path.read_bytes()
            found.append((path, data, KafkaLog.from_bytes(data)))
    return found


def test_logs_are_parsed_to_their_ends(logs: Logs) -> None:
    assert len(logs) > 600
    for path, data, log in logs:
        assert log._io.is_eof(), path
        assert not any(entry.partial for entry in log.entries), path
        assert sum(size(entry) for entry in log.entries) == len(data), path


def test_zeros_end_only_the_logs_of_killed_brokers(logs: Logs) -> None:
    zeros = [path for path, _, log in logs if any(entry.zero_tail for entry in log.entries)]
    assert len(zeros) == 6
    assert all("killed" in path.parts for path in zeros)


def test_headers_agree_with_the_object_parsers(logs: Logs) -> None:
    seen: Counter[int] = Counter()
    for _, data, log in logs:
        for entry, content in contents(log):
            position = entry.ofs_entry
            header = wire.EntryHeader.unpack_from(data, position)
            assert header == (entry.offset, entry.len_content, entry.magic)
            seen[header.magic] += 1
            if isinstance(content, KafkaMessage):
                assert same_message(wire.MessageHeader.unpack_from(data, position), content)
            else:
                assert same_batch(wire.RecordBatchHeader.unpack_from(data, position), content)
    assert set(seen) == {0, 1, 2}


def test_missing_fields_of_real_files_are_none(logs: Logs) -> None:
    for _, _, log in logs:
        for _, content in contents(log):
            if isinstance(content, KafkaMessage):
                message = content.message
                assert (message.timestamp is None) == (message.magic == 0)
                assert (message.key is None) == (message.len_key < 0)
                assert (message.value is None) == (message.len_value < 0)
            else:
                assert (content.payload is None) != (content.compressed_payload is None)
                for body in bodies(content):
                    assert (body.key is None) == (body.len_key.value < 0)
                    assert (body.value is None) == (body.len_value.value < 0)


def test_control_records_of_brokers_are_read_to_their_ends(logs: Logs) -> None:
    kinds: Counter[str] = Counter()
    for path, _, log in logs:
        for _, content in contents(log):
            if not isinstance(content, KafkaRecordBatch) or not content.attributes.is_control:
                continue
            for body in bodies(content):
                control = body.control_record
                assert control is not None
                assert control.content is not None
                assert control.content._io.is_eof(), path
                assert not isinstance(control.content, KafkaControlRecord.UnknownContent)
                assert body.key is not None
                assert wire.ControlKey.unpack_from(body.key)[1] == control.key.control_type
                kinds[wire.CONTROL_TYPE_NAMES[control.key.control_type]] += 1
    assert set(kinds) >= {"ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER"}


@pytest.mark.parametrize(
    ("suffix", "parser", "entry"),
    [
        (".index", KafkaOffsetIndex, wire.OffsetIndexEntry),
        (".timeindex", KafkaTimeIndex, wire.TimeIndexEntry),
    ],
)
def test_indexes(real_files: list[Path], suffix: str, parser: Any, entry: Any) -> None:
    for path in real_files:
        if suffix in path.name:
            data = path.read_bytes()
            index = parser.from_bytes(data)
            assert index.unknown_tail is None, path
            rows = index.entries or []
            assert same_rows(entry, data, rows), path
            assert entry.SIZE * len(rows) + len(index.zero_tail or b"") == len(data)


def test_transaction_indexes_and_snapshots(real_files: list[Path]) -> None:
    for path in real_files:
        if ".txnindex" in path.name:
            data = path.read_bytes()
            transactions = KafkaTransactionIndex.from_bytes(data).aborted_transactions
            assert same_rows(wire.AbortedTransaction, data, transactions), path
        elif ".snapshot" in path.name:
            data = path.read_bytes()
            snapshot = KafkaProducerSnapshot.from_bytes(data)
            assert same_rows(wire.ProducerSnapshotHeader, data, [snapshot]), path
            start = wire.ProducerSnapshotHeader.SIZE
            assert same_rows(wire.ProducerSnapshotEntry, data[start:], snapshot.producers), path


def same_rows(entry: Any, data: bytes, rows: list[Any]) -> bool:
    """Return whether *entry*, a class of wire.py, unpacks *data* to the values of *rows*."""
    return all(
        entry.unpack_from(data, entry.SIZE * number)
        == tuple(getattr(row, name) for name in entry._fields)
        for number, row in enumerate(rows)
    )


def contents(log: KafkaLog) -> Iterator[tuple[KafkaLog.Entry, KafkaMessage | KafkaRecordBatch]]:
    for entry in log.entries:
        if entry.content is not None:
            assert not isinstance(entry.content, KafkaLog.UnknownContent)
            yield entry, entry.content


def bodies(batch: KafkaRecordBatch) -> list[Any]:
    return [record.body for record in batch.payload.records] if batch.payload else []


def size(entry: KafkaLog.Entry) -> int:
    if entry.content is None:
        return len(entry.zero_tail or entry.partial or b"")
    assert entry.len_content is not None
    return 12 + entry.len_content


def same_message(header: wire.MessageHeader, entry: KafkaMessage) -> bool:
    message = entry.message
    fixed = (entry.offset, entry.len_message, message.crc, message.magic)
    return (
        header[:4] == fixed
        and header.timestamp == message.timestamp
        and header.codec == message.attributes.codec
        and header.timestamp_type == message.attributes.timestamp_type
    )


def same_batch(header: wire.RecordBatchHeader, batch: KafkaRecordBatch) -> bool:
    names = [name for name in header._fields if name != "attributes"]
    bits = ("codec", "timestamp_type", "is_transactional", "is_control", "has_delete_horizon")
    return all(getattr(header, name) == getattr(batch, name) for name in names) and all(
        getattr(header, name) == getattr(batch.attributes, name) for name in bits
    )
