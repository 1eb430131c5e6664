"""Tests that entries which other projects published are read as Kafka's Java classes read them.

docs/differences.md explains each difference from Java; the letters name the rows of its table.
"""

import hashlib
import zlib
from collections import Counter
from typing import Any

import pytest

import magicbyte as mb
import paths
from paths import CHECKOUT

Vector = dict[str, Any]

# A disputed vector's own rule (docs/differences.md), by file: the code of the finding, or None
# where it is accepted. Severity is the code's.
DISPUTED = {
    "kafka-java__v2_none_count_0": ("D3", "checksum-mismatch"),
    "kafka-java__v2_none_count_0_crc_ok": ("D3", "bytes-unread"),
    "kafka-java__v2_gzip_count_0": ("D3", "checksum-mismatch"),
    "kafka-java__v2_gzip_count_0_crc_ok": ("D3", "bytes-unread"),
    "sarama__v0_message_gzip_empty": ("D6", "bad-wrapper"),
    "sarama__v1_message_lz4_empty": ("D6", "bad-wrapper"),
    "sarama__v1_message_zstd_empty": ("D7", "codec-not-allowed"),
    "sarama__v1_message_bulk_zstd": ("D7", "codec-not-allowed"),
    "kafka-php__v1_magic_cut": ("D18", "bad-message"),
}

# Offsets say nothing about the soundness of an entry: fetch data starts anywhere, and some
# fixtures glue two fetches together.
OF_OFFSETS = {"offset-gap", "offset-out-of-order"}

ERRORS = {
    "InvalidRecordException: Incorrect declared batch size, premature EOF": "bad-record-count",
    "InvalidRecordException: Incorrect declared batch size, records still": "bytes-left-over",
    "InvalidRecordException: Found invalid record count": "bad-record-count",
    "InvalidRecordException: Found invalid record structure": "bad-record",
    "InvalidRecordException: Found invalid number of record headers": "bad-record",
    "InvalidRecordException: Invalid record size": "bad-record",
    "InvalidRecordException: Found invalid wrapper offset": "bad-wrapper",
    "InvalidRecordException: Found invalid compressed record set": "bad-wrapper",
    "InvalidRecordException: Found compressed record set with": "bad-wrapper",
    "InvalidRecordException: Invalid wrapper compressionType": "codec-not-allowed",
    "KafkaException: Failed to decompress record stream": "codec-error",
    "IllegalArgumentException: newLimit > capacity": "bad-message",
    "IllegalArgumentException: Unknown compression type id": "unknown-codec",
    "CorruptRecordException: Invalid magic found in record": "unknown-magic",
    "CorruptRecordException: Record size": "bad-size",
}
"""Codes of our findings by the beginning of the message of Kafka's reader."""


def code_of(error: str) -> str:
    return next(code for beginning, code in ERRORS.items() if error.startswith(beginning))


def java(vector: Vector) -> Any:
    """Return the recorded result of Kafka's Java reader for *vector*."""
    return vector["peers"]["kafka-java"]


def batches(vector: Vector) -> list[tuple[int, int, Vector]]:
    """Return (begin, end, recorded fields) of each batch that Kafka's reader found in *vector*."""
    position, out = 0, []
    for one in java(vector)["batches"]:
        out.append((position, position + one["size"], one))
        position += one["size"]
    return out


def records(batch: Vector) -> list[Vector]:
    return [
        {
            "offset": record["offset"],
            "timestamp": None if record["timestamp"] == -1 else record["timestamp"],
            "key": record["key"],
            "value": record["value"],
            "headers": [
                [bytes.fromhex(key).decode("utf-8", "replace"), value]
                for key, value in record.get("headers", [])
            ],
            "sequence": record.get("sequence"),
        }
        for record in batch["records"]
    ]


