"""Tests of the reference's worked examples against their bytes and the Construct twin."""

import contextlib
import gzip
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest
from construct import ConstructError

from magicbyte_construct import Uvarint, Varint, Varlong
from magicbyte_construct.control import CONTROL_TYPES
from magicbyte_tools.reference.examples import EXAMPLES, Example
from magicbyte_tools.reference.library import Library
from magicbyte_tools.reference.walk import UnaccountedError, leaves, parse
from magicbyte_tools.vectors.tree import FORMATS, tree
from paths import CHECKOUT, DATA

OTHER_SHAPE = {
    *("kafka_record_batch_kip_931", "kafka_kraft_snapshot"),
    *("kafka_uvarint", "kafka_varint", "kafka_varlong"),
}
"""Formats whose pages show more or fewer fields than the twin's tree has."""

HEAD = "| at | bytes | field | value |"
NAMES = {
    "codec": ("none", "gzip", "snappy", "lz4", "zstd"),
    "timestamp_type": ("CreateTime", "LogAppendTime"),
    "control_type": CONTROL_TYPES,
}

Row = tuple[int, bytes, str, str]


def numbered() -> list[tuple[Example, int]]:
    """Return the examples, each with its number among the examples of its format, from 0."""
    numbers: defaultdict[str, Iterator[int]] = defaultdict(count)
    return [(example, next(numbers[example.format])) for example in EXAMPLES]


def rows(page: str, number: int) -> list[Row]:
    """Return position, bytes, field and value of the rows of a page's example *number*, from 0."""
    table = page.split(HEAD)[number + 1].split("\n\n")[0]
    cells = [re.split(r" ?(?<!\\)\| ?", line)[1:-1] for line in table.splitlines()[2:]]
    return [
        (
            int(at or -1),
            bytes.fromhex(shown.replace("`", "").replace("<br>", "")),
            field.strip("`"),
            value.replace("\\|", "|"),
        )
        for at, shown, field, value in cells
        if not field.startswith("**")
    ]


def source(page: str, number: int, example: Example) -> bytes:
    """Return the bytes of the file that the page names as source, or the example's own bytes."""
    before = page.split(HEAD)[number]
    *_, found = re.finditer(
        r"^Bytes (\d+) to (\d+) of `tests/data/(.+?)`(, decompressed)?\.$|^Bytes made for",
        before,
        re.MULTILINE,
    )
    if not found[3]:
        return bytes.fromhex(example.given)
    data = (DATA / found[3]).read_bytes()[int(found[1]) : int(found[2]) + 1]
    return gzip.decompress(data) if found[4] else data


def shown(value: Any) -> str:
    """Return the text with which a page's cell for *value* begins."""
    if value is None:
        return "null"
    if isinstance(value, int):
        return f"`{value}`"
    if isinstance(value, tuple):
        return "<br>".join(f"`{name}` {shown(one)}{named(name, one)}" for name, one in value)
    if isinstance(value, str):
        return f"`{value}`" if value.startswith("0x") else f'`"{value}"`'
    text = value.decode("utf-8", "replace")
    if text.isprintable() and "\N{REPLACEMENT CHARACTER}" not in text:
        return f'`"{text}"`'
    return f"{len(value)} byte" + "s" * (len(value) != 1)


def named(name: str, value: int) -> str:
    return f" {NAMES[name][value]}" if name in NAMES else ""


def without_time(cell: str) -> str:
    """Return *cell* without the time after its number; the time must be that of the number."""
    found = re.fullmatch(r"`(\d+)` (.+) UTC", cell)
    if not found:
        return cell
    moment = datetime.fromisoformat(found[2]).replace(tzinfo=UTC)
    assert round(moment.timestamp() * 1000) == int(found[1])
    return f"`{found[1]}`"


def twin_fields(example: Example) -> list[tuple[str, set[str]]] | None:
    """Return the name of each field that the twin reads, and the cells in which a page may show it.

    Return None where the twin cannot read the format, or has other fields than the page.
    """
    if example.format not in FORMATS or example.format in OTHER_SHAPE:
        return None
    found: list[tuple[str, set[str]]] = []

    def add(name: str, value: Any) -> None:
        if isinstance(value, list):
            for element in value:
                add(name, element)
        elif isinstance(value, dict) and name == "attributes":
            found.append((name, {shown(tuple((key, int(bits)) for key, bits in value.items()))}))
        elif isinstance(value, dict):
            for key, element in value.items():
                add(key, element)
        elif isinstance(value, str):
            found.append((name, {shown(value), *texts(value)}))
        else:
            number = f"0x{value:08x}" if name == "crc" else value
            found.append((name, {shown(number) + named(name, value)}))

    add("", tree(example.format, example.data))
    return found


