"""Tests of logs with bad batches beyond the conformance run: `on_damage` and byte counts."""

import random
import struct
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte_tools.conformance.cases import Case, load_cases
from magicbyte_tools.conformance.vectors_folder import VECTORS


def before() -> bytes:
    """Return a batch of two records, at offsets 10 and 11."""
    return build.batch([build.record(b"a"), build.record(b"b", delta=1)], 10)


def after(base: int = 20) -> bytes:
    return build.batch([build.record(b"y"), build.record(b"z", delta=1)], base)


def refusal(case: Case) -> dict[str, Any]:
    """Return what a reader that refuses *case* must say."""
    return {**case.content, **case.content.get("refused", {})}


CASES = [
    case
    for case in load_cases(VECTORS)
    if case.format == "kafka_log"
    and "code" in case.content  # invalid, or `either` and refused by magicbyte
    and refusal(case)["caught_by"] != "order"  # offsets out of order are reported, and read
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.data_path.stem)


@each_case
def test_every_byte_of_an_invalid_log_has_one_disposition(case: Case, read: Any) -> None:
    data = case.data_path.read_bytes()
    got = read(data, limits=mb.Limits(**case.settings.get("limits", {})))
    assert sum(got.report.bytes.values()) == len(data)
    assert got.report.bytes["damaged"] + got.report.bytes["over_limit"] > 0


@each_case
def test_invalid_log_raises_its_error_or_stops_after_the_records_before_it(case: Case) -> None:
    data, expected = case.data_path.read_bytes(), refusal(case)
    fault = expected["code"], expected["position"]
    limits = mb.Limits(**case.settings.get("limits", {}))
    with pytest.raises((mb.FormatError, mb.LimitError)) as caught:
        mb.from_bytes(data, limits=limits).records(["offset"]).to_table()
    assert (caught.value.code, caught.value.position) == fault
    stopped = mb.from_bytes(data, on_damage="stop", limits=limits).records(["offset"])
    offsets = [str(row["offset"]) for row in stopped.to_pylist()]
    assert offsets == [row["offset"] for row in expected["records"][: expected["records_before"]]]
    assert sum(stopped.report.bytes.values()) == len(data)
    assert fault in [(finding.code, finding.position) for finding in stopped.report.findings]


def test_bad_entry_names_the_field_what_was_found_and_what_was_expected(read: Any) -> None:
    (finding,) = read(build.batch(build.records(2), 0, count=3)).findings
    assert (finding.field, finding.found, finding.expected) == ("num_records", "3", "2")
    (finding,) = read(build.batch([build.record(num_headers=-1)])).findings
    assert finding.field == "records[0].num_headers" and finding.found == "-1"
    (finding,) = read(build.batch(crc=5)).findings
    assert finding.found == "0x00000005" and finding.expected != finding.found


# Framing


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


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"magic": 3}, "unknown-magic"),
        ({"magic": -1}, "unknown-magic"),
        ({"crc": 1}, "checksum-mismatch"),
    ],
)
def test_fault_in_the_last_entry_is_an_error_and_no_tail(fields: Any, code: str, read: Any) -> None:
    first, entry = before(), build.batch(build.records(2), 12, **fields)
    got = read(first + entry)
    assert got.errors == [(code, len(first))] and got.values == [b"a", b"b"]
    assert (got.report.bytes["damaged"], got.report.bytes["tail"]) == (len(entry), 0)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_whole_entries_with_wrong_checksums_are_errors_and_no_tail(number: int, read: Any) -> None:
    first = before()
    entries = [build.batch(build.records(2), 12 + 2 * i, crc=1) for i in range(number)]
    got = read(first + b"".join(entries) + b"\xee" * 40)
    assert got.errors and got.errors[0] == ("checksum-mismatch", len(first))
    assert got.report.bytes["tail"] == 0
    assert got.report.bytes["damaged"] == sum(map(len, entries)) + 40


def test_many_zeros_are_gone_through_once(read: Any) -> None:
    got = read(before() + bytes(64 << 20))
    assert [f.code for f in got.findings] == ["zero-tail"]


# Offsets


def test_offsets_above_63_bits_give_no_foreign_error(read: Any) -> None:
    last = 2**63 - 1
    got = read(build.batch([build.record(b"x"), build.record(b"w", delta=1)], last))
    assert [f for f in got.findings if f.severity == "error"]
    assert sum(got.report.bytes.values()) == 61 + 16


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


# Control records


def test_unknown_control_type_is_a_note_and_ends_no_transaction(read: Any) -> None:
    data = build.transactional(0, 7) + build.control(337, 1, 7) + build.control(build.ABORT, 2, 7)
    got = read(data)
    findings = [(f.code, f.severity, f.found) for f in got.findings]
    assert findings == [("unknown-control-type", "note", "337")]
    assert [row["outcome"] for row in got.rows if row["disposition"] == "delivered"] == ["aborted"]
    rows = got.dataset.batches(["control_type"]).to_pylist()
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
    outcomes = [row["outcome"] for row in got.rows if row["disposition"] == "delivered"]
    assert got.findings == [] and outcomes == ["aborted", "committed"]


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


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_inside_a_cut_wrapper_are_not_taken_for_the_logs(magic: int, read: Any) -> None:
    # LZ4 stores incompressible data unchanged: the messages are readable in the wrapper.
    noise = random.Random(1)
    inner = [build.message(noise.randbytes(300), 12 + n, magic=magic) for n in range(3)]
    entry = build.wrapper(inner, 14, magic=magic, codec=build.LZ4)
    first = before()
    for cut in (1, 40, 400):
        got = read(first + entry[:-cut])
        assert got.values == [b"a", b"b"], cut
        assert [(f.code, f.position) for f in got.findings] == [("incomplete-tail", len(first))]
