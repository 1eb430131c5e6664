"""Keys and values as Arrow's `binary_view`: short values inline, longer ones as views of read buffers."""

import pyarrow as pa

from magicbyte.tables.arrays import Mask, bool_array


def with_binary_views(schema: pa.Schema) -> pa.Schema:
    """Return *schema* with `binary_view` columns in place of `binary` ones."""
    return _replace_type(schema, pa.binary(), pa.binary_view())


def without_binary_views(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return *rows* with `binary` columns in place of `binary_view` ones, copied."""
    schema = _replace_type(rows.schema, pa.binary_view(), pa.binary())
    return rows if schema == rows.schema else rows.cast(schema)


def filter_rows(rows: pa.RecordBatch, mask: Mask) -> pa.RecordBatch:
    """Return the *rows* that *mask* selects. Arrow's own filter does not support views."""
    selected = without_binary_views(rows).filter(bool_array(mask))
    return selected if selected.schema == rows.schema else selected.cast(rows.schema)


def _replace_type(schema: pa.Schema, old: pa.DataType, new: pa.DataType) -> pa.Schema:
    return pa.schema([field.with_type(new) if field.type == old else field for field in schema])
