"""Typed records for `dump` and `export`: of several topics, the last ones, appended ones, and those that match conditions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from magicbyte import Dataset, Finding, Report, Rows
from magicbyte.decoding.decode_option import DecodeForm
from magicbyte.reading.dataset import planner_of
from magicbyte.reading.typed_columns import SIDES, RecordTypes, side_of
from magicbyte_cli.column_condition import ColumnCondition
from magicbyte_cli.record_filter import Condition, rows_where
from magicbyte_cli.stderr_messages import warn
from magicbyte_cli.typed_output import PrintedColumns

if TYPE_CHECKING:
    from magicbyte.reading.typed_selection import TypedSelection


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedCommand:
    """Forms and schemas of keys and values, and the records that are wanted."""

    forms: dict[str, DecodeForm]
    schema_paths: tuple[str, ...]
    reader_schema: str
    dispositions: tuple[str, ...] = ("delivered",)
    latest: bool = False
    where: tuple[Condition, ...] = ()
    """Conditions on bytes."""
    columns_where: tuple[ColumnCondition, ...] = ()
    """Conditions on columns, decoded or not."""

    def selection(
        self,
        dataset: Dataset,
        topic: str | None,
        column_names: tuple[str, ...] | None,
        record_types: RecordTypes,
    ) -> "TypedSelection":
        """Return the columns *column_names* of the records of *topic* that satisfy the conditions on columns.

        Raises InputError for a form, schema, column or condition that cannot be used.
        """
        from magicbyte.reading.typed_records import TypedOptions, typed_reading
        from magicbyte.reading.typed_selection import TypedSelection

        options = TypedOptions(
            key_form=str(self.forms["key"]),
            value_form=str(self.forms["value"]),
            schema_paths=self.schema_paths or None,
            reader_schema=self.reader_schema,
            columns=column_names,
        )
        reading = typed_reading(
            dataset,
            planner_of(dataset),
            topic,
            options,
            record_types,
            all_columns=bool(self.columns_where),
        )
        filters = [one.expression(reading.schema, topic) for one in self.columns_where]
        return TypedSelection.of(reading, options.names(), filters)

    def rows(
        self, dataset: Dataset, topic: str | None, column_names: tuple[str, ...] | None
    ) -> Rows:
        """Return the typed records of *topic*; their columns do not depend on the conditions."""
        typed_selection = self.selection(dataset, topic, column_names, RecordTypes.ALL)
        records_of = partial(self._records, typed_selection, _of_topic(dataset, topic))
        return Rows(typed_selection.schema, partial(typed_selection.read, records_of))

    def _records(
        self, typed_selection: "TypedSelection", dataset: Dataset, names: Sequence[str]
    ) -> Rows:
        """Return the records, not decoded, that satisfy the conditions on bytes and on columns that are not decoded."""
        records_of = partial(
            typed_selection.records,
            planner_of(dataset),
            dataset.logs,
            dispositions=self.dispositions,
            latest=self.latest,
        )
        return rows_where(records_of, names, self.where)

    def matching_records(
        self, typed_selection: "TypedSelection", dataset: Dataset, names: Sequence[str]
    ) -> Rows:
        """Return the records, not decoded, that satisfy all conditions, with the columns *names* of `records`."""
        needed = tuple(dict.fromkeys((*names, *typed_selection.reading.decoder.sources)))
        rows = self._records(typed_selection, dataset, needed)

        def read(report: Report) -> Iterator[pa.RecordBatch]:
            for batch in rows.read_into(report):
                matching = typed_selection.matching_rows(batch)
                if matching.num_rows:
                    yield matching.select(list(names))
                del batch  # frees the rows before more are read

        return Rows(pa.schema([rows.schema.field(name) for name in names]), read)

    def printable_rows(
        self, dataset: Dataset, printed_columns: PrintedColumns, tail: int | None
    ) -> Rows:
        """Return the records of all topics as `dump` prints them; with *tail*, the last ones of each partition."""

        def read(report: Report) -> Iterator[pa.RecordBatch]:
            report.findings.extend(dataset.unreadable)
            for topic in topics_of(dataset):
                typed_selection = self.selection(
                    dataset, topic, printed_columns.sources, RecordTypes.GROWING
                )
                for batch in self._decoded(
                    typed_selection, _of_topic(dataset, topic), tail, report
                ):
                    yield printed_columns.printable(batch)
                    del batch  # frees the memory before more is read

        return Rows(printed_columns.schema, read)

    def _decoded(
        self, typed_selection: "TypedSelection", dataset: Dataset, tail: int | None, report: Report
    ) -> Iterator[pa.RecordBatch]:
        if tail is None:
            yield from typed_selection.read(
                partial(self._records, typed_selection, dataset), report
            )
            return
        from magicbyte.reading.follow import last_rows

        choose = partial(self.matching_records, typed_selection)
        last = last_rows(dataset, choose, typed_selection.reading.decoder.sources, tail, report)
        yield from typed_selection.decoded(last, report)


def topics_of(dataset: Dataset) -> list[str | None]:
    """Return the topics of *dataset*, in order; None for segments outside of partition folders."""
    names = {log.topic for log in dataset.logs}
    return sorted(names, key=lambda name: (name is not None, name or ""))


def _of_topic(dataset: Dataset, topic: str | None) -> Dataset:
    """Return the dataset of the partitions of *topic*, which reports no files outside of them."""
    logs = [log for log in dataset.logs if log.topic == topic]
    return Dataset(logs, dataset.options, planner=planner_of(dataset))


@dataclass(slots=True)
class FollowedTopics:
    """Decodes records of topics that grow: a topic is settled by its first records, and again when new schemas appear."""

    typed_command: TypedCommand
    printed_columns: PrintedColumns
    opened: Dataset | None = None
    """The logs as they were opened last."""
    _selections: "dict[str | None, tuple[TypedSelection, Dataset]]" = field(default_factory=dict)
    """Selection of each topic, and the dataset that it was settled with."""
    findings: list[Finding] = field(default_factory=list)
    """Findings about values since the last call of `take_findings`."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Columns of `records` that are needed of each batch."""
        plain = (name for name in self.printed_columns.sources if side_of(name) is None)
        return tuple(dict.fromkeys((*plain, "topic", "partition", "offset", "headers", *SIDES)))

    def choose(self, dataset: Dataset, names: Sequence[str]) -> Rows:
        """Return the wanted records of *dataset*, which has one partition."""
        typed_selection = self._selection(dataset.logs[0].topic)
        return self.typed_command.matching_records(typed_selection, dataset, names)

    def _selection(self, topic: str | None, *, is_anew: bool = False) -> "TypedSelection":
        assert self.opened is not None
        if topic not in self._selections or is_anew:
            typed_selection = self.typed_command.selection(
                self.opened, topic, self.printed_columns.sources, RecordTypes.GROWING
            )
            if topic not in self._selections:
                for side, choice in typed_selection.reading.decoder.sides.items():
                    warn(f"{topic or '-'}: {side}s decoded as {choice.form}; {choice.evidence}")
            self._selections[topic] = typed_selection, self.opened
        return self._selections[topic][0]

    def printable(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return *batch*, of one partition, in the form that is printed; add to the findings."""
        topic = batch.column("topic")[0].as_py()
        typed_selection = self._selection(topic)
        decoder = typed_selection.reading.decoder
        counts = decoder.new_counts()
        decoded = decoder.decode(batch, counts)
        is_stale = self._selections[topic][1] is not self.opened
        has_faults = any(side_counts.faults for side_counts in counts.values())
        if is_stale and (has_faults or not typed_selection.reading.is_certain):
            # A schema may have been registered since the topic was settled.
            typed_selection = self._selection(topic, is_anew=True)
            counts = typed_selection.reading.decoder.new_counts()
            decoded = typed_selection.reading.decoder.decode(batch, counts)
        found = typed_selection.reading.findings(counts)
        self.findings += [one for one in found if one.code != "values-decoded"]
        return self.printed_columns.printable(decoded.select(list(self.printed_columns.sources)))

    def take_findings(self) -> list[Finding]:
        """Return the findings about values since the last call."""
        taken, self.findings = self.findings, []
        return taken
