"""Bad inputs that a parser must survive: the code, the place, and the rows around it.

The names say what must hold; the numbers are those of the project's list of bad inputs.
"""

import random
import struct
import zlib
from typing import Any, NamedTuple

import pytest

import log_builder as build
import magicbyte as mb


def before() -> bytes:
    """Two records, offsets 10 and 11."""
    return build.batch([build.record(b"a"), build.record(b"b", delta=1)], 10)


def after(base: int = 20) -> bytes:
    return build.batch([build.record(b"y"), build.record(b"z", delta=1)], base)


def v1_inner(count: int = 2, magic: int = 1, **more: Any) -> list[bytes]:
    return [build.message(b"i%d" % n, n, magic=magic, **more) for n in range(count)]


def v0_inner(last: int, count: int = 2, **more: Any) -> list[bytes]:
    first = last - count + 1
    return [build.message(b"i%d" % n, first + n, magic=0, **more) for n in range(count)]


class Bad(NamedTuple):
    name: str
    entry: bytes
    """Its offsets are in 12 to 19."""
    code: str
    payload_position: int | None = None


def in_header(**fields: Any) -> bytes:
    return build.batch(build.records(2), 12, **fields)


def of_record(*args: Any, **fields: Any) -> bytes:
    return build.batch([build.record(b"ok"), build.record(*args, delta=1, **fields)], 12)


def varint_of(raw: bytes, before: bytes = b"\0\0\0", behind: bytes = b"") -> bytes:
    """A record with *raw* bytes where its key's length should be."""

    return build.batch([build.record(b"ok"), build.sized(before + raw + behind)], 12)


def old_lz4(plain: bytes) -> bytes:
    frame = build.compress(build.LZ4, plain)
    assert frame[4:7] == bytes.fromhex("604082")
    return frame[:6] + b"\x1a" + frame[7:]


# The first record, build.record(b"ok"), takes 9 bytes: so the second begins at 9.
SECOND = 9

