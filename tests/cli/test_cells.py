"""Tests of the values of table cells in NDJSON and in text."""

import json
from datetime import datetime
from io import BytesIO

import pyarrow as pa
import pytest

from magicbyte.tables.schemas import TABLES
from magicbyte_cli.cell_texts import CellTexts
from magicbyte_cli.csv_writer import CsvWriter
from magicbyte_cli.ndjson import NdjsonWriter
from magicbyte_cli.painter import Painter
from magicbyte_cli.text_table import TextWriter

TYPES = {column.name: column.type for column in TABLES["records"].columns}
HEADERS, TIME = TYPES["headers"], TYPES["timestamp"]

BYTES = [None, b"", b"plain", "naïve\n\u2028".encode(), b"\xff\x00"]


def output(
    kind: type[NdjsonWriter | TextWriter], columns: dict[str, pa.Array], bytes_as: str = "text"
) -> list[str]:
    """Return the lines that a writer of class *kind* writes for a table of *columns*."""
    batch, out = pa.record_batch(columns), BytesIO()
    if kind is NdjsonWriter:
        writer: NdjsonWriter | TextWriter = NdjsonWriter(out, batch.schema, bytes_as=bytes_as)
    else:
        cell_texts = CellTexts(bytes_as=bytes_as)
        writer = TextWriter(out, batch.schema, cell_texts=cell_texts, painter=Painter(False))
    writer.write(batch)
    writer.flush()
    return out.getvalue().decode().removesuffix("\n").split("\n")


def ndjson(type_: pa.DataType, values: list, *, bytes_as: str = "text") -> list[str]:
    return output(NdjsonWriter, {"value": pa.array(values, type_)}, bytes_as)


def text(type_: pa.DataType, values: list) -> list[str]:
    header, *lines = output(TextWriter, {"value": pa.array(values, type_)})
    assert header.strip() == "value"
    return [line.strip() for line in lines]


def test_bytes_have_one_name_and_an_encoding_beside_it() -> None:
    assert ndjson(pa.binary(), BYTES) == [
        '{"value":null,"value_encoding":null}',
        '{"value":"","value_encoding":"utf-8"}',
        '{"value":"plain","value_encoding":"utf-8"}',
        '{"value":"naïve\\n\u2028","value_encoding":"utf-8"}',
        '{"value":"/wA=","value_encoding":"base64"}',
    ]
    assert ndjson(pa.binary(), BYTES[1:4]) == ndjson(pa.binary(), BYTES)[1:4]


def test_the_encoding_does_not_take_the_name_of_a_column() -> None:
    columns = {"value": pa.array([b"x"]), "value_encoding": pa.array(["mine"])}
    assert output(NdjsonWriter, columns) == [
        '{"value":"x","value_encoding_":"utf-8","value_encoding":"mine"}'
    ]


def test_bytes_keep_their_name_where_a_form_is_asked_for() -> None:
    assert ndjson(pa.binary(), BYTES[2:], bytes_as="hex") == [
        '{"value":"706c61696e"}',
        '{"value":"6e61c3af76650ae280a8"}',
        '{"value":"ff00"}',
    ]
    assert ndjson(pa.binary(), [None, b"\xff\x00"], bytes_as="base64") == [
        '{"value":null}',
        '{"value":"/wA="}',
    ]


def test_headers_are_objects_and_null_is_not_empty() -> None:
    headers = [None, [], [{"key": "k", "value": None}, {"key": "k", "value": b"\xff"}]]
    assert ndjson(HEADERS, headers) == [
        '{"value":null}',
        '{"value":[]}',
        '{"value":[{"key":"k","value":null,"value_encoding":null},'
        '{"key":"k","value":"/w==","value_encoding":"base64"}]}',
    ]
    assert ndjson(HEADERS, headers[2:], bytes_as="hex") == [
        '{"value":[{"key":"k","value":null},{"key":"k","value":"ff"}]}'
    ]


def test_numbers_of_64_bits_and_times_are_exact() -> None:
    numbers = [None, -1, (1 << 63) - 1, -(1 << 63)]
    for type_ in (pa.int64(), TIME):
        lines = ndjson(type_, [None, *pa.array(numbers[1:], pa.int64()).cast(type_)])
        assert [json.loads(line)["value"] for line in lines] == numbers


def test_times_are_iso_or_milliseconds_in_all_formats() -> None:
    batch = pa.record_batch({"at": pa.array([0, None], pa.int64()).cast(TIME)})
    texts = {}
    for times_as in ("iso", "ms"):
        for name, writer_class in (("ndjson", NdjsonWriter), ("csv", CsvWriter)):
            out = BytesIO()
            writer = writer_class(out, batch.schema, bytes_as="text", times_as=times_as)
            writer.write(batch)
            texts[name, times_as] = out.getvalue().decode().split()
        cell_texts = CellTexts(bytes_as="text", times_as=times_as)
        texts["text", times_as] = cell_texts.columns(batch)[0]
    iso = "1970-01-01T00:00:00.000Z"
    assert texts == {
        ("ndjson", "iso"): [f'{{"at":"{iso}"}}', '{"at":null}'],
        ("csv", "iso"): ["at", iso],
        ("text", "iso"): [iso, "-"],
        ("ndjson", "ms"): ['{"at":0}', '{"at":null}'],
        ("csv", "ms"): ["at", "0"],
        ("text", "ms"): ["0", "-"],
    }


def test_no_row_is_no_line() -> None:
    assert ndjson(pa.int64(), []) == [""]


def test_text_tells_null_from_empty_from_a_dash() -> None:
    lines = text(pa.binary(), [None, b"", b"-", b'"-"', b"a b"])
    assert lines == ["-", '""', '"-"', '""-""', "a b"]


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"\x1b[2Jgone", r"\x1b[2Jgone"),
        (b"two\nlines\tand\r", r"two\nlines\tand\r"),
        (b"\xff\xfe", r"\xff\xfe"),
        ("\u202egnp.exe".encode(), r"\u202egnp.exe"),
        ("大阪 naïve".encode(), "大阪 naïve"),
    ],
)
def test_text_moves_no_cursor(data: bytes, shown: str) -> None:
    assert text(pa.binary(), [data]) == [shown]


def test_times_that_no_calendar_holds_are_shown_as_they_are() -> None:
    times = pa.array([0, -1, 253402300799999, 253402300800000, -(1 << 63)], pa.int64()).cast(TIME)
    assert text(TIME, list(times)) == [
        "1970-01-01T00:00:00.000Z",
        "1969-12-31T23:59:59.999Z",
        "9999-12-31T23:59:59.999Z",
        "253402300800000ms",
        "-9223372036854775808ms",
    ]
    assert datetime.fromisoformat("9999-12-31T23:59:59.999Z").year == 9999


def test_columns_stay_aligned_under_wide_characters() -> None:
    columns = {"name": ["大阪", "ab"], "number": [1, 200], "is_so": [True, None]}
    lines = output(TextWriter, {name: pa.array(values) for name, values in columns.items()})
    assert lines == ["name  number  is_so", "大阪       1  true", "ab       200  -"]
