"""A number that contenders agree on if they read the same columns.

Bytes of each column, weighted, and the last row's offset and time: a column that is left out or
cut shows. Values are compared by the tests, not here. The Java reader works out the same.
"""


class ColumnSums:
    """Sums over the columns of a file, from which the checksum is computed."""

    def __init__(self) -> None:
        self._weighted = self._last = 0

    def add(
        self, *, key_size: int, value_size: int, header_key_size: int, header_value_size: int
    ) -> None:
        """Count so many bytes in each column; a null has none."""
        self._weighted += (
            31 * key_size + 37 * value_size + 41 * header_key_size + 43 * header_value_size
        )

    def last(self, offset: int, timestamp: int | None) -> None:
        """Remember the last row; one without a time has -1."""
        self._last = offset + (-1 if timestamp is None else timestamp)

    @property
    def checksum(self) -> int:
        return self._weighted + self._last