BAD = [
    # CRC
    Bad("21 v0 checksum", build.message(b"x", 12, magic=0, crc=1), "checksum-mismatch"),
    Bad("21 v1 checksum", build.message(b"x", 12, crc=1), "checksum-mismatch"),
    Bad("22 v2 checksum", in_header(crc=1), "checksum-mismatch"),
    Bad("23 v2 checksum that was never computed", in_header(crc=0), "checksum-mismatch"),
    Bad(
        "25 checksum of an inner message",
        build.wrapper([*v1_inner(1), build.message(b"x", 1, crc=7)], 13),
        "record-checksum-mismatch",
        35 + 2 - 1,
    ),
    Bad(
        "26 attributes say none, section is zstd",
        build.batch(build.compress(build.ZSTD, build.record(b"a" * 99)), 12, count=1),
        "bad-record",
        0,
    ),
    # v0, v1
    Bad("28 v1 key beyond the message", build.message(b"x", 12, len_key=2**31 - 1), "bad-message"),
    Bad("28 v0 value beyond the message", build.message(b"x", 12, magic=0, len_value=2), "bad-message"),
    *(
        Bad(f"30 codec {codec} in v1", build.message(b"x", 12, attributes=codec), "unknown-codec")
        for codec in (5, 6, 7)
    ),
    *(
        Bad(
            f"31 zstd in v{magic}",
            build.message(
                build.compress(build.ZSTD, v1_inner(1)[0]), 12, magic=magic, attributes=build.ZSTD
            ),
            "codec-not-allowed",
        )
        for magic in (0, 1)
    ),
    *(
        Bad(
            f"32 wrapper of v{magic} without a value",
            build.message(None, 12, magic=magic, attributes=build.GZIP),
            "bad-wrapper",
        )
        for magic in (0, 1)
    ),
    *(
        Bad(f"33 wrapper of v{magic} around nothing", build.wrapper(b"", 12, magic=magic), "bad-wrapper")
        for magic in (0, 1)
    ),
    Bad(
        "34 v1 wrapper offset below the last inner offset",
        build.wrapper([build.message(b"x", 13)], 12),
        "bad-wrapper",
    ),
    Bad("37 inner magic 2", build.wrapper([build.message(b"x" * 50, 0, magic=2)], 12), "bad-wrapper", 0),
    Bad(
        "37 inner magic unknown",
        build.wrapper([*v1_inner(1), build.message(b"x", 1, magic=9)], 13),
        "bad-wrapper",
        36,
    ),
    Bad("38 compressed inside compressed", build.wrapper([build.wrapper(v1_inner(), 1)], 12), "bad-wrapper", 0),
    Bad(
        "38 compressed behind a sound inner message",
        build.wrapper([*v1_inner(1), build.wrapper(v1_inner(), 1)], 13),
        "bad-wrapper",
        36,
    ),
    *(
        Bad(
            f"5 inner size {size}",
            build.wrapper(
                [*v1_inner(1), build.message(b"x", 1, size=size)], 13
            ),
            "bad-wrapper",
            36,
        )
        for size in (0, 13, -1, -(2**31))
    ),
    Bad(
        "41 old lz4 checksum in v1",
        build.wrapper([], 12, codec=build.LZ4, section=old_lz4(v1_inner(1)[0])),
        "codec-error",
    ),
    Bad(
        "41 old lz4 checksum in v2",
        build.batch([build.record()], 12, codec=build.LZ4, section=old_lz4(build.record())),
        "codec-error",
    ),
    # v2 header
    *(Bad(f"43 count {n}", in_header(count=n, last_delta=1), "bad-record-count") for n in (-1, -(2**31))),
    Bad("44 count 2^31-1", in_header(count=2**31 - 1, last_delta=1), "bad-record-count"),
    Bad("45 count one too high", in_header(count=3), "bad-record-count"),
    Bad("46 count one too low", in_header(count=1), "bytes-left-over"),
    Bad("48 count without bytes", build.batch(b"", 12, count=5), "bad-record-count", 0),
    *(
        Bad(
            f"{number} {what} under {name}",
            build.batch(
                build.records(2), 12, codec=codec, count=count, last_delta=1
            ),
            code,
        )
        for name, codec in (("gzip", 1), ("snappy", 2), ("lz4", 3), ("zstd", 4))
        for number, what, count, code in (
            (44, "count 2^31-1", 2**31 - 1, "bad-record-count"),
            (45, "count one too high", 3, "bad-record-count"),
            (46, "count one too low", 1, "bytes-left-over"),
        )
    ),
    *(
        Bad(f"49 codec {codec} in v2", build.batch(build.records(1), 12, flags=codec), "unknown-codec")
        for codec in (5, 6, 7)
    ),
    # v2 record
    Bad("57 length beyond the batch", of_record(length=99), "bad-record", SECOND),
    Bad("57 length 2^31-1", of_record(length=2**31 - 1), "bad-record", SECOND),
    Bad("58 length 0", of_record(length=0), "bad-record", SECOND),
    Bad("58 length -1", of_record(length=-1), "bad-record", SECOND),
    Bad("58 length -2^31", of_record(length=-(2**31)), "bad-record", SECOND),
    Bad("59 length one too short", of_record(length=6), "bad-record", SECOND),
    Bad("59 bytes behind the headers", of_record(more=b"!"), "bad-record", SECOND),
    Bad("60 key beyond the record", of_record(b"v", b"k", len_key=9), "bad-record", SECOND),
    Bad("60 key of 2^31-1", of_record(b"v", b"k", len_key=2**31 - 1), "bad-record", SECOND),
    Bad("61 value beyond the record", of_record(b"v", len_value=5), "bad-record", SECOND),
    Bad("61 value of 2^31-1", of_record(b"v", len_value=2**31 - 1), "bad-record", SECOND),
    Bad("62 headers -1", of_record(num_headers=-1), "bad-record", SECOND),
    Bad("63 headers 2^31-1", of_record(num_headers=2**31 - 1), "bad-record", SECOND),
    Bad("63 headers 100", of_record(num_headers=100), "bad-record", SECOND),
    Bad("64 headers one too high", of_record(b"v", None, [(b"h", b"1")], num_headers=2), "bad-record", SECOND),
    Bad("64 headers one too low", of_record(b"v", None, [(b"h", b"1")], num_headers=0), "bad-record", SECOND),
    Bad("65 header key null", of_record(num_headers=1, more=b"\x01\x00"), "bad-record", SECOND),
    Bad("65 header key of -2", of_record(num_headers=1, more=b"\x03\x00"), "bad-record", SECOND),
    Bad("66 header key beyond the record", of_record(num_headers=1, more=b"\x08h\x00"), "bad-record", SECOND),
    Bad("66 header value beyond the record", of_record(num_headers=1, more=b"\x02h\x08v"), "bad-record", SECOND),
    Bad("70 cut in the time's delta", build.batch([build.record(b"ok"), b"\x04\0\x80"], 12), "bad-record", SECOND),
    Bad("70 cut in the offset's delta", build.batch([build.record(b"ok"), b"\x06\0\0\x80"], 12), "bad-record", SECOND),
    Bad("70 cut in the length", build.batch([build.record(b"ok"), b"\x80"], 12), "bad-record", SECOND),
    # Varints
    Bad("71 varint of 6 bytes", varint_of(b"\x80\x80\x80\x80\x80\x00", behind=b"\0\0"), "bad-record", SECOND),
    Bad("72 varlong of 11 bytes", varint_of(b"\x80" * 10 + b"\0", b"\0", b"\0\1\0\0"), "bad-record", SECOND),
    # Control
    Bad("75 control key null", build.control(build.ABORT, 12, 7, key=None), "bad-control-record", 0),
    Bad("75 control key of 3 bytes", build.control(build.ABORT, 12, 7, key=b"\0\0\0"), "bad-control-record", 0),
    Bad("75 control key empty", build.control(build.ABORT, 12, 7, key=b""), "bad-control-record", 0),
    Bad("76 control key version -1", build.control(build.ABORT, 12, 7, key=b"\xff\xff\0\1"), "bad-control-record", 0),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=[bad.name for bad in BAD])
