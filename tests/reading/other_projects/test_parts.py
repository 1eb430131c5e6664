"""Tests of parts of batches that other projects published: varints, headers, records, sections."""

import gzip
import struct
from io import BytesIO
from typing import Any

import pytest
from kaitaistruct import KaitaiStream, KaitaiStructError

import magicbyte as mb
from log_builder import CONTROL, TRANSACTIONAL, batch, message, record, sized
from magicbyte_formats.kaitai.kafka_uvarint import KafkaUvarint
from magicbyte_formats.kaitai.kafka_varint import KafkaVarint
from magicbyte_formats.kaitai.kafka_varlong import KafkaVarlong

Vector = dict[str, Any]
TIME = 1_509_827_900_073
CODECS = {"gzip": 1, "snappy": 2, "snappy-xerial": 2, "snappy-raw": 2, "lz4": 3, "zstd": 4}


def in_batch(section: bytes, *, codec: int = 0, flags: int = 0, count: int = 1) -> bytes:
    """Return a v2 batch with the payload *section*, base offset 0 and base timestamp TIME."""
    producer = 7 if flags else -1
    fields = {"codec": codec, "flags": flags, "producer": producer, "sequence": -1, "time": TIME}
    return batch(count=count, last_delta=0, leader_epoch=0, section=section, **fields)


def in_message(section: bytes, codec: int, magic: int, offset: int = 0) -> bytes:
    return message(section, offset, magic=magic, attributes=codec, time=TIME)


def control(key: bytes, value: bytes) -> bytes:
    return in_batch(record(value, key), flags=TRANSACTIONAL | CONTROL)


def stated(records: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (
            record["offset"],
            TIME + record["timestamp"],
            record["key"],
            record["value"],
            [[bytes.fromhex(key).decode(), value] for key, value in record.get("headers", [])],
        )
        for record in records
    ]


def found(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (row["offset"], row["timestamp"], row["key"], row["value"], row["headers"]) for row in rows
    ]


@pytest.mark.vectors("record", "record_body", "records_section")
def test_record_in_a_batch_gives_what_kafkas_reader_gives(
    vector: Vector, data: bytes, read: Any
) -> None:
    section = sized(data) if vector["kind"] == "record_body" else data
    java = vector["peers"]["kafka-java"]
    codec = CODECS.get(vector["codecs"][0], 0)
    got = read(in_batch(section, codec=codec, count=len(java.get("records", [0]))))
    if "error" in java:
        assert got.rows == []
        assert got.errors == [("bad-record", 0)]
        assert [f.payload_position for f in got.findings] == [0]
    else:
        assert found(got.records(0, 1)) == stated(java["records"])
        assert got.errors == []


@pytest.mark.vectors("record", validity=("malformed",))
def test_malformed_record_in_a_compressed_batch_is_the_same_error(
    vector: Vector, data: bytes, read: Any
) -> None:
    got = read(in_batch(gzip.compress(data), codec=1))
    assert got.rows == [] and got.errors == [("bad-record", 0)]


@pytest.mark.vectors("batch_body")
def test_crash_input_of_a_fuzzer_is_an_error(result: Any) -> None:
    assert result.rows == []
    assert [error for error in result.errors if error[1] == 0] == [("unknown-magic", 0)]


@pytest.mark.vectors("control_key")
def test_control_key_gives_its_type_or_is_an_error(vector: Vector, data: bytes) -> None:
    java = vector["peers"]["kafka-java"]
    dataset = mb.from_bytes(control(data, struct.pack(">hi", 0, 3)), on_damage="skip")
    rows = dataset.batches(["control_type", "disposition", "is_control"])
    (row,) = rows.to_pylist()
    codes = [finding.code for finding in rows.report.findings]
    assert row["is_control"]
    if "error" in java:  # D16
        assert "bad-control-record" in codes and row["disposition"] == "damaged"
    else:
        assert (row["control_type"], row["disposition"]) == (java["type"], "control")
        assert ("unknown-control-type" in codes) == (java["type"] == "UNKNOWN")
        assert "bad-control-record" not in codes


