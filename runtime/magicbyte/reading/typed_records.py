"""Records of a topic with typed keys and values."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from magicbyte.decoding.decode_option import DecodeForm, parse_form
from magicbyte.decoding.faults import fault_name, sentence_of
from magicbyte.decoding.frame_search import find_frames
from magicbyte.decoding.framed_values import SideValues
from magicbyte.decoding.schema_decoders import SchemaDecoders
from magicbyte.decoding.schema_frames import NO_ID
from magicbyte.decoding.schema_text import SchemaText
from magicbyte.errors import InputError
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._one_pass import record_rows
from magicbyte.reading._record_readers import LATEST
from magicbyte.reading._schema_rows import registry_topics
from magicbyte.reading._schema_sources import SchemaPath, load_schemas, schemas_of_dataset
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading._typed_side import SideChoice, SidePlanner
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import NO_RANGE
from magicbyte.reading.results import Report, Rows
from magicbyte.reading.segment_range import known_bases
from magicbyte.reading.typed_columns import (
    ALL_COLUMNS,
    SIDES,
    RecordTypes,
    check_typed_columns,
    side_of,
    typed_field,
)
from magicbyte.tables.arrays import to_numpy
from magicbyte.tables.schemas import RECORDS

if TYPE_CHECKING:
    import pyarrow.compute as pc

DELIVERED = ("delivered",)

SAMPLE_OF_A_PARTITION = 500
"""Records of a partition that the form is recognized from."""
MAX_SAMPLE = 5000
SAMPLE_OFFSETS = 4096
"""Offsets of a partition in which these records are looked for first, so that few bytes are read of a long one."""


@dataclass(slots=True, kw_only=True)
class TypedOptions:
    """Arguments of `Dataset.typed_records`."""

    key_form: str = "auto"
    value_form: str = "auto"
    schema_paths: SchemaPath | Sequence[SchemaPath] | None = None
    reader_schema: str | int = LATEST
    columns: Sequence[str] | None = None
    dispositions: tuple[str, ...] = DELIVERED
    latest: bool = False
    filters: "Sequence[pc.Expression]" = ()

    def form(self, side: str) -> DecodeForm:
        return parse_form(self.key_form if side == "key" else self.value_form, side)

    def names(self) -> tuple[str, ...]:
        """Return the columns; InputError names one that does not exist."""
        return check_typed_columns(self.columns)


def has_likely_frames(topic_source: TopicSource, values: pa.Array) -> bool:
    """Return whether most of *values* begin like a frame, and a registry's topic is below the paths."""
    num_values = len(values) - values.null_count
    kinds = find_frames(values, None, "value").kinds
    return 2 * int((kinds > 0).sum()) > num_values > 0 and bool(registry_topics(topic_source))


def typed_reading(
    topic_source: TopicSource,
    planner: Planner,
    topic: str | None,
    options: TypedOptions,
    record_types: RecordTypes,
    *,
    all_columns: bool = False,
) -> "TypedReading":
    """Return the decoders and the schema with which the records of *topic* are read.

    Args:
        topic: Name of the topic; None for segments outside of a partition folder.
        record_types: Records of the topic whose types become columns.
        all_columns: Read all columns, not only the columns that *options* name.
    Raises:
        InputError: The topic is not there, or a form, schema or column cannot be used.
    """
    names = ALL_COLUMNS if all_columns else options.names()
    logs = [log for log in topic_source.logs if log.topic == topic]
    if not logs:
        known = sorted({log.topic for log in topic_source.logs if log.topic})
        raise InputError(f"no topic {topic!r}", f"one of {', '.join(known) or 'none'}")
    setup = Report()
    schemas = _schemas(topic_source, options, setup)
    topic_records = TopicRecords(planner, logs, topic)
    decoders = SchemaDecoders()
    sides = {
        side: SidePlanner(
            topic or "",
            side,
            schemas,
            decoders,
            topic_records.sample(side),
            partial(topic_records.batches, side),
            record_types,
            options.reader_schema,
        ).choose(options.form(side))
        for side in SIDES
        if any(side_of(name) == side for name in names)
    }
    return TypedReading(topic_records, TypedDecoder(sides, names), decoders, setup.findings)


