"""Tests of entry headers read by the reference engine, and of the evidence of each fault."""

from typing import Any

import pytest

import log_builder as build
from magicbyte.engines.entry import (
    HEADER_BYTES,
    Entry,
    checksum_of,
    read_entry,
    stored_size,
    wrap64,
)
from magicbyte.engines.protocol import Chunk
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.errors import FormatError, TruncatedError
from magicbyte.findings import Finding
from magicbyte.limits import Limits

ENGINE = ReferenceEngine()
ORIGIN = 1000
LIMITS = Limits()


def scanned(data: bytes, **options: Any) -> Any:
    return ENGINE.scan(Chunk(memoryview(data), ORIGIN), verify=False, limits=LIMITS, **options)


def decoded(data: bytes, *columns: str) -> Any:
    return ENGINE.decode(Chunk(memoryview(data), ORIGIN), columns, limits=LIMITS, verify=False)


# Headers


def test_a_batch_is_what_its_header_says() -> None:
    flags = build.TRANSACTIONAL | build.HORIZON | build.APPEND_TIME
    fields = {"producer": 4, "epoch": 5, "sequence": 6, "leader_epoch": 7}
    content = build.records(3)
    data = build.batch(content, 9, last_delta=4, flags=flags, max_time=8, crc=3, **fields)
    entry = read_entry(b"ab" + data, 2, origin=ORIGIN)
    assert entry == Entry(
        position=ORIGIN + 2,
        size_bytes=len(data),
        magic=2,
        base_offset=9,
        last_offset=13,
        crc=3,
        codec=0,
        timestamp_type=1,
        base_timestamp=build.TIME,
        max_timestamp=8,
        has_delete_horizon=True,
        producer_id=4,
        producer_epoch=5,
        base_sequence=6,
        leader_epoch=7,
        record_count=3,
        is_transactional=True,
        is_control=False,
    )
    assert (entry.end, entry.first_offset) == (ORIGIN + 2 + len(data), 9)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [0, 1])
def test_a_message_is_what_its_header_says(magic: int, codec: int) -> None:
    data = build.message(offset=9, magic=magic, attributes=codec, time=8, crc=3)
    entry = read_entry(data, 0, origin=ORIGIN)
    assert entry == Entry(
        position=ORIGIN,
        size_bytes=len(data),
        magic=magic,
        base_offset=None if codec else 9,
        last_offset=9,
        crc=3,
        codec=codec,
        timestamp_type=0 if magic else None,
        base_timestamp=None,
        max_timestamp=8 if magic else None,
        has_delete_horizon=False,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        leader_epoch=-1,
        record_count=None if codec else 1,
        is_transactional=False,
        is_control=False,
    )
    assert entry.first_offset == 9
    assert entry.is_wrapper == bool(codec)


def test_a_compressed_batch_is_no_wrapper() -> None:
    assert not read_entry(build.batch(codec=build.GZIP), 0).is_wrapper


@pytest.mark.parametrize("length", range(17))
def test_a_size_is_judged_as_soon_as_it_is_there(length: int) -> None:
    for size, error in ((13, FormatError), (14, TruncatedError), (-1, FormatError)):
        data = build.message(magic=0, size=size)[:length]
        with pytest.raises(error if length >= 12 else TruncatedError) as caught:
            read_entry(b"ab" + data, 2)
        assert caught.value.position == 2
        if length < 12 or size == 14:
            assert (caught.value.found, caught.value.expected) == (str(length), "at least 17")
        else:
            assert (caught.value.code, caught.value.found) == ("bad-size", str(size))


def test_a_header_must_be_there_as_a_whole() -> None:
    for data, least in (
        (build.message(magic=0), 26),
        (build.message(magic=1), 34),
        (build.batch(), HEADER_BYTES),
    ):
        for length in (17, least - 1):
            with pytest.raises(TruncatedError) as caught:
                read_entry(data[:length], 0)
            assert (caught.value.found, caught.value.expected) == (str(length), str(len(data)))
        assert read_entry(data[:least], 0).size_bytes == len(data)
    assert HEADER_BYTES == 61


