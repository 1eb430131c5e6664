"""Rows as NDJSON: one object per line, with the names and the order of the table's columns.

A column of bytes has the same name for all bytes. With `--bytes text`, a member after it says how they are
written: `"value":"...","value_encoding":"utf-8"`, or `base64` for bytes that are not UTF-8.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Container
from contextlib import suppress
from itertools import chain
from json.encoder import encode_basestring
from typing import IO, Any

import pyarrow as pa

from magicbyte.tables.json_values import JSON_METADATA, json_values
from magicbyte.tables.schemas import HEADERS
from magicbyte.tables.table_definition import TIME
from magicbyte_cli.display import iso_time
from magicbyte_cli.row_chunks import element_chunks, has_long_list, row_chunks

ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

JSON_TEXT = {name.encode(): text.encode() for name, text in JSON_METADATA.items()}
"""Metadata of a column of strings that are JSON, which are printed without quotes."""

UTF8, BASE64 = "utf-8", "base64"

EncodedBytes = tuple[str | None, str | None]
"""A byte string as text, and its encoding; None for null."""


def as_text(data: bytes | None) -> EncodedBytes:
    """Return *data* as text if it is UTF-8, else in base64."""
    if data is None:
        return None, None
    try:
        return data.decode("utf-8"), UTF8
    except UnicodeDecodeError:
        return b64encode(data).decode("ascii"), BASE64


BYTE_ENCODINGS: dict[str, Callable[[bytes], str]] = {
    "hex": bytes.hex,
    "base64": lambda data: b64encode(data).decode("ascii"),
}
"""Encodings of all byte strings, by the values of `--bytes`; with `text` each has its own."""


def encoding_name(column_name: str, taken: Container[str] = ()) -> str:
    """Return the name of the member with the encoding of *column_name*, which is none of the *taken* names."""
    name = f"{column_name}_encoding"
    while name in taken:
        name += "_"
    return name


def header_object(
    record_header: dict[str, Any], encode: Callable[[bytes], str] | None
) -> dict[str, Any]:
    """Return a record header; without *encode*, with the encoding of its value."""
    name, data = record_header["key"], record_header["value"]
    if encode is not None:
        return {"key": name, "value": None if data is None else encode(data)}
    text, encoding = as_text(data)
    return {"key": name, "value": text, "value_encoding": encoding}


def object_line(row: dict[str, Any]) -> bytes:
    r"""Return *row* as a line of JSON.

    In a path that is not UTF-8, a byte such as 0xff becomes `\udcff`, as in Python.
    """
    return ENCODE(row).encode("utf-8", "backslashreplace") + b"\n"


CHUNK_ROWS = 512
"""Rows formatted together: a few hundred kilobytes of text, so that it stays in the CPU's cache."""


class NdjsonWriter:
    """Writes Arrow batches to *out*, one line per row."""

    def __init__(
        self, out: IO[bytes], schema: pa.Schema, *, bytes_as: str, times_as: str = "ms"
    ) -> None:
        self._out = out
        self._schema = schema
        self._encode = BYTE_ENCODINGS.get(bytes_as)
        """Encoding of all byte strings; None if each has its own."""
        self._has_iso_times = times_as == "iso"

    def write(self, batch: pa.RecordBatch) -> None:
        for rows in row_chunks(batch, CHUNK_ROWS):
            if has_long_list(rows):
                self._write_long(rows)
            else:
                self._write(rows)
        self._out.flush()

    def _write_long(self, long_row: pa.RecordBatch) -> None:
        """Write one row with very many headers, some of them at a time."""
        before = b"{"
        for column_field, column in zip(self._schema, long_row.columns, strict=True):
            if column_field.type != HEADERS:
                members = [each[0] for each in self._members(column_field, column)]
                self._out.write(before + ",".join(members).encode("utf-8"))
            else:
                self._out.write(before + f"{ENCODE(column_field.name)}:".encode())
                for number, elements in enumerate(element_chunks(column)):
                    text = ENCODE(self._headers(elements))
                    self._out.write((("," if number else "[") + text[1:-1]).encode("utf-8"))
                self._out.write(b"]")
            before = b","
        self._out.write(b"}\n")

    def _write(self, batch: pa.RecordBatch) -> None:
        # A column with one value in all rows is formatted once, as part of the line's template.
        template, varying = [], []
        columns = zip(self._schema, batch.columns, strict=True)
        for members in chain.from_iterable(map(self._members, *zip(*columns, strict=True))):
            if members.count(members[0]) == len(members):
                template.append(members[0].replace("%", "%%"))
            else:
                template.append("%s")
                varying.append(members)
        line = f"{{{','.join(template)}}}\n"
        lines = "".join(map(line.__mod__, zip(*varying, strict=True)))
        self._out.write((lines or line % () * batch.num_rows).encode("utf-8"))

    def flush(self) -> None:
        self._out.flush()

    def _members(self, column_field: pa.Field, column: pa.Array) -> list[list[str]]:
        """Return for each row the member of its object for *column*, `"name":value`, and perhaps one for its encoding."""
        if pa.types.is_binary(column_field.type):
            return self._byte_members(column_field.name, column.to_pylist())
        return [self._value_members(column_field, column)]

    def _value_members(self, column_field: pa.Field, column: pa.Array) -> list[str]:
        name = f"{ENCODE(column_field.name)}:"
        if column_field.metadata == JSON_TEXT:
            return [f"{name}{text or 'null'}" for text in column.to_pylist()]
        if column_field.type == TIME:
            column = column.cast(pa.int64())
            if self._has_iso_times:
                return [
                    f"{name}null" if time is None else f'{name}"{iso_time(time)}"'
                    for time in column.to_pylist()
                ]
        if column_field.type == HEADERS:
            empty = f"{name}[]"
            return [
                empty if headers == [] else name + ENCODE(self._headers(headers))
                for headers in column.to_pylist()
            ]
        values = json_values(column)
        if pa.types.is_nested(column.type):
            return [name + ENCODE(value) for value in values]
        if pa.types.is_integer(column.type) and not column.null_count:
            return [f"{name}{number}" for number in values]
        members = {value: name + ENCODE(value) for value in set(values)}
        return [members[value] for value in values]

    def _byte_members(self, column_name: str, values: list[bytes | None]) -> list[list[str]]:
        name = f"{ENCODE(column_name)}:"
        if self._encode is not None:
            encode = self._encode
            return [
                [f"{name}null" if data is None else f'{name}"{encode(data)}"' for data in values]
            ]
        other = f"{ENCODE(encoding_name(column_name, self._schema.names))}:"
        if None not in values:
            with suppress(UnicodeDecodeError):
                texts = [
                    name + encode_basestring(data.decode()) for data in values if data is not None
                ]
                return [texts, [f'{other}"{UTF8}"'] * len(texts)]
        pairs = list(map(as_text, values))
        return [
            [name + ENCODE(text) for text, _ in pairs],
            [other + ENCODE(encoding) for _, encoding in pairs],
        ]

    def _headers(self, headers: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
        return headers and [header_object(header, self._encode) for header in headers]
