"""Tables as datasets of pyarrow: engines such as DuckDB and Polars ask them for columns and conditions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pds
from pyarrow.fs import FileSystemHandler, PyFileSystem

from magicbyte.errors import MagicbyteError
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._one_pass import check_dispositions, read_records
from magicbyte.reading._row_condition import Projection, RowCondition
from magicbyte.reading._scan_ranges import (
    LogRange,
    intersection,
    matching_log_ranges,
    segment_ranges,
)
from magicbyte.reading._segment_times import LargestTimestamps
from magicbyte.reading._table_scanner import DEFAULT_BATCH_ROWS, TableScanner
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import NO_RANGE, OffsetRange
from magicbyte.reading.results import Report, Rows
from magicbyte.reading.split import select_rows
from magicbyte.tables.schemas import DISPOSITIONS, RECORDS
from magicbyte.tables.table_definition import TableDefinition

AFTER_RANGE = DISPOSITIONS[DISPOSITIONS.index("outside_range") + 1 :]
"""Dispositions that a record can have only if its offset is in the range that is read."""

READ_SETTINGS = (
    *("batch_readahead", "fragment_readahead", "fragment_scan_options", "use_threads"),
    *("cache_metadata", "memory_pool"),
)
"""Arguments of pyarrow's scanners that say how files are read, and that mean nothing here."""

ReadTable = Callable[[tuple[str, ...], RowCondition | None, Report], Iterator[pa.RecordBatch]]
"""Yields the rows that may satisfy a condition, with some columns, and adds to a report."""


class _NoFiles(FileSystemHandler):  # type: ignore[misc]
    """A file system for Arrow's own scanner, which cannot read a log: it refuses to open anything."""

    def open_input_file(self, path: str) -> Any:
        raise NotImplementedError(
            f"Arrow's own scanner, as in joins and pyarrow.acero, cannot read {path}: pass on its scanner().to_reader()"
        )

    def get_type_name(self) -> str:
        return "magicbyte"

    def normalize_path(self, path: str) -> str:
        return path

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("no files")

    get_file_info = get_file_info_selector = create_dir = delete_dir = _refuse
    delete_dir_contents = delete_root_dir_contents = delete_file = move = copy_file = _refuse
    open_input_stream = open_output_stream = open_append_stream = _refuse


def _unreadable_by_arrow(schema: pa.Schema) -> pds.Dataset:
    """Return a dataset that raises an error if Arrow's C++ code scans it, which has no rows to show there."""
    ipc, no_files = pds.IpcFileFormat(), PyFileSystem(_NoFiles())
    fragment = ipc.make_fragment("a Kafka log", no_files)
    return pds.FileSystemDataset([fragment], schema, ipc, no_files)


