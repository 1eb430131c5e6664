"""Tests of the rules for produced batches: a broken rule gives its code alone, at its position."""

import gzip
from typing import Any, NamedTuple

import lz4.frame
import pytest
import snappy
import zstandard

import magicbyte as mb
from log_builder import TIME, message, sized, varint
from magicbyte_construct import Stored

from .produced import FIRST, PAYLOAD, SECOND, SOUND, encoded, produced

AFTER_FIRST = len(encoded(FIRST))
"""Payload position of the second record."""


class Broken(NamedTuple):
    code: str
    data: bytes
    field: str | None = None
    found: str | None = None
    expected: str | None = None
    position: int = 0
    payload_position: int | None = None
    compacted: bool = False


def old_message(**fields: Any) -> bytes:
    return message(**{"key": b"k", **fields})


LONG_KEY_LENGTH = sized(b"\0\0\0" + b"\x82\0k" + sized(b"v") + varint(0))
FAR = 1 << 62
LOST_BITS = encoded({"time_delta": FAR, "delta": 1}).replace(
    varint(FAR), varint(FAR)[:-1] + b"\x03"
)
LZ4 = lz4.frame.compress(PAYLOAD)

BROKEN = [
    Broken("produced-no-batch", b""),
    Broken("produced-several-batches", SOUND + SOUND, position=len(SOUND)),
    Broken("produced-several-batches", SOUND * 3, position=len(SOUND)),
    Broken("produced-bytes-behind-batch", SOUND + SOUND[:-1], position=len(SOUND)),
    Broken("produced-bytes-behind-batch", SOUND + bytes(11), position=len(SOUND)),
    Broken("produced-old-magic", old_message(), "magic", "1", "2"),
    Broken("produced-old-magic", old_message(magic=0)),
    Broken("produced-old-magic", old_message() + old_message(offset=1)),
    Broken("produced-base-offset", produced(base=42), "base_offset", "42", "0"),
    Broken("produced-leader-epoch", produced(leader_epoch=0), "partition_leader_epoch", "0", "-1"),
    Broken(
        "produced-large", produced({"value": bytes(1 << 20)}), "size", expected="at most 1048588"
    ),
    Broken(
        "produced-zstd", produced(flags=4, section=zstandard.compress(PAYLOAD)), "attributes.codec"
    ),
    Broken("produced-log-append-time", produced(flags=8), "attributes.timestamp_type"),
    # The broker sets the max timestamp of such a batch, so it is not compared.
    Broken("produced-log-append-time", produced(flags=8, max_time=TIME + 9)),
    Broken("produced-transactional", produced(flags=16), "producer_id", "-1"),
    Broken("produced-control", produced(flags=32), "attributes.is_control"),
    Broken("produced-delete-horizon", produced(flags=64)),
    # The base timestamp is the horizon then, so the first record's own is not known.
    Broken("produced-delete-horizon", produced(FIRST | {"time_delta": 5}, flags=64)),
    Broken("produced-reserved-bits", produced(flags=128), found="1", expected="0"),
    Broken("produced-reserved-bits", produced(flags=-32768), found="256"),
    Broken("produced-last-offset-delta", produced(last_delta=2), "last_offset_delta", "2", "1"),
    Broken("produced-last-offset-delta", produced(last_delta=-1)),
    Broken("produced-last-offset-delta", produced({}, last_delta=1)),
    Broken("produced-no-records", produced(section=b"", count=0), "num_records", "0"),
    Broken(
        "produced-max-timestamp",
        produced(max_time=TIME + 6),
        found=str(TIME + 6),
        expected=str(TIME + 5),
    ),
    Broken(
        "produced-base-timestamp",
        produced(FIRST | {"time_delta": 1}, SECOND | {"time_delta": 6}, time=TIME - 1),
        found=str(TIME - 1),
        expected=str(TIME),
    ),
    Broken(
        "produced-negative-timestamp",
        produced({}, time=-2),
        "records[0].timestamp",
        "-2",
        payload_position=0,
    ),
    Broken(
        "produced-negative-timestamp",
        produced({}, {"time_delta": 1, "delta": 1}, time=2**63 - 1, max_time=2**63 - 1),
        found=str(-(2**63)),
        payload_position=len(encoded({})),
    ),
    Broken("produced-producer-id", produced(sequence=0), "base_sequence", "0"),
    Broken("produced-producer-id", produced(epoch=0), "producer_epoch"),
    Broken("produced-producer-id", produced(producer=-2, epoch=0, sequence=0), "producer_id", "-2"),
    Broken("produced-epoch", produced(producer=7, sequence=0), "producer_epoch"),
    Broken("produced-sequence", produced(producer=7, epoch=0), "base_sequence"),
    Broken(
        "produced-offset-delta",
        produced(FIRST, SECOND | {"delta": 0}),
        "records[1].offset_delta",
        "0",
        "1",
        payload_position=AFTER_FIRST,
    ),
    Broken(
        "produced-null-key",
        produced(FIRST, SECOND | {"key": None}),
        "records[1].len_key",
        "-1",
        payload_position=AFTER_FIRST,
        compacted=True,
    ),
    Broken(
        "produced-record-attributes",
        produced({"attributes": 1}),
        "records[0].attributes",
        "1",
        "0",
        payload_position=0,
    ),
    Broken(
        "produced-overlong-varint",
        produced(LONG_KEY_LENGTH),
        "records[0].len_key",
        "2 bytes",
        payload_position=0,
    ),
    Broken(
        "produced-overlong-varint",
        produced({}, LOST_BITS, time=0, max_time=FAR),
        "records[1].timestamp_delta",
        payload_position=len(encoded({})),
    ),
    Broken(
        "produced-overlong-varint",
        produced({"num_headers": Stored(0, b"\x80\0")}),
        "records[0].num_headers",
        payload_position=0,
    ),
    Broken(
        "produced-header-key",
        produced({"headers": ((b"a", None), (b"\xff", b""))}),
        "records[0].headers[1].key",
        "ff",
        "UTF-8",
        payload_position=0,
    ),
    Broken(
        "produced-bytes-behind-payload",
        produced(flags=1, section=gzip.compress(PAYLOAD) + bytes(4)),
        "records",
    ),
    Broken("produced-bytes-behind-payload", produced(flags=3, section=LZ4 + b"\0")),
]