def test_bad_entry_is_an_error_at_its_place_and_costs_no_other_row(bad: Bad, read: Any) -> None:
    first, entry, last = before(), bad.entry, after()
    got = read(first + entry + last)
    findings = [f for f in got.findings if f.severity == "error" and f.code != "offset-gap"]
    assert [(f.code, f.position, f.length) for f in findings] == [
        (bad.code, len(first), len(entry))
    ]
    if bad.payload_position is not None:
        assert findings[0].payload_position == bad.payload_position
    assert got.values == [b"a", b"b", b"y", b"z"] and len(got.rows) == 4
    assert got.report.bytes["damaged"] == len(entry)
    assert sum(got.report.bytes.values()) == len(first + entry + last)


@pytest.mark.parametrize("bad", BAD, ids=[bad.name for bad in BAD])
def test_bad_entry_raises_its_error_behind_the_rows_before_it(bad: Bad) -> None:
    first, entry = before(), bad.entry
    data = first + entry + after()
    with pytest.raises(mb.FormatError) as caught:
        mb.from_bytes(data).records(["offset"]).to_table()
    assert (caught.value.code, caught.value.position) == (bad.code, len(first))
    stopped = mb.from_bytes(data, on_damage="stop").records(["value"])
    assert [row["value"] for row in stopped.to_pylist()] == [b"a", b"b"]
    assert stopped.report.bytes["damaged"] == len(entry)
    assert sum(stopped.report.bytes.values()) == len(data)
    assert (bad.code, len(first)) in [(f.code, f.position) for f in stopped.report.findings]


def test_bad_entry_names_the_field_what_was_found_and_what_was_expected(read: Any) -> None:
    (finding,) = read(build.batch(build.records(2), 0, count=3)).findings
    assert (finding.field, finding.found, finding.expected) == ("num_records", "3", "2")
    (finding,) = read(build.batch([build.record(num_headers=-1)])).findings
    assert finding.field == "records[0].num_headers" and finding.found == "-1"
    (finding,) = read(build.batch(crc=5)).findings
    assert finding.found == "0x00000005" and finding.expected != finding.found


# Framing


def test_nothing_is_nothing(read: Any) -> None:
    got = read(b"")
    assert got.rows == [] and got.findings == [] and sum(got.report.bytes.values()) == 0


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("is_only", [True, False])
def test_last_entry_cut_anywhere_is_a_tail(magic: int, is_only: bool, read: Any) -> None:
    first = b"" if is_only else before()
    entry = after() if magic == 2 else build.message(b"y", 20, b"key", magic=magic)
    for cut in range(1, len(entry)):
        got = read(first + entry[:cut])
        code = "incomplete-tail" if any(entry[:cut]) else "zero-tail"
        assert [(f.code, f.position, f.length, f.severity) for f in got.findings] == [
            (code, len(first), cut, "warning")
        ], cut
        assert got.values == ([] if is_only else [b"a", b"b"])
        assert got.report.bytes["tail"] == cut and got.report.bytes["damaged"] == 0
        assert got.report.severity == "warning"


