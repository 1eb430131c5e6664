"""Rows as NDJSON: an object per line, the tables' names, in the tables' order."""

import json
from base64 import b64encode
from collections.abc import Callable
from typing import IO, Any

import pyarrow as pa

ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

Encoded = tuple[str, str | None]
"""What is put behind a column's name, and the byte string in JSON."""


def as_text(data: bytes | None) -> Encoded:
    """Return *data* as text where it is UTF-8, else as base64 under another name."""
    if data is None:
        return "", None
    try:
        return "", data.decode("utf-8")
    except UnicodeDecodeError:
        return "_base64", b64encode(data).decode("ascii")


def as_hex(data: bytes | None) -> Encoded:
    return "", None if data is None else data.hex()


def as_base64(data: bytes | None) -> Encoded:
    return "", None if data is None else b64encode(data).decode("ascii")


BYTES: dict[str, Callable[[bytes | None], Encoded]] = {
    "text": as_text,
    "hex": as_hex,
    "base64": as_base64,
}
"""The ways to write a byte string, by their names."""


def object_line(row: dict[str, Any]) -> bytes:
    r"""Return *row*, which holds what JSON can, as a line.

    A path that is not UTF-8 comes as Python holds it, with `\udcff` for the byte 0xff.
    """
    return ENCODE(row).encode("utf-8", "backslashreplace") + b"\n"


class NdjsonWriter:
    """Writes record batches to *out*, a line per row."""

    def __init__(self, out: IO[bytes], schema: pa.Schema, *, bytes_as: str) -> None:
        self._out = out
        self._schema = schema
        self._encoded = BYTES[bytes_as]

    def write(self, batch: pa.RecordBatch) -> None:
        rows: list[dict[str, Any]] = [{} for _ in range(batch.num_rows)]
        for field, column in zip(self._schema, batch.columns, strict=True):
            if pa.types.is_binary(field.type):
                for row, data in zip(rows, column.to_pylist(), strict=True):
                    ending, text = self._encoded(data)
                    row[field.name + ending] = text
                continue
            for row, value in zip(rows, self._values(field, column), strict=True):
                row[field.name] = value
        if rows:
            lines = "\n".join(map(ENCODE, rows))
            self._out.write(lines.encode("utf-8") + b"\n")
            self._out.flush()

    def close(self) -> None:
        self._out.flush()

    def _values(self, field: pa.Field, column: pa.Array) -> list[Any]:
        if pa.types.is_timestamp(field.type):
            values: list[Any] = column.cast(pa.int64()).to_pylist()
        elif pa.types.is_list(field.type):
            values = [self._headers(headers) for headers in column.to_pylist()]
        else:
            values = column.to_pylist()
        return values

    def _headers(self, headers: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
        if not headers:
            return headers
        out = []
        for header in headers:
            ending, text = self._encoded(header["value"])
            out.append({"key": header["key"], f"value{ending}": text})
        return out
