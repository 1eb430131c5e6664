"""Tests of `magicbyte pcap`."""

import gzip
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import log_builder as build
from capture_builder import (
    Conversation,
    api_versions_exchange,
    pcap,
    produce_request,
    produce_response,
)
from cli.conftest import run
from io_faults import FaultyDisk, faulty_disk
from paths import CAPTURE


def test_text_has_the_records_and_who_sent_them() -> None:
    result = run("pcap", CAPTURE, "--limit", 2)
    header, *lines = result.stdout.splitlines()
    assert header.split()[:4] == ["topic", "partition", "offset", "key"]
    assert [line.split()[3] for line in lines] == ["user-1", "user-2"]
    assert all(line.endswith("checkout") for line in lines)
    assert (result.exit_code, result.stderr) == (0, "")


def test_ndjson_has_all_columns_and_conditions_choose_among_them() -> None:
    conditions = "--where", "direction = fetched", "--where-header", "attempt", "--topic", "orders"
    result = run("pcap", CAPTURE, "--format", "ndjson", *conditions)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["offset"], row["value"], row["api_version"]) for row in rows] == [
        (6, "invoice 1.0", 18),
        (7, "invoice 1.1", 18),
    ]
    assert {row["client_id"] for row in rows} == {"mailer"}
    assert result.stderr == "not shown: 2 aborted records, 2 control records\n"


def test_dispositions_show_what_the_consumer_dropped() -> None:
    result = run("pcap", CAPTURE, "--disposition", "aborted", "--columns", "offset,outcome")
    assert [line.split() for line in result.stdout.splitlines()[1:]] == [
        ["3", "aborted"],
        ["4", "aborted"],
    ]


def test_batches_have_the_error_of_the_response() -> None:
    columns = "record_count,direction,error_code,packet"
    result = run("pcap", CAPTURE, "--table", "batches", "--columns", columns, "--format", "csv")
    header, first, *rest = result.stdout.splitlines()
    assert (header, first) == (columns, "3,produced,0,26")
    assert len(rest) == 7
    chosen = run("pcap", CAPTURE, "--table", "batches", "--where", "error_code != 0")
    assert len(chosen.stdout.splitlines()) == 1


def test_parquet_has_the_same_rows(tmp_path: Path) -> None:
    out = tmp_path / "records.parquet"
    result = run("pcap", CAPTURE, "-o", out)
    assert result.stderr.splitlines()[-1] == f"{out}: 12 rows of captured_records"
    table = pq.read_table(out)
    printed = run("pcap", CAPTURE, "--format", "ndjson").stdout.splitlines()
    assert table.column("value").to_pylist() == [
        json.loads(line)["value"].encode() for line in printed
    ]
    assert str(table.schema.field("capture_time").type) == "timestamp[us, tz=UTC]"
    assert run("pcap", CAPTURE, "-o", out).exit_code == 2
    assert run("pcap", CAPTURE, "-o", out, "--overwrite").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--table", "batches", "--where-key", "x"), "apply to records, not to batches"),
        (("--limit", "1", "-o", "x.csv"), "--limit applies to stdout"),
        (("--columns", "colour"), "no column 'colour'"),
        (("--where", "colour = 1"), "no column 'colour'"),
        (("--port", "70000"), "not in the range"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("pcap", CAPTURE, *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_file_that_is_no_capture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(build.batch())
    result = run("pcap", path)
    assert result.exit_code == 2
    assert "expected a capture in the format pcap or pcapng" in result.stderr


def test_compressed_capture_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "orders.pcap.gz"
    path.write_bytes(gzip.compress(CAPTURE.read_bytes()))
    assert run("pcap", path).stderr == (
        "Error: orders.pcap.gz: a file that is compressed with gzip, which has to be unpacked first; expected a capture in the "
        "format pcap or pcapng\n"
    )


@pytest.mark.parametrize("table", ["records", "batches"])
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), ""),
        (("--where", "partition = 99"), ""),
        (
            ("--topic", "refunds"),
            "no batches in Produce requests and Fetch responses of topic refunds; without --topic, all are read\n",
        ),
        (
            ("--port", 9093, "--port", 80),
            "no batches in Produce requests and Fetch responses on port 9093 or 80; without --port, all are read\n",
        ),
    ],
)
def test_capture_without_batches_to_read_is_said_to_have_none(
    table: str, arguments: tuple[str, ...], text: str
) -> None:
    result = run("pcap", CAPTURE, "--table", table, *arguments)
    assert result.exit_code == 0
    assert [line for line in result.stderr.splitlines(True) if line.startswith("no ")] == [
        *([text] if text else [])
    ]


def test_capture_of_other_protocols_is_said_to_have_no_batches(tmp_path: Path) -> None:
    path = tmp_path / "http.pcap"
    path.write_bytes(
        pcap(Conversation().open().ask(b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200").packets)
    )
    result = run("pcap", path)
    assert (result.exit_code, result.stderr) == (
        0,
        "no batches in Produce requests and Fetch responses\n",
    )


def test_records_before_unreadable_bytes_are_printed(tmp_path: Path) -> None:
    sent = Conversation().open().ask(*api_versions_exchange())
    batch = build.batch_of(0, bytes(2000))
    for number in range(20):
        sent.ask(produce_request(batch, number), produce_response(number, number))
    path = tmp_path / "capture.pcap"
    path.write_bytes(pcap(sent.packets))
    with faulty_disk() as disk:
        disk.blocks[str(path)] = {5}
        result = run("pcap", path, "--format", "ndjson")
    offsets = [json.loads(line)["offset"] for line in result.stdout.splitlines()]
    before = 5 * FaultyDisk.BLOCK // len(pcap(sent.packets[4:8]))
    assert offsets[: before - 1] == list(range(before - 1))
    assert len(offsets) < 20
    assert result.exit_code == 2
    assert "[unreadable]" in result.stderr
