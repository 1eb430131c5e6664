"""Each rule of a produced batch, broken alone, gives exactly its code at its place."""

import gzip
from dataclasses import replace
from typing import NamedTuple

import lz4.frame
import pytest
import snappy
import zstandard

import magicbyte as mb

from .conftest import TIME, TWO, Batch, Message, Record, sized, varint

SOUND = bytes(Batch())
FIRST, SECOND = TWO
BEHIND_FIRST = len(bytes(FIRST))


class Broken(NamedTuple):
    code: str
    data: bytes | Batch | Message
    position: int = 0
    payload_position: int | None = None
    field: str | None = None
    found: str | None = None
    expected: str | None = None
    compacted: bool = False


def of_record(record: Record | bytes) -> Batch:
    return Batch(records=(record,), max_timestamp=TIME)


def at(time: int) -> Batch:
    return Batch(base_timestamp=time, max_timestamp=time, records=(Record(),))


LONG_KEY_LENGTH = sized(b"\0\0\0" + b"\x82\0k" + sized(b"v") + varint(0))
FAR = 1 << 62
LOST_BITS = bytes(Record(timestamp_delta=FAR, offset_delta=1)).replace(
    varint(FAR), varint(FAR)[:-1] + b"\x03"
)
LZ4 = lz4.frame.compress(Batch().plain)