@pytest.mark.vectors(validity=("valid", "valid-partial-tail"))
def test_sound_entries_give_the_records_of_kafkas_reader(vector: Vector, result: Any) -> None:
    for begin, end, batch in batches(vector):
        assert batch["crc_ok"]
        found = result.records(begin, end)
        if batch.get("records_elided"):  # the manifest gives the first of many
            assert len(found) == batch["records_n"]
            found = found[: len(batch["records"])]
        assert found == records(batch)
        types = {"NoTimestampType": None}.get(batch["timestamp_type"], batch["timestamp_type"])
        rows = [row for row in result.rows if begin <= row["position"] < end]
        if not (batch["magic"] == 1 and any(row["timestamp_type"] is None for row in rows)):
            assert {row["timestamp_type"] for row in rows} <= {types}
        assert {row["magic"] for row in rows} <= {batch["magic"]}
    assert len(result.rows) == java(vector)["records_total"]
    assert [error for error in result.errors if error[0] not in OF_OFFSETS] == []


def short(stated: str | None) -> str | None:
    """Return the hex *stated*, or its SHA-256 and length as in the oracle if over 256 bytes."""
    if stated is None or len(stated) <= 512 or stated.startswith("sha256:"):
        return stated
    data = bytes.fromhex(stated)
    return f"sha256:{hashlib.sha256(data).hexdigest()}:{len(data)}"


@pytest.mark.vectors(validity=("valid", "valid-partial-tail"), states_records=True)
def test_sound_entries_give_what_their_source_expects(
    vector: Vector, data: bytes, result: Any
) -> None:
    expected = vector["expected"]["records"]
    records = result.records(0, len(data))
    if vector["expected"].get("assert_scope") or len(expected) < len(records):
        records = records[: len(expected)]
    for found, wanted in zip(records, expected, strict=True):
        assert found["offset"] == wanted.get("offset", found["offset"])
        for name in ("key", "value"):
            # Perl and PHP print a null key as an empty one.
            if name in wanted and not (
                name == "key" and wanted[name] == "" and found[name] is None
            ):
                assert found[name] == short(wanted[name])
        if "timestamp" in wanted:
            stated = None if wanted["timestamp"] == -1 else wanted["timestamp"]
            assert found["timestamp"] == stated
        if "headers" in wanted:
            stated = [[bytes.fromhex(key).decode(), value] for key, value in wanted["headers"]]
            assert found["headers"] == stated


@pytest.mark.vectors(validity=("valid",))
def test_sound_entries_cover_all_bytes(data: bytes, result: Any) -> None:
    assert result.report.bytes["damaged"] == result.report.bytes["tail"] == 0
    assert sum(result.report.bytes.values()) == len(data)


@pytest.mark.vectors(validity=("valid-partial-tail",))
def test_incomplete_last_entry_is_a_tail_and_no_damage(
    vector: Vector, data: bytes, result: Any
) -> None:
    used = java(vector)["bytes_used"]
    assert result.report.bytes["tail"] == len(data) - used == java(vector)["tail"]
    assert result.report.bytes["damaged"] == 0
    codes = [f.code for f in result.findings if f.position == used and f.severity == "warning"]
    assert codes in (["incomplete-tail"], ["zero-tail"])


