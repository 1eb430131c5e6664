"""Rows as NDJSON: an object per line, the tables' names, in the tables' order."""

import json
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from json.encoder import encode_basestring
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


ROWS_AT_ONCE = 512
"""Rows whose text is made at a time: some hundred kilobytes, for the cache of the processor."""


class NdjsonWriter:
    """Writes record batches to *out*, a line per row."""

    def __init__(self, out: IO[bytes], schema: pa.Schema, *, bytes_as: str) -> None:
        self._out = out
        self._schema = schema
        self._encoded = BYTES[bytes_as]

    def write(self, batch: pa.RecordBatch) -> None:
        for begin in range(0, batch.num_rows, ROWS_AT_ONCE):
            self._write(batch.slice(begin, ROWS_AT_ONCE))
        self._out.flush()

    def _write(self, batch: pa.RecordBatch) -> None:
        # By columns, so that what is the same in every row is made once: there may be millions.
        line, varying = [], []
        for field, column in zip(self._schema, batch.columns, strict=True):
            members = self._members(field, column)
            if members.count(members[0]) == len(members):
                line.append(members[0].replace("%", "%%"))
            else:
                line.append("%s")
                varying.append(members)
        form = f"{{{','.join(line)}}}\n"
        lines = "".join(map(form.__mod__, zip(*varying, strict=True)))
        self._out.write((lines or form % () * batch.num_rows).encode("utf-8"))

    def flush(self) -> None:
        self._out.flush()

    def _members(self, field: pa.Field, column: pa.Array) -> list[str]:
        """Return the member of each row's object that *column* gives: its name and its value."""
        begin = f"{ENCODE(field.name)}:"
        if pa.types.is_binary(field.type):
            return self._bytes(field.name, begin, column.to_pylist())
        if pa.types.is_timestamp(field.type):
            column = column.cast(pa.int64())
        values = column.to_pylist()
        if pa.types.is_integer(column.type) and not column.null_count:
            return [f"{begin}{number}" for number in values]
        if pa.types.is_list(field.type):
            nothing = f"{begin}[]"
            return [
                nothing if headers == [] else begin + ENCODE(self._headers(headers))
                for headers in values
            ]
        members = {value: begin + ENCODE(value) for value in set(values)}
        return [members[value] for value in values]

    def _bytes(self, name: str, begin: str, values: list[bytes | None]) -> list[str]:
        if self._encoded is as_text and None not in values:
            with suppress(UnicodeDecodeError):
                return [
                    begin + encode_basestring(data.decode()) for data in values if data is not None
                ]
        pairs = map(self._encoded, values)
        return [
            (f"{ENCODE(name + ending)}:" if ending else begin) + ENCODE(text)
            for ending, text in pairs
        ]

    def _headers(self, headers: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
        if not headers:
            return headers
        out = []
        for header in headers:
            ending, text = self._encoded(header["value"])
            out.append({"key": header["key"], f"value{ending}": text})
        return out
