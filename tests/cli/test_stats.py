"""Tests of `magicbyte stats`: rows, the total, and segments kept past their retention time."""

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

import magicbyte as mb
from html_tags import EVIL, Tags
from log_builder import Folder
from magicbyte.tables.stats_table import STATS
from magicbyte_cli.report.stats.class_labels import row_name
from magicbyte_cli.report.stats.stats_page import CONTENTS, MAX_ROWS, render
from magicbyte_cli.stats_text import MAX_DELAYS, statistics_lines
from paths import DATA

from .conftest import TRANSACTIONS, refusal, run, run_ndjson


def sizes(*arguments: object) -> list[str]:
    """Run `magicbyte stats`; return the lines of its first table without the header."""
    result = run("stats", *arguments)
    assert result.exit_code == 0
    return result.stdout.split("\n\n")[0].splitlines()[1:]


def names(lines: Iterable[str]) -> list[str]:
    return [line.split()[0] for line in lines]


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """Provide a partition folder whose only segment is empty."""
    return Folder(tmp_path).segment("t-0", b"").parent


@pytest.mark.parametrize("by", ["topic", "partition", "segment"])
@pytest.mark.parametrize("quick", [(), ("--quick",)])
def test_ndjson_is_what_the_library_counts(by: str, quick: tuple[str, ...]) -> None:
    found = mb.stats(TRANSACTIONS, by=by, quick=bool(quick))
    *rows, total = run_ndjson("stats", TRANSACTIONS, "--by", by, *quick)
    assert [row.pop("kind") for row in (*rows, total)] == [by] * len(rows) + ["total"]
    assert [tuple(row) for row in (*rows, total)] == [STATS.names] * (len(rows) + 1)
    assert (rows, total) == (found.rows, found.total)


def test_text_has_a_line_for_each_partition_and_for_all() -> None:
    result = run("stats", TRANSACTIONS, "--topic", "open", "--topic", "aborted")
    assert result.exit_code == 0
    sizes, records, contents, bytes_, counts, held = result.stdout.split("\n\n")
    for part in (sizes, records):
        assert names(part.splitlines()[1:]) == ["aborted-0", "open-0", "open-1", "total"]
    found = mb.stats(TRANSACTIONS, topics=["open", "aborted"])
    by_line = {line.split()[0]: line.split() for line in sizes.splitlines()[1:]}
    for row in found.rows:
        cells = by_line[f"{row['topic']}-{row['partition']}"]
        assert cells[1] == str(row["segment_count"])
        share = 100 * row["overhead_bytes"] / row["plain_bytes"]
        ratio = row["plain_bytes"] / row["stored_bytes"]
        assert cells[-3:] == [f"{ratio:.2f}", f"{share:.1f}", "%"]
    assert len(contents.splitlines()) == 1 + len(found.total["contents"])
    assert len(bytes_.splitlines()) == 1 + len(found.total["entry_bytes"])
    assert len(counts.splitlines()) == 1 + len(found.total["entry_records"])
    assert "00000000000000000001.log offset 51" in held
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_rows_are_sorted_and_the_first_ones_printed() -> None:
    whole = run_ndjson("stats", TRANSACTIONS, "--quick")
    for sort, column in (("size", "log_bytes"), ("records", "record_count")):
        options = ("--quick", "--sort", sort, "--top", 3)
        *rows, total = run_ndjson("stats", TRANSACTIONS, *options)
        largest = sorted((row[column] for row in whole[:-1]), reverse=True)
        assert [row[column] for row in rows] == largest[:3]
        assert total == whole[-1]
    result = run("stats", TRANSACTIONS, "--quick", "--top", 2)
    assert f"2 of {len(whole) - 1} rows; the total counts all" in result.stderr
    assert (
        names(sizes(TRANSACTIONS, "--quick", "--top", 2))[:2]
        == names(sizes(TRANSACTIONS, "--quick"))[:2]
    )
    out = ("--format", "html", "-o", "x.html")
    assert "--sort and --top apply" in refusal("stats", TRANSACTIONS, "--top", 2, *out)


def test_segments_are_told_by_their_base_offsets() -> None:
    lines = sizes(TRANSACTIONS / "open-0", "--by", "segment")
    assert names(lines) == ["open-0/0", "open-0/1", "open-0/71", "total"]


def test_headers_alone_leave_out_what_only_payloads_tell() -> None:
    result = run("stats", DATA / "2.8" / "formats" / "log-0" / "v2-java-gzip-0", "--quick")
    assert result.exit_code == 0
    assert result.stdout.endswith("\n\nonly headers were read: CRC not checked\n")
    assert "tombstones" not in result.stdout
    assert [line.split()[-2:] for line in result.stdout.splitlines()[1:3]] == [["-", "-"]] * 2


def test_damage_is_told_and_counts_with_its_bytes_alone(damaged: Path) -> None:
    result = run("stats", damaged)
    assert result.exit_code == 1
    total = run_ndjson("stats", damaged, status=1)[-1]
    assert total["damaged_bytes"] > 0
    line = f"{total['damaged_bytes']:,} bytes of the logs are damaged or exceed a limit"
    assert line in result.stdout.splitlines()
    assert result.stderr.startswith("1 error:\n  append-time-0/")
    assert "[checksum-mismatch]" in result.stderr


def test_first_of_many_findings_are_printed(tmp_path: Path) -> None:
    for number in range(12):
        Folder(tmp_path).segment(f"t-{number}", bytes(range(200)))
    result = run("stats", tmp_path)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].endswith(" more: see magicbyte verify")


