"""Typed records that satisfy conditions, which are applied before values are decoded where that is possible."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from magicbyte.errors import InputError
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._one_pass import after_findings, check_dispositions, record_rows
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.planner import Planner
from magicbyte.reading.results import Report, Rows
from magicbyte.reading.typed_columns import RecordTypes, side_of
from magicbyte.reading.typed_records import (
    DELIVERED,
    RecordsOf,
    TypedOptions,
    TypedReading,
    typed_reading,
)

if TYPE_CHECKING:
    import pyarrow.compute as pc


@dataclass(frozen=True, slots=True)
class TypedSelection:
    """Typed records of a topic that satisfy Arrow expressions."""

    reading: TypedReading
    """Reading of the columns of the rows, and of those that the expressions need."""
    names: tuple[str, ...]
    """Columns of the rows."""
    plain_filter: "pc.Expression | None"
    """Condition on columns that are not decoded."""
    typed_filter: "pc.Expression | None"
    """Condition on decoded columns."""

    @classmethod
    def of(
        cls, reading: TypedReading, names: tuple[str, ...], filters: "Sequence[pc.Expression]"
    ) -> "TypedSelection":
        """Return the rows of *reading*, which has all columns, that satisfy all of *filters*.

        Raises InputError for an expression that does not fit the columns.
        """
        plain: list[pc.Expression] = []
        typed: list[pc.Expression] = []
        needed = dict.fromkeys(names)
        for arrow_filter in filters:
            from magicbyte.reading.filtered_records import columns_of  # imports pyarrow.dataset

            used = columns_of(arrow_filter, reading.schema)
            if any(side_of(name) for name in used):
                typed.append(arrow_filter)
                needed |= dict.fromkeys(used)
            else:
                plain.append(arrow_filter)
        return cls(reading.narrowed(needed), names, _all(plain), _all(typed))

    @property
    def schema(self) -> pa.Schema:
        schema = self.reading.schema
        return pa.schema([schema.field(name) for name in self.names])

    def records(
        self,
        planner: Planner,
        logs: Sequence[PartitionLog],
        names: tuple[str, ...],
        *,
        dispositions: tuple[str, ...],
        latest: bool,
    ) -> Rows:
        """Return the records of *logs*, not decoded, that satisfy the condition on columns that are not decoded.

        Args:
            planner: Planner of *logs*.
            logs: Partitions of the topic.
            names: Columns of `records`.
            dispositions: Dispositions of the records.
            latest: Only the last delivered record of each key, if it satisfies the condition.
        """
        if latest:
            return self._latest(planner, logs, names)
        if self.plain_filter is None:
            return record_rows(planner, logs, names, dispositions)
        from magicbyte.reading.filtered_records import filtered_records

        return filtered_records(planner, logs, names, dispositions, self.plain_filter)

    def _latest(
        self, planner: Planner, logs: Sequence[PartitionLog], names: tuple[str, ...]
    ) -> Rows:
        from magicbyte.reading._latest import latest_rows

        latest_of = partial(latest_rows, planner, logs)
        if self.plain_filter is None:
            return latest_of(names)
        from magicbyte.reading.filtered_records import filtered_rows

        return filtered_rows(latest_of, names, self.plain_filter)

    def read(self, records_of: RecordsOf, report: Report) -> Iterator[pa.RecordBatch]:
        """Yield the rows among the records of *records_of*, decoded."""
        yield from self.decoded(records_of(self.reading.decoder.sources).read_into(report), report)

    def decoded(
        self, record_batches: Iterable[pa.RecordBatch], report: Report
    ) -> Iterator[pa.RecordBatch]:
        """Yield *record_batches* decoded, without the rows that do not satisfy the condition on decoded columns."""
        for batch in self.reading.decoded(record_batches, report):
            if self.typed_filter is None:
                yield batch.select(list(self.names))
            else:
                from magicbyte.reading.filtered_records import matching_rows

                for matching in matching_rows(batch, self.typed_filter):
                    yield matching.select(list(self.names))
            del batch  # frees the memory before more is read

    def matching_rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of *batch*, which has the columns `sources` of the reading, that match when decoded."""
        if self.typed_filter is None:
            return batch
        from magicbyte.reading.filtered_records import matching_rows

        decoded = self.reading.decoder.decode(batch, self.reading.decoder.new_counts())
        numbers = pa.array(range(batch.num_rows), pa.int64())
        numbered = decoded.append_column(ROW_NUMBER, numbers)
        rows = [
            matching.column(ROW_NUMBER) for matching in matching_rows(numbered, self.typed_filter)
        ]
        return batch.take(pa.concat_arrays([pa.array([], pa.int64()), *rows]))


ROW_NUMBER = "magicbyte row number"


def _all(filters: "Sequence[pc.Expression]") -> "pc.Expression | None":
    return reduce(and_, filters) if filters else None


def typed_rows(topic_source: TopicSource, planner: Planner, topic: str, **arguments: Any) -> Rows:
    """Return the records of *topic* that the *arguments* of TypedOptions choose, with typed keys and values.

    Forms and schemas are settled now, from a sample of the topic and from the registries; so is the Arrow schema.

    Raises:
        InputError: The topic is not there, or a form, schema, column, disposition or filter cannot be used.
    """
    options = TypedOptions(**arguments)
    check_dispositions(options.dispositions)
    if options.latest and options.dispositions != DELIVERED:
        raise InputError("latest with dispositions", "one of them")
    names = options.names()
    reading = typed_reading(
        topic_source,
        planner,
        topic,
        options,
        RecordTypes.ALL,
        all_columns=bool(options.filters),
    )
    selection = TypedSelection.of(reading, names, options.filters)
    topic_records = reading.records
    records_of = partial(
        selection.records,
        topic_records.planner,
        topic_records.logs,
        dispositions=options.dispositions,
        latest=options.latest,
    )
    read = partial(selection.read, records_of)
    return Rows(selection.schema, after_findings(topic_source.unreadable, read))