@pytest.mark.parametrize(
    ("magic", "size", "code", "message"),
    [
        (3, 14, "unknown-magic", "magic 3"),
        (-1, 14, "unknown-magic", "magic -1"),
        (3, 13, "bad-size", "size field 13, at least 14"),
        (0, 13, "bad-size", "size field 13, at least 14 in format v0"),
        (1, 21, "bad-size", "size field 21, at least 22 in format v1"),
        (2, 48, "bad-size", "size field 48, at least 49 in format v2"),
    ],
)
def test_invalid_header_has_the_code_of_its_fault(
    magic: int, size: int, code: str, message: str
) -> None:
    with pytest.raises(FormatError) as caught:
        read_entry(build.message(magic=magic, size=size, more=bytes(40)), 0)
    assert (caught.value.code, caught.value.message) == (code, message)


@pytest.mark.parametrize(("magic", "size"), [(0, 14), (1, 22), (2, 49)])
def test_the_least_size_is_one(magic: int, size: int) -> None:
    data = build.message(magic=magic, size=size, more=bytes(40))
    assert stored_size(data, 0) == size
    assert read_entry(data, 0).size_bytes == size + 12


def test_offsets_wrap_as_javas() -> None:
    for number in (0, 1, -1, 2**63 - 1, -(2**63)):
        assert wrap64(number) == wrap64(number + 2**64) == wrap64(number - 2**64) == number


# Scans


def test_a_scan_takes_whole_entries_and_no_more_than_are_wanted() -> None:
    one, two = build.batch(), build.batch(base=1)
    for stop, count in ((None, 2), (0, 0), (1, 1), (2, 2), (3, 2)):
        scan = scanned(one + two, max_entries=stop)
        assert ([entry.base_offset for entry in scan.entries]) == [0, 1][:count]
        assert scan.end == [0, len(one), len(one + two)][count]
        assert (scan.stopped_by, scan.unsound, scan.computed) == (None, None, None)
    scan = scanned(one + two[:-1])
    assert (len(scan.entries), scan.end) == (1, len(one))
    assert scan.stopped_by is not None and scan.stopped_by.code == "incomplete-entry"
    assert scan.stopped_by.position == len(one)


def test_a_scan_ends_before_what_is_not_sound() -> None:
    one, wrong = build.batch(), build.batch(base=1, crc=3)
    scan = ENGINE.scan(Chunk(memoryview(one + wrong + one), ORIGIN), verify=True, limits=LIMITS)
    assert (len(scan.entries), scan.end, scan.stopped_by) == (1, len(one), None)
    assert scan.unsound == read_entry(wrong, 0, origin=ORIGIN + len(one))
    assert scan.computed == checksum_of(memoryview(wrong), read_entry(wrong, 0))
    limits = Limits(max_entry_bytes=len(one) - 1)
    scan = ENGINE.scan(Chunk(memoryview(one), 0), verify=True, limits=limits)
    assert (len(scan.entries), scan.end, scan.computed) == (0, 0, None)
    assert scan.unsound == read_entry(one, 0)


# Rows


def test_rows_are_counted_without_columns() -> None:
    data = build.batch(build.records(2)) + build.batch(build.records(3), 2)
    assert decoded(data).rows.num_rows == 5
    assert [entry.num_rows for entry in decoded(data).all_results()] == [2, 3]
    assert decoded(build.batch([])).rows.num_rows == 0
    assert decoded(b"").rows.num_rows == 0


def test_only_sentinels_are_null() -> None:
    columns = ("leader_epoch", "producer_id", "producer_epoch", "sequence")
    for stored, shown in ((-1, None), (0, 0), (1, 1), (-2, -2)):
        fields = dict.fromkeys(("leader_epoch", "producer", "epoch", "sequence"), stored)
        (row,) = decoded(build.batch(**fields), *columns).rows.to_pylist()
        assert [row[name] for name in columns[:3]] == [shown] * 3
        assert row["sequence"] == (shown if stored >= 0 else None)


def test_sequences_go_on_with_0_behind_the_largest() -> None:
    content = [build.record(delta=delta) for delta in (0, 1, 3)]
    rows = decoded(build.batch(content, sequence=2**31 - 2), "sequence").rows
    assert rows.column(0).to_pylist() == [2**31 - 2, 2**31 - 1, 1]


def test_control_records_tell_their_type_by_the_first() -> None:
    first, second = (build.record(b"\0\0\0\0\0\5", key) for key in (b"\0\0\0\1", b"\0\0\0\0"))
    data = build.batch([first, second], flags=build.CONTROL)
    (entry,) = decoded(data).all_results()
    assert (entry.control.type, entry.control.coordinator_epoch) == (1, 5)