class TableScan(pds.UnionDataset):  # type: ignore[misc]
    """A table that reads the columns, and applies the condition, of each query. Made by `Dataset.scan`.

    It is a `pyarrow.dataset.Dataset`, which DuckDB, Polars and others accept. Each scan reads the files
    again. Several threads may scan it at the same time.

    Attributes:
        schema: The Arrow schema: all columns of the table.
        error: The error that ended the last scan; other libraries show its text only. None if there was
            none.
    Example:
        >>> import pyarrow.dataset as ds
        >>> scan = mb.open("log-0", topics=["fenced"]).scan()
        >>> scan.to_table(columns=["offset"], filter=ds.field("offset") > 7).to_pylist()
        [{'offset': 8}, {'offset': 9}]
    """

    def __init__(self, schema: pa.Schema, read_table: ReadTable) -> None:
        super().__init__(schema, [_unreadable_by_arrow(schema)])
        self._read_table = read_table
        self._filter: pc.Expression | None = None
        self._report: Report | None = None
        self.error: MagicbyteError | None = None

    @property
    def report(self) -> Report:
        """The report of the scan that began last; it is complete when all rows were read.

        It counts the records that were read, whether or not the condition holds for them. RuntimeError if
        nothing was scanned.
        """
        if self._report is None:
            raise RuntimeError("no report yet: scan the rows first")
        return self._report

    def scanner(
        self,
        columns: Projection = None,
        filter: pc.Expression | None = None,
        batch_size: int = DEFAULT_BATCH_ROWS,
        **read_settings: Any,
    ) -> TableScanner:
        """Return a scanner. Nothing is read before its rows are asked for.

        Args:
            columns: Names of columns, or expressions by name. Default: all columns.
            filter: Condition that all rows satisfy. Default: none.
            batch_size: Most rows of an Arrow batch.
            read_settings: Other arguments of pyarrow's scanners, such as `use_threads`, which change nothing.
        Raises:
            pyarrow.ArrowInvalid: A column does not exist.
            TypeError: An argument does not exist.
        """
        for name in read_settings:
            if name not in READ_SETTINGS:
                raise TypeError(f"scanner() got an unexpected keyword argument {name!r}")
        arrow_filter = _both(self._filter, filter)
        read_columns = partial(self._read, arrow_filter)
        return TableScanner(self.schema, read_columns, columns, arrow_filter, batch_size)

    def read_table(
        self, names: tuple[str, ...], condition: RowCondition | None, report: Report
    ) -> Iterator[pa.RecordBatch]:
        """Yield the columns *names* of the rows that may satisfy *condition*, and of others.

        Args:
            names: Columns of the table.
            condition: Condition that is applied later; its expression may be about other types.
            report: Gets totals and findings while the rows are read.
        """
        return self._read_table(names, condition, report)

    def _read(
        self, arrow_filter: pc.Expression | None, names: tuple[str, ...]
    ) -> Iterator[pa.RecordBatch]:
        condition = None if arrow_filter is None else RowCondition(arrow_filter, self.schema)
        self._report = report = Report()
        self.error = None
        try:
            yield from self._read_table(names, condition, report)
        except MagicbyteError as error:
            self.error = error
            raise

    def to_reader(self, **arguments: Any) -> pa.RecordBatchReader:
        """Return the rows as a stream of Arrow batches. Arguments as for `scanner`."""
        return self.scanner(**arguments).to_reader()

    def to_batches(self, **arguments: Any) -> Iterator[pa.RecordBatch]:
        """Yield the rows as Arrow batches. Arguments as for `scanner`."""
        return self.scanner(**arguments).to_batches()

    def to_table(self, **arguments: Any) -> pa.Table:
        """Return the rows as an Arrow table in memory. Arguments as for `scanner`."""
        return self.scanner(**arguments).to_table()

    def head(self, num_rows: int, **arguments: Any) -> pa.Table:
        """Return the first *num_rows* rows. Other arguments as for `scanner`."""
        return self.scanner(**arguments).head(num_rows)

    def count_rows(self, filter: pc.Expression | None = None, **read_settings: Any) -> int:
        """Return the number of rows. Arguments as for `scanner`."""
        return self.scanner(filter=filter, **read_settings).count_rows()

    def filter(self, expression: pc.Expression) -> "TableScan":
        """Return a scan of the rows that satisfy *expression*, too."""
        narrowed = self._same()
        narrowed._filter = _both(self._filter, expression)
        return narrowed

    def _same(self) -> "TableScan":
        return TableScan(self.schema, self._read_table)

    def get_fragments(self, filter: pc.Expression | None = None) -> Iterator[pds.Dataset]:
        """Yield the scans that together have the rows; a table other than `records` has a single one."""
        yield self if filter is None else self.filter(filter)

    @property
    def physical_schema(self) -> pa.Schema:
        """The same as `schema`, as a fragment has it."""
        return self.schema

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> Any:
        raise TypeError(
            "a scan of a log cannot be pickled: open the log again in the other process"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.schema.names)})"

    def take(self, indices: object, **arguments: Any) -> pa.Table:
        """Raise NotImplementedError: rows have no numbers before they are read."""
        return self.scanner(**arguments).take(indices)

    def _unsupported(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(
            "a log can be scanned only: use to_table(), and the same method of the table"
        )

    join = join_asof = sort_by = _unsupported

    def replace_schema(self, schema: pa.Schema) -> Any:
        """Raise NotImplementedError: the types of the table are fixed."""
        raise NotImplementedError("the schema of a log is fixed: use to_table().cast(schema)")


def _both(
    arrow_filter: pc.Expression | None, another_filter: pc.Expression | None
) -> pc.Expression | None:
    if arrow_filter is None or another_filter is None:
        return another_filter if arrow_filter is None else arrow_filter
    return arrow_filter & another_filter


class LogScan(TableScan):
    """The table `records`. A condition on topic, partition, offset and timestamp limits the bytes that are read.

    Its fragments are the segments of the partitions.
    """

    def __init__(
        self,
        planner: Planner,
        log_ranges: Sequence[LogRange],
        dispositions: tuple[str, ...],
        unreadable: Sequence[Finding] = (),
        largest_timestamps: LargestTimestamps | None = None,
    ) -> None:
        super().__init__(RECORDS.schema(RECORDS.names), self._read_records)
        self._largest_timestamps = largest_timestamps or LargestTimestamps(planner)
        self._planner = planner
        self._log_ranges = log_ranges
        self._dispositions = dispositions
        self._unreadable = unreadable

    def _same(self) -> "LogScan":
        return self._of(self._log_ranges)

    def _of(self, log_ranges: Sequence[LogRange]) -> "LogScan":
        return LogScan(
            self._planner,
            log_ranges,
            self._dispositions,
            self._unreadable,
            self._largest_timestamps,
        )

    @property
    def partition_expression(self) -> pc.Expression:
        """The expression that is true for all rows: of one segment, its topic, partition and offsets."""
        if len(self._log_ranges) == 1:
            return self._log_ranges[0].guarantee
        return pc.scalar(True)

    def get_fragments(self, filter: pc.Expression | None = None) -> Iterator["LogScan"]:
        """Yield a scan of each segment that *filter* does not rule out by its offsets or timestamps.

        Args:
            filter: Condition. The scans still have rows that do not satisfy it, as pyarrow's fragments have.
        """
        arrow_filter = _both(self._filter, filter)
        log_ranges = self._log_ranges
        if self._can_narrow:
            log_ranges = [part for each in log_ranges for part in segment_ranges(each)]
        if arrow_filter is not None:
            condition = RowCondition(arrow_filter, self.schema)
            log_ranges = self._matching(log_ranges, condition, by_offset=False)
        for log_range in log_ranges:
            fragment = self._of([log_range])
            fragment._filter = self._filter
            yield fragment

    @property
    def _can_narrow(self) -> bool:
        """True if a read of a range of offsets has the rows of the whole log that are in the range."""
        return set(self._dispositions) <= set(AFTER_RANGE)

    def _matching(
        self, log_ranges: Sequence[LogRange], condition: RowCondition, *, by_offset: bool
    ) -> list[LogRange]:
        """Return the parts of *log_ranges* that may have records for which *condition* holds, in the same order."""
        matching = matching_log_ranges(log_ranges, condition, by_offset=by_offset)
        return (
            self._largest_timestamps.narrowed(matching, condition) if self._can_narrow else matching
        )

    def _read_records(
        self, names: tuple[str, ...], condition: RowCondition | None, report: Report
    ) -> Iterator[pa.RecordBatch]:
        report.findings.extend(self._unreadable)
        log_ranges = self._log_ranges
        if condition is None:
            log_ranges = [each for each in log_ranges if not each.is_left_out]
        else:
            log_ranges = self._matching(log_ranges, condition, by_offset=self._can_narrow)
        for offsets, group in groupby(log_ranges, lambda each: each.offsets):
            logs = [each.log for each in group]
            part_report = Report()
            try:
                yield from self._read_range(logs, offsets, names, part_report)
            finally:
                if offsets != NO_RANGE:
                    # The range is not the user's: a partition without it is no surprise.
                    part_report.findings = [
                        finding
                        for finding in part_report.findings
                        if finding.code != "range-outside-log"
                    ]
                report.add(part_report)

    def _read_range(
        self,
        logs: Sequence[PartitionLog],
        offsets: OffsetRange,
        names: tuple[str, ...],
        report: Report,
    ) -> Iterator[pa.RecordBatch]:
        options = self._planner.options
        clipped = intersection(options.offsets, offsets)
        if clipped is None:
            return
        planner = self._planner
        if clipped != NO_RANGE or options.times != NO_RANGE:
            # The planner of a range collects findings; another thread must not get them.
            planner = replace(planner, options=replace(options, offsets=clipped))
        yield from read_records(
            planner,
            logs,
            names,
            partial(select_rows, dispositions=self._dispositions),
            report,
            views=False,
            only_wanted="outside_range" not in self._dispositions,
        )


def records_scan(
    planner: Planner,
    log_ranges: Sequence[LogRange],
    dispositions: tuple[str, ...],
    unreadable: Sequence[Finding],
) -> LogScan:
    """Return the scan of the records of *log_ranges*. Its reports begin with the findings *unreadable*.

    Raises InputError for a disposition that does not exist.
    """
    check_dispositions(dispositions)
    return LogScan(planner, log_ranges, dispositions, unreadable)


def table_scan(
    definition: TableDefinition, rows_of: Callable[[str, tuple[str, ...]], Rows]
) -> TableScan:
    """Return the scan of a table; *rows_of* returns columns of the table with this name."""

    def read(
        names: tuple[str, ...], _: RowCondition | None, report: Report
    ) -> Iterator[pa.RecordBatch]:
        yield from rows_of(definition.name, names).read_into(report)

    return TableScan(definition.schema(definition.names), read)
