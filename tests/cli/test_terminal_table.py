"""Tests of rows on a terminal: headings, widths, colors, and blocks."""

import io
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from magicbyte_cli.cell_texts import CellTexts
from magicbyte_cli.display_width import cut_at_end, cut_in_middle, display_width
from magicbyte_cli.expanded_text import ExpandedWriter
from magicbyte_cli.painter import Painter
from magicbyte_cli.terminal_table import TerminalWriter
from magicbyte_cli.text_table import TextWriter

RED, YELLOW, MAGENTA, END = "\x1b[31m", "\x1b[33m", "\x1b[35m", "\x1b[0m"

NAMES = ("topic", "partition", "offset", "key", "value")


def records(*rows: Sequence[Any], names: Sequence[str] = NAMES) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([dict(zip(names, row, strict=True)) for row in rows])


def lines_of(
    *batches: pa.RecordBatch, columns: int = 80, is_colored: bool = False, **options: Any
) -> list[str]:
    out = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("LINES", "24")
        writer = TerminalWriter(
            out,
            batches[0].schema,
            cell_texts=CellTexts(bytes_as="text"),
            painter=Painter(is_colored),
            **options,
        )
        for batch in batches:
            writer.write(batch)
            writer.flush()
        writer.finish()
    lines = out.getvalue().decode().splitlines()
    if not is_colored and options.get("is_cut", True):
        assert max(map(display_width, lines), default=0) <= columns
    return lines


def test_columns_of_one_value_are_in_a_heading_that_is_repeated_where_it_changes() -> None:
    first = [("orders", 0, offset, f"k{offset}", "a") for offset in range(5)]
    second = [("orders", 1, offset, f"k{offset}", "b") for offset in range(4)]
    assert lines_of(records(*first), records(*second)) == [
        "topic orders, partition 0",
        "offset  key  value",
        *(f"     {offset}  k{offset}   a" for offset in range(5)),
        "",
        "topic orders, partition 1",
        *(f"     {offset}  k{offset}   b" for offset in range(4)),
    ]


def test_headings_are_given_up_where_they_would_change_with_each_row() -> None:
    first = [("orders", 0, offset, None, "a") for offset in range(5)]
    mixed = [("orders", offset % 2, offset, None, "a") for offset in range(8)]
    lines = lines_of(records(*first), records(*mixed))
    assert lines[0] == "topic orders, partition 0, key -"
    assert lines[7:11] == [
        "",
        "topic orders, key -",
        "partition  offset  value",
        "        0       0  a",
    ]


def test_a_partition_is_not_in_the_heading_without_its_topic() -> None:
    lines = lines_of(records(*((name, 0, 1, "k", "v") for name in ("a", "b", "c"))))
    assert lines[0].split() == list(NAMES)


def test_a_single_record_has_a_heading_of_its_partition() -> None:
    assert lines_of(records(("orders", 3, 7, "k", "v"))) == [
        "topic orders, partition 3",
        "offset  key  value",
        "     7  k    v",
    ]


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_key_and_value_are_shown_however_long_the_topic_is(columns: int) -> None:
    topic = "payments.eu-central-1.prod.customer-account-balance-changed.v2"
    rows = [(f"{topic}{number}", number, 1000, "key-1", "value " * 30) for number in range(3)]
    header, *lines = lines_of(records(*rows), columns=columns)
    assert header.split()[-2:] == ["key", "value"]
    assert all("key-1  value v" in line for line in lines)
    if columns < 80:
        assert lines[0].startswith("payme") and lines[0].split()[0].endswith(".v20")
        assert "…" in lines[0].split()[0]


def test_a_value_gets_all_the_room_that_is_left() -> None:
    (_, _, line) = lines_of(records(("t", 0, 7, "k", "x" * 500)), columns=120)
    assert display_width(line) == 120 and line.endswith("x…")


def test_columns_without_room_are_left_out_and_named() -> None:
    names = ("offset", "first_number", "second_number", "third_number", "value")
    batch = records(*((n, 10**17 + n, 10**17 + n, 10**17 + n, "v") for n in range(4)), names=names)
    out = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "55")
        writer = TerminalWriter(
            out, batch.schema, cell_texts=CellTexts(bytes_as="text"), painter=Painter(False)
        )
        writer.write(batch)
        writer.finish()
    assert writer.left_out == ["third_number"]
    assert out.getvalue().decode().splitlines()[:2] == [
        "offset        first_number       second_number  value",
        "     0  100000000000000000  100000000000000000  v",
    ]