# Evidence


def findings_in(data: bytes) -> list[Finding]:
    (entry,) = decoded(data).all_results()
    return list(entry.findings)


def evidence(data: bytes) -> tuple[Any, ...]:
    (one,) = findings_in(data)
    return one.code, one.payload_position, one.field, one.found, one.expected


def test_evidence_of_wrong_counts() -> None:
    content = build.records(2)
    size = len(b"".join(content))
    field = "num_records"
    negative = build.batch(content, count=-1, last_delta=0)
    assert evidence(negative) == ("bad-record-count", None, field, "-1", "at least 0")
    more = build.batch(content, count=3)
    assert evidence(more) == ("bad-record-count", size, field, "3", "2")
    left = build.batch([*content, b"abc"], count=2)
    assert evidence(left) == ("bytes-left-over", size, "records", "3 bytes left", "0 bytes left")
    unread = findings_in(build.batch(b"abc", count=0))
    assert [(one.code, one.message) for one in unread] == [
        ("bytes-unread", "no records, but 3 bytes")
    ]


def test_evidence_of_a_bad_record() -> None:
    good = build.record()
    place, field = len(good), "records[1]."
    unreadable = build.batch([good, build.record(length=100)])
    size = len(build.record(length=100)) - 2  # without its length, which takes two bytes
    assert evidence(unreadable) == ("bad-record", place, f"{field}len_body", "100", f"0 to {size}")
    below_zero = build.batch([good, build.record(length=-16)])
    assert evidence(below_zero)[2:4] == (f"{field}len_body", "-16")
    (finding,) = findings_in(below_zero)
    assert finding.message.startswith("record 1: a length of -16 bytes where ")
    in_its_fields = build.batch([good, build.record(length=1)])
    assert evidence(in_its_fields) == ("bad-record", place, f"{field}body", None, None)
    negative = build.batch([good, build.record(num_headers=-1)])
    assert evidence(negative) == ("bad-record", place, f"{field}num_headers", "-1", "0 or more")
    longer = build.batch([good, build.record(more=b"ab")])
    assert evidence(longer) == ("bad-record", place, f"{field}len_body", "9", "7")


@pytest.mark.parametrize("name", ["len_key", "len_value"])
def test_evidence_of_a_negative_length(name: str) -> None:
    def record(length: int) -> bytes:
        return build.record(None, None, **{name: length})

    assert findings_in(build.batch([record(-1)])) == []
    place = len(record(-1))
    data = build.batch([record(-1), record(-2)])
    assert evidence(data) == ("negative-length", place, f"records[1].{name}", "-2", "-1 or more")
    for magic in (0, 1):
        assert findings_in(build.message(None, **{name: -1}, magic=magic)) == []
        data = build.message(None, **{name: -2}, magic=magic)
        assert evidence(data) == ("negative-length", None, name, "-2", "-1 or more")


@pytest.mark.parametrize(
    ("key", "field", "found", "expected"),
    [
        (None, "key", "null", "at least 4 bytes"),
        (b"\0\0\0", "key", "3 bytes", "at least 4 bytes"),
        (b"\xff\xff\0\0", "key.version", "-1", "0 or more"),
    ],
)
def test_evidence_of_a_bad_control_key(
    key: bytes | None, field: str, found: str, expected: str
) -> None:
    data = build.control(build.ABORT, 0, 7, key=key)
    # Where the parser rejects the record first, the finding is the parser's.
    code, position, where, *rest = evidence(data)
    if code == "bad-control-record":
        assert (position, where, *rest) == (0, field, found, expected)
    else:
        assert (code, position, where) == ("bad-record", 0, "records[0].body")


@pytest.mark.parametrize("value", [None, b"\0" * 5, b"\xff\xff\0\0\0\1"])
def test_evidence_of_a_bad_marker_value(value: bytes | None) -> None:
    found_codes = [one.code for one in findings_in(build.control(build.ABORT, 0, 7, value=value))]
    assert found_codes in (["bad-marker-value"], ["bad-record"])


def test_evidence_of_an_unknown_control_type() -> None:
    data = build.control(9, 0, 7)
    assert evidence(data) == ("unknown-control-type", 0, "key.control_type", "9", None)


