"""Rows as NDJSON: one object per line, with the names and the order of the table's columns."""

import json
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from json.encoder import encode_basestring
from typing import IO, Any

import pyarrow as pa

from magicbyte.tables.json_values import JSON_METADATA, json_values
from magicbyte.tables.schemas import HEADERS
from magicbyte.tables.table_definition import TIME
from magicbyte_cli.row_chunks import element_chunks, has_long_list, row_chunks

ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

JSON_TEXT = {name.encode(): text.encode() for name, text in JSON_METADATA.items()}
"""Metadata of a column of strings that are JSON, which are printed without quotes."""

EncodedBytes = tuple[str, str | None]
"""Suffix of the column's name, and the byte string as text."""


def as_text(data: bytes | None) -> EncodedBytes:
    """Return *data* as text if it is UTF-8, else as base64 with a suffix for the name."""
    if data is None:
        return "", None
    try:
        return "", data.decode("utf-8")
    except UnicodeDecodeError:
        return "_base64", b64encode(data).decode("ascii")


def as_hex(data: bytes | None) -> EncodedBytes:
    return "", None if data is None else data.hex()


def as_base64(data: bytes | None) -> EncodedBytes:
    return "", None if data is None else b64encode(data).decode("ascii")


BYTE_ENCODINGS: dict[str, Callable[[bytes | None], EncodedBytes]] = {
    "text": as_text,
    "hex": as_hex,
    "base64": as_base64,
}
"""Encodings of byte strings, by the values of `--bytes`."""


def object_line(row: dict[str, Any]) -> bytes:
    r"""Return *row* as a line of JSON.

    In a path that is not UTF-8, a byte such as 0xff becomes `\udcff`, as in Python.
    """
    return ENCODE(row).encode("utf-8", "backslashreplace") + b"\n"


CHUNK_ROWS = 512
"""Rows formatted together: a few hundred kilobytes of text, so that it stays in the CPU's cache."""


class NdjsonWriter:
    """Writes Arrow batches to *out*, one line per row."""

    def __init__(self, out: IO[bytes], schema: pa.Schema, *, bytes_as: str) -> None:
        self._out = out
        self._schema = schema
        self._encode_bytes = BYTE_ENCODINGS[bytes_as]

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
                self._out.write(before + self._members(column_field, column)[0].encode("utf-8"))
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
        for column_field, column in zip(self._schema, batch.columns, strict=True):
            members = self._members(column_field, column)
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

    def _members(self, column_field: pa.Field, column: pa.Array) -> list[str]:
        """Return for each row the member of its object for *column*: `"name":value`."""
        name = f"{ENCODE(column_field.name)}:"
        if column_field.metadata == JSON_TEXT:
            return [f"{name}{text or 'null'}" for text in column.to_pylist()]
        if pa.types.is_binary(column_field.type):
            return self._byte_members(column_field.name, name, column.to_pylist())
        if column_field.type == TIME:
            column = column.cast(pa.int64())
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

    def _byte_members(self, column_name: str, name: str, values: list[bytes | None]) -> list[str]:
        if self._encode_bytes is as_text and None not in values:
            with suppress(UnicodeDecodeError):
                return [
                    name + encode_basestring(data.decode()) for data in values if data is not None
                ]
        pairs = map(self._encode_bytes, values)
        return [
            (f"{ENCODE(column_name + suffix)}:" if suffix else name) + ENCODE(text)
            for suffix, text in pairs
        ]

    def _headers(self, headers: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
        if not headers:
            return headers
        objects = []
        for header in headers:
            suffix, text = self._encode_bytes(header["value"])
            objects.append({"key": header["key"], f"value{suffix}": text})
        return objects