@pytest.mark.vectors("control_value")
def test_marker_value_gives_the_coordinator_epoch_or_a_warning(vector: Vector, data: bytes) -> None:
    java = vector["peers"]["kafka-java"]
    kind = {"ABORT": 0, "COMMIT": 1}[vector["expected"]["type"]]
    marker = control(struct.pack(">hh", 0, kind), data)
    log = in_batch(record(b"v"), flags=TRANSACTIONAL) + struct.pack(">q", 1) + marker[8:]
    dataset = mb.from_bytes(log, on_damage="skip")
    (row,) = dataset.transactions(["outcome", "coordinator_epoch"]).to_pylist()
    # The key alone decides; the value only says who wrote the marker.
    assert row["outcome"] == {"ABORT": "aborted", "COMMIT": "committed"}[vector["expected"]["type"]]
    assert row["coordinator_epoch"] == java.get("coordinator_epoch")
    problems = [p["code"] for p in dataset.problems().to_pylist()]
    assert ("bad-marker-value" in problems) == ("error" in java)


@pytest.mark.vectors("varint", "varlong", "uvarint")
def test_base_128_integers_give_their_values_or_an_error(vector: Vector, data: bytes) -> None:
    kind = {"varint": KafkaVarint, "varlong": KafkaVarlong, "uvarint": KafkaUvarint}[vector["kind"]]
    java = vector["peers"]["kafka-java"]
    stream = KaitaiStream(BytesIO(data))
    if "error" in java:
        with pytest.raises((KaitaiStructError, EOFError)):
            kind(stream)
        return
    values = []
    while not stream.is_eof():
        begin = stream.pos()
        value = kind(stream).value
        if vector["kind"] == "uvarint" and value >= 1 << 31:
            value -= 1 << 32  # as Java, which has no unsigned integer, shows it
        values.append([stream.pos() - begin, value])
    assert values == java["values"]


@pytest.mark.vectors("varint", "varlong", validity=("valid",))
def test_every_strict_prefix_of_an_integer_is_an_error(vector: Vector, data: bytes) -> None:
    kind = {"varint": KafkaVarint, "varlong": KafkaVarlong}[vector["kind"]]
    position = 0
    for length, _ in vector["expected"]["values"]:
        for cut in range(length):
            with pytest.raises((KaitaiStructError, EOFError)):
                kind.from_bytes(data[position : position + cut])
        position += length


@pytest.mark.vectors("compressed_message_set")
def test_compressed_message_set_is_read_as_a_wrapper(
    vector: Vector, data: bytes, read: Any
) -> None:
    java = vector["peers"]["kafka-java"]
    wanted = [record for batch in java["batches"] for record in batch["records"]]
    codec = CODECS[vector["codecs"][0]]
    got = read(in_message(data, codec, 0, wanted[-1]["offset"]))
    assert got.errors == []
    assert [
        (row["offset"], row["timestamp"], row["key"], row["value"]) for row in got.records(0, 1)
    ] == [(record["offset"], None, record["key"], record["value"]) for record in wanted]


@pytest.mark.vectors("compressed")
def test_compressed_section_inside_an_entry_ends_in_a_finding(
    vector: Vector, data: bytes, read: Any
) -> None:
    codec = CODECS[vector["codecs"][0]]
    sound = in_batch(record(b"v"))
    entries = [in_batch(data, codec=codec), in_message(data, codec, 0), in_message(data, codec, 1)]
    for entry in entries:
        got = read(sound + entry + sound)
        positions = [row["position"] for row in got.rows if row["position"] != len(sound)]
        assert positions == [0, len(sound + entry)]
        assert sum(got.report.bytes.values()) == len(sound + entry + sound)
        if "error" in vector["peers"]["kafka-java"] and entry is entries[0]:
            codes = {f.code for f in got.findings if f.position == len(sound)}
            assert codes & {"codec-error", "batch-over-limit"}
