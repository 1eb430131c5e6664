"""Cells of a table as text for people. A null is `-`; the string `-` and the empty string are in quotes."""

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from magicbyte.tables.json_values import json_values
from magicbyte.tables.schemas import HEADERS
from magicbyte_cli.display import iso_time, printable, printable_bytes
from magicbyte_cli.row_chunks import MAX_ELEMENTS, element_chunks, num_elements

NULL = "-"


def quoted(text: str) -> str:
    """Return *text*, in quotes if it is empty or could be taken for a null or a quoted string."""
    return f'"{text}"' if text in ("", NULL) or text.startswith('"') else text


BYTE_FORMATS: dict[str, Callable[[bytes], str]] = {
    "text": lambda data: quoted(printable_bytes(data)),
    "hex": lambda data: quoted(data.hex()),
    "base64": lambda data: quoted(b64encode(data).decode("ascii")),
}
"""Formats of byte strings, by the values of `--bytes`."""

TIME_FORMATS: dict[str, Callable[[int], str]] = {"iso": iso_time, "ms": str}
"""Formats of times in milliseconds since the Unix epoch, by the values of `--time`."""


def json_cell(value: Any) -> str:
    """Return a list, map or struct as JSON of one line."""
    return printable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


class CellTexts:
    """Formats the columns of Arrow batches."""

    def __init__(self, *, bytes_as: str, times_as: str = "iso") -> None:
        self._format_bytes = BYTE_FORMATS[bytes_as]
        self._format_time = TIME_FORMATS[times_as]

    def columns(self, batch: pa.RecordBatch) -> list[list[str]]:
        """Return the texts of each column of *batch*."""
        return [
            [NULL if value is None else format_value(value) for value in values]
            for format_value, values in map(self._cells, batch.columns)
        ]

    def _cells(self, column: pa.Array) -> tuple[Callable[[Any], str], Sequence[Any]]:
        """Return a function that formats a value of *column*, and the column's values."""
        type_ = column.type
        if pa.types.is_timestamp(type_):
            # cast() would import pyarrow.compute
            return self._format_time, column.view(pa.int64()).to_pylist()
        if pa.types.is_binary(type_):
            return self._format_bytes, column.to_pylist()
        if type_ == HEADERS:
            if len(column) == 1 and num_elements(column) > MAX_ELEMENTS:
                parts = map(self._header_texts, element_chunks(column))
                return str, [f"[{', '.join(parts)}]"]
            return lambda headers: f"[{self._header_texts(headers)}]", column.to_pylist()
        if pa.types.is_boolean(type_):
            return lambda value: "true" if value else "false", column.to_pylist()
        if pa.types.is_integer(type_):
            return str, column.to_pylist()
        if pa.types.is_nested(type_):
            return json_cell, json_values(column)
        return lambda value: quoted(printable(str(value))), json_values(column)

    def _header_texts(self, headers: list[dict[str, Any]]) -> str:
        return ", ".join(
            f"{printable(header['key'])}="
            + (NULL if header["value"] is None else self._format_bytes(header["value"]))
            for header in headers
        )