def test_nothing_is_cut_or_left_out_if_that_is_asked_for() -> None:
    value = "x" * 500
    lines = lines_of(records(("t", 0, 7, "k" * 90, value)), columns=40, is_cut=False)
    assert lines[2] == f"     7  {'k' * 90}  {value}"


def test_names_of_columns_are_printed_without_rows() -> None:
    batch = records(("t", 0, 7, "k", "v")).slice(0, 0)
    assert lines_of(batch) == ["topic  partition  offset  key  value"]


@pytest.mark.parametrize(
    ("outcome", "disposition", "color"),
    [
        ("committed", "delivered", None),
        ("aborted", "delivered", RED),
        ("open", "withheld", YELLOW),
        (None, "control", MAGENTA),
        ("aborted", "control", MAGENTA),
    ],
)
def test_rows_have_the_color_of_their_outcome(
    outcome: str | None, disposition: str, color: str | None
) -> None:
    names = ("offset", "value", "outcome", "disposition")
    batch = records((1, "v", outcome, disposition), names=names)
    line = lines_of(batch, is_colored=True, num_hidden=2)[-1]
    text = "     1  v"
    assert line == (text if color is None else f"{color}{text}{END}")
    out = io.BytesIO()
    writer = TextWriter(
        out,
        batch.schema,
        cell_texts=CellTexts(bytes_as="text"),
        painter=Painter(True),
        num_hidden=2,
    )
    writer.write(batch)
    writer.flush()
    assert out.getvalue().decode().splitlines()[-1] == line


def test_a_block_has_a_line_for_each_column_and_cuts_nothing() -> None:
    value = "x" * 300
    batch = records(("orders", 0, 7, None, value), ("orders", 0, 8, "", "-"))
    out = io.BytesIO()
    writer = ExpandedWriter(
        out, batch.schema, cell_texts=CellTexts(bytes_as="text"), painter=Painter(False)
    )
    writer.write(batch)
    assert out.getvalue().decode().splitlines() == [
        "-[ orders-0 offset 7 ]--------------------------------------",
        "topic      orders",
        "partition  0",
        "offset     7",
        "key        -",
        f"value      {value}",
        "-[ orders-0 offset 8 ]--------------------------------------",
        "topic      orders",
        "partition  0",
        "offset     8",
        'key        ""',
        'value      "-"',
    ]


def test_a_block_without_an_offset_has_a_number() -> None:
    batch = records(("a",), ("b",), names=("subject",))
    out = io.BytesIO()
    writer = ExpandedWriter(
        out, batch.schema, cell_texts=CellTexts(bytes_as="text"), painter=Painter(False)
    )
    writer.write(batch)
    assert out.getvalue().decode().splitlines()[2].startswith("-[ row 2 ]---")


@pytest.mark.parametrize("width", range(1, 9))
@pytest.mark.parametrize("text", ["", "a", "abcdefgh", "abcdefghi", "大阪大阪大阪", "e\u0301" * 9])
def test_a_text_that_is_cut_is_as_wide_as_it_may_be(text: str, width: int) -> None:
    for cut in (cut_at_end, cut_in_middle):
        shown = cut(text, width)
        assert display_width(shown) <= width
        assert (shown == text) == (display_width(text) <= width)
        assert shown == text or "…" in shown
    if display_width(text) > width > 3:
        assert cut_in_middle(text, width)[0] == text[0]


def test_a_name_that_is_cut_keeps_its_beginning_and_its_end() -> None:
    assert cut_in_middle("payments.orders.v2", 11) == "payme…rs.v2"


def test_columns_that_matter_least_are_left_out_first() -> None:
    batch = records(
        (1, "a" * 20, 3, "b" * 20), (2, "c" * 20, 4, "d" * 20), names=("n", "s", "m", "t")
    )
    assert lines_of(batch, columns=30, left_out_first=("s", "n"))[0].split() == ["n", "m", "t"]
    assert lines_of(batch, columns=12, left_out_first=("t", "s"))[0].split() == ["n", "m"]


def test_rows_that_are_not_sorted_by_topic_have_no_heading_for_each_topic() -> None:
    rows = [("orders" if number < 4 else "logs", 0, number, "k", "v") for number in range(8)]
    assert lines_of(records(*rows))[0] == "topic orders, partition 0"
    lines = lines_of(records(*rows), run_columns=())
    assert lines[0] == "partition 0" and lines[1].split() == ["topic", "offset", "key", "value"]
    assert "topic" not in "".join(lines[2:])
