"""Every worked example, as the page shows it, against the bytes and against a reading by hand."""

import gzip
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from magicbyte_tools.reference.examples import EXAMPLES, Example
from magicbyte_tools.reference.library import Library
from magicbyte_tools.reference.walk import UnaccountedError, leaves, parse
from paths import CHECKOUT, DATA
from reference.by_hand import read

HEAD = "| at | bytes | field | value |"
NAMES = {
    "codec": ("none", "gzip", "snappy", "lz4", "zstd"),
    "timestamp_type": ("CreateTime", "LogAppendTime"),
    "control_type": (
        "ABORT",
        "COMMIT",
        "LEADER_CHANGE",
        "SNAPSHOT_HEADER",
        "SNAPSHOT_FOOTER",
        "KRAFT_VERSION",
        "KRAFT_VOTERS",
    ),
}

Row = tuple[int, bytes, str, str]


def numbered() -> list[tuple[Example, int]]:
    """Return the examples, each with how many of its format come before it."""
    seen: dict[str, int] = {}
    found = []
    for example in EXAMPLES:
        found.append((example, seen.get(example.format, 0)))
        seen[example.format] = seen.get(example.format, 0) + 1
    return found


def rows(page: str, number: int) -> list[Row]:
    """Return the rows of the page's example *number*, counted from 0."""
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
    """Return the bytes that the page says it takes apart."""
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
    """Return how a page begins to write *value*."""
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
    """Return *cell* without the time behind its number, which has to be that of the number."""
    found = re.fullmatch(r"`(\d+)` (.+) UTC", cell)
    if not found:
        return cell
    moment = datetime.fromisoformat(found[2]).replace(tzinfo=UTC)
    assert round(moment.timestamp() * 1000) == int(found[1])
    return f"`{found[1]}`"


def wrong(example: Example, number: int, page: str) -> list[str]:
    """Return what the page says of the example that its bytes do not."""
    found = rows(page, number)
    starts = [sum(len(before[1]) for before in found[:index]) for index in range(len(found))]
    by_hand = read(example.format, example.data)
    values = [
        shown(value) + (named(name, value) if isinstance(value, int) else "")
        for name, _, value in by_hand
    ]
    checks = {
        "bytes": b"".join(row[1] for row in found) == source(page, number, example) == example.data,
        "positions": [row[0] for row in found] == starts,
        "fields": [(row[2], len(row[1])) for row in found] == [field[:2] for field in by_hand],
        "values": [without_time(row[3]) for row in found] == values,
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
    assert wrong(example, number, files[f"{example.format}.md"]) == []


@pytest.mark.parametrize(
    ("old", "new", "noticed"),
    [
        ("| 8 | `00 00 00 6b` |", "| 8 | `00 00 00 6c` |", ["bytes"]),
        ("| 8 | `00 00 00 6b` |", "| 9 | `00 00 00 6b` |", ["positions"]),
        ("| `00 00 00 6b` | `len_batch`", "| `00 00 00 6b` | `length`", ["fields"]),
        ("| `len_batch` | `107` |", "| `len_batch` | `108` |", ["values"]),
        ("`timestamp_type` `0` CreateTime", "`timestamp_type` `0` LogAppendTime", ["values"]),
        ("Bytes 0 to 118 of", "Bytes 0 to 117 of", ["bytes"]),
        ("`20 7f e3 a2`", "`20 7f e3`", ["bytes", "positions", "fields"]),
    ],
)
def test_a_slip_in_an_example_is_noticed(
    old: str, new: str, noticed: list[str], files: dict[str, str]
) -> None:
    page = files["kafka_record_batch.md"]
    example, number = next(one for one in numbered() if one[0].format == "kafka_record_batch")
    assert old in page
    assert wrong(example, number, page.replace(old, new, 1)) == noticed


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
    # The batch that it checks is shown on that batch's own page.
    without = {"kafka_record_batch_checked"}
    assert library.formats.keys() - {example.format for example in EXAMPLES} == without


def test_the_examples_of_brokers_are_files_of_this_project() -> None:
    for example in EXAMPLES:
        assert bool(example.file) != bool(example.given)
        assert not example.file or (DATA / example.file).is_relative_to(CHECKOUT)
        assert not example.file or (DATA / example.file).is_file()