def test_incomplete_tail_says_how_many_bytes_it_would_take(read: Any) -> None:
    entry = after()
    (finding,) = read(entry[:30]).findings
    assert finding.found == "30" and finding.expected == str(len(entry))


@pytest.mark.parametrize("size", [-(2**31), -1, 1, 13])
@pytest.mark.parametrize("magic", [0, 2])
def test_impossible_size_is_an_error_and_reading_goes_on_behind_it(
    size: int, magic: int, read: Any
) -> None:
    entry = (
        build.batch([build.record(b"x")], 12) if magic == 2 else build.message(b"x", 12, magic=0)
    )
    entry = entry[:8] + struct.pack(">i", size) + entry[12:]
    first = before()
    got = read(first + entry + after())
    assert ("bad-size", len(first)) in got.errors
    assert got.values == [b"a", b"b", b"y", b"z"]
    assert got.at("found-by-search") == [len(first + entry)]
    assert got.report.bytes["damaged"] == len(entry)


@pytest.mark.parametrize("size", [14, 20, 48])
def test_v2_size_that_holds_no_header_is_an_error(size: int, read: Any) -> None:
    first = before()
    entry = build.batch([build.record(b"x")], 12, length=size)
    got = read(first + entry + after())
    assert got.errors[0] == ("bad-size", len(first))
    assert got.values == [b"a", b"b", b"y", b"z"]


def test_v1_size_that_holds_no_timestamp_is_an_error(read: Any) -> None:
    checked = struct.pack(">bbii", 1, 0, -1, -1)
    entry = struct.pack(">qiI", 12, len(checked) + 4, zlib.crc32(checked)) + checked
    first = before()
    got = read(first + entry + after())
    assert got.errors[0] == ("bad-size", len(first))
    assert got.values == [b"a", b"b", b"y", b"z"]


@pytest.mark.parametrize("size", [2**31 - 1, 2**31 - 12, 1 << 20])
def test_size_that_hides_sound_entries_is_an_error(size: int, read: Any) -> None:
    first, entry = before(), build.batch([build.record(b"x")], 12, length=size)
    got = read(first + entry + after())
    assert [error for error in got.errors if error[1] == len(first)]
    assert b"y" in got.values and b"z" in got.values and got.values[:2] == [b"a", b"b"]


@pytest.mark.parametrize("size", [2**31 - 1, 1 << 20])
def test_size_beyond_the_end_of_the_last_entry_is_a_tail(size: int, read: Any) -> None:
    first, entry = before(), build.batch([build.record(b"x")], 12, length=size)
    got = read(first + entry)
    assert [(f.code, f.position) for f in got.findings] == [("incomplete-tail", len(first))]


@pytest.mark.parametrize("magic", [3, 37, 99, -1, -126])
def test_unknown_magic_is_an_error_and_its_size_leads_on(magic: int, read: Any) -> None:
    first, entry = before(), build.batch(build.records(2), 12, magic=magic)
    got = read(first + entry + after())
    assert got.errors[0] == ("unknown-magic", len(first))
    assert got.values == [b"a", b"b", b"y", b"z"]
    assert got.report.bytes["damaged"] == len(entry)


@pytest.mark.parametrize("magic", [3, -1])
def test_unknown_magic_in_the_last_entry_is_an_error(magic: int, read: Any) -> None:
    first, entry = before(), build.batch(build.records(2), 12, magic=magic)
    got = read(first + entry)
    assert got.errors == [("unknown-magic", len(first))]
    assert got.values == [b"a", b"b"] and got.report.bytes["damaged"] == len(entry)


def test_wrong_checksum_of_the_last_entry_is_an_error_and_no_tail(read: Any) -> None:
    first, entry = before(), build.batch(build.records(2), 12, crc=1)
    got = read(first + entry)
    assert got.errors == [("checksum-mismatch", len(first))]
    assert got.report.bytes["tail"] == 0


