"""Tests of `magicbyte export`: contents of the file, which is complete or absent."""

import errno
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import magicbyte as mb
from magicbyte.tables.schemas import TABLES
from magicbyte.tables.stored_types import stored_schema
from magicbyte.tables.table_files import ArrowFormat, ParquetFormat
from magicbyte_cli.selection import Selection
from paths import SCRIPT_ENVIRONMENT

from .conftest import COMMAND, PLAIN, TRANSACTIONS, error_line, refusal, run

SPEND = Path(__file__).with_name("spend_export.py")
MIB = 1 << 20
WAIT_S = 60


def table_in(path: Path) -> pa.Table:
    if path.suffix == ".parquet":
        return pq.read_table(path)
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).read_all()


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_that_of_the_api_with_times_in_microseconds(
    damaged: Path, tmp_path: Path, name: str, suffix: str
) -> None:
    out = tmp_path / f"out{suffix}"
    result = run("export", damaged, "--table", name, "-o", out)
    assert (result.exit_code, result.stdout) == (1, "")
    table, schema = table_in(out), stored_schema(TABLES[name])
    assert table.schema.equals(schema)
    assert table.num_rows > 0
    rows = getattr(mb.open(damaged, on_damage="skip"), name)(TABLES[name].names).to_table()
    assert table == rows.cast(schema)
    count = "1 row" if table.num_rows == 1 else f"{table.num_rows} rows"
    assert result.stderr.splitlines()[-1] == f"{out}: {count} of {name}"


def test_withheld_records_are_not_exported_and_are_reported(tmp_path: Path) -> None:
    counts = []
    for options in ((), ("--isolation-level", "read_uncommitted")):
        out = tmp_path / f"{len(options)}.parquet"
        result = run("export", TRANSACTIONS / "open-0", "-o", out, *options)
        assert result.exit_code == 0
        (line,) = re.findall("^not exported: .*", result.stderr, re.MULTILINE)
        assert ("aborted" in line) == ("withheld" in line) == (not options)
        num_left_out = sum(map(int, re.findall(r"(\d+) [a-z ]+ records?", line)))
        counts.append((num_left_out, table_in(out).num_rows))
    assert sum(counts[0]) == sum(counts[1])
    assert counts[0][0] > counts[1][0] > 0


def test_internal_topics_are_left_out_of_records_and_not_of_segments(tmp_path: Path) -> None:
    for table, is_said in (("transactions", True), ("segments", False)):
        out = tmp_path / f"{table}.parquet"
        result = run("export", TRANSACTIONS, "--table", table, "-o", out)
        assert ("internal topics left out" in result.stderr) == is_said
        topics = set(table_in(out).column("topic").to_pylist())
        assert ("__transaction_state" in topics) != is_said


def test_columns_come_in_the_order_of_the_table(tmp_path: Path) -> None:
    out = tmp_path / "some.parquet"
    run("export", TRANSACTIONS / "append-time-0", "--columns", "value,timestamp,offset", "-o", out)
    assert table_in(out).schema.names == ["offset", "timestamp", "value"]
    assert table_in(out).num_rows > 0


def test_the_suffix_says_the_format_unless_the_option_does(tmp_path: Path) -> None:
    read = ("export", TRANSACTIONS / "append-time-0", "--columns", "offset", "-o")
    for name, option, magic in (
        ("a.parquet", (), b"PAR1"),
        ("a.ARROW", (), b"ARROW1"),
        ("a.feather", (), b"ARROW1"),
        ("a.ipc", (), b"ARROW1"),
        ("a", ("--format", "arrow"), b"ARROW1"),
        ("b.arrow", ("--format", "parquet"), b"PAR1"),
        ("b.csv", (), b"offset\r\n"),
        ("b.jsonl", (), b'{"offset":'),
    ):
        result = run(*read, tmp_path / name, *option)
        assert result.exit_code == 0, result.stderr
        assert (tmp_path / name).read_bytes().startswith(magic)
    for name in ("c", "c.txt", "c.parquet.gz", ".parquet"):
        line = error_line(*read, tmp_path / name)
        suffixes = ".parquet, .arrow, .feather, .ipc, .csv, .ndjson, .jsonl"
        assert f"expected one of {suffixes}, or --format" in line
        assert not (tmp_path / name).exists()


def test_buffers_are_compressed(tmp_path: Path) -> None:
    out = tmp_path / "records.parquet"
    run("export", PLAIN / "java-none-0", "-o", out)
    group = pq.read_metadata(out).row_group(0)
    codecs = {group.column(number).compression for number in range(group.num_columns)}
    assert codecs == {"ZSTD"}
    arrow = tmp_path / "records.arrow"
    run("export", PLAIN / "java-none-0", "-o", arrow)
    assert arrow.stat().st_size < 0.7 * table_in(arrow).nbytes


