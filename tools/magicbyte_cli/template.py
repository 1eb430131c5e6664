r"""Records by a template such as `%o %k %s\n`, with the letters of kcat's `-f`."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa
from click import BadParameter

from magicbyte_cli.display import iso_time, printable_bytes
from magicbyte_cli.row_chunks import element_chunks, row_chunks

CHUNK_ROWS = 4096

COLUMNS = {
    **{"t": "topic", "p": "partition", "o": "offset", "T": "timestamp", "h": "headers"},
    **{"k": "key", "K": "key", "s": "value", "S": "value"},
}
"""Columns of the letters. `%K` and `%S` are sizes in bytes."""

SIZES = ("K", "S")

ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "\\": b"\\"}

TOKEN = re.compile(r"%(.)|\\x([0-9A-Fa-f]{2})|\\(.)|([^%\\]+)|(.)", re.DOTALL)

BYTE_FORMATS: dict[str, Callable[[bytes], bytes]] = {
    "text": bytes,
    "hex": lambda data: data.hex().encode(),
    "base64": b64encode,
}
"""Formats of keys, values and header values, by the values of `--bytes`; `text` changes nothing."""


@dataclass(frozen=True, slots=True)
class RecordTemplate:
    """A template of records: letters, and the text around them."""

    letters: tuple[str, ...]
    text: bytes
    """Text for the operator %, with `%b` for each letter."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of records that the letters need."""
        return tuple(dict.fromkeys(COLUMNS[letter] for letter in self.letters))


def parse_template(text: str) -> RecordTemplate:
    """Parse a template; BadParameter for one without letters, and for a letter or an escape that it does not have."""
    letters = []
    parts = []
    is_ended = False
    for letter, hexadecimal, escape, literal, stray in TOKEN.findall(text):
        is_ended = bool(hexadecimal or escape)
        if letter == "%":
            parts.append(b"%%")
        elif letter:
            if letter not in COLUMNS:
                raise BadParameter(
                    f"{text!r} has %{letter}; expected one of %{', %'.join(COLUMNS)}, or %% for a percent sign"
                )
            letters.append(letter)
            parts.append(b"%b")
        elif hexadecimal:
            parts.append(bytes.fromhex(hexadecimal).replace(b"%", b"%%"))
        elif escape:
            if escape not in ESCAPES:
                raise BadParameter(rf"{text!r} has \{escape}; expected \n, \r, \t, \0, \\ or \xNN")
            parts.append(ESCAPES[escape])
        elif stray:
            raise BadParameter(
                f"{text!r} ends in {stray}; expected {stray}{stray} for the character itself"
            )
        else:
            parts.append(literal.encode("utf-8", "surrogateescape"))
    if not letters:
        raise BadParameter(
            f"{text!r} has no letter such as %s; --follow is -F, since -f is a template, as in kcat"
        )
    if not is_ended:
        parts.append(b"\n")
    return RecordTemplate(tuple(letters), b"".join(parts))


class TemplateWriter:
    """Writes records to *out* as a template says."""

    def __init__(
        self,
        out: IO[bytes],
        template: RecordTemplate,
        *,
        bytes_as: str,
        times_as: str = "ms",
        is_terminal: bool,
    ) -> None:
        """Begin. *is_terminal*: escape unprintable characters, which could be commands to a terminal."""
        self._out = out
        self._template = template
        self._bytes = _escaped if is_terminal and bytes_as == "text" else BYTE_FORMATS[bytes_as]
        self._time: Callable[[int], str] = iso_time if times_as == "iso" else str
        self._is_raw = self._bytes is bytes

    def write(self, batch: pa.RecordBatch) -> None:
        for rows in row_chunks(batch, CHUNK_ROWS):
            columns = [self._texts(letter, rows) for letter in self._template.letters]
            self._out.write(b"".join(map(self._template.text.__mod__, zip(*columns, strict=True))))
        self._out.flush()

    def flush(self) -> None:
        self._out.flush()

    def _texts(self, letter: str, rows: pa.RecordBatch) -> Sequence[bytes]:
        """Return the text of *letter* for each of *rows*."""
        column = rows.column(COLUMNS[letter])
        if letter == "h":
            return list(self._header_texts(column))
        if letter in ("k", "s"):
            return self._contents(column, _undecoded(rows, COLUMNS[letter]))
        if letter in SIZES:
            values = column.cast(pa.binary()) if pa.types.is_string(column.type) else column
            return [b"-1" if data is None else b"%d" % len(data) for data in values.to_pylist()]
        if letter == "T":
            times = column.view(pa.int64()).to_pylist()
            return [b"-1" if time is None else self._time(time).encode() for time in times]
        if letter == "t":
            texts = {name: (name or "").encode() for name in column.unique().to_pylist()}
            return [texts[name] for name in column.to_pylist()]
        return [b"" if number is None else b"%d" % number for number in column.to_pylist()]

    def _contents(self, column: pa.Array, undecoded: Sequence[bytes | None]) -> list[bytes]:
        """Return keys or values; nothing for a null. Decoded ones are text, other ones are their *undecoded* bytes."""
        values: list[Any] = column.to_pylist()
        if pa.types.is_string(column.type):
            return [
                self._bytes(data or b"") if text is None else text.encode()
                for text, data in zip(values, undecoded, strict=True)
            ]
        if not self._is_raw:
            return [b"" if data is None else self._bytes(data) for data in values]
        return [data or b"" for data in values] if column.null_count else values

    def _header_texts(self, column: pa.Array) -> Iterator[bytes]:
        """Yield the headers of each record as kcat prints them: `name=value,name=value`."""
        # A single row may have very many headers; several rows together have not.
        rows = (
            [element_chunks(column)] if len(column) == 1 else ([one] for one in column.to_pylist())
        )
        for chunks in rows:
            yield b",".join(
                header["key"].encode() + b"=" + self._header_value(header["value"])
                for headers in chunks
                for header in headers or ()
            )

    def _header_value(self, data: bytes | None) -> bytes:
        return b"NULL" if data is None else self._bytes(data)


def _undecoded(rows: pa.RecordBatch, side: str) -> list[bytes | None]:
    """Return the bytes of keys or values that were not decoded; nothing for rows without such a column."""
    name = f"{side}_bytes"
    return rows.column(name).to_pylist() if name in rows.schema.names else [None] * rows.num_rows


def _escaped(data: bytes) -> bytes:
    return printable_bytes(data).encode()