BROKEN = [
    Broken("produced-no-batch", b""),
    Broken("produced-several-batches", SOUND + SOUND, len(SOUND)),
    Broken("produced-several-batches", SOUND * 3, len(SOUND)),
    Broken("produced-bytes-behind-batch", SOUND + SOUND[:-1], len(SOUND)),
    Broken("produced-bytes-behind-batch", SOUND + bytes(11), len(SOUND)),
    Broken("produced-old-magic", Message(), field="magic", found="1", expected="2"),
    Broken("produced-old-magic", Message(magic=0)),
    Broken("produced-old-magic", bytes(Message()) + bytes(Message(offset=1))),
    Broken("produced-base-offset", Batch(base_offset=42), 0, None, "base_offset", "42", "0"),
    Broken(
        "produced-leader-epoch",
        Batch(partition_leader_epoch=0),
        field="partition_leader_epoch",
        found="0",
        expected="-1",
    ),
    Broken(
        "produced-large",
        of_record(Record(value=bytes(1 << 20))),
        field="size",
        expected="at most 1048588",
    ),
    Broken(
        "produced-zstd",
        Batch(attributes=4, payload=zstandard.compress(Batch().plain)),
        field="attributes.codec",
    ),
    Broken("produced-log-append-time", Batch(attributes=8), field="attributes.timestamp_type"),
    # The max timestamp is the broker's then.
    Broken("produced-log-append-time", Batch(attributes=8, max_timestamp=TIME + 9)),
    Broken("produced-transactional", Batch(attributes=0x10), field="producer_id", found="-1"),
    Broken("produced-control", Batch(attributes=0x20), field="attributes.is_control"),
    Broken("produced-delete-horizon", Batch(attributes=0x40)),
    # The base timestamp is the horizon then, and nothing is known of the first record's.
    Broken(
        "produced-delete-horizon",
        Batch(attributes=0x40, records=(replace(FIRST, timestamp_delta=5),)),
    ),
    Broken("produced-reserved-bits", Batch(attributes=0x80), found="1", expected="0"),
    Broken("produced-reserved-bits", Batch(attributes=-0x8000), found="256"),
    Broken(
        "produced-last-offset-delta",
        Batch(last_offset_delta=2),
        field="last_offset_delta",
        found="2",
        expected="1",
    ),
    Broken("produced-last-offset-delta", Batch(last_offset_delta=-1)),
    Broken("produced-last-offset-delta", replace(of_record(Record()), last_offset_delta=1)),
    Broken("produced-no-records", Batch(records=()), field="num_records", found="0"),
    Broken(
        "produced-max-timestamp",
        Batch(max_timestamp=TIME + 6),
        found=str(TIME + 6),
        expected=str(TIME + 5),
    ),
    Broken(
        "produced-base-timestamp",
        Batch(
            base_timestamp=TIME - 1,
            records=(replace(FIRST, timestamp_delta=1), replace(SECOND, timestamp_delta=6)),
        ),
        found=str(TIME - 1),
        expected=str(TIME),
    ),
    Broken("produced-negative-timestamp", at(-2), 0, 0, "records[0].timestamp", "-2"),
    Broken(
        "produced-negative-timestamp",
        Batch(
            base_timestamp=2**63 - 1,
            max_timestamp=2**63 - 1,
            records=(Record(), Record(timestamp_delta=1, offset_delta=1)),
        ),
        0,
        len(bytes(Record())),
        found=str(-(2**63)),
    ),
    Broken("produced-producer-id", Batch(base_sequence=0), field="base_sequence", found="0"),
    Broken("produced-producer-id", Batch(producer_epoch=0), field="producer_epoch"),
    Broken(
        "produced-producer-id",
        Batch(producer_id=-2, producer_epoch=0, base_sequence=0),
        field="producer_id",
        found="-2",
    ),
    Broken("produced-epoch", Batch(producer_id=7, base_sequence=0), field="producer_epoch"),
    Broken("produced-sequence", Batch(producer_id=7, producer_epoch=0), field="base_sequence"),
    Broken(
        "produced-offset-delta",
        Batch(records=(FIRST, replace(SECOND, offset_delta=0))),
        0,
        BEHIND_FIRST,
        "records[1].offset_delta",
        "0",
        "1",
    ),
    Broken(
        "produced-null-key",
        Batch(records=(FIRST, replace(SECOND, key=None))),
        0,
        BEHIND_FIRST,
        "records[1].len_key",
        "-1",
        compacted=True,
    ),
    Broken(
        "produced-record-attributes",
        of_record(Record(attributes=1)),
        0,
        0,
        "records[0].attributes",
        "1",
        "0",
    ),
    Broken(
        "produced-overlong-varint",
        of_record(LONG_KEY_LENGTH),
        0,
        0,
        "records[0].len_key",
        "2 bytes",
    ),
    Broken(
        "produced-overlong-varint",
        Batch(base_timestamp=0, max_timestamp=FAR, records=(Record(), LOST_BITS)),
        0,
        len(bytes(Record())),
        "records[1].timestamp_delta",
    ),
    Broken(
        "produced-overlong-varint",
        of_record(Record(num_headers=b"\x80\0")),
        0,
        0,
        "records[0].num_headers",
    ),
    Broken(
        "produced-header-key",
        of_record(Record(headers=((b"a", None), (b"\xff", b"")))),
        0,
        0,
        "records[0].headers[1].key",
        "ff",
        "UTF-8",
    ),
    Broken(
        "produced-bytes-behind-payload",
        Batch(attributes=1, payload=gzip.compress(Batch().plain) + bytes(4)),
        field="records",
    ),
    Broken("produced-bytes-behind-payload", Batch(attributes=3, payload=LZ4 + b"\0")),
]

USUAL = [
    Broken("checksum-mismatch", Batch(crc=0), field="crc", found="0x00000000"),
    Broken("bad-size", SOUND + bytes(12), len(SOUND), field="size", found="0"),
    Broken("unknown-magic", Batch(magic=3), field="magic", found="3"),
    Broken("incomplete-entry", SOUND[:-1]),
    Broken("incomplete-entry", SOUND[:5]),
    Broken("unknown-codec", Batch(attributes=5)),
    Broken("codec-error", Batch(attributes=2)),
    Broken("codec-error", Batch(attributes=3, payload=LZ4[:-4])),
    Broken("bad-record", of_record(sized(bytes(6) + b"\0")), 0, 0),
    Broken("bad-record-count", Batch(num_records=3), 0, len(Batch().plain)),
    Broken("bad-record-count", Batch(num_records=-1)),
    Broken("bytes-left-over", Batch(payload=Batch().plain + b"\0"), 0, len(Batch().plain)),
    Broken(
        "negative-length",
        of_record(sized(b"\0\0\0" + sized(b"k") + sized(b"v") + varint(1) + sized(b"h") + b"\x03")),
        0,
        0,
        "records[0].headers[0].len_value",
        "-2",
    ),
    Broken("negative-length", of_record(sized(b"\0\0\0\x03" + sized(b"v") + b"\0")), 0, 0),
]


