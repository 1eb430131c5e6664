"""Tests of parsing KRaft snapshots and metadata records, brokers' own and altered ones."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import kaitaistruct
import pytest

import golden_bytes as golden
import log_builder as build
from magicbyte_formats.kaitai.kafka_early_leader_change import KafkaEarlyLeaderChange
from magicbyte_formats.kaitai.kafka_kraft_snapshot import KafkaKraftSnapshot
from magicbyte_formats.kaitai.kafka_log import KafkaLog
from magicbyte_formats.kaitai.kafka_metadata_record import KafkaMetadataRecord
from magicbyte_formats.kaitai.kafka_record_batch import KafkaRecordBatch
from paths import DATA

SNAPSHOT = DATA / "4.3" / "transactions" / "log-0" / "bootstrap.checkpoint"
REFUSED = (EOFError, kaitaistruct.ValidationFailedError)


def batches(data: bytes) -> list[bytes]:
    """Return the bytes of each batch of a snapshot."""
    entries = KafkaLog.from_bytes(data).entries
    starts = [entry.ofs_entry for entry in entries]
    return [data[a:b] for a, b in zip(starts, [*starts[1:], len(data)], strict=True)]


def values(batch: KafkaRecordBatch) -> Iterator[bytes]:
    """Yield the values of a data batch's records; nothing of a control batch."""
    if batch.payload and not batch.attributes.is_control:
        for record in batch.payload.records:
            assert record.body.value is not None
            yield record.body.value


def test_a_snapshot_is_a_header_then_batches_and_a_footer_last() -> None:
    snapshot = KafkaKraftSnapshot.from_bytes(SNAPSHOT.read_bytes())
    assert snapshot.header.is_header and not snapshot.header.is_footer
    assert [one.is_footer for one in snapshot.batches] == [False, True]
    assert snapshot.unexpected is None
    data, footer = snapshot.batches
    assert (data.control_type, footer.control_type) == (None, 4)
    assert (snapshot.header.len_first_key, data.len_first_key) == (4, None)
    types = [KafkaMetadataRecord.from_bytes(value).api_key.value for value in values(data.batch)]
    assert set(types) == {KafkaMetadataRecord.RecordTypes.feature_level}


def test_a_snapshot_may_have_no_batch_between_header_and_footer() -> None:
    header, _, footer = batches(SNAPSHOT.read_bytes())
    assert len(KafkaKraftSnapshot.from_bytes(header + footer).batches) == 1


def test_a_control_batch_without_records_is_neither_header_nor_footer() -> None:
    header, _, footer = batches(SNAPSHOT.read_bytes())
    empty = build.batch([], flags=build.CONTROL)
    snapshot = KafkaKraftSnapshot.from_bytes(header + empty + footer)
    assert [one.is_footer for one in snapshot.batches] == [False, True]


@pytest.mark.parametrize(
    "order",
    ["", "h", "d", "f", "hd", "df", "ff", "hdd", "dhf", "hfd", "hdff", "hdfh"],
)
def test_a_snapshot_in_any_other_order_is_refused(order: str) -> None:
    parts = dict(zip("hdf", batches(SNAPSHOT.read_bytes()), strict=True))
    assert KafkaKraftSnapshot.from_bytes(b"".join(parts[one] for one in "hdf"))
    with pytest.raises(REFUSED):
        KafkaKraftSnapshot.from_bytes(b"".join(parts[one] for one in order))


def test_a_snapshot_is_refused_where_it_is_cut_off_or_something_follows() -> None:
    data = SNAPSHOT.read_bytes()
    for length in [*range(0, len(data), 7), len(data) - 1]:
        with pytest.raises(REFUSED):
            KafkaKraftSnapshot.from_bytes(data[:length])
    for more in (b"\0", b"\x01", bytes(100)):
        with pytest.raises(REFUSED):
            KafkaKraftSnapshot.from_bytes(data + more)


def test_a_snapshot_is_refused_where_the_key_of_a_control_record_is_too_short() -> None:
    batch = build.batch([build.record(key=b"k")], flags=build.CONTROL)  # a control key has 4 bytes
    with pytest.raises(REFUSED):
        KafkaKraftSnapshot.from_bytes(2 * batch)


def test_a_log_with_a_transactions_marker_is_no_snapshot() -> None:
    with pytest.raises(REFUSED):
        KafkaKraftSnapshot.from_bytes(golden.ABORT + batches(SNAPSHOT.read_bytes())[2])


def test_a_metadata_record_is_three_numbers_and_a_message() -> None:
    record = KafkaMetadataRecord.from_bytes(bytes.fromhex("01 0c 00 0d 6d"))
    assert (record.frame_version.value, record.api_version.value, record.data) == (1, 0, b"\x0dm")
    assert record.api_key.value == KafkaMetadataRecord.RecordTypes.feature_level
    assert KafkaMetadataRecord.from_bytes(bytes.fromhex("01 14 00")).data == b""
    for length in range(3):
        with pytest.raises(EOFError):
            KafkaMetadataRecord.from_bytes(b"\x01\x14\x00"[:length])


def test_metadata_and_snapshots_of_brokers() -> None:
    seen = read_all(sorted(DATA.rglob("*")))
    assert {"TOPIC_RECORD", "PARTITION_RECORD", "PRODUCER_IDS_RECORD"} <= set(seen)


def test_metadata_and_snapshots_of_all_brokers(real_files: list[Path]) -> None:
    seen = read_all(real_files)
    assert {"REGISTER_CONTROLLER_RECORD", "ZK_MIGRATION_STATE_RECORD", "NO_OP_RECORD"} <= set(seen)


def read_all(paths: list[Path]) -> Counter[str]:
    """Return the number of metadata records by type; check that each has frame version 1."""
    seen: Counter[str] = Counter()
    for path in paths:
        if path.suffix == ".checkpoint":
            snapshot = KafkaKraftSnapshot.from_bytes(path.read_bytes())
            found = [snapshot.header.batch, *(one.batch for one in snapshot.batches)]
        elif path.suffix == ".log" and path.parent.name == "__cluster_metadata-0":
            entries = KafkaLog.from_bytes(path.read_bytes()).entries
            found = [one.content for one in entries if isinstance(one.content, KafkaRecordBatch)]
        else:
            continue
        for value in (value for batch in found for value in values(batch)):
            record = KafkaMetadataRecord.from_bytes(value)
            assert record.frame_version.value == 1, path
            kind = KafkaMetadataRecord.RecordTypes(record.api_key.value)
            seen[f"{kind.name.upper()}_RECORD"] += 1
            assert value.endswith(record.data)
            assert len(value) - len(record.data) == 3
    return seen


def test_the_earliest_leader_change_has_no_granting_voters_either() -> None:
    data = bytes.fromhex("00000001 02 00000001 00 00")
    change = KafkaEarlyLeaderChange.from_bytes(data)
    assert [voter.voter_id for voter in change.voters] == [1]
    assert (change.num_granting_voters, change.granting_voters) == (None, None)
    for length in range(11):
        with pytest.raises(EOFError):
            KafkaEarlyLeaderChange.from_bytes(data[:length])
