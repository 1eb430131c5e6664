"""Records of a topic with typed keys and values."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

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
from magicbyte.reading._one_pass import after_findings, record_rows
from magicbyte.reading._schema_rows import registry_topics
from magicbyte.reading._schema_sources import SchemaPath, load_schemas, schemas_of_dataset
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading._typed_side import LATEST, SideChoice, SidePlanner
from magicbyte.reading.planner import Planner
from magicbyte.reading.results import Report, Rows
from magicbyte.tables.arrays import to_numpy
from magicbyte.tables.schemas import RECORDS

DELIVERED = ("delivered",)
SIDES = ("key", "value")

SAMPLE_OF_A_PARTITION = 500
"""Records of a partition that the form is recognized from."""
MAX_SAMPLE = 5000

SIDE_COLUMNS = {
    "schema_id": pa.int64(),
    "schema_version": pa.int32(),
    "schema_subject": pa.string(),
    "bytes": pa.binary(),
    "error": pa.string(),
}
"""Arrow types of the columns of key and value, by the part of the name after `key_` or `value_`."""

COLUMNS = (
    *("topic", "partition", "offset", "timestamp", "key", "value", "headers"),
    *(f"{side}_{name}" for side in SIDES for name in ("schema_id", "schema_version")),
    *(f"{side}_{name}" for side in SIDES for name in ("bytes", "error")),
)
"""Columns of typed records, in order; other columns of `records` follow if they are named."""


@dataclass(slots=True, kw_only=True)
class TypedOptions:
    """Arguments of `Dataset.typed_records`."""

    key_form: str = "auto"
    value_form: str = "auto"
    schema_paths: SchemaPath | Sequence[SchemaPath] | None = None
    reader_schema: str | int = LATEST
    columns: Sequence[str] | None = None

    def form(self, side: str) -> DecodeForm:
        return parse_form(self.key_form if side == "key" else self.value_form, side)

    def names(self) -> tuple[str, ...]:
        """Return the columns; InputError names one that does not exist."""
        subjects = (f"{side}_schema_subject" for side in SIDES)
        known = dict.fromkeys((*COLUMNS, *subjects, *RECORDS.names))
        for name in self.columns or ():
            if name not in known:
                raise InputError(
                    f"typed records have no column {name!r}", f"some of {', '.join(known)}"
                )
        return COLUMNS if self.columns is None else tuple(self.columns)


def side_of(name: str) -> str | None:
    """Return the side that the column *name* is decoded from; None for a column of `records`."""
    side, _, part = name.partition("_")
    return side if name in SIDES or (side in SIDES and part in SIDE_COLUMNS) else None


def typed_field(name: str) -> pa.Field:
    """Return the Arrow field of a column other than key and value; InputError if there is none."""
    side, _, part = name.partition("_")
    if side in SIDES and part in SIDE_COLUMNS:
        return pa.field(name, SIDE_COLUMNS[part])
    RECORDS.check((name,))
    return RECORDS.fields[name]


def has_likely_frames(topic_source: TopicSource, values: pa.Array) -> bool:
    """Return whether most of *values* begin like a frame, and a registry's topic is below the paths."""
    sample = values.slice(0, SAMPLE_OF_A_PARTITION)
    num_values = len(sample) - sample.null_count
    kinds = find_frames(sample, None, "value").kinds
    return 2 * int((kinds > 0).sum()) > num_values > 0 and bool(registry_topics(topic_source))


def typed_rows(
    topic_source: TopicSource, planner: Planner, topic: str, options: TypedOptions
) -> Rows:
    """Return the delivered records of *topic* with typed keys and values.

    Forms and schemas are settled now, from a sample of the topic and from the registries; so is the Arrow schema.

    Raises:
        InputError: The topic is not there, or a form, schema or column cannot be used.
    """
    reading = typed_reading(topic_source, planner, topic, options, reads_all=True)
    return Rows(reading.schema, after_findings(topic_source.unreadable, reading.read))