def test_evidence_of_lengths_that_leave_a_wrapper() -> None:
    for magic, at in ((0, 18), (1, 26)):
        for name, place in (("len_key", at), ("len_value", at + 4)):
            data = build.wrapper(b"", 0, magic=magic, section=b"abc", **{name: 100})
            room = len(data) - place - 4
            assert evidence(data) == ("bad-message", None, name, "100", f"at most {room}")
        # The field itself is cut: of four bytes, three are in the message.
        cut = build.message(b"abcd", magic=magic, attributes=1, len_key=1)[: at + 8]
        cut = cut[:8] + (len(cut) - 12).to_bytes(4, "big") + cut[12:]
        assert evidence(cut)[:3] == ("bad-message", None, "len_value")


def test_evidence_of_bytes_behind_a_value() -> None:
    expected = ("message-bytes-unread", None, "len_value", "2", "0")
    assert evidence(build.message(more=b"ab")) == expected
    inner = build.message(magic=1)
    assert evidence(build.wrapper([inner], 0, more=b"ab")) == expected
    (one,) = findings_in(build.wrapper([inner, build.message(offset=1, more=b"abc")], 1))
    assert (one.payload_position, one.found) == (len(inner), "3")


@pytest.mark.parametrize("name", ["len_key", "len_value"])
def test_a_wrapper_may_have_a_negative_length(name: str) -> None:
    inner = build.message()
    if name == "len_key":
        data = build.wrapper([inner], 0, len_key=-2)
        assert evidence(data) == ("negative-length", None, name, "-2", "-1 or more")
        assert decoded(data).result(0).num_rows == 1
    else:
        data = build.message(None, attributes=1, len_value=-2)
        assert [one.code for one in findings_in(data)] == ["negative-length", "bad-wrapper"]


def test_an_empty_value_is_no_absent_one() -> None:
    assert [one.code for one in findings_in(build.message(b"", attributes=1))] == ["codec-error"]
    assert [one.code for one in findings_in(build.message(None, attributes=1))] == ["bad-wrapper"]


def test_evidence_of_a_bad_wrapper() -> None:
    def of(data: bytes) -> tuple[Any, ...]:
        code, *rest = evidence(data)
        assert code == "bad-wrapper"
        return tuple(rest)

    good = build.message()
    place = len(good)
    assert of(build.message(None, attributes=1)) == (None, "value", None, None)
    assert of(build.wrapper(b"", 0)) == (0, "value", None, None)
    assert of(build.wrapper([build.message(offset=7)], 6)) == (0, "offset", "6", "7 or more")
    assert findings_in(build.wrapper([build.message(offset=7)], 7)) == []
    small = build.message(size=13)
    assert of(build.wrapper([good, small], 1)) == (place, "len_message", "13", "14 or more")
    assert of(build.wrapper([good, small[:12]], 1)) == (place, "len_message", "13", "14 or more")
    batch = build.message(offset=1, magic=2)
    assert of(build.wrapper([good, batch], 1)) == (place, "magic", "2", "0 or 1")
    nested = build.wrapper([good], 1)
    assert of(build.wrapper([good, nested], 1)) == (place, "attributes", "1", "0")


@pytest.mark.parametrize("size", [14, 15])
def test_the_smallest_message_may_be_inside(size: int) -> None:
    least = build.message(None, magic=0)
    assert int.from_bytes(least[8:12], "big") == 14
    data = build.wrapper([least if size == 14 else build.message(b"a", magic=0)], 0, magic=0)
    assert findings_in(data) == []
    assert decoded(data).result(0).num_rows == 1


def test_evidence_of_a_cut_message_inside() -> None:
    good = build.message()
    for cut in (1, 11, 12, 13, len(good) - 1):
        data = build.wrapper([good, build.message(offset=1)[:cut]], 1)
        assert evidence(data) == ("inner-message-cut", len(good), None, str(cut), None)


def test_evidence_of_what_differs_inside() -> None:
    good = build.message()
    wrong = build.message(offset=1, crc=5)
    code, position, field, found, expected = evidence(build.wrapper([good, wrong], 1))
    assert (code, position, field) == ("record-checksum-mismatch", len(good), "crc")
    assert (found, expected) == ("0x00000005", f"{int.from_bytes(good[12:16], 'big'):#010x}")
    older = build.message(offset=1, magic=0)
    data = build.wrapper([good, older], 1)
    assert evidence(data) == ("inner-magic-differs", len(good), "magic", "0", "1")
