"""Changes of the columns of Parquet files of one topic, which readers merge: columns may come and go, types stay."""

from collections.abc import Iterator

import pyarrow as pa


class SchemaChangeError(ValueError):
    """A column has two types, which no reader merges."""

    def __init__(self, column: str, earlier_name: str, newer_name: str) -> None:
        super().__init__(f"{column} is {newer_name}, and was {earlier_name}")
        self.column, self.earlier, self.newer = column, earlier_name, newer_name


def merged_schema(earlier_schema: pa.Schema, newer_schema: pa.Schema) -> pa.Schema:
    """Return the columns of both schemas, as Spark's `mergeSchema` does; SchemaChangeError for one with two types."""
    return pa.schema(_merged_fields([*earlier_schema], [*newer_schema], ""))


def _merged_fields(
    earlier_fields: list[pa.Field], newer_fields: list[pa.Field], parent: str
) -> list[pa.Field]:
    fields_by_name = {one.name: one for one in earlier_fields}
    for arrow_field in newer_fields:
        known = fields_by_name.get(arrow_field.name, arrow_field)
        path = parent + arrow_field.name
        if (known.metadata or {}) != (arrow_field.metadata or {}):
            raise SchemaChangeError(path, _kind(known), _kind(arrow_field))
        fields_by_name[arrow_field.name] = known.with_type(
            _merged_type(known.type, arrow_field.type, path)
        )
    return list(fields_by_name.values())


def _kind(arrow_field: pa.Field) -> str:
    """Return in words what a column holds, which its metadata say."""
    metadata = arrow_field.metadata or {}
    if metadata.get(b"magicbyte.struct") == b"one-of":
        return "one of several types of records"
    return (
        "JSON text"
        if b"magicbyte.text" in metadata
        else f"a single type ({_named(arrow_field.type)})"
    )


def _merged_type(earlier_type: pa.DataType, newer_type: pa.DataType, path: str) -> pa.DataType:
    types = pa.types
    if earlier_type == newer_type:
        return earlier_type
    if types.is_struct(earlier_type) and types.is_struct(newer_type):
        return pa.struct(_merged_fields(list(earlier_type), list(newer_type), f"{path}."))
    if types.is_list(earlier_type) and types.is_list(newer_type):
        return pa.list_(_merged_type(earlier_type.value_type, newer_type.value_type, f"{path}[]"))
    if (
        types.is_map(earlier_type)
        and types.is_map(newer_type)
        and earlier_type.key_type == newer_type.key_type
    ):
        item_type = _merged_type(earlier_type.item_type, newer_type.item_type, f"{path}{{}}")
        return pa.map_(earlier_type.key_type, item_type)
    raise SchemaChangeError(path, _named(earlier_type), _named(newer_type))


def _named(data_type: pa.DataType) -> str:
    """Return *data_type* in a few words: a struct may have hundreds of members."""
    for is_type, name in (
        (pa.types.is_struct, "a struct"),
        (pa.types.is_list, "a list"),
        (pa.types.is_map, "a map"),
    ):
        if is_type(data_type):
            return name
    return str(data_type)


def added_columns(earlier_schema: pa.Schema, newer_schema: pa.Schema) -> list[str]:
    """Return the columns and members, with dots between their names, that *newer_schema* has and *earlier_schema* lacks."""
    return list(_added([*earlier_schema], [*newer_schema], ""))


def _added(
    earlier_fields: list[pa.Field], newer_fields: list[pa.Field], parent: str
) -> Iterator[str]:
    fields_by_name = {one.name: one for one in earlier_fields}
    for arrow_field in newer_fields:
        known = fields_by_name.get(arrow_field.name)
        if known is None:
            yield parent + arrow_field.name
        elif pa.types.is_struct(known.type) and pa.types.is_struct(arrow_field.type):
            path = f"{parent}{arrow_field.name}."
            yield from _added(list(known.type), list(arrow_field.type), path)