USUAL = [
    Broken("checksum-mismatch", produced(crc=0), "crc", "0x00000000"),
    Broken("bad-size", SOUND + bytes(12), "size", "0", position=len(SOUND)),
    Broken("unknown-magic", produced(magic=3), "magic", "3"),
    Broken("incomplete-entry", SOUND[:-1]),
    Broken("incomplete-entry", SOUND[:5]),
    Broken("unknown-codec", produced(flags=5)),
    Broken("codec-error", produced(flags=2)),
    Broken("codec-error", produced(flags=3, section=LZ4[:-4])),
    Broken("bad-record", produced(sized(bytes(6) + b"\0")), payload_position=0),
    Broken("bad-record-count", produced(count=3), payload_position=len(PAYLOAD)),
    Broken("bad-record-count", produced(count=-1)),
    Broken("bytes-left-over", produced(section=PAYLOAD + b"\0"), payload_position=len(PAYLOAD)),
    Broken(
        "negative-length",
        produced(sized(b"\0\0\0" + sized(b"k") + sized(b"v") + varint(1) + sized(b"h") + b"\x03")),
        "records[0].headers[0].len_value",
        "-2",
        payload_position=0,
    ),
    Broken(
        "negative-length", produced(sized(b"\0\0\0\x03" + sized(b"v") + b"\0")), payload_position=0
    ),
]


@pytest.mark.parametrize("case", BROKEN + USUAL, ids=lambda case: case.code)
def test_a_rule_broken_alone_gives_its_code_at_its_place(case: Broken) -> None:
    (finding,) = mb.check_produced(case.data, compacted=case.compacted)
    assert finding.code == case.code
    assert (finding.position, finding.payload_position) == (case.position, case.payload_position)
    assert finding.length is not None and finding.length <= len(case.data) - case.position
    for name in ("field", "found", "expected"):
        assert getattr(case, name) in (None, getattr(finding, name)), name


def test_every_code_of_produced_batches_has_a_case() -> None:
    codes = {code for code in mb.CODES if code.startswith("produced-")}
    assert {case.code for case in BROKEN} == codes


PRODUCER = {"producer": 7, "epoch": 0, "sequence": 0}

LEGAL = {
    "plain": SOUND,
    "idempotent": produced(**PRODUCER),
    "sequence about to wrap": produced(**{**PRODUCER, "sequence": 2**31 - 1}),
    "transactional": produced(flags=16, **PRODUCER),
    "no times": produced({}, time=-1, max_time=-1),
    "a time of 0": produced({}, time=0),
    "times that go back": produced({}, {"time_delta": -9, "delta": 1}),
    "null key and value": produced({"key": None, "value": None}),
    "duplicate and empty header keys": produced({"headers": ((b"", None),) * 2}),
    "header keys beyond ASCII": produced({"headers": (("é".encode(), b""),)}),
    "numbers of full length": produced(
        {}, {"time_delta": 2**63 - 1, "delta": 1}, time=0, max_time=2**63 - 1
    ),
    "gzip": produced(flags=1, section=gzip.compress(PAYLOAD)),
    "gzip of two members": produced(
        flags=1, section=gzip.compress(encoded(FIRST)) + gzip.compress(encoded(SECOND))
    ),
    "snappy, one raw block": produced(flags=2, section=snappy.compress(PAYLOAD)),
    "snappy, framed by xerial": produced(
        flags=2,
        section=b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01"
        + len(snappy.compress(PAYLOAD)).to_bytes(4, "big")
        + snappy.compress(PAYLOAD),
    ),
    "lz4": produced(flags=3, section=LZ4),
    "lz4 with a content checksum": produced(
        flags=3, section=lz4.frame.compress(PAYLOAD, content_checksum=True)
    ),
}