@pytest.mark.vectors(validity=("valid", "valid-partial-tail"))
def test_batches_state_what_kafkas_reader_states(vector: Vector, data: bytes) -> None:
    rows = mb.from_bytes(data, on_damage="skip").batches().to_table()
    for name in ("max_timestamp", "base_timestamp", "delete_horizon"):
        column = rows.schema.get_field_index(name)
        rows = rows.set_column(column, name, rows.column(column).cast("int64"))
    result = rows.to_pylist()
    framed = batches(vector)
    assert [(row["position"], row["size_bytes"]) for row in result] == [
        (begin, end - begin) for begin, end, _ in framed
    ]
    for row, (_, _, batch) in zip(result, framed, strict=True):
        assert row["crc_valid"] is True
        assert row["magic"] == batch["magic"]
        assert row["last_offset"] == batch["last_offset"]
        assert row["codec"] == batch["codec"]
        assert row["record_count"] == batch.get("count", len(batch["records"]))
        assert (row["max_timestamp"] if row["max_timestamp"] is not None else -1) == batch[
            "max_timestamp"
        ]
        assert row["is_control"] == batch.get("control", False)
        assert row["is_transactional"] == batch.get("transactional", False)
        if batch["base_offset"] is not None:
            assert row["base_offset"] == batch["base_offset"]
        elif batch["records"]:
            assert row["base_offset"] == batch["records"][0]["offset"]
        for name in ("producer_id", "producer_epoch", "base_sequence", "leader_epoch"):
            assert (-1 if row[name] is None else row[name]) == batch.get(name, -1)


DIVERGES = {
    # Java overflows there; to us the entry does not end before the bytes do.
    "dekaf__record_batch_hostile_max_length": ("D19", "incomplete-tail", 0),
    # Java leaks an error of its buffer's; a v2 header needs 49 bytes.
    "sarama__message_unknown_magic_2": ("D20", "bad-size", 0),
    # What a preallocated file ends in is no damage.
    "pixie__fetch_v11_zero_filled": ("D28", "zero-tail", 0),
}
"""Vectors whose findings are not where Java's errors are: row of the table, code and position."""


def errors_of_java(vector: Vector) -> set[tuple[str, int]]:
    """Return (finding code, position) of each error that Kafka's reader raises."""
    found = set()
    for begin, _, batch in batches(vector):
        if "header_error" in batch:
            found.add((batch["header_error"], begin))
        elif not batch["crc_ok"]:
            found.add(("checksum-mismatch", begin))
        elif "records_error" in batch:
            found.add((code_of(batch["records_error"]), begin))
    if "stream_error" in java(vector):
        error = java(vector)["stream_error"]
        found.add(
            ("newLimit" if "newLimit < 0" in error else code_of(error), java(vector)["bytes_used"])
        )
    return found


@pytest.mark.vectors(validity=("malformed", "bad-crc"))
def test_damage_is_found_where_kafkas_reader_stops(vector: Vector, result: Any) -> None:
    wanted, found = errors_of_java(vector), set(result.errors)
    name = vector["file"].removesuffix(".bin")
    if name in DIVERGES:
        assert not wanted <= found, f"{name} is as Java's now"
        _, code, position = DIVERGES[name]
        assert (code, position) in [(f.code, f.position) for f in result.findings]
    else:
        assert wanted <= found
    if java(vector)["tail"] and "stream_error" not in java(vector):
        codes = {f.code for f in result.findings if f.position == java(vector)["bytes_used"]}
        assert codes & {"incomplete-tail", "zero-tail"}
    assert found or java(vector)["tail"]


@pytest.mark.vectors(validity=("malformed", "bad-crc"))
def test_no_row_of_a_damaged_entry_is_delivered_and_every_row_of_the_others(
    vector: Vector, result: Any
) -> None:
    damaged = {position for _, position in errors_of_java(vector)}
    for begin, end, batch in batches(vector):
        # D4: Java gives the records before the fault.
        assert result.records(begin, end) == ([] if begin in damaged else records(batch))


def test_divergences_stand_in_the_table_of_differences() -> None:
    text = (CHECKOUT / "docs" / "differences.md").read_text()
    for number, *_ in [*DIVERGES.values(), *DISPUTED.values()]:
        assert f"| {number} |" in text


@pytest.mark.vectors(validity=("malformed", "bad-crc"))
def test_damage_has_no_error_before_where_kafkas_reader_stops(vector: Vector, result: Any) -> None:
    bad = [
        begin
        for begin, _, batch in batches(vector)
        if "records_error" in batch or "header_error" in batch or not batch["crc_ok"]
    ]
    first = min([*bad, java(vector)["bytes_used"]])
    assert [
        error
        for error in result.errors
        if error[0] not in OF_OFFSETS and (error[1] is None or error[1] < first)
    ] == []