def _schemas(topic_source: TopicSource, options: TypedOptions, report: Report) -> list[SchemaText]:
    """Return the schemas of the paths that the user named, before those in the log."""
    paths = options.schema_paths
    if paths is None:
        return schemas_of_dataset(topic_source, report)
    schema_texts: list[SchemaText] = []
    for path in [paths] if isinstance(paths, str) or not isinstance(paths, Sequence) else paths:
        schema_texts += load_schemas(path)
    return schema_texts


@dataclass(slots=True)
class TopicRecords:
    """The delivered records of a topic."""

    planner: Planner
    logs: Sequence[PartitionLog]
    topic: str | None
    _samples: dict[str, tuple[pa.Array, pa.Array]] = field(default_factory=dict)

    def sample(self, side: str) -> tuple[pa.Array, pa.Array]:
        """Return the first keys or values that are not null, of each partition, and their headers."""
        if not self._samples:
            self._read_sample()
        return self._samples[side]

    def _read_sample(self) -> None:
        schema = RECORDS.schema(("key", "value", "headers"))
        sample_parts: dict[str, list[pa.RecordBatch]] = {side: [] for side in SIDES}
        share = max(10, min(SAMPLE_OF_A_PARTITION, MAX_SAMPLE // len(self.logs)))
        for log in self.logs:
            for side, batches in self._sample_of(log, share).items():
                sample_parts[side] += batches
        for side in SIDES:
            table = pa.Table.from_batches(sample_parts[side], schema=schema).combine_chunks()
            whole = table.to_batches()
            batch = whole[0] if whole else pa.RecordBatch.from_pylist([], schema=schema)
            self._samples[side] = batch.column(side), batch.column("headers")

    def _sample_of(self, log: PartitionLog, num_rows: int) -> dict[str, list[pa.RecordBatch]]:
        """Return the first *num_rows* keys and values of *log* that are not null.

        Keys are looked for in the first SAMPLE_OFFSETS, for a topic may have none; values in more, if these have none.
        """
        batches_by_side: dict[str, list[pa.RecordBatch]] = {}
        for planner in (self._first_offsets(log), self.planner):
            if planner is None:
                continue
            batches_by_side = {side: [] for side in SIDES}
            missing = dict.fromkeys(SIDES, num_rows)
            rows = record_rows(planner, [log], ("key", "value", "headers"), DELIVERED)
            for number, batch in enumerate(rows.read_into(Report())):
                for side in SIDES:
                    some = np.flatnonzero(~_nulls(batch.column(side)))[: missing[side]]
                    batches_by_side[side].append(batch.take(pa.array(some)))
                    missing[side] -= len(some)
                if not any(missing.values()) or number >= MAX_SAMPLE_BATCHES:
                    break
            if missing["value"] < num_rows:
                break
        return batches_by_side

    def _first_offsets(self, log: PartitionLog) -> Planner | None:
        """Return a planner of the first SAMPLE_OFFSETS of *log*; None where they are not known before a survey."""
        options, bases = self.planner.options, known_bases(log)
        if not bases or options.times != NO_RANGE:
            return None
        low, high = options.offsets
        start = max(bases[0], log.log_start_offset or 0, low or 0)
        end = start + SAMPLE_OFFSETS if high is None else min(start + SAMPLE_OFFSETS, high)
        offsets = start, max(end, start)
        return replace(self.planner, options=replace(options, offsets=offsets))

    def batches(self, side: str) -> Iterator[tuple[pa.Array, pa.Array]]:
        """Yield all keys or values, with the headers of the same records."""
        for batch in self._rows(self.logs, (side, "headers")):
            yield batch.column(side), batch.column("headers")

    def _rows(
        self, logs: Sequence[PartitionLog], names: tuple[str, ...]
    ) -> Iterator[pa.RecordBatch]:
        return record_rows(self.planner, logs, names, DELIVERED).read_into(Report())


MAX_SAMPLE_BATCHES = 100
"""Arrow batches of a partition in which a sample is looked for: all keys of a topic may be null."""


def _nulls(array: pa.Array) -> Any:
    return array.is_null().to_numpy(zero_copy_only=False)


@dataclass(slots=True)
class SideCounts:
    """Values of a side, and those that did not decode, by reason."""

    num_values: int = 0
    faults: Counter[int] = field(default_factory=Counter)
    first_rows: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Partition, offset and schema id of the first value of each reason."""

    def count(self, batch: pa.RecordBatch, values: pa.Array, side_values: SideValues) -> None:
        """Count *values*, of the records *batch*, which have the columns partition and offset."""
        self.num_values += len(values) - values.null_count
        codes, first_rows, numbers = np.unique(
            side_values.fault_codes, return_index=True, return_counts=True
        )
        for code, row, number in zip(codes.tolist(), first_rows, numbers.tolist(), strict=True):
            if code:
                self.faults[code] += number
                if code not in self.first_rows:
                    partition = batch.column("partition")[int(row)].as_py()
                    offset = int(to_numpy(batch.column("offset"))[row])
                    self.first_rows[code] = partition, offset, int(side_values.ids[row])


def decoding_findings(
    topic: str | None, side: str, form: str, evidence: str, side_counts: SideCounts
) -> Iterator[Finding]:
    """Yield a finding about the form of a side, and one for each reason why values were not decoded."""
    num_faults = side_counts.faults.total()
    yield Finding(
        code="values-decoded",
        message=f"{side}s decoded as {form}: {side_counts.num_values - num_faults:,} of "
        f"{side_counts.num_values:,}; {evidence}",
        topic=topic,
        field=side,
        found=form,
    )
    for code, number in sorted(side_counts.faults.items()):
        partition, offset, schema_id = side_counts.first_rows[code]
        of_schema = f", schema id {schema_id}" if schema_id != NO_ID else ""
        yield Finding(
            code="value-not-decoded",
            message=f"{side}s not decoded: {number:,} ({fault_name(code)}: {sentence_of(code)}), "
            f"the first at offset {offset} of partition {partition}{of_schema}",
            topic=topic,
            partition=partition,
            base_offset=offset,
            field=side,
            found=fault_name(code),
        )


RecordsOf = Callable[[tuple[str, ...]], Rows]
"""Returns the chosen records of a topic, with some columns of `records`."""


@dataclass(frozen=True, slots=True)
class TypedDecoder:
    """Decodes the records of a topic. It can be sent to other processes."""

    sides: dict[str, SideChoice]
    names: tuple[str, ...]
    """Columns of typed records."""

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([self._field(name) for name in self.names])

    def _field(self, name: str) -> pa.Field:
        if name in self.sides:
            side_decoder = self.sides[name].side_decoder
            return pa.field(name, side_decoder.field_type, metadata=side_decoder.metadata)
        return typed_field(name)

    @property
    def sources(self) -> tuple[str, ...]:
        """Columns of `records` that `decode` needs."""
        plain = (name for name in self.names if side_of(name) is None)
        return tuple(dict.fromkeys((*plain, "partition", "offset", "headers", *self.sides)))

    def new_counts(self) -> dict[str, SideCounts]:
        return {side: SideCounts() for side in self.sides}

    def decode(
        self, batch: pa.RecordBatch, counts_by_side: Mapping[str, SideCounts]
    ) -> pa.RecordBatch:
        """Return the columns *names* of *batch*, which has the columns `sources`; add to *counts_by_side*."""
        columns = {name: batch.column(name) for name in self.names if side_of(name) is None}
        for side, choice in self.sides.items():
            values = batch.column(side)
            side_values = choice.side_decoder.decode(values, batch.column("headers"))
            columns |= side_columns(side, values, side_values)
            counts_by_side[side].count(batch, values, side_values)
        arrays = [columns[name] for name in self.names]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def findings(
        self, topic: str | None, counts_by_side: Mapping[str, SideCounts]
    ) -> Iterator[Finding]:
        """Yield the findings about the values of *topic* that *counts_by_side* has."""
        for side, choice in self.sides.items():
            yield from decoding_findings(
                topic, side, choice.form, choice.evidence, counts_by_side[side]
            )


@dataclass(slots=True)
class TypedReading:
    """Reads the records of a topic, decodes them, and reports on them."""

    records: TopicRecords
    decoder: TypedDecoder
    schema_decoders: SchemaDecoders
    setup_findings: list[Finding]

    @property
    def schema(self) -> pa.Schema:
        return self.decoder.schema

    @property
    def is_certain(self) -> bool:
        """False if a form was to be recognized, and the topic has no value yet."""
        return all(choice.is_certain for choice in self.decoder.sides.values())

    def narrowed(self, column_names: Iterable[str]) -> "TypedReading":
        """Return the reading of the columns *column_names*, which it has."""
        kept = tuple(column_names)
        sides = {side_of(name) for name in kept}
        choices = {side: one for side, one in self.decoder.sides.items() if side in sides}
        return replace(self, decoder=TypedDecoder(choices, kept))

    def read(self, records_of: RecordsOf, report: Report) -> Iterator[pa.RecordBatch]:
        """Yield the records of *records_of* decoded; findings as for `decoded`."""
        yield from self.decoded(records_of(self.decoder.sources).read_into(report), report)

    def decoded(
        self, record_batches: Iterable[pa.RecordBatch], report: Report
    ) -> Iterator[pa.RecordBatch]:
        """Yield *record_batches* decoded, and add a finding for each side and reason to *report*."""
        report.findings += self.setup_findings
        counts = self.decoder.new_counts()
        try:
            for batch in record_batches:
                yield self.decoder.decode(batch, counts)
                del batch  # frees the memory before more is read
        finally:  # also where the caller stops early
            report.findings += self.findings(counts)

    def findings(self, counts_by_side: Mapping[str, SideCounts]) -> Iterator[Finding]:
        """Yield the findings about the values that *counts_by_side* has, and about schemas that cannot be used."""
        yield from self.decoder.findings(self.records.topic, counts_by_side)
        yield from self.schema_findings()

    def schema_findings(self) -> Iterator[Finding]:
        """Yield the findings about schemas that cannot be used."""
        for key, error in self.schema_decoders.faults.items():
            yield Finding(
                code="schema-unusable",
                message=f"schema {self.schema_decoders.labels[key]}: {error}"[:500],
                topic=self.records.topic,
            )


def side_columns(side: str, values: pa.Array, side_values: SideValues) -> dict[str, pa.Array]:
    """Return the columns of key or value, decoded from *values*."""
    is_sound = side_values.fault_codes == 0
    errors = pa.nulls(len(values), pa.string())
    undecoded = pa.nulls(len(values), values.type)
    if not is_sound.all():
        codes, indexes = np.unique(side_values.fault_codes, return_inverse=True)
        names = pa.array([fault_name(int(code)) if code else None for code in codes], pa.string())
        errors = names.take(pa.array(indexes))
        undecoded = values.take(pa.array(np.arange(len(values)), mask=is_sound))
    return {
        side: side_values.array,
        f"{side}_schema_id": pa.array(side_values.ids, pa.int64(), mask=side_values.ids == NO_ID),
        f"{side}_schema_version": _of_schemas(
            side_values, [schema.version for schema in side_values.schema_texts], pa.int32()
        ),
        f"{side}_schema_subject": _of_schemas(
            side_values,
            [(*schema.subjects, None)[0] for schema in side_values.schema_texts],
            pa.string(),
        ),
        f"{side}_bytes": undecoded,
        f"{side}_error": errors,
    }


def _of_schemas(side_values: SideValues, facts: Sequence[Any], data_type: pa.DataType) -> pa.Array:
    """Return the fact about its schema for each row; null without a schema."""
    numbers = side_values.schema_numbers
    if numbers is None:
        return pa.nulls(len(side_values.fault_codes), data_type)
    return pa.array(facts, data_type).take(pa.array(numbers, mask=numbers < 0))
