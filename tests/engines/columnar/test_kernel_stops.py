"""Tests of where kernels stop: the reference engine looks at the invalid record alone, with the same result."""

from collections.abc import Iterator
from itertools import product
from typing import Any
from unittest.mock import patch

import pytest

import log_builder as build
from extent import part
from magicbyte.engines import record_decoder
from magicbyte.engines._record_headers import RecordHeaders
from magicbyte.engines._record_rows import RecordStop
from magicbyte.engines.columnar._kernel_stops import end_of_records, record_stop
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk, Decoded
from magicbyte.limits import Limits
from magicbyte_kernels import kernel_interface
from magicbyte_tools.fuzz.agreement import differences

COLUMNAR = engine("columnar")
HEADERS = [(b"h%d" % number, b"v" if number % 2 else None) for number in range(9)]


def unusual_records() -> list[bytes]:
    """Return records with a fault, or with a length that is a finding."""
    one = {"value": b"value", "key": b"key", "headers": HEADERS}
    return [
        build.record(**one, len_key=-2),
        build.record(**one, len_value=-9),
        build.record(None, None, HEADERS, len_key=-5, len_value=-5),
        build.record(**one, attributes=1),
        build.record(**one, attributes=0x80, len_key=-2),
        build.record(**one, attributes=3, more=b"more"),
        build.record(**one, num_headers=8),
        build.record(**one, num_headers=10),
        build.record(**one, num_headers=1 << 20),
        build.record(**one, num_headers=-1),
        build.record(**one, more=b"more"),
        build.record(**one, length=5),
        build.record(**one, length=-1),
        build.record(**one, length=1 << 20),
        build.record(None, None, HEADERS, len_key=-5, more=b"more"),
        build.record(b"v")[:-1] + b"\x02\x03\x00",  # a header key of length -2
        build.record(b"v", length=9)[:-1] + b"\x02\x00\x03",  # a null header value of length -2
        build.record(b"v", length=12)[:-1] + b"\x02\xff\xff\xff\xff\xff\x01",
        b"\xff\xff\xff\xff\xff\x01",
        b"",
    ]


def unusual_batches() -> Iterator[bytes]:
    for unusual, at, flags in product(unusual_records(), (0, 3, 6), (0, build.CONTROL)):
        key = b"\0\0\0\1" if flags else b"k"
        content = [build.record(b"v%d" % n, key, HEADERS[:n], delta=n) for n in range(7)]
        content[at] = unusual
        for codec, count in ((0, 7), (4, 7), (0, 6), (0, 8)):
            yield build.batch(content, 5, codec=codec, count=count, flags=flags)
        content[1] = build.record(None, key, len_key=-3)
        content[2] = build.record(None, None, len_value=-4, len_key=-4)
        yield build.batch(content, 5, flags=flags)
        content[0] = build.record(b"v0", key, attributes=1, len_value=-2)
        content[4] = build.record(b"v" * 90, key, attributes=2)
        yield build.batch(content, 5, flags=flags, codec=4)
        yield build.batch(content, 5, flags=flags)


def test_a_batch_with_a_fault_anywhere_gives_the_same_as_the_reference() -> None:
    batches = list(unusual_batches())
    chosen = part(batches, len(batches) // 6)
    assert not [data.hex() for data in chosen if differences(COLUMNAR, data)]
    assert not differences(COLUMNAR, b"".join(batches))


def decoded(data: bytes) -> Decoded:
    return COLUMNAR.decode(
        Chunk(memoryview(data), 0), ("offset", "headers"), limits=Limits(), verify=False
    )


MANY = 3000
MANY_RECORDS = build.records(MANY)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (build.batch(MANY_RECORDS, count=MANY + 1), "bad-record-count"),
        (build.batch(MANY_RECORDS, count=MANY - 1), "bytes-left-over"),
        (build.batch(MANY_RECORDS, count=(1 << 31) - 1), "bad-record-count"),
        (build.batch([*MANY_RECORDS, build.record(more=b"x")], codec=4), "bad-record"),
        (build.batch([build.record(None, len_value=-2)] * MANY), "negative-length"),
        (build.batch([build.record(attributes=1)] * MANY), "record-attributes"),
        (build.batch([build.record(attributes=1)] * MANY, codec=1), "record-attributes"),
        (build.batch(MANY_RECORDS, flags=build.CONTROL), "bad-control-record"),
    ],
)
def test_the_reference_engine_reads_few_records_of_a_batch_with_findings(
    data: bytes, code: str
) -> None:
    read = record_decoder._read_record
    with patch.object(record_decoder, "_read_record", side_effect=read) as read_record:
        (result,) = decoded(data).all_results()
    assert [finding.code for finding in result.findings] == [code]
    assert read_record.call_count <= 2
    if code in ("negative-length", "record-attributes"):
        assert (result.num_rows, result.repeats(code)) == (MANY, MANY - 1)


@pytest.mark.parametrize("more", [-1, 1, 1 << 20])
def test_the_reference_engine_reads_few_headers_of_a_record_with_a_fault(more: int) -> None:
    data = build.batch([build.record(headers=HEADERS * 200, num_headers=1800 + more)])
    append = RecordHeaders.append
    calls: list[Any] = []

    def counted(headers: RecordHeaders, header: Any) -> None:
        calls.append(header)
        append(headers, header)

    with patch.object(RecordHeaders, "append", counted):
        (result,) = decoded(data).all_results()
    assert [finding.code for finding in result.findings] == ["bad-record"]
    assert len(calls) <= 1


def test_negative_lengths_in_the_invalid_record_do_not_count() -> None:
    values: Any = [0] * len(kernel_interface.STATE_SLOTS)
    slots = {name: number for number, name in enumerate(kernel_interface.STATE_SLOTS)}
    for name, number in (("stop_row", 4), ("stop_position", 40), ("num_negative", 5)):
        values[slots[name]] = number
    for name, number in (("last_negative_row", 4), ("negative_before", 3), ("negative_row", 1)):
        values[slots[name]] = number
    assert record_stop(values) == RecordStop(4, 40, 0, 0, 3, 1, 0)
    values[slots["last_negative_row"]] = 3
    assert record_stop(values).num_negative == 5
    assert end_of_records(values, 9, 80) == RecordStop(9, 80, 0, 0, 5, 1, 0)
