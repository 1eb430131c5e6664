"""Rows as CSV (RFC 4180): null is an empty field, and an empty text is a quoted one.

Lists, maps and structs are JSON in one field.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import IO, Any

import pyarrow as pa

from magicbyte.tables.json_values import json_values
from magicbyte.tables.table_definition import TIME
from magicbyte_cli.display import iso_time
from magicbyte_cli.row_chunks import row_chunks

LINE_END = "\r\n"
SPECIAL = frozenset(',"\r\n')
CHUNK_ROWS = 4096

BYTE_TEXTS: dict[str, Callable[[bytes], str]] = {
    "text": lambda data: data.decode("utf-8", "backslashreplace"),
    "hex": bytes.hex,
    "base64": lambda data: b64encode(data).decode("ascii"),
}
"""Texts of byte strings, by the values of `--bytes`. With `text`, a byte that is not UTF-8 is written as `\\xff`."""


class CsvWriter:
    """Writes Arrow batches to *out*, after a line with the names of the columns."""

    def __init__(
        self, out: IO[bytes], schema: pa.Schema, *, bytes_as: str, times_as: str = "iso"
    ) -> None:
        self._out = out
        self._format_time: Callable[[int], str] = iso_time if times_as == "iso" else str
        self._bytes_text = BYTE_TEXTS[bytes_as]
        self._write_line([_quoted(name) for name in schema.names])

    def write(self, batch: pa.RecordBatch) -> None:
        for rows in row_chunks(batch, CHUNK_ROWS):
            columns = [self._fields(column) for column in rows.columns]
            for fields in zip(*columns, strict=True):
                self._write_line(fields)

    def _fields(self, column: pa.Array) -> list[str]:
        if column.type == TIME:
            return [
                "" if value is None else self._format_time(value)
                for value in column.view(pa.int64()).to_pylist()
            ]
        is_bytes = pa.types.is_binary(column.type)
        values = column.to_pylist() if is_bytes else json_values(column)
        return ["" if value is None else self._field(value) for value in values]

    def _field(self, value: Any) -> str:
        if isinstance(value, bytes):
            return _quoted(self._bytes_text(value))
        if isinstance(value, str):
            return _quoted(value)
        if isinstance(value, dict | list):
            return _quoted(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value)

    def _write_line(self, fields: Sequence[str]) -> None:
        self._out.write((",".join(fields) + LINE_END).encode("utf-8", "backslashreplace"))

    def flush(self) -> None:
        self._out.flush()


def _quoted(text: str) -> str:
    """Return *text*, in quotes if it is empty or has a character that separates fields or lines."""
    if text and SPECIAL.isdisjoint(text):
        return text
    return '"' + text.replace('"', '""') + '"'
