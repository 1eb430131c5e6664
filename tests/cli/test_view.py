"""Tests of `magicbyte view`: the page has the bytes, findings and outcomes that it should have."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import log_builder as build
import magicbyte as mb
from cli.conftest import run
from magicbyte_cli._view_window import choose_log_window, choose_window
from paths import CHECKOUT, DATA

FOLDER = DATA / "4.3" / "transactions" / "log-0" / "interleaved-one-segment-0"
SEGMENT = FOLDER / "00000000000000000012.log"
INVALID = CHECKOUT / "tests" / "vectors" / "invalid" / "kafka_log"


def content(page: Path) -> dict[str, Any]:
    """Return what `view` has put into *page*."""
    text = page.read_text("utf-8")
    [found] = re.findall(r'<script type="application/json" id="embedded">(.*?)</script>', text)
    embedded: dict[str, Any] = json.loads(found)
    return embedded | {"bytes": base64.b64decode(embedded["base64"])}


def test_page_has_the_whole_of_a_small_file(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = run("view", SEGMENT, "-o", page)
    assert result.exit_code == 0, result.stderr
    assert "the whole file" in result.stderr
    found = content(page)
    assert found["bytes"] == SEGMENT.read_bytes()
    assert (found["name"], found["format"], found["first"]) == (SEGMENT.name, "kafka_log", 0)


def test_page_has_outcomes_that_markers_in_later_segments_decide(tmp_path: Path) -> None:
    folder = DATA / "4.3" / "transactions" / "log-0" / "aborted-0"
    page = tmp_path / "page.html"
    assert run("view", folder / "00000000000000000000.log", "-o", page).exit_code == 0
    assert content(page)["outcomes"] == {"0": "aborted"}


def test_outcomes_are_those_of_the_table_of_batches(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run("view", SEGMENT, "-o", page)
    rows = mb.open(str(FOLDER)).batches().to_pylist()
    expected = {"aborted": "aborted", "delivered": "committed", "control": "marker"}
    assert content(page)["outcomes"] == {
        str(row["position"]): expected[row["disposition"]]
        for row in rows
        if row["file"] == SEGMENT.name and row["is_transactional"]
    }


def test_window_is_cut_where_entries_begin_and_has_the_position(tmp_path: Path) -> None:
    page, position = tmp_path / "page.html", 5000
    result = run("view", f"{SEGMENT}@{position}", "--window", "2KiB", "-o", page)
    assert result.exit_code == 0, result.stderr
    found = content(page)
    first, data = found["first"], found["bytes"]
    assert first <= position < first + len(data) <= first + 2048
    assert data == SEGMENT.read_bytes()[first : first + len(data)]
    rows = mb.open(str(SEGMENT)).batches(["position", "size_bytes"]).to_pylist()
    assert first in {row["position"] for row in rows}
    assert first + len(data) in {row["position"] + row["size_bytes"] for row in rows}
    assert f"bytes {first:,} to {first + len(data) - 1:,} of" in found["note"]
    assert found["position"] == position


@pytest.mark.parametrize("name", ["size-minus-1", "magic-37", "v2-gzip-bad-crc"])
def test_findings_are_the_runtimes_at_their_bytes(name: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = run("view", INVALID / f"{name}.bin", "-o", page)
    assert result.exit_code == 1
    expected = json.loads((INVALID / f"{name}.json").read_text("utf-8"))["findings"]
    assert [(one["code"], one["position"]) for one in content(page)["findings"]] == [
        (one["code"], one["position"]) for one in expected
    ]


def test_findings_elsewhere_in_the_file_are_counted(tmp_path: Path) -> None:
    batch = build.batch(build.records(20))
    path = tmp_path / "orders-0" / "00000000000000000000.log"
    path.parent.mkdir()
    path.write_bytes(batch + b"\xff" * 40)
    page = tmp_path / "page.html"
    result = run("view", path, "--window", "100", "-o", page)
    assert "1 finding elsewhere in the file" in result.stderr
    found = content(page)
    assert (found["findings"], len(found["bytes"])) == ([], 100)


def test_text_in_a_finding_cannot_end_the_element(tmp_path: Path) -> None:
    path = tmp_path / "<!--<script>.log"
    path.write_bytes(SEGMENT.read_bytes())
    page = tmp_path / "page.html"
    assert run("view", path, "-o", page).exit_code == 0
    assert content(page)["name"] == path.name
    assert page.read_text("utf-8").count("<!--<script>") == 0


def test_companion_files_are_shown_by_their_names(tmp_path: Path) -> None:
    for name, shown_format in (
        ("00000000000000000205.snapshot", "kafka_producer_snapshot"),
        ("00000000000000000012.txnindex", "kafka_transaction_index"),
        ("leader-epoch-checkpoint", "kafka_leader_epoch_checkpoint"),
        ("partition.metadata", "kafka_partition_metadata"),
    ):
        page = tmp_path / f"{name}.html"
        assert run("view", FOLDER / name, "-o", page).exit_code == 0, name
        found = content(page)
        assert (found["format"], found["findings"]) == (shown_format, []), name


def test_file_format_can_be_given(tmp_path: Path) -> None:
    copy, page = tmp_path / "copy.bin", tmp_path / "page.html"
    copy.write_bytes((FOLDER / "00000000000000000012.txnindex").read_bytes())
    result = run("view", copy, "--file-format", "kafka_transaction_index", "-o", page)
    assert result.exit_code == 0
    found = content(page)
    assert (found["format"], found["findings"]) == ("kafka_transaction_index", None)
    assert "that this page makes itself" in result.stderr


def test_without_a_file_the_page_is_the_viewer(tmp_path: Path) -> None:
    page = tmp_path / "viewer.html"
    assert run("view", "-o", page).exit_code == 0
    shipped = CHECKOUT / "generated" / "magicbyte_formats" / "viewer" / "viewer.html"
    assert page.read_bytes() == shipped.read_bytes()


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (f"{SEGMENT}@999999999", "a byte below the file's size"),
        (FOLDER, "not a file"),
        (FOLDER / "no-such-file", "no-such-file"),
    ],
)
def test_what_cannot_be_shown_is_an_error(target: object, words: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = run("view", target, "-o", page)
    assert result.exit_code == 2
    assert words in result.stderr
    assert not page.exists()


def test_page_is_not_written_into_a_log(tmp_path: Path) -> None:
    path = tmp_path / "orders-0" / SEGMENT.name
    path.parent.mkdir()
    path.write_bytes(SEGMENT.read_bytes())
    assert run("view", path, "-o", path.parent / "page.html").exit_code == 2
    assert run("view", path, "-o", path, "--overwrite").exit_code == 2
    assert path.read_bytes() == SEGMENT.read_bytes()


def rows(*sizes: int) -> list[pa.RecordBatch]:
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    numbers = range(len(sizes))
    return [
        pa.record_batch(
            {
                "position": starts,
                "size_bytes": sizes,
                "base_offset": numbers,
                "last_offset": numbers,
            }
        )
    ]


@pytest.mark.parametrize(
    ("position", "start", "end", "offsets"),
    [
        (0, 0, 400, (0, 4)),
        (350, 200, 600, (2, 6)),
        (450, 300, 600, (3, 6)),
        (1500, 600, 1501, (6, 7)),
        (2650, 600, 2651, (6, None)),
    ],
)
def test_windows_begin_and_end_where_entries_do(
    position: int, start: int, end: int, offsets: tuple[int, int | None]
) -> None:
    """Entries 0 to 5 have 100 bytes each; entry 6 has 2,000, and 100 bytes of no entry follow."""
    window = choose_log_window(rows(*[100] * 6, 2000), position, 400, 2700)
    assert (window.start, window.end, window.offset_range) == (start, end, offsets)


def test_windows_of_an_index_have_whole_entries() -> None:
    window = choose_window("kafka_time_index", 5000, 1000, 120_000)
    assert window.start % 12 == 0 and (window.end - window.start) % 12 == 0
    assert window.start <= 5000 < window.end