def named(case: Broken) -> str:
    return case.code


@pytest.mark.parametrize("case", BROKEN + USUAL, ids=named)
def test_a_rule_broken_alone_gives_its_code_at_its_place(case: Broken) -> None:
    data = bytes(case.data)
    (finding,) = mb.check_produced(data, compacted=case.compacted)
    assert finding.code == case.code
    assert (finding.position, finding.payload_position) == (case.position, case.payload_position)
    assert finding.length is not None and finding.length <= len(data) - case.position
    for name in ("field", "found", "expected"):
        wanted = getattr(case, name)
        assert wanted is None or getattr(finding, name) == wanted, name


def test_every_code_of_produced_batches_has_a_case() -> None:
    codes = {code for code in mb.CODES if code.startswith("produced-")}
    assert {case.code for case in BROKEN} == codes


PRODUCER = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}

LEGAL = {
    "plain": Batch(),
    "idempotent": Batch(**PRODUCER),
    "sequence about to wrap": Batch(**{**PRODUCER, "base_sequence": 2**31 - 1}),
    "transactional": Batch(attributes=0x10, **PRODUCER),
    "no times": Batch(base_timestamp=-1, max_timestamp=-1, records=(Record(),)),
    "a time of 0": at(0),
    "times that go back": Batch(
        max_timestamp=TIME, records=(Record(), Record(timestamp_delta=-9, offset_delta=1))
    ),
    "null key and value": of_record(Record(key=None, value=None)),
    "duplicate and empty header keys": of_record(Record(headers=((b"", None),) * 2)),
    "header keys beyond ASCII": of_record(Record(headers=(("é".encode(), b""),))),
    "numbers of full length": Batch(
        base_timestamp=0,
        max_timestamp=2**63 - 1,
        records=(Record(), Record(timestamp_delta=2**63 - 1, offset_delta=1)),
    ),
    "gzip": Batch(attributes=1, payload=gzip.compress(Batch().plain)),
    "gzip of two members": Batch(
        attributes=1, payload=gzip.compress(bytes(FIRST)) + gzip.compress(bytes(SECOND))
    ),
    "snappy, one raw block": Batch(attributes=2, payload=snappy.compress(Batch().plain)),
    "snappy, framed by xerial": Batch(
        attributes=2,
        payload=b"\x82SNAPPY\0\0\0\0\1\0\0\0\1"
        + len(snappy.compress(Batch().plain)).to_bytes(4, "big")
        + snappy.compress(Batch().plain),
    ),
    "lz4": Batch(attributes=3, payload=LZ4),
    "lz4 with a content checksum": Batch(
        attributes=3, payload=lz4.frame.compress(Batch().plain, content_checksum=True)
    ),
}


@pytest.mark.parametrize("batch", LEGAL.values(), ids=LEGAL)
def test_a_legal_batch_has_no_finding(batch: Batch) -> None:
    assert mb.check_produced(bytes(batch)) == []


def codes(data: bytes, **options: object) -> list[str]:
    return [finding.code for finding in mb.check_produced(data, **options)]  # type: ignore[arg-type]


def test_a_producer_id_below_minus_1_needs_an_epoch_and_a_sequence() -> None:
    assert codes(bytes(Batch(producer_id=-2, base_sequence=0))) == [
        "produced-producer-id",
        "produced-epoch",
    ]
    assert codes(bytes(Batch(producer_id=-2, producer_epoch=0))) == [
        "produced-producer-id",
        "produced-sequence",
    ]


