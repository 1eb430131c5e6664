"""Keys and values as Arrow's binary_view: few bytes in place, more of them where they were read."""

import pyarrow as pa

from magicbyte.tables.arrays import Mask, bool_array


def with_binary_views(schema: pa.Schema) -> pa.Schema:
    """Return *schema* with views in place of its columns of bytes."""
    return _with(schema, pa.binary(), pa.binary_view())


def without_binary_views(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return *rows* with columns of bytes in place of views."""
    schema = _with(rows.schema, pa.binary_view(), pa.binary())
    return rows if schema == rows.schema else rows.cast(schema)


def filter_rows(rows: pa.RecordBatch, mask: Mask) -> pa.RecordBatch:
    """Return those of *rows* where *mask* holds; Arrow's own filter knows no views."""
    found = without_binary_views(rows).filter(bool_array(mask))
    return found if found.schema == rows.schema else found.cast(rows.schema)


def _with(schema: pa.Schema, old: pa.DataType, new: pa.DataType) -> pa.Schema:
    return pa.schema([one.with_type(new) if one.type == old else one for one in schema])