def texts(value: str) -> Iterator[str]:
    """Yield the cells in which a page may show the JSON string *value*: as a long, and as bytes."""
    if re.fullmatch(r"-?\d+", value):
        yield shown(int(value))
    if re.fullmatch(r"(?:[0-9a-f]{2})*", value):
        yield shown(bytes.fromhex(value))


def meanings(data: bytes) -> set[str]:
    """Return the cells in which a page may show a field of the bytes *data*."""
    cells = {shown(data), shown(data[:-1].decode("utf-8", "replace"))}
    if len(data) in (1, 2, 4, 8):
        cells |= {shown(int.from_bytes(data, signed=signed)) for signed in (False, True)}
        cells.add(shown(f"0x{data.hex()}"))
    for construct in (Uvarint, Varint, Varlong):
        with contextlib.suppress(ConstructError):
            number = construct.parse(data)
            if construct.build(number) == data:
                cells.add(shown(int(number)))
    return cells


def bare_number(value: str) -> str:
    """Return a cell's number without the name or time that follows it."""
    return re.sub(r"^(`-?\d+`) .*", r"\1", value)


def failed_checks(example: Example, number: int, page: str) -> list[str]:
    """Return the names of the checks that the example on *page* fails."""
    found = rows(page, number)
    starts = [sum(len(before[1]) for before in found[:index]) for index in range(len(found))]
    shown_rows = [row for row in found if row[3] != "null"]
    twins = twin_fields(example)
    checks = {
        "bytes": b"".join(row[1] for row in found) == source(page, number, example) == example.data,
        "positions": [row[0] for row in found] == starts,
        "meanings": all(
            field == "attributes" or {value, bare_number(value)} & meanings(data)
            for _, data, field, value in shown_rows
        ),
        "fields": twins is None or [row[2] for row in shown_rows] == [name for name, _ in twins],
        "values": twins is None
        or all(
            without_time(row[3]) in cells
            for row, (_, cells) in zip(shown_rows, twins, strict=False)
        ),
    }
    return [name for name, holds in checks.items() if not holds]


@pytest.mark.parametrize(
    ("example", "number"),
    numbered(),
    ids=[f"{example.format}-{number}" for example, number in numbered()],
)
def test_an_example_on_its_page_is_its_bytes_and_what_they_mean(
    example: Example, number: int, files: dict[str, str]
) -> None:
    assert failed_checks(example, number, files[f"{example.format}.md"]) == []


@pytest.mark.parametrize(
    ("old", "new", "noticed"),
    [
        ("| 8 | `00 00 00 6b` |", "| 8 | `00 00 00 6c` |", ["bytes", "meanings"]),
        ("| 8 | `00 00 00 6b` |", "| 9 | `00 00 00 6b` |", ["positions"]),
        ("| `00 00 00 6b` | `len_batch`", "| `00 00 00 6b` | `length`", ["fields"]),
        ("| `len_batch` | `107` |", "| `len_batch` | `108` |", ["meanings", "values"]),
        ("`timestamp_type` `0` CreateTime", "`timestamp_type` `0` LogAppendTime", ["values"]),
        ("Bytes 0 to 118 of", "Bytes 0 to 117 of", ["bytes"]),
        ("`20 7f e3 a2`", "`20 7f e3`", ["bytes", "positions", "meanings"]),
    ],
)
def test_a_slip_in_an_example_is_noticed(
    old: str, new: str, noticed: list[str], files: dict[str, str]
) -> None:
    page = files["kafka_record_batch.md"]
    example, number = next(one for one in numbered() if one[0].format == "kafka_record_batch")
    assert old in page
    assert failed_checks(example, number, page.replace(old, new, 1)) == noticed


def test_a_time_that_is_not_its_number_is_noticed() -> None:
    assert without_time("`1000` 1970-01-01 00:00:01.000 UTC") == "`1000`"
    with pytest.raises(AssertionError):
        without_time("`1000` 1970-01-01 00:00:02.000 UTC")


def test_bytes_that_no_field_accounts_for_are_an_error(library: Library) -> None:
    structure = library.formats["kafka_record"]
    data = bytes.fromhex("0c000000010000") + b"more"
    with pytest.raises(UnaccountedError, match="ends at 7 of 11"):
        leaves(structure, parse(structure, data, parameters=(False,)), data, library)


def test_every_format_has_an_example(library: Library) -> None:
    # These read the same bytes as other formats, whose pages have the examples: a batch, a log.
    without = {"kafka_record_batch_checked", "kafka_log_lazy"}
    assert library.formats.keys() - {example.format for example in EXAMPLES} == without


def test_the_examples_of_brokers_are_files_of_this_project() -> None:
    for example in EXAMPLES:
        assert bool(example.file_bytes) != bool(example.given)
        if example.file_bytes:
            assert (DATA / example.file_bytes.file).is_relative_to(CHECKOUT)
            assert (DATA / example.file_bytes.file).is_file()
