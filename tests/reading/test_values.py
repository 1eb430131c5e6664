"""Tests that values are those of Kafka's Java consumer: nulls, header keys, times, sequences."""

from typing import Any

import pytest

import log_builder as build
import magicbyte as mb

# Null and empty


# The left column through new String(bytes, UTF_8) of Java; the replacement is U+FFFD.
JAVA_TEXT = {
    "6b6579": "key",
    "": "",
    "00": "\0",
    "c3a9": "é",
    "e282ac": "€",
    "f09f9880": "😀",
    "efbfbd": "\ufffd",
    "efbbbf61": "\ufeffa",
    # Bytes that begin nothing
    "ff": "\ufffd",
    "fe61": "\ufffda",
    "80": "\ufffd",
    "8080": "\ufffd\ufffd",
    # Cut
    "c3": "\ufffd",
    "e282": "\ufffd",
    "f09f98": "\ufffd",
    "e28261": "\ufffda",
    "f09f9861": "\ufffda",
    "c361": "\ufffda",
    # Longer than need be
    "c080": "\ufffd\ufffd",
    "c1bf": "\ufffd\ufffd",
    "e08080": "\ufffd\ufffd\ufffd",
    "f0808080": "\ufffd\ufffd\ufffd\ufffd",
    # Encoded surrogates: one replacement each
    "eda080": "\ufffd",
    "edbfbf": "\ufffd",
    "eda0bdedb880": "\ufffd\ufffd",
    "61eda08062": "a\ufffdb",
    "eda0": "\ufffd",
    "eda061": "\ufffda",
    "61ed": "a\ufffd",
    "edc0": "\ufffd\ufffd",
    "eda0c0": "\ufffd\ufffd",
    "ed9fbf": "\ud7ff",
    "ee8080": "\ue000",
    # Beyond U+10FFFF
    "f4908080": "\ufffd\ufffd\ufffd\ufffd",
    "f5808080": "\ufffd\ufffd\ufffd\ufffd",
    "f48fbfbf": "\U0010ffff",
    "f8888080": "\ufffd\ufffd\ufffd\ufffd",
}


@pytest.mark.parametrize("data", JAVA_TEXT)
def test_header_key_is_decoded_as_java_decodes_it(data: str, read: Any) -> None:
    entry = build.batch([build.record(headers=[(bytes.fromhex(data), b"v")])])
    (row,) = read(entry).rows
    assert row["headers"] == [{"key": JAVA_TEXT[data], "value": b"v"}]


# Times


def times(read: Any, data: bytes) -> list[int | None]:
    return [row["timestamp"] for row in read(data).rows]


def test_time_is_the_base_and_the_delta_and_wraps_as_javas(read: Any) -> None:
    deltas = [0, 5, -7, 2**40]
    content = [build.record(time_delta=d, delta=n) for n, d in enumerate(deltas)]
    assert times(read, build.batch(content, time=100)) == [100 + d for d in deltas]
    content = [build.record(time_delta=2)]
    assert times(read, build.batch(content, time=2**63 - 1)) == [-(2**63) + 1]


def test_v0_message_in_a_v1_wrapper_has_no_time_but_the_wrappers_type_as_in_kafka(
    read: Any,
) -> None:
    inner = [build.message(b"x", n, magic=0) for n in range(2)]
    got = read(build.wrapper(inner, 11, flags=build.APPEND_TIME))
    assert [(r["offset"], r["timestamp"], r["timestamp_type"]) for r in got.rows] == [
        (10, None, "LogAppendTime"),
        (11, None, "LogAppendTime"),
    ]
    assert {row["magic"] for row in got.rows} == {1}


def test_delete_horizon_is_the_base_of_the_deltas_and_no_time_of_a_record(read: Any) -> None:
    horizon, time = 86_400_000, 5_000
    content = [build.record(None, b"k", time_delta=time - horizon)]
    data = build.batch(content, time=horizon, max_time=time, flags=build.HORIZON)
    assert times(read, data) == [time]
    names = ("base_timestamp", "max_timestamp", "delete_horizon")
    (row,) = mb.from_bytes(data).batches(names).to_pylist()
    assert [row[name].timestamp() * 1000 for name in names] == [horizon, time, horizon]


# Producers


def test_sequence_goes_on_with_0_behind_the_largest(read: Any) -> None:
    data = build.batch(build.records(4), producer=7, sequence=2**31 - 2)
    assert [row["sequence"] for row in read(data).rows] == [2**31 - 2, 2**31 - 1, 0, 1]


def test_sequence_counts_the_records_that_cleaning_took(read: Any) -> None:
    data = build.batch([build.record(delta=3)], producer=7, sequence=10, last_delta=9)
    assert [row["sequence"] for row in read(data).rows] == [13]


@pytest.mark.parametrize("sequence", [-1, -2, -(2**31)])
def test_negative_sequence_is_none(sequence: int, read: Any) -> None:
    assert [row["sequence"] for row in read(build.batch(sequence=sequence)).rows] == [None]


def test_sentinels_are_null_and_zero_is_zero() -> None:
    names = ["leader_epoch", "producer_id", "producer_epoch", "sequence"]
    (row,) = mb.from_bytes(build.batch(leader_epoch=-1)).records(names).to_pylist()
    assert row == dict.fromkeys(names)
    (row,) = mb.from_bytes(build.batch(producer=0, leader_epoch=0)).records(names).to_pylist()
    assert row == dict.fromkeys(names, 0)
    for magic in (0, 1):
        constant = {"is_transactional": False, "codec": "none", "magic": magic}
        rows = mb.from_bytes(build.message(magic=magic)).records([*names, *constant])
        assert rows.to_pylist() == [dict.fromkeys(names) | constant]


@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4])
def test_codec_and_place_are_those_of_the_entry(codec: int) -> None:
    data = build.batch() + build.batch(build.records(2), 1, codec=codec)
    rows = mb.from_bytes(data).records(["codec", "position", "file"]).to_pylist()
    name = ["none", "gzip", "snappy", "lz4", "zstd"][codec]
    assert [(row["codec"], row["position"]) for row in rows[1:]] == [(name, len(build.batch()))] * 2


def test_crc_is_without_a_sign() -> None:
    data = build.batch()
    (row,) = mb.from_bytes(data).batches(["crc"]).to_pylist()
    assert row["crc"] == int.from_bytes(data[17:21], "big")
    rows = [mb.from_bytes(build.batch(base=n, time=n)).batches(["crc"]) for n in range(64)]
    assert any(row["crc"] > 2**31 for r in rows for row in r.to_pylist())


def test_batches_of_old_formats_lack_what_these_lack() -> None:
    (row,) = mb.from_bytes(build.message(b"x", 5)).batches().to_pylist()
    assert {name for name, value in row.items() if value is None} == {
        *("topic", "partition", "base_timestamp", "delete_horizon", "producer_id"),
        *("producer_epoch", "base_sequence", "leader_epoch", "control_type"),
    }
    assert (row["is_transactional"], row["is_control"]) == (False, False)
    assert (row["base_offset"], row["last_offset"], row["record_count"]) == (5, 5, 1)
    (row,) = mb.from_bytes(build.message(magic=0)).batches().to_pylist()
    assert row["timestamp_type"] is None and row["max_timestamp"] is None


def test_to_pylist_holds_times_beyond_pythons_calendar() -> None:
    for time in (2**62, -(2**62)):
        (row,) = mb.from_bytes(build.batch(time=time)).records(["offset", "timestamp"]).to_pylist()
        assert row["offset"] == 0