@pytest.mark.parametrize("number", [1, 2, 3])
def test_whole_entries_with_wrong_checksums_are_errors_and_no_tail(number: int, read: Any) -> None:
    first = before()
    entries = [build.batch(build.records(2), 12 + 2 * i, crc=1) for i in range(number)]
    got = read(first + b"".join(entries) + b"\xee" * 40)
    assert got.errors and got.errors[0] == ("checksum-mismatch", len(first))
    assert got.report.bytes["tail"] == 0
    assert got.report.bytes["damaged"] == sum(map(len, entries)) + 40


def test_three_formats_lie_side_by_side(read: Any) -> None:
    entries = [
        build.message(b"0", 5, magic=0),
        build.batch([build.record(b"1")], 6),
        build.message(b"2", 7, magic=1),
        build.wrapper(v0_inner(9), 9, magic=0),
        build.batch([build.record(b"3")], 10, codec=build.ZSTD),
        build.wrapper(v1_inner(), 12),
    ]
    got = read(b"".join(entries))
    assert got.findings == []
    assert got.offsets == [5, 6, 7, 8, 9, 10, 11, 12]
    assert [row["magic"] for row in got.rows] == [0, 2, 1, 0, 0, 2, 1, 1]


def test_garbage_behind_sound_entries_is_an_error_at_its_place(read: Any) -> None:
    first = before()
    garbage = bytes(range(1, 200)) * 5
    got = read(first + garbage)
    assert [position for _, position in got.errors] == [len(first)]
    assert got.values == [b"a", b"b"] and got.report.bytes["damaged"] == len(garbage)
    between = read(first + garbage + after())
    assert between.values == [b"a", b"b", b"y", b"z"]
    assert between.at("found-by-search") == [len(first + garbage)]


@pytest.mark.parametrize("length", [1, 16, 17, 61, 5000])
def test_zeros_at_the_end_are_a_tail(length: int, read: Any) -> None:
    first = before()
    got = read(first + bytes(length))
    assert [(f.code, f.position, f.length) for f in got.findings] == [
        ("zero-tail", len(first), length)
    ]
    assert got.report.bytes["tail"] == length


def test_zeros_between_entries_are_damage(read: Any) -> None:
    first = before()
    got = read(first + bytes(300) + after())
    assert [(code, position) for code, position in got.errors] in (
        [("zeros", len(first))],
        [("bad-size", len(first))],
    )
    assert got.values == [b"a", b"b", b"y", b"z"] and got.report.bytes["damaged"] == 300


def test_many_zeros_are_gone_through_once(read: Any) -> None:
    got = read(before() + bytes(64 << 20))
    assert [f.code for f in got.findings] == ["zero-tail"]


# Offsets


@pytest.mark.parametrize("base", [11, 5, 0, -5])
def test_entry_out_of_order_is_delivered_with_an_error(base: int, read: Any) -> None:
    first = before()
    got = read(first + build.batch([build.record(b"x")], base) + after())
    assert got.values == [b"a", b"b", b"x", b"y", b"z"]
    assert ("offset-out-of-order", len(first)) in got.errors
    assert got.report.bytes["damaged"] == 0


def test_batch_keeps_the_offsets_that_its_records_lost(read: Any) -> None:
    data = build.batch([build.record(delta=3)], 10, last_delta=7) + build.batch(base=18)
    got = read(data)
    assert got.offsets == [13, 18] and got.findings == []


@pytest.mark.parametrize("delta", [-1, -(2**31)])
def test_last_offset_below_the_first_is_reported(delta: int, read: Any) -> None:
    got = read(before() + build.batch([build.record(b"x")], 12, last_delta=delta) + after())
    assert [f for f in got.findings if f.severity == "error"]
    assert got.values[:2] == [b"a", b"b"] and got.values[-2:] == [b"y", b"z"]


@pytest.mark.parametrize("delta", [-1, -(2**31)])
def test_last_offset_below_the_first_of_the_only_entry_is_reported(delta: int, read: Any) -> None:
    got = read(build.batch([build.record(b"x")], 12, last_delta=delta))
    assert [position for _, position in got.errors] == [0]


def test_offsets_above_63_bits_give_no_foreign_error(read: Any) -> None:
    last = 2**63 - 1
    got = read(build.batch([build.record(b"x"), build.record(b"w", delta=1)], last))
    assert [f for f in got.findings if f.severity == "error"]
    assert sum(got.report.bytes.values()) == 61 + 16


