"""A scanner: reads some columns of a table, applies a condition to its rows, and projects them."""

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pds

from magicbyte.reading._row_condition import Projection, bind, used_columns

DEFAULT_BATCH_ROWS = 131_072
"""Most rows of an Arrow batch, as by pyarrow."""

ReadColumns = Callable[[tuple[str, ...]], Iterator[pa.RecordBatch]]
"""Reads the rows that may satisfy the scanner's condition, with these columns of the table."""


class TableScanner:
    """Reads a table as `pyarrow.dataset.Scanner` does, again each time. Made by `LogScan.scanner`.

    Attributes:
        dataset_schema: The schema of the table.
        projected_schema: The schema of the rows.
    Example:
        >>> scanner = mb.open("log-0", topics=["fenced"]).scan().scanner(columns=["offset"])
        >>> scanner.count_rows()
        4
    """

    def __init__(
        self,
        schema: pa.Schema,
        read_columns: ReadColumns,
        projection: Projection,
        arrow_filter: pc.Expression | None,
        batch_size: int,
    ) -> None:
        """Raise what Arrow raises if *projection* or *arrow_filter* do not fit *schema*, such as ArrowInvalid."""
        self._projection = list(projection) if isinstance(projection, tuple) else projection
        self._filter = arrow_filter
        self._batch_size = batch_size
        self._read_columns = read_columns
        self.dataset_schema = schema
        self.projected_schema: pa.Schema = bind(
            schema, self._projection, arrow_filter
        ).projected_schema

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows as Arrow batches. Rows are decoded while they are asked for."""
        names = self._needed(self._projection)
        for batch in self._read_columns(names):
            if self._filter is None and not isinstance(self._projection, dict):
                yield from self._slices(batch.select(self.projected_schema.names))
            else:
                yield from self._scan(batch, self._projection).to_reader()
            del batch  # frees the rows before more are read

    def _needed(self, projection: Projection) -> tuple[str, ...]:
        """Return the columns to read; one at least, since a batch of no columns would have no rows."""
        names = used_columns(self.dataset_schema, projection, self._filter)
        return names or (self.dataset_schema.names[0],)

    def _scan(self, batch: pa.RecordBatch, projection: Projection) -> pds.Scanner:
        return pds.InMemoryDataset([batch]).scanner(
            columns=projection,
            filter=self._filter,
            batch_size=self._batch_size,
            use_threads=False,  # the caller reads in as many threads as it likes
        )

    def _slices(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if batch.num_rows <= self._batch_size:
            yield batch
            return
        for start in range(0, batch.num_rows, self._batch_size):
            yield batch.slice(start, self._batch_size)

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the rows as a stream of Arrow batches."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, self._streamed())

    def _streamed(self) -> Iterator[pa.RecordBatch]:
        try:
            yield from self.to_batches()
        except Exception as error:
            # Arrow appends the traceback to the message, and its frames would keep memory alive.
            error.__traceback__ = None
            raise

    def to_table(self) -> pa.Table:
        """Return the rows as an Arrow table in memory."""
        return pa.Table.from_batches(list(self.to_batches()), schema=self.projected_schema)

    def head(self, num_rows: int) -> pa.Table:
        """Return the first *num_rows* rows; no more are read than the Arrow batches that hold them."""
        batches, num_left = [], num_rows
        reading = self.to_batches()
        while num_left > 0 and (batch := next(reading, None)) is not None:
            batches.append(batch.slice(0, num_left))
            num_left -= batches[-1].num_rows
        return pa.Table.from_batches(batches, schema=self.projected_schema)

    def count_rows(self) -> int:
        """Return the number of rows; only the columns that the condition needs are decoded."""
        num_rows = 0
        for batch in self._read_columns(self._needed([])):
            num_rows += (
                batch.num_rows if self._filter is None else self._scan(batch, []).count_rows()
            )
            del batch  # frees the rows before more are read
        return num_rows

    def take(self, indices: object) -> pa.Table:
        """Raise NotImplementedError: rows have no numbers before they are read."""
        raise NotImplementedError(
            "a log is read in order, not by the numbers of rows: use to_table().take(indices)"
        )

    def scan_batches(self) -> Iterator[object]:
        """Raise NotImplementedError: batches do not belong to fragments of Arrow's."""
        raise NotImplementedError(
            "the batches of a log have no pyarrow.dataset.Fragment: use to_batches()"
        )

    def __arrow_c_schema__(self) -> object:
        return self.projected_schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_reader().__arrow_c_stream__(requested_schema)
