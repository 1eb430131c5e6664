"""Arrays of Arrow that are made without what `pyarrow.array` loads."""

import pyarrow as pa
import pytest

from magicbyte.tables.arrays import words


@pytest.mark.parametrize("values", [[], [None], ["a", None, "", "ключ"], ["same"] * 9])
def test_words_are_strings_of_arrow_with_their_nulls(values: list[str | None]) -> None:
    made = words(values)
    made.validate(full=True)
    assert made.equals(pa.array(values, pa.string()))