@pytest.mark.parametrize("flags", [0, 16, 32, 48])
def test_batch_without_records_is_sound_and_moves_the_offsets_on(flags: int, read: Any) -> None:
    empty = build.batch([], 12, last_delta=7, flags=flags, producer=7, time=-1)
    got = read(before() + empty + after())
    assert got.values == [b"a", b"b", b"y", b"z"]
    assert [f for f in got.findings if f.severity != "note"] == []
    assert got.report.bytes["damaged"] == 0


@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4])
def test_bytes_in_a_batch_of_no_records_are_a_warning(codec: int, read: Any) -> None:
    first = before()
    data = first + build.batch(build.records(3), 12, count=0, last_delta=2, codec=codec)
    got = read(data + after(15))
    assert [(f.code, f.position, f.severity) for f in got.findings] == [
        ("bytes-unread", len(first), "warning")
    ]
    assert got.values == [b"a", b"b", b"y", b"z"]


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_empty_section_of_no_records_is_sound_whatever_the_codec(codec: int, read: Any) -> None:
    got = read(build.batch(b"", 12, count=0, codec=codec, section=b"", last_delta=0))
    assert got.findings == [] and got.rows == []


@pytest.mark.parametrize("deltas", [(5, 5), (3, -1), (-4, 2), (9, 1), (2**31 - 1, -(2**31))])
def test_odd_offset_deltas_are_kafkas_rows(deltas: tuple[int, int], read: Any) -> None:
    data = build.batch([build.record(delta=d) for d in deltas], 100, last_delta=5)
    assert read(data).offsets == [100 + d for d in deltas]


# What is accepted, some of it with a warning


class Odd(NamedTuple):
    name: str
    entry: bytes
    values: list[bytes | None]
    code: str | None = None


ODD = [
    Odd("24 leader epoch damaged", build.batch([build.record(b"x")], 12, leader_epoch=-(2**31)), [b"x"]),
    Odd("55 leader epoch -1", build.batch([build.record(b"x")], 12, leader_epoch=-1), [b"x"]),
    Odd("27 v0 key length -2", build.message(b"x", 12, magic=0, len_key=-2), [b"x"], "negative-length"),
    Odd("27 v1 value length -9", build.message(None, 12, len_value=-9), [None], "negative-length"),
    Odd("27 v1 value length -2^31", build.message(None, 12, len_value=-(2**31)), [None], "negative-length"),
    Odd("29 bytes behind the value", build.message(b"x", 12, more=b"more"), [b"x"], "message-bytes-unread"),
    Odd("50 reserved bits of v2", build.batch([build.record(b"x")], 12, flags=0x7F80), [b"x"]),
    Odd("50 reserved bits of v1", build.message(b"x", 12, attributes=0xF0 - 256), [b"x"]),
    Odd("50 reserved bits of v0", build.message(b"x", 12, magic=0, attributes=0x78), [b"x"]),
    Odd("51 transactional without producer", build.batch([build.record(b"x")], 12, flags=16), [b"x"]),
    Odd("60 key length -2", build.batch([build.record(b"x", None, len_key=-2)], 12), [b"x"], "negative-length"),
    Odd("61 value length -5", build.batch([build.record(None, len_value=-5)], 12), [None], "negative-length"),
    Odd("68 record attributes 0x80", build.batch([build.record(b"x", attributes=0x80)], 12), [b"x"]),
    Odd("68 record attributes 0xff", build.batch([build.record(b"x", attributes=0xFF)], 12), [b"x"]),
    Odd("73 bits above 32", varint_of(b"\x81\x80\x80\x80\x70", behind=b"\x02x\0"), [b"ok", b"x"]),
    Odd("73 bits above 64", varint_of(b"\x80" * 9 + b"\x7e", b"\0", b"\2\1\2x\0"), [b"ok", b"x"]),
    Odd("74 overlong", varint_of(b"\x81\x80\x00", behind=b"\x82\x00x\x80\x00"), [b"ok", b"x"]),
    Odd("35 v1 wrapper offset 0", build.wrapper(v1_inner(), 0), [b"i0", b"i1"]),
    Odd("37 v0 in a v1 wrapper", build.wrapper(v1_inner(magic=0), 13), [b"i0", b"i1"], "inner-magic-differs"),
    Odd("37 v1 in a v0 wrapper", build.wrapper([build.message(b"x", 12)], 12, magic=0), [b"x"], "inner-magic-differs"),
    Odd("39 inner set cut", build.wrapper(b"".join(v1_inner())[:-1], 12), [b"i0"], "inner-message-cut"),
    Odd("39 inner set cut in the head", build.wrapper(v1_inner()[0] + b"\0\0\0", 12), [b"i0"], "inner-message-cut"),
    Odd("41 old lz4 checksum in v0", build.wrapper(v0_inner(13), 13, magic=0, codec=build.LZ4), [b"i0", b"i1"]),
    Odd("41 new lz4 checksum in v0", build.wrapper([], 13, magic=0, codec=build.LZ4, section=build.compress(build.LZ4, b"".join(v0_inner(13)))), [b"i0", b"i1"]),
    Odd("42 v1 time -7", build.message(b"x", 12, time=-7), [b"x"]),
    Odd("42 inner append time bit", build.wrapper(v1_inner(attributes=8), 13), [b"i0", b"i1"]),
    Odd("56 append time", build.batch([build.record(b"x", time_delta=9)], 12, flags=8), [b"x"]),
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD, ids=[odd.name for odd in ODD])
def test_odd_entry_is_read_as_kafka_reads_it(odd: Odd, read: Any) -> None:
    first, entry = before(), odd.entry
    got = read(first + entry + after())
    assert got.values == [b"a", b"b", *odd.values, b"y", b"z"]
    findings = [f for f in got.findings if not f.code.startswith("offset-")]
    assert {f.code for f in findings} == ({odd.code} if odd.code else set())
    assert {(f.severity, f.position) for f in findings} <= {("warning", len(first))}
    assert got.report.bytes["damaged"] == 0


