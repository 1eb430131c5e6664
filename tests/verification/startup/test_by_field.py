"""Tests of predictions, against a table: a flip of each byte of a batch, a cut at each byte.

The table was written by hand from observed starts of brokers 2.8, 3.9 and 4.3. The checksum
covers a batch from its attributes on: the fields before them are not verified.
"""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from extent import WIDE
from file_damage import flip

from .conftest import BOUNDS, END, FLIPPED, LAST, NEXT, Partition

FIRST = f"{0:020}.log"
FIRST_SIZE, LAST_SIZE = 326, 2217


class Row(NamedTuple):
    field: str
    begin: int
    """Bytes [begin, end) of the batch that the row of the table is about."""
    end: int
    unclean: tuple[str, int | None, int | None]
    """Verdict, log end offset and bytes of the segment after an unclean start."""
    clean: tuple[str, int | None, int | None]
    """Verdict, log end offset and bytes of the segment after a start after a clean shutdown."""


CUT = ("truncated", 45, FLIPPED)
UNNOTICED = ("unchanged-damaged", END, LAST_SIZE)
FAILS = ("refuses-to-start", None, None)
SOUND = ("intact", END, LAST_SIZE)

TABLE = [
    # Below the base offset, or above the offsets that the index can hold.
    Row("base offset, upper half", 0, 5, FAILS, UNNOTICED),
    Row("base offset, lower bytes", 5, 8, UNNOTICED, UNNOTICED),
    # A size below zero is an error to all that read; one beyond the end is the end of the log.
    Row("batch length, its sign", 8, 9, CUT, FAILS),
    Row("batch length, large", 9, 11, CUT, ("unchanged-damaged", 45, LAST_SIZE)),
    Row("partition leader epoch", 12, 16, SOUND, SOUND),
    # Below 0 and so of the old formats, which have their checksum where this has its magic.
    Row("magic", 16, 17, CUT, UNNOTICED),
    Row("CRC", 17, 21, CUT, UNNOTICED),
    Row("what the CRC covers", 21, NEXT - FLIPPED, CUT, UNNOTICED),
]

BYTES = [
    pytest.param(row, at, id=f"{row.field}-{at}")
    for row in TABLE
    for at in range(row.begin, row.end)
]


def flipped(segment: bytes, at: int) -> bytes:
    """Return *segment* with all bits of byte *at* of its damaged batch flipped."""
    data = bytearray(segment)
    data[FLIPPED + at] ^= 0xFF
    return bytes(data)


def expected(outcome: tuple[str, int | None, int | None]) -> tuple[object, ...]:
    verdict, end, size = outcome
    return verdict, end, {FIRST: None if size is None else FIRST_SIZE, LAST: size}


@pytest.mark.parametrize(("row", "at"), BYTES)
def test_flipped_byte_of_each_field_is_predicted_as_brokers_recover_it(
    partition: Partition, row: Row, at: int
) -> None:
    flip(partition.last, FLIPPED + at)
    assert partition.predict() == expected(row.unclean)
    assert partition.predict(clean_shutdown=True) == expected(row.clean)


def test_table_has_every_byte_but_the_lowest_of_the_length() -> None:
    """The lowest byte of the length gives a size inside or beyond the file, depending on its value."""
    told = {at for row in TABLE for at in range(row.begin, row.end)}
    assert set(range(NEXT - FLIPPED)) - told == {11}


def test_lowest_byte_of_the_length_is_predicted_by_its_new_value(partition: Partition) -> None:
    flip(partition.last, FLIPPED + 11)
    assert partition.predict() == expected(CUT)


def test_segment_cut_at_each_byte_is_predicted_as_brokers_recover_it(
    make: Callable[[], Partition],
) -> None:
    begins = sorted(BOUNDS)
    sizes = range(begins[0], begins[-1])
    near = {begin + away for begin in begins for away in (-1, 0, 1)}
    for size in sizes if WIDE else [size for size in sizes if size in near or size % 8 == 0]:
        partition = make()
        with partition.last.open("r+b") as file:
            file.truncate(size)
        kept = max(begin for begin in begins if begin <= size)
        sizes = {FIRST: FIRST_SIZE, LAST: kept}
        # The recovery point says 55: the offsets that were cut off are lost in either case.
        verdict = "unchanged-damaged" if size == kept else "truncated"
        assert partition.predict() == (verdict, BOUNDS[kept], sizes), size
        # After a clean shutdown, the broker reads whole batches and leaves the rest in the file.
        sizes = {FIRST: FIRST_SIZE, LAST: size}
        told = partition.predict(clean_shutdown=True)
        assert told == ("unchanged-damaged", BOUNDS[kept], sizes), size