def typed_reading(
    topic_source: TopicSource,
    planner: Planner,
    topic: str,
    options: TypedOptions,
    *,
    reads_all: bool,
) -> "TypedReading":
    """Return the decoders and the schema with which the records of *topic* are read.

    Args:
        reads_all: Look for schemas in the frames of all records, and not only of a sample: a record that the sample
            does not have gets a column, too.
    Raises:
        InputError: The topic is not there, or a form, schema or column cannot be used.
    """
    names = options.names()
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
            topic,
            side,
            schemas,
            decoders,
            topic_records.sample(side),
            partial(topic_records.batches if reads_all else topic_records.sample_batches, side),
            options.reader_schema,
        ).choose(options.form(side))
        for side in SIDES
        if any(side_of(name) == side for name in names)
    }
    return TypedReading(topic_records, sides, decoders, names, setup.findings)


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
    logs: Sequence[Any]
    topic: str
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
            missing = dict.fromkeys(SIDES, share)
            for number, batch in enumerate(self._rows([log], ("key", "value", "headers"))):
                for side in SIDES:
                    rows = np.flatnonzero(~_nulls(batch.column(side)))[: missing[side]]
                    sample_parts[side].append(batch.take(pa.array(rows)))
                    missing[side] -= len(rows)
                if not any(missing.values()) or number >= MAX_SAMPLE_BATCHES:
                    break
        for side in SIDES:
            table = pa.Table.from_batches(sample_parts[side], schema=schema).combine_chunks()
            whole = table.to_batches()
            batch = whole[0] if whole else pa.RecordBatch.from_pylist([], schema=schema)
            self._samples[side] = batch.column(side), batch.column("headers")

    def sample_batches(self, side: str) -> Iterator[tuple[pa.Array, pa.Array]]:
        """Yield the sample, as `batches` yields all records."""
        yield self.sample(side)

    def batches(self, side: str) -> Iterator[tuple[pa.Array, pa.Array]]:
        """Yield all keys or values, with the headers of the same records."""
        for batch in self._rows(self.logs, (side, "headers")):
            yield batch.column(side), batch.column("headers")

    def _rows(self, logs: Sequence[Any], names: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        return record_rows(self.planner, logs, names, DELIVERED).read_into(Report())

    def read(self, names: tuple[str, ...], report: Report) -> Iterator[pa.RecordBatch]:
        return record_rows(self.planner, self.logs, names, DELIVERED).read_into(report)


MAX_SAMPLE_BATCHES = 100
"""Arrow batches of a partition in which a sample is looked for: all keys of a topic may be null."""


def _nulls(array: pa.Array) -> Any:
    return array.is_null().to_numpy(zero_copy_only=False)


@dataclass(slots=True)
class _SideCounts:
    """Values of a side, and those that did not decode, by reason."""

    num_values: int = 0
    faults: Counter[int] = field(default_factory=Counter)
    first_rows: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Partition, offset and schema id of the first value of each reason."""


@dataclass(slots=True)
class TypedReading:
    """Reads the records of a topic, decodes them, and reports on them."""

    records: TopicRecords
    sides: dict[str, SideChoice]
    decoders: SchemaDecoders
    names: tuple[str, ...]
    setup_findings: list[Finding]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([self._field(name) for name in self.names])

    def _field(self, name: str) -> pa.Field:
        if name in self.sides:
            side_decoder = self.sides[name].side_decoder
            return pa.field(name, side_decoder.field_type, metadata=side_decoder.metadata)
        return typed_field(name)

    def read(self, report: Report) -> Iterator[pa.RecordBatch]:
        """Yield the records, and add a finding for each side and reason to *report*."""
        report.findings += self.setup_findings
        schema = self.schema
        counts = {side: _SideCounts() for side in self.sides}
        plain = [name for name in self.names if side_of(name) is None]
        needed = (*plain, "partition", "offset", "headers", *self.sides)
        try:
            for batch in self.records.read(tuple(dict.fromkeys(needed)), report):
                columns = {name: batch.column(name) for name in plain}
                for side, choice in self.sides.items():
                    values = batch.column(side)
                    side_values = choice.side_decoder.decode(values, batch.column("headers"))
                    columns |= side_columns(side, values, side_values)
                    _count(counts[side], batch, values, side_values)
                arrays = [columns[name] for name in self.names]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)
                del batch, columns, arrays  # frees the memory before more is read
        finally:  # also where the caller stops early
            for side, choice in self.sides.items():
                report.findings += self._findings(side, choice, counts[side])
            report.findings += self._schema_findings()

    def _findings(
        self, side: str, choice: SideChoice, side_counts: _SideCounts
    ) -> Iterator[Finding]:
        num_faults = side_counts.faults.total()
        yield Finding(
            code="values-decoded",
            message=f"{side}s decoded as {choice.form}: {side_counts.num_values - num_faults:,} of "
            f"{side_counts.num_values:,}; {choice.evidence}",
            topic=self.records.topic,
            field=side,
            found=choice.form,
        )
        for code, number in sorted(side_counts.faults.items()):
            partition, offset, schema_id = side_counts.first_rows[code]
            of_schema = f", schema id {schema_id}" if schema_id != NO_ID else ""
            yield Finding(
                code="value-not-decoded",
                message=f"{side}s not decoded: {number:,} ({fault_name(code)}: {sentence_of(code)}), "
                f"the first at offset {offset} of partition {partition}{of_schema}",
                topic=self.records.topic,
                partition=partition,
                base_offset=offset,
                field=side,
                found=fault_name(code),
            )

    def _schema_findings(self) -> Iterator[Finding]:
        for key, error in self.decoders.faults.items():
            yield Finding(
                code="schema-unusable",
                message=f"schema {self.decoders.labels[key]}: {error}"[:500],
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


def _count(
    side_counts: _SideCounts, batch: pa.RecordBatch, values: pa.Array, side_values: SideValues
) -> None:
    side_counts.num_values += len(values) - values.null_count
    codes, first_rows, numbers = np.unique(
        side_values.fault_codes, return_index=True, return_counts=True
    )
    for code, row, number in zip(codes.tolist(), first_rows, numbers.tolist(), strict=True):
        if code:
            side_counts.faults[code] += number
            if code not in side_counts.first_rows:
                partition = batch.column("partition")[int(row)].as_py()
                offset = int(to_numpy(batch.column("offset"))[row])
                side_counts.first_rows[code] = partition, offset, int(side_values.ids[row])
