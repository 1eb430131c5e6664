"""Tests of columns in the making: converted in parts, and without the records of an invalid entry."""

from typing import Any

import pyarrow as pa
import pytest

import log_builder as build
from magicbyte.engines import _record_headers, _row_columns
from magicbyte.engines._record_headers import BudgetError, RecordHeaders, WorkBudget
from magicbyte.engines.protocol import Chunk
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.limits import Limits
from magicbyte.tables.schemas import WIRE_COLUMNS

HEADERS = [(b"h%d" % number, b"v" if number % 2 else None) for number in range(7)]


def log() -> bytes:
    """Return sound batches and messages, and some with a fault in their last record."""
    many = [build.record(b"value" * n, b"k", HEADERS[:n], delta=n) for n in range(8)]
    inner = [build.message(b"m%d" % n, n) for n in range(8)]
    return b"".join(
        [
            build.batch(many, codec=4),
            build.batch(many, 8, count=9),
            build.batch(build.records(3), 20),
            build.wrapper(inner, 30),
            build.wrapper([*inner, build.message(crc=1)], 40),
            build.batch([*many, build.record(more=b"x")], 50),
            build.message(b"last", 60),
        ]
    )


def decoded(columns: tuple[str, ...] = WIRE_COLUMNS, **options: Any) -> Any:
    chunk = Chunk(memoryview(log()), 0)
    return ReferenceEngine().decode(chunk, columns, limits=Limits(), verify=False, **options)


@pytest.mark.parametrize("columns", [tuple(WIRE_COLUMNS), ("headers",), ()])
@pytest.mark.parametrize(("rows", "num_bytes", "headers"), [(1, 100, 1), (3, 9, 2), (100, 9, 3)])
def test_records_converted_in_parts_are_the_same(
    columns: tuple[str, ...],
    rows: int,
    num_bytes: int,
    headers: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = decoded(columns)
    monkeypatch.setattr(_row_columns, "MAX_PENDING_ROWS", rows)
    monkeypatch.setattr(_row_columns, "MAX_PENDING_BYTES", num_bytes)
    monkeypatch.setattr(_record_headers, "MAX_HEADER_OBJECTS", headers)
    parts = decoded(columns)
    assert parts.rows.equals(whole.rows) and parts.rows.schema == whole.rows.schema
    assert parts.num_rows.tolist() == whole.num_rows.tolist() == [8, 0, 3, 8, 0, 0, 1]
    assert parts.results == whole.results
    assert whole.rows.num_rows == 20


def test_long_headers_are_all_in_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_record_headers, "MAX_HEADER_OBJECTS", 2)

    class Header:
        key, value = b"k", b"v"

    headers = RecordHeaders()
    for _ in range(5):
        headers.append(Header)
    assert (len(headers), len(headers.arrays)) == (1, 2)
    array = headers.to_list_array()
    assert isinstance(array, pa.ListArray) and len(array[0]) == 5


def test_a_budget_ends_the_work_at_a_number_of_records_and_headers() -> None:
    assert decoded(budget=WorkBudget(100)).rows.num_rows == 20
    with pytest.raises(BudgetError):
        decoded(budget=WorkBudget(30))
    data = build.batch([build.record(headers=HEADERS * 1000)])
    with pytest.raises(BudgetError):
        ReferenceEngine().decode(
            Chunk(memoryview(data), 0),
            (),
            limits=Limits(),
            verify=False,
            budget=WorkBudget(1000),
        )
