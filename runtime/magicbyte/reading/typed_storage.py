"""Typed records with types that files can hold: no dictionaries, no structs without members, no calendar intervals."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from magicbyte.findings import Finding
from magicbyte.reading.results import Report, Rows
from magicbyte.tables.json_values import JSON_METADATA, json_values
from magicbyte.tables.nested_arrays import rebuilt_array
from magicbyte.tables.stored_types import MICROSECONDS, microseconds

MILLISECONDS = pa.timestamp("ms", tz="UTC")


def stored_rows(rows: Rows, topic: str | None) -> Rows:
    """Return *rows*, typed records of *topic*, with the types of files.

    A time that does not fit into 64-bit microseconds is null, with a finding.
    """
    schema = stored_typed_schema(rows.schema)

    def read(report: Report) -> Iterator[pa.RecordBatch]:
        lost: Counter[str] = Counter()
        try:
            for batch in rows.read_into(report):
                yield stored_batch(batch, schema, lost)
                del batch  # frees the memory before more is read
        finally:
            report.findings += lost_time_findings(topic, lost)

    return Rows(schema, read)


def stored_typed_schema(schema: pa.Schema) -> pa.Schema:
    """Return *schema*, of typed records, with the types of files."""
    return pa.schema([_stored_field(arrow_field) for arrow_field in schema])


def stored_batch(batch: pa.RecordBatch, schema: pa.Schema, lost: Counter[str]) -> pa.RecordBatch:
    """Return *batch* with *schema*, which is from `stored_typed_schema`; count the times that become null in *lost*, by column."""
    arrays = [
        _stored_array(column, arrow_field, lost)
        for column, arrow_field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def lost_time_findings(topic: str | None, lost: Mapping[str, int]) -> Iterator[Finding]:
    """Yield a finding for each column with times that became null; *lost* has their number."""
    for column, count in lost.items():
        times = "1 time is" if count == 1 else f"{count:,} times are"
        yield Finding(
            code="timestamp-out-of-range",
            message=f"{times} beyond what 64-bit microseconds hold and became null",
            topic=topic,
            field=column,
        )


def _stored_field(arrow_field: pa.Field) -> pa.Field:
    if not _is_storable(arrow_field.type):
        return pa.field(arrow_field.name, pa.string(), metadata=JSON_METADATA)
    return arrow_field.with_type(_stored_type(arrow_field.type))


def _stored_array(column: pa.Array, arrow_field: pa.Field, lost: Counter[str]) -> pa.Array:
    if not _is_storable(column.type):
        return pa.array(list(map(_json_text, json_values(column))), pa.string())
    return rebuilt_array(column, arrow_field.type, partial(_stored_leaf, arrow_field.name, lost))


def _stored_leaf(
    column_name: str, lost: Counter[str], array: pa.Array, new_type: pa.DataType
) -> pa.Array:
    if new_type != MICROSECONDS:
        return array.cast(new_type)
    times = microseconds(array)
    if times.null_count > array.null_count:
        lost[column_name] += times.null_count - array.null_count
    return times


def _json_text(json_value: Any) -> str | None:
    if json_value is None:
        return None
    return json.dumps(json_value, ensure_ascii=False, separators=(",", ":"))


def _is_storable(data_type: pa.DataType) -> bool:
    if pa.types.is_interval(data_type) or pa.types.is_duration(data_type):
        return False
    if pa.types.is_struct(data_type):
        return data_type.num_fields > 0 and all(
            _is_storable(arrow_field.type) for arrow_field in data_type
        )
    if pa.types.is_list(data_type):
        return _is_storable(data_type.value_type)
    if pa.types.is_map(data_type):
        return _is_storable(data_type.key_type) and _is_storable(data_type.item_type)
    return True


def _stored_type(data_type: pa.DataType) -> pa.DataType:
    if data_type == MILLISECONDS:
        return MICROSECONDS  # all query engines read them
    if pa.types.is_dictionary(data_type):
        return data_type.value_type
    if pa.types.is_struct(data_type):
        return pa.struct(
            [(arrow_field.name, _stored_type(arrow_field.type)) for arrow_field in data_type]
        )
    if pa.types.is_list(data_type):
        return pa.list_(_stored_type(data_type.value_type))
    if pa.types.is_map(data_type):
        return pa.map_(_stored_type(data_type.key_type), _stored_type(data_type.item_type))
    return data_type
