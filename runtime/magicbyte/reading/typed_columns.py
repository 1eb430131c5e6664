"""Columns of typed records: names and Arrow types of all but the key and the value."""

from collections.abc import Iterable
from enum import Enum, auto

import pyarrow as pa

from magicbyte.errors import InputError
from magicbyte.tables.schemas import RECORDS

SIDES = ("key", "value")


class RecordTypes(Enum):
    """Records of a topic of several types whose types become columns."""

    ALL = auto()
    """All records: the topic is read once more, before the first row."""
    SAMPLE = auto()
    """Records of a sample: other records are not decoded."""
    GROWING = auto()
    """Records that were read so far: the columns change while the topic is read."""


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

ALL_COLUMNS = tuple(
    dict.fromkeys((*COLUMNS, *(f"{side}_schema_subject" for side in SIDES), *RECORDS.names))
)
"""All columns that can be named."""


def check_typed_columns(column_names: Iterable[str] | None) -> tuple[str, ...]:
    """Return *column_names*, by default all usual columns; InputError names one that does not exist."""
    checked = COLUMNS if column_names is None else tuple(column_names)
    for name in checked:
        if name not in ALL_COLUMNS:
            raise InputError(
                f"typed records have no column {name!r}", f"some of {', '.join(ALL_COLUMNS)}"
            )
    return checked


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
