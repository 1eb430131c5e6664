"""Tests that few functions, in few files, are called up to the first Arrow batch."""

from magicbyte_tools import trips
from paths import CHECKOUT


def num_files(calls: trips.Calls) -> int:
    return len({code.co_filename for code in calls})


def test_opening_and_the_first_arrow_batch_call_few_functions_in_few_files() -> None:
    opening, reading = trips.open_and_read(str(CHECKOUT / trips.SEGMENT))
    assert 20 < len(opening) <= 45 and num_files(opening) <= 10
    assert 60 < len(reading) <= 120 and num_files(reading) <= 22