def test_wrapper_keeps_the_gaps_that_cleaning_left(read: Any) -> None:
    inner = [build.message(b"%d" % n, n) for n in (1, 4, 6)]
    assert read(build.wrapper(inner, 106)).offsets == [101, 104, 106]
    inner = [build.message(b"%d" % n, n, magic=0) for n in (101, 104, 106)]
    assert read(build.wrapper(inner, 106, magic=0)).offsets == [101, 104, 106]


def test_offsets_of_a_v0_wrapper_are_those_inside(read: Any) -> None:
    inner = [build.message(b"x", n, magic=0) for n in (0, 1)]
    assert read(build.wrapper(inner, 7, magic=0)).offsets == [0, 1]


def test_v1_wrapper_of_absolute_inner_offsets_is_right_too(read: Any) -> None:
    inner = [build.message(b"x", n) for n in (20, 21)]
    assert read(build.wrapper(inner, 21)).offsets == [20, 21]


def test_v1_wrapper_of_offset_0_takes_the_inner_offsets_as_they_are(read: Any) -> None:
    assert read(build.wrapper(v1_inner(3), 0)).offsets == [0, 1, 2]


# Control records


def test_unknown_control_type_is_a_note_and_ends_no_transaction(read: Any) -> None:
    data = build.transactional(0, 7) + build.control(337, 1, 7) + build.control(build.ABORT, 2, 7)
    got = read(data)
    (finding,) = got.findings
    assert (finding.code, finding.severity, finding.found) == (
        "unknown-control-type",
        "note",
        "337",
    )
    assert [row["outcome"] for row in got.rows if row["disposition"] == "delivered"] == ["aborted"]
    rows = mb.from_bytes(data).batches(["control_type"]).to_pylist()
    assert [row["control_type"] for row in rows] == [None, "UNKNOWN", "ABORT"]


def test_newer_version_of_a_control_key_is_read_as_version_0(read: Any) -> None:
    key = struct.pack(">hh", 5, build.COMMIT) + b"more"
    got = read(build.transactional(0, 7) + build.control(build.COMMIT, 1, 7, key=key))
    assert got.findings == [] and got.rows[0]["outcome"] == "committed"


@pytest.mark.parametrize("value", [None, b"", b"\0\0\0\0\0", b"\xff\xff\0\0\0\1"])
def test_unreadable_marker_value_is_a_warning_and_the_key_decides(
    value: bytes | None, read: Any
) -> None:
    data = build.transactional(0, 7) + build.control(build.ABORT, 1, 7, value=value)
    got = read(data)
    assert [(f.code, f.severity) for f in got.findings] == [("bad-marker-value", "warning")]
    assert got.rows[0]["outcome"] == "aborted"