@pytest.mark.parametrize(("suffix", "kind"), [(".parquet", ParquetFormat), (".arrow", ArrowFormat)])
def test_small_batches_are_put_together_up_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, kind: type[Any]
) -> None:
    """Each of the log's segments yields at least one Arrow batch; the file has fewer."""
    read, out = PLAIN / "segments-0", tmp_path / f"records{suffix}"
    sizes = [batch.num_rows for batch in mb.open(read).records(["offset"])]
    assert len(sizes) == 7

    def parts() -> list[int]:
        assert run("export", read, "-o", out, "--overwrite").exit_code == 0
        if suffix == ".parquet":
            file = pq.read_metadata(out)
            return [file.row_group(number).num_rows for number in range(file.num_row_groups)]
        with pa.OSFile(str(out)) as source:
            reader = pa.ipc.open_file(source)
            return [reader.get_batch(n).num_rows for n in range(reader.num_record_batches)]

    assert parts() == [sum(sizes)]
    monkeypatch.setattr(kind, "max_rows", sizes[0] + 1)
    assert all(0 < number <= sizes[0] + 1 for number in parts())
    assert sum(parts()) == sum(sizes)
    monkeypatch.undo()
    monkeypatch.setattr(kind, "max_bytes", 1)
    assert parts() == sizes


def test_threads_write_the_same_file(tmp_path: Path) -> None:
    names = ("interleaved-0", "open-0", "open-1", "large-aborted-0")
    logs = [TRANSACTIONS / name for name in names]
    for threads in (1, 2, 5):
        out = tmp_path / f"{threads}.parquet"
        assert run("export", *logs, "-o", out, "--threads", threads).exit_code == 0
    assert len({out.read_bytes() for out in tmp_path.iterdir()}) == 1


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="a call of Linux")
@pytest.mark.parametrize(("processors", "threads"), [(1, 1), (2, 2), (64, 4)])
def test_export_reads_with_a_thread_per_processor_up_to_four(
    processors: int, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = []
    open_selection = Selection.open

    def opened(selection: Selection, paths: Any, *, threads: int = 1) -> Any:
        used.append(threads)
        return open_selection(selection, paths, threads=threads)

    monkeypatch.setattr(Selection, "open", opened)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)))
    out = tmp_path / "out.parquet"
    assert run("export", TRANSACTIONS / "open-0", "-o", out).exit_code == 0
    assert used == [threads]


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="measured by Linux's /proc")
def test_memory_does_not_depend_on_the_size_of_the_log(tmp_path: Path) -> None:
    """Memory is limited to a row group, its encoded bytes, and what two threads read ahead."""
    out = tmp_path / "out.parquet"
    command = [sys.executable, SPEND, "192", "2", out]
    found = json.loads(subprocess.check_output(command, env=SCRIPT_ENVIRONMENT))
    assert found["records"] == pq.read_metadata(out).num_rows
    assert found["grown_bytes"] <= (3 * 32 + 2 * 32) * MIB, found


# Complete or absent


def test_damage_that_is_skipped_is_status_1_and_damage_that_fails_leaves_nothing(
    damaged: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    skipped = run("export", damaged, "-o", out)
    assert skipped.exit_code == 1
    assert re.search("^not exported: .*387 damaged bytes$", skipped.stderr, re.MULTILINE)
    assert "[checksum-mismatch]" in skipped.stderr
    assert (
        table_in(out).num_rows == mb.open(damaged, on_damage="skip").records().to_table().num_rows
    )
    out.unlink()
    before = sorted(tmp_path.iterdir())
    line = error_line("export", damaged, "-o", out, "--on-damage", "fail", status=1)
    assert "Error: append-time-0/" in line
    assert sorted(tmp_path.iterdir()) == before


def test_existing_file_is_replaced_only_with_overwrite_and_only_by_a_whole_file(
    damaged: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    out.write_bytes(b"mine")
    (tmp_path / "link.parquet").symlink_to(out)
    line = error_line("export", damaged, "-o", out)
    assert "the file exists already; expected --overwrite" in line
    failed = run("export", damaged, "-o", out, "--overwrite", "--on-damage", "fail")
    assert (failed.exit_code, out.read_bytes()) == (1, b"mine")
    assert run("export", damaged, "-o", tmp_path / "link.parquet", "--overwrite").exit_code == 1
    assert out.read_bytes().startswith(b"PAR1")
    assert (tmp_path / "link.parquet").is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"log-0", "out.parquet", "link.parquet"}


def test_a_file_that_somebody_else_makes_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, write = tmp_path / "out.parquet", ParquetFormat.write

    def meanwhile(self: ParquetFormat, table: pa.Table) -> None:
        out.write_bytes(b"theirs")
        write(self, table)

    monkeypatch.setattr(ParquetFormat, "write", meanwhile)
    assert "exists already" in error_line("export", TRANSACTIONS / "append-time-0", "-o", out)
    assert out.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [out]


def tree(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.stat().st_size) for path in folder.rglob("*"))


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("log-0/out.parquet", "inside of the input"),
        ("log-0/append-time-0/out.parquet", "inside of the input"),
        ("link/out.parquet", "inside of the input"),
        ("log-0/append-time-0/00000000000000000000.log", "inside of the input"),
        ("nowhere/out.parquet", "the folder does not exist"),
        ("folder.parquet", "the path exists and is not a file"),
        ("dangling.parquet", "the path exists and is not a file"),
    ],
)
def test_where_nothing_may_be_written_is_refused_in_a_line(
    damaged: Path, tmp_path: Path, out: str, message: str
) -> None:
    (tmp_path / "link").symlink_to(damaged / "append-time-0", target_is_directory=True)
    (tmp_path / "folder.parquet").mkdir()
    before = tree(tmp_path)
    (tmp_path / "dangling.parquet").symlink_to(tmp_path / "nothing")
    options = ("-o", tmp_path / out, "--format", "parquet", "--overwrite")
    assert message in error_line("export", damaged / "append-time-0", *options)
    (tmp_path / "dangling.parquet").unlink()
    assert tree(tmp_path) == before


