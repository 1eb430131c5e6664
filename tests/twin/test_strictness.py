"""Tests of the twin's strict parsing, of parsing by the grammar alone, and of building."""

import gzip
from collections.abc import Callable
from typing import Any

import pytest
from construct import (
    ChecksumError,
    ConstructError,
    IntegerError,
    StreamError,
    TerminatedError,
)

import magicbyte_construct as twin

TIME = 1714000000000
SOUND = twin.record_batch(
    [
        {"key": b"k", "value": b"v", "timestamp": TIME, "headers": [(b"h", b"1"), (b"h", None)]},
        {"value": None, "timestamp": TIME + 1},
    ]
)


def batch_of(**record: Any) -> bytes:
    return twin.record_batch([{"value": b"v", **record}, {"value": b"w"}])


def compress(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


@pytest.mark.parametrize(
    ("construct", "data", "label"),
    [
        (twin.RecordBatch, SOUND, "CRC-32C"),
        (twin.Message, twin.message(b"hello"), "CRC-32"),
        (twin.RecordBatchKip931, twin.RecordBatchKip931.build({"records": []}), "CRC-32C"),
        (twin.ProducerSnapshot, twin.ProducerSnapshot.build({}), "CRC-32C"),
    ],
    ids=["RecordBatch", "Message", "RecordBatchKip931", "ProducerSnapshot"],
)
def test_a_wrong_checksum_names_both(construct: Any, data: bytes, label: str) -> None:
    parsed = construct.parse(data)
    stored, computed = parsed.crc ^ 1, parsed.crc
    parsed.crc = stored
    broken = construct.build(parsed)
    with pytest.raises(ChecksumError, match=f"stored {label} {stored:#010x}, .*{computed:#010x}"):
        construct.parse(broken)
    assert construct.parse(broken, strict=False).crc == stored


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(batch_of(trailing=b"?"), id="bytes left over in a record"),
        pytest.param(twin.record_batch([{}], trailing=b"?"), id="left over in the batch"),
        pytest.param(twin.record_batch([{}, {}], num_records=1), id="count too low"),
        pytest.param(batch_of(headers=[(b"h", b"")], num_headers=0), id="headers too low"),
    ],
)
def test_bytes_left_over_are_refused_unless_the_grammar_alone_is_asked(data: bytes) -> None:
    with pytest.raises(TerminatedError, match="left over"):
        twin.RecordBatch.parse(data)
    lenient = twin.RecordBatch.parse(data, strict=False)
    assert lenient.trailing or any(record.trailing for record in lenient.records)
    assert twin.RecordBatch.build(lenient) == data


def test_bits_that_do_not_fit_are_not_built() -> None:
    with pytest.raises(IntegerError, match="codec 8 has more than 3 bits"):
        twin.record_batch([{}], codec=8)


def test_a_batch_that_says_it_is_empty_may_hold_bytes() -> None:
    data = twin.record_batch([], trailing=b"ignored by Kafka")
    parsed = twin.RecordBatch.parse(data)
    assert (parsed.records, parsed.trailing) == ([], b"ignored by Kafka")
    assert twin.RecordBatch.build(parsed) == data


def test_messages_keep_what_kafka_ignores() -> None:
    data = twin.message(b"v", key=None, len_key=-7, attributes=0xF8, trailing=b"more")
    parsed = twin.Message.parse(data)
    assert (parsed.key, parsed.len_key, parsed.trailing) == (None, -7, b"more")
    assert (parsed.attributes.reserved, parsed.attributes.timestamp_type) == (15, 1)
    assert twin.Message.build(parsed) == data


def test_batches_keep_reserved_bits() -> None:
    data = twin.record_batch([{}], attributes=0xFF80)
    parsed = twin.RecordBatch.parse(data)
    assert parsed.attributes.reserved == 0x1FF
    assert twin.RecordBatch.build(parsed) == twin.RecordBatch.build(twin.fresh(parsed)) == data


def test_a_message_set_hides_no_cut_message() -> None:
    data = twin.message(b"v")
    assert len(twin.MessageSet.parse(data * 3)) == 3
    with pytest.raises(StreamError):
        twin.MessageSet.parse(data * 3 + data[:-1])