def test_second_abort_marker_changes_nothing(read: Any) -> None:
    data = (
        build.transactional(0, 7)
        + build.control(build.ABORT, 1, 7)
        + build.control(build.ABORT, 2, 7)
        + build.transactional(3, 7)
        + build.control(build.COMMIT, 4, 7)
        + build.control(build.COMMIT, 5, 9)
    )
    got = read(data)
    assert got.findings == []
    assert [r["outcome"] for r in got.rows if r["disposition"] == "delivered"] == [
        "aborted",
        "committed",
    ]


def test_all_records_of_a_kraft_control_batch_are_control(read: Any) -> None:
    content = [
        build.record(b"\0\0\0", struct.pack(">hh", 0, 2)),
        build.record(b"\0\0\0\1\0", struct.pack(">hh", 0, 5), delta=1),
    ]
    got = read(build.batch(content, 0, flags=build.CONTROL) + build.batch([build.record(b"x")], 2))
    assert got.values == [b"x"] and got.report.records == {"control": 2, "delivered": 1}
    assert got.findings == []


# Resources


def test_very_many_empty_batches_take_linear_time(read: Any) -> None:
    one = build.batch([], 0, last_delta=0)
    entries = [struct.pack(">q", n) + one[8:] for n in range(20_000)]
    got = read(b"".join(entries))
    assert got.report.bytes["delivered"] == 61 * 20_000 and got.findings == []


def test_a_million_headers_in_one_record_are_read() -> None:
    count = 200_000
    body = b"\0\0\0\1\1" + build.varint(count) + b"\2h\1" * count
    data = build.batch([build.varint(len(body)) + body])
    (row,) = mb.from_bytes(data).records(["headers"]).to_pylist()
    assert len(row["headers"]) == count and row["headers"][-1] == {"key": "h", "value": None}


def test_value_of_16_mib_is_read() -> None:
    value = bytes(range(256)) * (1 << 16)
    for data in (
        build.batch([build.record(value)]),
        build.batch([build.record(value)], codec=build.ZSTD),
        build.message(value),
        build.wrapper([build.message(value)], 0),
    ):
        (row,) = mb.from_bytes(data).records(["value"]).to_pylist()
        assert row["value"] == value


def test_hundred_thousand_records_in_one_batch_are_read() -> None:
    data = build.batch([build.record(b"", delta=n) for n in range(100_000)], codec=build.LZ4)
    rows = mb.from_bytes(data).records(["offset"]).to_table()
    assert rows.column("offset").to_pylist() == list(range(100_000))


def test_findings_do_not_grow_with_the_records_of_an_entry(read: Any) -> None:
    content = [build.record(None, len_value=-2, delta=n) for n in range(2000)]
    got = read(build.batch(content, codec=build.ZSTD))
    assert got.report.records == {"delivered": 2000} and set(got.codes) == {"negative-length"}
    assert len(got.findings) < 20
    inner = [build.message(b"", n, magic=0) for n in range(2000)]
    got = read(build.wrapper(inner, 1999))
    assert got.report.records == {"delivered": 2000} and len(got.findings) < 20


# Entries inside payloads


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_entry_inside_a_value_is_not_taken_for_the_logs(magic: int, read: Any) -> None:
    inside = build.batch([build.record(b"inside")], 1000) * 3
    first = before()
    entry = (
        build.batch([build.record(inside)], 12, crc=1)
        if magic == 2
        else build.message(inside, 12, magic=magic, crc=1)
    )
    got = read(first + entry + after())
    assert got.values == [b"a", b"b", b"y", b"z"]
    assert got.errors[0] == ("checksum-mismatch", len(first))


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_inside_a_cut_wrapper_are_not_taken_for_the_logs(magic: int, read: Any) -> None:
    # LZ4 keeps what does not shrink as it is: so the messages lie readable in the wrapper.
    noise = random.Random(1)
    inner = [build.message(noise.randbytes(300), 12 + n, magic=magic) for n in range(3)]
    entry = build.wrapper(inner, 14, magic=magic, codec=build.LZ4)
    first = before()
    for cut in (1, 40, 400):
        got = read(first + entry[:-cut])
        assert got.values == [b"a", b"b"], cut
        assert [(f.code, f.position) for f in got.findings] == [("incomplete-tail", len(first))]