def test_a_segment_that_lies_alone_may_have_the_file_beside_it(tmp_path: Path) -> None:
    segment = Path(
        shutil.copy(TRANSACTIONS / "append-time-0" / "00000000000000000000.log", tmp_path)
    )
    before = segment.read_bytes()
    assert run("export", segment, "-o", tmp_path / "out.parquet").exit_code == 0
    line = error_line("export", segment, "-o", segment, "--format", "arrow", "--overwrite")
    assert "the output is an input" in line
    assert segment.read_bytes() == before


@pytest.mark.parametrize(
    "options",
    [
        ["--columns", "offset,nothing"],
        ["--columns", ""],
        ["--table", "nothing"],
        ["--table", "segments", "--columns", "offset"],
        ["--format", "xml"],
        ["--threads", "0"],
        ["--threads", "two"],
        ["--topic", "no-such-topic"],
        ["--from-offset", "9", "--to-offset", "3"],
        ["--on-damage", "weep"],
        ["--nothing"],
    ],
    ids=" ".join,
)
def test_a_wrong_call_is_status_2_and_writes_nothing(tmp_path: Path, options: list[str]) -> None:
    complaint = refusal("export", TRANSACTIONS, "-o", tmp_path / "out.parquet", *options)
    assert complaint.splitlines()[-1].startswith("Error: ")
    assert list(tmp_path.iterdir()) == []


PAUSED = """
import sys, threading
from magicbyte.tables import table_files
from magicbyte_cli import main

def write(self, table):
    print("writing", flush=True)
    for _ in range(600):  # a signal just before a wait is handled after it
        threading.Event().wait(0.1)

table_files.ParquetFormat.write = write
table_files.ParquetFormat.max_rows = 1
main()
"""
"""The command, changed to print that it writes the first rows, and then to wait for a minute."""


@pytest.mark.parametrize(("name", "threads"), [("SIGINT", "3"), ("SIGTERM", "3"), ("SIGHUP", "1")])
def test_a_signal_leaves_nothing(tmp_path: Path, name: str, threads: str) -> None:
    number = getattr(signal, name)
    export = subprocess.Popen(
        [
            *(sys.executable, "-c", PAUSED, "export", str(TRANSACTIONS)),
            *("-o", str(tmp_path / "out.parquet"), "--threads", threads),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background job ignores an interrupt, and its child processes inherit this.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    assert export.stdout is not None
    assert export.stdout.readline() == "writing\n"
    (part,) = tmp_path.iterdir()
    assert part.name.startswith(".out.parquet.")
    export.send_signal(number)
    _, said = export.communicate(timeout=WAIT_S)
    assert list(tmp_path.iterdir()) == []
    assert export.returncode == 128 + number
    assert said == ("interrupted\n" if name == "SIGINT" else "")


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    done = subprocess.run(
        [*COMMAND, "export", str(PLAIN / "java-none-0"), "-o", str(out)],
        capture_output=True,
        text=True,
        preexec_fn=limit,
    )
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert done.stderr == f"Error: the output: {os.strerror(errno.EFBIG)}\n"


def test_where_no_file_can_be_made_the_error_names_the_one_that_was_asked_for(
    tmp_path: Path,
) -> None:
    out = tmp_path / ("x" * 242 + ".parquet")  # a temporary name would be too long
    line = error_line("export", TRANSACTIONS / "append-time-0", "-o", out)
    assert line == f"Error: {out}: {os.strerror(errno.ENAMETOOLONG)}"
    assert list(tmp_path.iterdir()) == []


def test_the_file_has_the_permissions_of_any_other(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    out = tmp_path / "out.parquet"
    run("export", TRANSACTIONS / "append-time-0", "-o", out)
    assert out.stat().st_mode == other.stat().st_mode