@pytest.mark.parametrize("batch", LEGAL.values(), ids=LEGAL)
def test_a_legal_batch_has_no_finding(batch: bytes) -> None:
    assert mb.check_produced(batch) == []


def codes(data: bytes, **options: object) -> list[str]:
    return [finding.code for finding in mb.check_produced(data, **options)]  # type: ignore[arg-type]


def test_a_producer_id_below_minus_1_needs_an_epoch_and_a_sequence() -> None:
    assert codes(produced(producer=-2, sequence=0)) == ["produced-producer-id", "produced-epoch"]
    assert codes(produced(producer=-2, epoch=0)) == ["produced-producer-id", "produced-sequence"]


def test_null_keys_are_legal_where_the_topic_is_not_compacted() -> None:
    assert codes(produced({"key": None})) == []
    assert codes(old_message(key=None)) == ["produced-old-magic"]


def test_every_fault_of_a_batch_is_found() -> None:
    batch = produced(
        FIRST | {"attributes": 1},
        SECOND | {"delta": 4},
        base=1,
        crc=0,
        flags=32,
        last_delta=7,
        producer=3,
        max_time=0,
    )
    assert codes(batch) == [
        "checksum-mismatch",
        "produced-base-offset",
        "produced-control",
        "produced-last-offset-delta",
        "produced-epoch",
        "produced-sequence",
        "produced-record-attributes",
        "produced-offset-delta",
        "produced-max-timestamp",
    ]


def test_records_before_one_that_cannot_be_read_are_checked() -> None:
    cut = produced(FIRST | {"attributes": 1}, b"\x7f")
    assert codes(cut) == ["bad-record", "produced-record-attributes"]


def test_rule_broken_by_many_records_is_one_finding_with_their_number() -> None:
    records = tuple({"delta": index, "attributes": 1} for index in range(4))
    (finding,) = mb.check_produced(produced(*records))
    assert finding.field == "records[0].attributes"
    assert str(finding).endswith("; 3 more in this entry")


def test_finding_of_the_reader_in_many_records_has_their_number() -> None:
    record = sized(b"\0\0\0\x03" + sized(b"v") + b"\0")
    finding, *_ = mb.check_produced(produced(*(record,) * 3))
    assert finding.code == "negative-length"
    assert finding.message.endswith("; 2 more in this entry")


def test_every_batch_of_several_is_checked() -> None:
    data = SOUND + produced(base=2)
    assert codes(data) == ["produced-several-batches", "produced-base-offset"]


def test_old_and_new_formats_are_not_mixed() -> None:
    mixed = ["produced-old-magic", "produced-several-batches"]
    assert codes(old_message() + SOUND) == mixed
    assert codes(old_message() + old_message(magic=0)) == mixed


def test_a_compressed_message_stands_alone() -> None:
    wrapper = old_message(attributes=1, value=gzip.compress(old_message()))
    assert codes(wrapper) == ["produced-old-magic"]
    assert codes(wrapper + wrapper) == ["produced-old-magic", "produced-several-batches"]


OLD = {
    "produced-log-append-time": old_message(attributes=8),
    "produced-negative-timestamp": old_message(time=-2),
    "produced-null-key": old_message(key=None),
    "checksum-mismatch": old_message()[:-1] + b"w",
}


@pytest.mark.parametrize("code", OLD)
def test_a_message_of_an_old_format_is_judged_too(code: str) -> None:
    assert sorted(codes(OLD[code], compacted=True)) == sorted([code, "produced-old-magic"])


def test_a_batch_may_be_as_large_as_a_broker_takes_by_default() -> None:
    def of_size(size: int) -> bytes:
        overhead = len(produced({"value": bytes(1 << 19)})) - (1 << 19)
        return produced({"value": bytes(size - overhead)})

    assert len(of_size(1048588)) == 1048588
    assert codes(of_size(1048588)) == []
    assert codes(of_size(1048589)) == ["produced-large"]


def test_batch_over_a_limit_is_a_finding() -> None:
    bomb = {"value": bytes(1 << 16)}
    packed = produced(bomb, flags=1, section=gzip.compress(encoded(bomb)))
    assert codes(packed) == []
    assert codes(packed, limits=mb.Limits(max_batch_bytes=1 << 16)) == ["batch-over-limit"]
    assert codes(packed, limits=mb.Limits(max_entry_bytes=len(packed))) == []
    assert codes(packed, limits=mb.Limits(max_entry_bytes=len(packed) - 1)) == ["entry-over-limit"]


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_any_bytes_in_memory_will_do(kind: type) -> None:
    assert mb.check_produced(kind(produced(base=1)))[0].code == "produced-base-offset"