@pytest.mark.vectors(validity=("malformed", "bad-crc"))
def test_damage_raises_the_error_of_its_finding_unless_skipped(data: bytes, result: Any) -> None:
    errors = [e for e in result.errors if e[0] not in OF_OFFSETS]
    rows = mb.from_bytes(data).records()
    if not errors:
        rows.to_table()
        return
    with pytest.raises((mb.FormatError, mb.LimitError)) as caught:
        rows.to_table()
    code = getattr(caught.value, "code", None)
    assert (code, caught.value.position) == errors[0]


@pytest.mark.vectors(validity=("disputed",))
def test_disputed_vector_is_judged_by_its_row_of_the_table(vector: Vector, result: Any) -> None:
    _, code = DISPUTED[vector["file"].removesuffix(".bin")]
    assert code in [f.code for f in result.findings if f.position == 0]
    assert result.rows == []


@pytest.mark.vectors(
    names=[
        "librdkafka__mixed_magic_ok_crc_ok",
        "librdkafka__mixed_ok_crc_ok",
        "librdkafka__mixed_crc_ok_zstd",
        "librdkafka__all_success",
    ]
)
def test_sound_batches_behind_a_bad_one_are_delivered(vector: Vector, result: Any) -> None:
    wanted = [op["offset"] for op in vector["expected"]["ops"] if op.get("ok")]
    assert [row["offset"] for row in result.rows] == wanted


@pytest.mark.vectors(names=["sarama__v1_message_bulk_lz4"])
def test_v0_messages_in_a_v1_wrapper_are_read_and_flagged(result: Any) -> None:
    assert "inner-magic-differs" in result.codes
    # The consumer gives all records of a wrapper its timestamp type, and v0 records no time.
    assert [row["timestamp_type"] for row in result.rows] == ["CreateTime", "CreateTime"]


@pytest.mark.vectors(names=["kafka-java__v0_lz4", "kafka-java__v0_lz4_compacted"])
def test_old_lz4_header_checksum_is_read_in_v0(vector: Vector, result: Any) -> None:
    assert len(result.rows) == java(vector)["records_total"] and set(result.codes) <= OF_OFFSETS


@pytest.mark.vectors(names=["kafka-java__v1_lz4"])
def test_old_lz4_header_checksum_is_an_error_in_v1(data: bytes, read: Any) -> None:
    at = data.index(b"\x04\x22\x4d\x18") + 6
    assert data[at] == 0x82
    body = data[16:at] + b"\x1a" + data[at + 1 :]
    end = 12 + int.from_bytes(data[8:12], "big")
    body = body[: end - 16]
    changed = data[:12] + zlib.crc32(body).to_bytes(4, "big") + body
    result = read(changed)
    assert result.errors == [("codec-error", 0)] and result.rows == []


def test_every_vector_is_of_a_kind_that_some_test_reads(request: pytest.FixtureRequest) -> None:
    conftest: Any = request.config.pluginmanager.get_plugin(
        str(request.path.parent / "conftest.py")
    )
    vectors = paths.vectors()
    if not vectors:
        pytest.skip(f"no vectors in {paths.shared()}; set MAGICBYTE_SHARED")
    kinds = Counter(vector["kind"] for vector in vectors)
    assert set(kinds) == {
        *conftest.ENTRIES,
        *("batch_body", "record", "record_body", "records_section"),
        *("compressed", "compressed_message_set", "crc32c"),
        *("control_key", "control_value", "varint", "varlong", "uvarint"),
    }
    disputed = {
        vector["file"].removesuffix(".bin")
        for vector in vectors
        if vector["kind"] in conftest.ENTRIES and vector["validity"] == "disputed"
    }
    assert disputed == set(DISPUTED)