def test_null_keys_are_legal_where_the_topic_is_not_compacted() -> None:
    assert codes(bytes(of_record(Record(key=None)))) == []
    assert codes(bytes(Message(key=None))) == ["produced-old-magic"]


def test_all_that_is_wrong_with_a_batch_is_found() -> None:
    batch = Batch(
        base_offset=1,
        crc=0,
        attributes=0x20,
        last_offset_delta=7,
        producer_id=3,
        max_timestamp=0,
        records=(replace(FIRST, attributes=1), replace(SECOND, offset_delta=4)),
    )
    assert codes(bytes(batch)) == [
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
    cut = Batch(records=(replace(FIRST, attributes=1), b"\x7f"))
    assert codes(bytes(cut)) == ["bad-record", "produced-record-attributes"]


def test_of_a_rule_that_many_records_break_the_first_is_told() -> None:
    records = tuple(Record(offset_delta=index, attributes=1) for index in range(4))
    (finding,) = mb.check_produced(bytes(Batch(records=records, max_timestamp=TIME)))
    assert finding.field == "records[0].attributes"
    assert str(finding).endswith("; 3 more in this entry")


def test_what_the_reader_finds_in_many_records_is_counted_too() -> None:
    record = sized(b"\0\0\0\x03" + sized(b"v") + b"\0")
    (finding, *_) = mb.check_produced(bytes(Batch(records=(record,) * 3, max_timestamp=TIME)))
    assert finding.code == "negative-length"
    assert finding.message.endswith("; 2 more in this entry")


def test_every_batch_of_several_is_checked() -> None:
    data = SOUND + bytes(Batch(base_offset=2))
    assert codes(data) == ["produced-several-batches", "produced-base-offset"]


def test_old_and_new_formats_are_not_mixed() -> None:
    mixed = ["produced-old-magic", "produced-several-batches"]
    assert codes(bytes(Message()) + SOUND) == mixed
    assert codes(bytes(Message()) + bytes(Message(magic=0))) == mixed


def test_a_compressed_message_stands_alone() -> None:
    wrapper = bytes(Message(attributes=1, value=gzip.compress(bytes(Message()))))
    assert codes(wrapper) == ["produced-old-magic"]
    assert codes(wrapper + wrapper) == ["produced-old-magic", "produced-several-batches"]


OLD = {
    "produced-log-append-time": Message(attributes=8),
    "produced-negative-timestamp": Message(timestamp=-2),
    "produced-null-key": Message(key=None),
    "checksum-mismatch": bytes(Message())[:-1] + b"w",
}


@pytest.mark.parametrize("code", OLD)
def test_a_message_of_an_old_format_is_judged_too(code: str) -> None:
    assert sorted(codes(bytes(OLD[code]), compacted=True)) == sorted([code, "produced-old-magic"])


def test_a_batch_may_be_as_large_as_a_broker_takes_by_default() -> None:
    def of_size(size: int) -> bytes:
        overhead = len(bytes(of_record(Record(value=bytes(1 << 19))))) - (1 << 19)
        return bytes(of_record(Record(value=bytes(size - overhead))))

    assert len(of_size(1048588)) == 1048588
    assert codes(of_size(1048588)) == []
    assert codes(of_size(1048589)) == ["produced-large"]


def test_limits_are_kept_and_said() -> None:
    bomb = Batch(records=(Record(value=bytes(1 << 16)),), max_timestamp=TIME)
    packed = bytes(replace(bomb, attributes=1, payload=gzip.compress(bomb.plain)))
    assert codes(packed) == []
    assert codes(packed, limits=mb.Limits(max_batch_bytes=1 << 16)) == ["batch-over-limit"]
    assert codes(packed, limits=mb.Limits(max_entry_bytes=len(packed))) == []
    assert codes(packed, limits=mb.Limits(max_entry_bytes=len(packed) - 1)) == ["entry-over-limit"]


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_any_bytes_in_memory_will_do(kind: type) -> None:
    assert mb.check_produced(kind(bytes(Batch(base_offset=1))))[0].code == "produced-base-offset"