def test_an_empty_log_is_a_line_of_nothing(empty: Path) -> None:
    result = run("stats", empty)
    assert result.exit_code == 0
    sizes, records = result.stdout.split("\n\n")
    assert sizes.splitlines()[1].split() == [
        "t-0",
        *["1", "0", "B", "0", "B", "0", "0", "-", "-", "-"],
    ]
    assert records.splitlines()[1].split() == ["t-0", "0", "0", "0", "0", "-", "-"]


def test_a_segment_alone_has_no_name_and_replicas_have_those_of_their_log_dirs(
    tmp_path: Path,
) -> None:
    alone = tmp_path / f"{0:020}.log"
    alone.write_bytes((TRANSACTIONS / "open-0" / alone.name).read_bytes())
    for by in ("topic", "partition", "segment"):
        name = "(no topic)/0" if by == "segment" else "(no topic)"
        assert [line[:12].strip() for line in sizes(alone, "--by", by)] == [name, "total"]
    for log_dir in ("one", "two"):
        shutil.copytree(TRANSACTIONS / "open-0", tmp_path / "dirs" / log_dir / "open-0")
        shutil.copy(TRANSACTIONS / "meta.properties", tmp_path / "dirs" / log_dir)
    replicas = [f"{tmp_path}/dirs/{log_dir}/open-0" for log_dir in ("one", "two")]
    assert names(sizes(tmp_path / "dirs")) == [*replicas, "total"]


def many_rows(number: int) -> mb.Statistics:
    """Return statistics of *number* partitions, each with a segment kept past its retention."""
    found = mb.stats(TRANSACTIONS / "open-0")
    (row,) = found.rows
    found.rows = [row | {"partition": n, "held_ms": 1 + n, "log_bytes": n} for n in range(number)]
    return found


def test_segments_held_longest_are_printed() -> None:
    found = many_rows(MAX_DELAYS + 3)
    lines = list(statistics_lines(found))
    at = next(n for n, line in enumerate(lines) if line.startswith("segments kept past"))
    longest = names(lines[at + 2 : at + 2 + MAX_DELAYS])
    assert longest == [f"open-{n}" for n in range(MAX_DELAYS + 2, 2, -1)]
    assert lines[at + 2 + MAX_DELAYS] == "and 3 more: see --format ndjson"


# The page


def test_a_page_is_whole_and_its_links_lead_somewhere(tmp_path: Path) -> None:
    out = tmp_path / "stats.html"
    result = run("stats", TRANSACTIONS, "--format", "html", "-o", out)
    assert result.exit_code == 0 and result.stdout == ""
    page = out.read_text("utf-8")
    tags = Tags(page)
    assert {f"#{name}" for name in CONTENTS} == set(tags.attributes["href"])
    assert set(CONTENTS) <= set(tags.attributes["id"])
    assert not {"img", "link", "iframe"} & set(tags.seen)
    assert tags.seen["script"] == 1
    assert "http" not in page.replace("http-equiv", "")
    found = mb.stats(TRANSACTIONS)
    assert f"{found.total['overhead_bytes']:,}" in page
    for row in found.rows:
        assert f"<b>{row['topic']}-{row['partition']}</b>" in page
    assert "open-0/00000000000000000001.log" in page


def test_a_page_of_headers_alone_says_so() -> None:
    page = render(mb.stats(TRANSACTIONS, quick=True), ["here"])
    assert "headers only, CRC not checked" in page
    Tags(page)


def test_a_page_of_nothing_is_a_page(empty: Path) -> None:
    page = render(mb.stats(empty), ["here"])
    Tags(page)
    assert "None: no segment has a larger timestamp than a later segment" in page


@pytest.mark.parametrize(
    ("file", "name"),
    [
        (None, "t-3"),
        ("00000000000000000000.log", "t-3/0"),
        ("00000000000000000120.log", "t-3/120"),
        ("00000000000000000000--A_b.log", "t-3/0--A_b"),
        ("00000000000000000120-0Ab.log", "t-3/120-0Ab"),
        ("some.log", "t-3/some"),
    ],
)
def test_a_segment_is_told_by_its_offset(file: str | None, name: str) -> None:
    assert row_name({"log_dir": "/l", "topic": "t", "partition": 3, "file": file}) == name


def test_no_name_breaks_a_page() -> None:
    found = many_rows(1)
    found.rows[0] |= {"topic": EVIL, "held_by_file": EVIL}
    tags = Tags(render(found, [EVIL]))
    assert "img" not in tags.seen
    assert tags.seen["script"] == 1


def test_a_page_of_many_rows_has_those_with_most_bytes() -> None:
    page = render(many_rows(MAX_ROWS + 2), ["here"])
    assert f"The {MAX_ROWS} of {MAX_ROWS + 2} with the most bytes" in page
    rows = page[page.index('id="rows"') : page.index('id="codecs"')]
    assert "<b>open-2</b>" in rows and "<b>open-1</b>" not in rows


@pytest.mark.parametrize(
    "arguments", [("--format", "html"), ("-o", "x.html"), ("-o", "x", "--format", "ndjson")]
)
def test_a_page_needs_a_file_and_a_file_is_a_page(arguments: tuple[str, ...]) -> None:
    complaint = refusal("stats", TRANSACTIONS, *arguments)
    assert "-o OUT and --format html need each other." in complaint


def test_a_page_replaces_nothing_unasked_and_lies_outside(damaged: Path, tmp_path: Path) -> None:
    out = tmp_path / "stats.html"
    out.write_text("mine")
    arguments = ("stats", damaged, "--format", "html", "-o")
    assert run(*arguments, out).exit_code == 2
    assert out.read_text() == "mine"
    assert run(*arguments, out, "--overwrite").exit_code == 1  # the logs are damaged
    assert out.read_text().startswith("<!doctype html>")
    inside = damaged / "aborted-0" / "stats.html"
    assert "inside of the input" in refusal(*arguments, inside)
    assert not inside.exists()
