"""Converts Arrow batches of records to the rows that Spark gets: with keys and values as bytes, or typed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from pyspark.sql.types import StructType

from magicbyte.decoding.faults import fault_name, sentence_of
from magicbyte.decoding.framed_values import SideDecoder, SideValues
from magicbyte.errors import FormatError, InputError
from magicbyte.findings import Finding
from magicbyte.reading.planner import Planner
from magicbyte.reading.typed_columns import COLUMNS, RecordTypes, side_of
from magicbyte.reading.typed_records import (
    TypedOptions,
    TypedReading,
    side_columns,
    typed_reading,
)
from magicbyte.spark import _spark_columns
from magicbyte.spark._options import SourceOptions
from magicbyte.spark._spark_arrays import spark_arrow_type
from magicbyte.spark._spark_columns import SparkColumn


class SparkRows(Protocol):
    """The rows of a read, and the columns of `records` that they are made from."""

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of the rows."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Columns of `records` that a batch needs to have."""

    def convert(self, batch: pa.RecordBatch) -> tuple[list[pa.Array], list[Finding]]:
        """Return the columns of *schema* for *batch*, and findings about its values."""


@dataclass(frozen=True, slots=True)
class PlainRows:
    """Rows with keys and values as bytes."""

    columns: tuple[SparkColumn, ...]
    schema: pa.Schema

    @property
    def sources(self) -> tuple[str, ...]:
        return _spark_columns.sources_of(self.columns)

    def convert(self, batch: pa.RecordBatch) -> tuple[list[pa.Array], list[Finding]]:
        return [column.convert(batch.column(column.source)) for column in self.columns], []


@dataclass(frozen=True, slots=True)
class TypedRows:
    """Rows with typed keys and values of one topic."""

    columns: tuple[SparkColumn, ...]
    schema: pa.Schema
    topic: str | None
    side_decoders: Mapping[str, SideDecoder]
    """Decoders of the sides that the columns need."""
    fails: bool
    """Raise an error at a value that cannot be decoded, as `from_avro` does by default."""

    @property
    def sources(self) -> tuple[str, ...]:
        plain = [one for one in _spark_columns.sources_of(self.columns) if side_of(one) is None]
        return tuple(dict.fromkeys([*plain, "partition", "offset", "headers", *self.side_decoders]))

    def convert(self, batch: pa.RecordBatch) -> tuple[list[pa.Array], list[Finding]]:
        """Return the columns for *batch*; FormatError for the first bad value if they are not to be null."""
        columns = {name: batch.column(name) for name in batch.schema.names}
        findings = []
        for side, side_decoder in self.side_decoders.items():
            values = batch.column(side)
            side_values = side_decoder.decode(values, batch.column("headers"))
            findings += self._faults(side, batch, side_values)
            columns |= side_columns(side, values, side_values)
        return [column.convert(columns[column.source]) for column in self.columns], findings

    def _faults(self, side: str, batch: pa.RecordBatch, side_values: SideValues) -> list[Finding]:
        """Return a finding for the first value of each reason why values were not decoded."""
        codes, rows = np.unique(side_values.fault_codes, return_index=True)
        findings = []
        for code, row in zip(codes.tolist(), rows.tolist(), strict=True):
            if code:
                partition, offset = (
                    batch.column(name)[row].as_py() for name in ("partition", "offset")
                )
                findings.append(
                    Finding(
                        code="value-not-decoded",
                        message=f"the {side} at offset {offset} of {self.topic}-{partition} was not decoded "
                        f"({fault_name(code)}): {sentence_of(code)}",
                        topic=self.topic,
                        partition=partition,
                        base_offset=offset,
                        field=side,
                        found=fault_name(code),
                    )
                )
        if findings and self.fails:
            raise FormatError(findings[0])
        return findings


@dataclass(frozen=True, slots=True)
class RowsAfterOffset:
    """Rows of a stream, with the offset of each record as their first column."""

    rows: SparkRows

    @property
    def schema(self) -> pa.Schema:
        return self.rows.schema.insert(0, pa.field("offset", pa.int64()))

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(("offset", *self.rows.sources)))

    def convert(self, batch: pa.RecordBatch) -> tuple[list[pa.Array], list[Finding]]:
        arrays, findings = self.rows.convert(batch)
        return [batch.column("offset"), *arrays], findings


def spark_rows(options: SourceOptions, schema: StructType) -> SparkRows:
    """Return the rows with the columns of *schema*; InputError for columns that there are not."""
    if options.decode is None:
        return PlainRows(*_spark_columns.requested_columns(options, schema))
    reading = _reading(options)
    columns, arrow_schema = _spark_columns.requested_columns(
        options, schema, _known_columns(reading)
    )
    sides = {side_of(column.source) for column in columns}
    side_decoders = {
        side: choice.side_decoder for side, choice in reading.decoder.sides.items() if side in sides
    }
    return TypedRows(
        columns, arrow_schema, reading.records.topic, side_decoders, options.fails_on_bad_values
    )


def default_struct(options: SourceOptions) -> StructType:
    """Return the Spark schema of a read without a schema of the user."""
    if options.decode is None:
        return _spark_columns.struct_of(_spark_columns.default_columns(options))
    known = _known_columns(_reading(options))
    if options.columns is not None:
        return _spark_columns.struct_of(_spark_columns.columns_named(options.columns, known))
    kafka = [column.name for column in _spark_columns.default_columns(options)]
    default_names = list(dict.fromkeys([*kafka, *(name for name in COLUMNS if name != "headers")]))
    return _spark_columns.struct_of(_spark_columns.columns_named(default_names, known))


def _reading(options: SourceOptions) -> TypedReading:
    """Return how keys and values of the only topic of *options* are decoded, by a sample of its records."""
    assert options.decode is not None
    dataset = options.open()
    topics = sorted({log.topic for log in dataset.logs if log.topic is not None})
    if len(topics) != 1:
        raise InputError(
            f"decode with {len(topics)} topics",
            "subscribe with one topic: each has columns of its own",
        )
    forms = options.decode
    typed_options = TypedOptions(
        key_form=str(forms["key"]),
        value_form=str(forms["value"]),
        schema_paths=options.schema_paths,
        reader_schema=options.reader_schema,
    )
    return typed_reading(
        dataset, Planner(dataset.options), topics[0], typed_options, RecordTypes.SAMPLE
    )


def _known_columns(reading: TypedReading) -> tuple[SparkColumn, ...]:
    """Return all columns of a read with typed keys and values."""
    typed = [
        SparkColumn(field.name, field.name, spark_arrow_type(field.type))
        for field in reading.schema
        if side_of(field.name) is not None
    ]
    typed_names = {column.name for column in typed}
    records = _spark_columns.COLUMNS["records"]
    plain = [column for column in records if column.name not in typed_names]
    return (*typed, *plain)