def test_compressed_batches_are_built_as_if_they_were_not() -> None:
    records = [{"value": b"a", "timestamp": TIME}, {"value": b"b", "timestamp": TIME + 9}]
    plain = twin.RecordBatch.parse(twin.record_batch(records, base_offset=5))
    packed = twin.RecordBatch.parse(
        twin.record_batch(records, base_offset=5, codec=1, compress=compress)
    )
    assert packed.attributes.codec == 1
    assert twin.Records.parse(gzip.decompress(packed.records)) == plain.records
    for name in ("last_offset_delta", "base_timestamp", "max_timestamp", "num_records"):
        assert packed[name] == plain[name], name
    packed.partition_leader_epoch = 3
    again = twin.RecordBatch.parse(twin.RecordBatch.build(twin.fresh(packed)))
    assert (again.num_records, again.partition_leader_epoch) == (2, 3)
    with pytest.raises(ConstructError, match="have no count"):
        twin.RecordBatch.build({"records": packed.records})


@pytest.mark.parametrize(("magic", "offsets"), [(0, [10, 11, 12]), (1, [0, 1, 2])])
def test_wrappers_count_their_messages_as_their_magic_does(magic: int, offsets: list[int]) -> None:
    messages = [{"value": b"%d" % number, "timestamp": TIME + number} for number in range(3)]
    data = twin.wrapper(messages, 1, compress, magic, base_offset=10)
    outer = twin.Message.parse(data)
    inner = twin.MessageSet.parse(gzip.decompress(outer.value))
    assert outer.offset == 12
    assert outer.attributes.codec == 1
    assert [message.offset for message in inner] == offsets
    assert {message.magic for message in inner} == {magic}
    assert outer.timestamp == (TIME + 2 if magic else None)


@pytest.mark.parametrize(
    ("data", "position"),
    [(SOUND, 42), (twin.message(b"hello", magic=0), -1), (twin.message(b"hello"), -1)],
    ids=["magic 2", "magic 0", "magic 1"],
)
def test_reseal_mends_the_checksum_of_the_first_entry_alone(data: bytes, position: int) -> None:
    altered = bytearray(data + data)
    altered[position % len(data)] ^= 1
    with pytest.raises(ChecksumError):
        twin.Log.parse(altered)
    first, second = twin.Log.parse(twin.reseal(bytes(altered))).entries
    assert first != second == twin.Entry.parse(data)
    assert twin.reseal(data) == data


def test_a_changed_field_needs_fresh_lengths_and_sums() -> None:
    parsed = twin.RecordBatch.parse(SOUND)
    parsed.records[0].value = b"a longer value"
    with pytest.raises(ConstructError):
        twin.RecordBatch.parse(twin.RecordBatch.build(parsed))
    mended = twin.RecordBatch.parse(twin.RecordBatch.build(twin.fresh(parsed)))
    assert mended.records[0].value == b"a longer value"
    assert mended.records[1] == parsed.records[1]


def test_values_hold_fields_and_nothing_else() -> None:
    for name in twin.RecordBatch.parse(SOUND):
        assert not name.startswith("_")
    assert list(twin.RecordBatch.parse(SOUND).records[0].headers[1].items()) == [
        ("len_key", 1),
        ("key", b"h"),
        ("len_value", -1),
        ("value", None),
    ]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: twin.record_batch([], records_count=5), "no field 'records_count'.*num_records"),
        (
            lambda: twin.record_batch([{"val": b""}]),
            "no field 'val' at .*records.*len_value, value",
        ),
        (
            lambda: twin.record_batch([{"headers": [{"name": b""}]}]),
            "no field 'name'.*len_key, key",
        ),
        (lambda: twin.record_batch([], attributes={"is_control_batch": 1}), "no bit.*is_control"),
        (lambda: twin.message(b"", length=3), "no field 'length'.*len_message, crc"),
        (lambda: twin.wrapper([{"vaule": b""}], 1, bytes), "no field 'vaule'"),
        (lambda: twin.marker("ABORT", 0, 1, 0, epoch=3), "no field 'epoch'.*producer_epoch"),
    ],
)
def test_building_refuses_a_name_that_no_field_has(
    build: Callable[[], bytes], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        build()


def test_a_count_that_is_given_is_written() -> None:
    assert twin.RecordBatch.parse(twin.record_batch([], num_records=0)).num_records == 0
    assert twin.record_batch([], num_records=5)[57:61] == bytes([0, 0, 0, 5])
