r"""Tests of `magicbyte dump --template`."""

import io
from typing import Any

import pyarrow as pa
import pytest
from click import BadParameter

from magicbyte.tables.schemas import RECORDS
from magicbyte_cli.row_chunks import MAX_ELEMENTS
from magicbyte_cli.template import TemplateWriter, parse_template

from .conftest import PLAIN, TRANSACTIONS, refusal, run, run_ndjson

LOG = PLAIN / "headers-0"

RECORD: dict[str, Any] = {
    "topic": "orders",
    "partition": 3,
    "offset": 17,
    "timestamp": 1677807332000,
    "key": b"k",
    "value": b"\xff\x1b[2J",
    "headers": [{"key": "a", "value": b"1"}, {"key": "b", "value": None}],
}
NULLS = dict.fromkeys(RECORD) | {"offset": 18, "headers": []}


def written(
    text: str, *records: dict[str, Any], bytes_as: str = "text", is_terminal: bool = False
) -> bytes:
    template = parse_template(text)
    schema = RECORDS.schema(template.columns)
    out = io.BytesIO()
    writer = TemplateWriter(out, template, bytes_as=bytes_as, is_terminal=is_terminal)
    rows = [{name: record[name] for name in template.columns} for record in records]
    writer.write(pa.RecordBatch.from_pylist(rows, schema=schema))
    return out.getvalue()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%t %p %o", b"orders 3 17\n"),
        ("%t%%%o", b"orders%17\n"),
        ("%o: %k (%K) %s (%S)", b"17: k (1) \xff\x1b[2J (5)\n"),
        ("%T %h", b"1677807332000 a=1,b=NULL\n"),
        (r"%o\n", b"17\n"),
        (r"%o\0", b"17\0"),
        (r"%o\x25\x7C", b"17%|"),
        (r"%o\t%o\r\\ü", b"17\t17\r\\\xc3\xbc\n"),
    ],
)
def test_letters_and_escapes(text: str, expected: bytes) -> None:
    assert written(text, RECORD) == expected


def test_a_null_is_nothing_and_its_size_is_minus_one() -> None:
    assert written("[%t|%p|%o|%k|%s|%h] %K %S %T", NULLS, RECORD).splitlines()[0] == (
        b"[||18|||] -1 -1 -1"
    )


def test_a_terminal_gets_no_escape_sequences() -> None:
    assert written("%s", RECORD, is_terminal=True) == b"\\xff\\x1b[2J\n"


@pytest.mark.parametrize(("bytes_as", "value"), [("hex", b"ff1b5b324a"), ("base64", b"/xtbMko=")])
def test_bytes_have_the_format_that_is_asked_for(bytes_as: str, value: bytes) -> None:
    assert written("%s %S", RECORD, bytes_as=bytes_as) == value + b" 5\n"


def test_a_record_with_very_many_headers_is_written_whole() -> None:
    headers = [{"key": "h", "value": b"v"}] * (MAX_ELEMENTS + 5)
    line = written("%h", RECORD | {"headers": headers})
    assert line.count(b"h=v") == MAX_ELEMENTS + 5


@pytest.mark.parametrize("text", ["", "plain", "--tail", "%%", "%q", "%", "%o %", r"%o\q", "%o\\"])
def test_other_templates_are_refused(text: str) -> None:
    with pytest.raises(BadParameter):
        parse_template(text)


def test_records_are_those_of_ndjson() -> None:
    lines = run("dump", LOG, "-f", r"%o %K %S %T\n").stdout.splitlines()
    rows = run_ndjson("dump", LOG, "--bytes", "hex")
    assert lines == [
        f"{row['offset']} {len(row['key'] or '') // 2 or -1} {len(row['value']) // 2} {row['timestamp']}"
        for row in rows
    ]


def test_a_template_goes_with_conditions_tail_and_limit() -> None:
    options = ("--where-key", "key-7", "--tail", 3, "--limit", 2)
    offsets = [row["offset"] for row in run_ndjson("dump", LOG, *options)]
    assert run("dump", LOG, "-f", "%o", *options).stdout == "".join(f"{each}\n" for each in offsets)
    followed = run("dump", LOG, "-F", "-f", "%o", "--tail", 2, "--limit", 2).stdout
    assert followed == run("dump", LOG, "-f", "%o", "--tail", 2).stdout


def test_decoded_values_are_text() -> None:
    line = run("dump", LOG, "--decode", "value=string", "-f", "%o %s", "--limit", 1).stdout
    assert line == run("dump", LOG, "-f", "%o %s", "--limit", 1).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--columns", "offset"), "--template cannot be combined with --columns"),
        (("--format", "ndjson"), "--template cannot be combined with --format ndjson"),
        (("--expanded",), "--expanded applies to text, not to --template"),
        (("--table", "batches"), "--template applies to records, not to batches"),
    ],
)
def test_options_that_exclude_a_template_are_refused(
    options: tuple[str, ...], message: str
) -> None:
    assert message in refusal("dump", TRANSACTIONS, "-f", "%o", *options)


def test_the_old_meaning_of_the_option_is_explained() -> None:
    assert "--follow is -F" in refusal("dump", LOG, "-f", "--tail", 3)
