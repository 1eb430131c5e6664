"""A checksum of the columns of a file, by which the benchmark finds a contender that skips a column.

It is the weighted sum of the bytes in each column plus the last record's offset and timestamp. Values
are not compared here but in the tests. The Java, Go and Rust readers compute the same sum.
"""


class ColumnSums:
    """Running sums over the columns of a file, from which the checksum is computed."""

    def __init__(self) -> None:
        self._weighted = self._last = 0

    def add(
        self, *, key_size: int, value_size: int, header_key_size: int, header_value_size: int
    ) -> None:
        """Add the sizes of one or more records' columns, in bytes; a null counts 0."""
        self._weighted += (
            31 * key_size + 37 * value_size + 41 * header_key_size + 43 * header_value_size
        )

    def last(self, offset: int, timestamp: int | None) -> None:
        """Set offset and timestamp (milliseconds) of the last record; a timestamp of None counts -1."""
        self._last = offset + (-1 if timestamp is None else timestamp)

    @property
    def checksum(self) -> int:
        return self._weighted + self._last
