"""Every command reads past what a disk does not deliver, says so, and ends with status 2."""

import base64
import errno
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from click.testing import Result

import log_builder as build
import magicbyte as mb
from cli.conftest import COMMAND, run
from data_source import InProcessSpark
from extent import WIDE
from faulty_logs import NUM_FAULTS, SEED, Batch, Fault, Row, SampleLog, write_sample
from io_faults import FaultyDisk, faulty_disk
from log_builder import Folder
from magicbyte.spark.session import LazySession
from magicbyte.tables.schemas import DISPOSITIONS
from magicbyte_cli import COMMANDS
from magicbyte_cli.file_formats import format_of
from paths import shared

EIO = shared() / "hostile-cases" / "eio.c"

UNREADABLE = re.compile(r"Input/output error|\[unreadable\]|\"unreadable\"")

UNDELIVERED = re.compile(r"([0-9,]+) (damaged|unreadable)")
"""Bytes that a command could not deliver, in its line on stderr."""

Check = Callable[[SampleLog, Fault, FaultyDisk], None]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> SampleLog:
    return write_sample(tmp_path_factory.mktemp("disk") / "kafka")


def objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def rows_of(records: Iterable[dict[str, Any]]) -> set[Row]:
    rows = [(row["topic"], row["partition"], row["offset"]) for row in records]
    assert len(rows) == len(set(rows))
    return set(rows)


def table_rows(sample: SampleLog, disk: FaultyDisk, *arguments: object) -> list[dict[str, Any]]:
    """Return the objects of `dump`; what it met of the fault is on stderr and in its status."""
    disk.failed.clear()
    result = run("dump", sample.path, "--format", "ndjson", *arguments)
    assert_says_what_it_met(result, disk)
    return objects(result)


def assert_says_what_it_met(result: Result, disk: FaultyDisk) -> None:
    """Check that the status is 2, with a finding in the output, exactly if a read has failed."""
    is_met = bool(disk.failed)
    assert result.exit_code == (2 if is_met else 0), result.stderr
    assert bool(UNREADABLE.search(result.output)) == is_met, result.stderr


def lost_bytes(stderr: str) -> dict[str, int]:
    """Return the bytes that *stderr* says were not delivered, by disposition."""
    return {what: int(number.replace(",", "")) for number, what in UNDELIVERED.findall(stderr)}


def check_lost_bytes(sample: SampleLog, fault: Fault, stderr: str) -> None:
    """Check that delivered bytes and those that *stderr* calls lost add up to the size of the segments."""
    if fault.path.is_dir():
        return
    delivered = sum(
        batch.end - batch.begin
        for batches in sample.sound_batches(fault).values()
        for batch in batches
    )
    lost = lost_bytes(stderr)
    assert delivered + sum(lost.values()) == sum(path.stat().st_size for path in sample.batches)
    if fault.is_of_segment:
        assert lost["unreadable"] == len(fault.lost_bytes)


def check_sizes(segments: Iterable[dict[str, Any]], fault: Fault) -> None:
    """Check that the bytes of each segment add up, and that exactly those of *fault* are unreadable."""
    num_unreadable = 0
    for row in segments:
        if row["file_kind"] == "log" and row["live"]:
            assert (
                sum(row[f"bytes_{name}"] for name in (*DISPOSITIONS, "tail")) == row["size_bytes"]
            )
            num_unreadable += row["bytes_unreadable"]
    assert num_unreadable == (len(fault.lost_bytes) if fault.is_of_segment else 0)


def check_problems(problems: Iterable[dict[str, Any]], fault: Fault) -> None:
    """Check that the findings name the unreadable bytes of *fault*, each once, and nothing else."""
    found = [row for row in problems if row["code"] == "unreadable"]
    assert found
    if fault.is_of_segment:
        positions = [
            position
            for row in found
            for position in range(row["position"], row["position"] + row["length"])
        ]
        assert sorted(positions) == list(fault.lost_bytes)
    assert {row["file"] or f"{row['topic']}-{row['partition']}" for row in found} == {
        fault.path.name
    }


def check_verify(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
    result = run("verify", sample.path, "--format", "ndjson")
    found = objects(result)
    assert disk.failed and result.exit_code == 2, result.stderr
    check_problems((row for row in found if row["kind"] == "problem"), fault)
    check_sizes((row for row in found if row["kind"] == "segment"), fault)
    (summary,) = (row for row in found if row["kind"] == "summary")
    assert summary["records"] == len(sample.rows(fault))
    disk.failed.clear()
    quick = run("verify", sample.path, "--quick", "--format", "ndjson")
    problems = [row for row in objects(quick) if row["kind"] == "problem"]
    assert quick.exit_code == (2 if disk.failed else 0)
    assert any(row["code"] == "unreadable" for row in problems) == bool(disk.failed)


def check_dump(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
    columns = "--columns", "topic,partition,offset"
    result = run("dump", sample.path, "--format", "ndjson", *columns)
    assert rows_of(objects(result)) == sample.rows(fault)
    assert_says_what_it_met(result, disk)
    check_lost_bytes(sample, fault, result.stderr)

    expected: set[Row] = set()
    by_partition: dict[tuple[str, int], list[Row]] = {}
    for row in sorted(sample.rows(fault)):
        by_partition.setdefault(row[:2], []).append(row)
    for partition_rows in by_partition.values():
        expected.update(partition_rows[-5:])
    assert rows_of(table_rows(sample, disk, "--tail", 5, *columns)) == expected


def check_dump_of_tables(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
    expected = {
        (*batch.rows[0][:2], path.name, batch.begin)
        for path, batches in sample.sound_batches(fault).items()
        for batch in batches
    }
    key = "topic", "partition", "file", "position"
    for options in ((), ("--quick",)):
        rows = table_rows(sample, disk, "--table", "batches", *options)
        rows = [row for row in rows if row["disposition"] != "unreadable"]
        found = {tuple(row[name] for name in key) for row in rows}
        assert found >= expected if options else found == expected

    rows = table_rows(sample, disk, "--table", "problems")
    if disk.failed:
        check_problems(rows, fault)
    check_sizes(table_rows(sample, disk, "--table", "segments"), fault)
    rows = table_rows(sample, disk, "--table", "partitions")
    assert sum(row["records_delivered"] for row in rows) == len(sample.rows(fault))
    assert table_rows(sample, disk, "--table", "transactions") == []

    rows = table_rows(sample, disk, "--table", "replicas")
    partitions = {path.parent.name for path in sample.sound_batches(fault)}
    assert {f"{row['topic']}-{row['partition']}" for row in rows} == partitions
    gaps = {
        (row["topic"], row["partition"], offset)
        for row in table_rows(sample, disk, "--table", "gaps")
        for offset in range(row["first_offset"], row["end_offset"])
    }
    lost = sample.rows() - sample.rows(fault)
    last = {row[:2]: row[2] for row in sorted(sample.rows(fault))}
    # Not always is it known which offsets were after the last sound record.
    assert {row for row in lost if row[2] < last.get(row[:2], 0)} <= gaps <= lost


def check_dump_of_companions(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
    """Check `dump` of the files of the kind that has the fault; it prints all others."""
    if fault.is_of_segment or fault.path.is_dir():
        return
    name = fault.path
    files = [
        path
        for path in sample.files
        if (path.suffix == name.suffix if name.suffix != "" else path.name == name.name)
        and path.stat().st_size
    ]
    result = run("dump", *files, "--format", "ndjson")
    assert disk.failed
    assert_says_what_it_met(result, disk)
    if len(files) == 1:
        assert result.stdout == ""
        return
    printed = {row["file"] for row in objects(result)}
    whole = run_without_faults("dump", *files, "--format", "ndjson")
    assert printed == {row["file"] for row in objects(whole)} - {str(fault.path)}


def check_export(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
    out = sample.path.parent / "rows.parquet"
    result = run("export", sample.path, "-o", out, "--overwrite", "--threads", 2)
    table = pq.read_table(out, columns=["topic", "partition", "offset"])
    assert rows_of(table.to_pylist()) == sample.rows(fault)
    assert_says_what_it_met(result, disk)
    check_lost_bytes(sample, fault, result.stderr)


def check_sql(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
    query = 'SELECT topic, partition, "offset" FROM records'
    result = run("sql", query, sample.path, "--format", "ndjson")
    assert rows_of(objects(result)) == sample.rows(fault)
    assert_says_what_it_met(result, disk)
    check_lost_bytes(sample, fault, result.stderr)


def check_stats(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
    for options in ((), ("--quick",)):
        disk.failed.clear()
        result = run("stats", sample.path, "--format", "ndjson", *options)
        total = objects(result)[-1]
        assert_says_what_it_met(result, disk)
        parts = ("unused_bytes", "damaged_bytes", "tail_bytes", "stored_bytes")
        assert sum(total[name] for name in parts) == total["log_bytes"]
        if not options:
            assert total["record_count"] == len(sample.rows(fault))
            assert total["log_bytes"] == sum(
                path.stat().st_size for path in sample.sound_batches(fault)
            )


def check_transactions(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
    result = run("transactions", sample.path, "--format", "ndjson")
    assert result.stdout == ""
    assert_says_what_it_met(result, disk)


def check_groups(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
    result = run("groups", sample.path, "--format", "ndjson")
    assert result.stdout == ""
    assert_says_what_it_met(result, disk)


def check_topics(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
    """Without a metadata log, the names of folders are all that the command needs."""
    result = run("topics", sample.path, "--format", "ndjson")
    assert result.exit_code == (2 if fault.path.is_dir() else 0), result.stderr
    found = {
        (row["topic"], partition["partition"])
        for row in objects(result)
        for partition in row["partitions"]
    }
    folders = {path.parent.name for path in sample.batches}
    gone = {fault.path.name} if fault.path.is_dir() else set()
    assert {f"{topic}-{number}" for topic, number in found} >= folders - gone


KAFKA_DUMPS = (".index", ".timeindex", ".snapshot", ".txnindex")


def check_kafka_dump_log(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
    companions = [path for path in sample.files if path.suffix in KAFKA_DUMPS]
    names = ",".join(map(str, [*sample.batches, *companions]))
    result = run("kafka-dump-log", "--deep-iteration", "--files", names)
    rows, path = set(), Path()
    dumped = set()
    for line in result.stdout.splitlines():
        if line.startswith("Dumping "):
            path = Path(line.removeprefix("Dumping "))
            dumped.add(path)
        elif path.suffix == ".log" and line.startswith(("| offset: ", "offset: ")):
            topic, _, number = path.parent.name.rpartition("-")
            rows.add((topic, int(number), int(line.split("offset: ")[1].split()[0])))
    # It opens files by name, and lists no folder.
    assert rows == (sample.rows() if fault.path.is_dir() else sample.rows(fault))
    assert dumped >= {*sample.batches, *companions} - {fault.path}
    assert_says_what_it_met(result, disk)


def check_extract(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
    path = fault.path if fault.is_of_segment else next(iter(sample.batches))
    sound = sample.sound_batches(fault if fault.is_of_segment else None)[path]
    for batch in _around(sample.batches[path], sound):
        disk.failed.clear()
        result = run("extract", f"{path}@{batch.begin}", "--no-check")
        if batch in sound and "old" not in str(path):  # extract has no payload of a plain message
            assert result.exit_code == 0, result.stderr
        elif batch not in sound:
            assert disk.failed
            assert_says_what_it_met(result, disk)
            assert result.stdout == ""


def check_view(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
    """The page has zeros where bytes cannot be read, and a finding about them."""
    others = (path for path in sample.batches if fault.path not in path.parents)
    path = next(others) if fault.path.is_dir() or format_of(fault.path.name) is None else fault.path
    page = sample.path.parent / "page.html"
    page.unlink(missing_ok=True)
    result = run("view", path, "--window", "1MiB", "-o", page)
    if path != fault.path:
        disk.failed.clear()  # faults of other files do not matter to the page
    assert_says_what_it_met(result, disk)
    if not page.exists():
        assert (str(path), None) in disk.failed
        return
    found = json.loads(page.read_text("utf-8").split('id="embedded">')[1].split("</script>")[0])
    expected = bytearray(path.read_bytes())
    for number in disk.blocks.get(str(path), ()):
        expected[number * 4096 : (number + 1) * 4096] = bytes(
            len(expected[number * 4096 : (number + 1) * 4096])
        )
    assert base64.b64decode(found["base64"]) == expected
    if disk.failed:
        assert "unreadable" in {one["code"] for one in found["findings"]}


def _around(batches: list[Batch], sound: list[Batch]) -> Iterator[Batch]:
    """Yield the first and the last of *batches*, and those at the edges of what is not sound."""
    for number, batch in enumerate(batches):
        near = batches[max(number - 1, 0) : number + 2]
        if number in (0, len(batches) - 1) or len({one in sound for one in near}) > 1:
            yield batch


def check_pipeline(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
    out = sample.path.parent / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LazySession, "get", lambda self: InProcessSpark())
        patch.setattr(LazySession, "version", "none", raising=False)
        result = run("pipeline", sample.path, out, "--overwrite")
    assert result.exit_code == (2 if disk.failed else 0), result.stderr
    tables = {
        name: pyarrow.dataset.dataset(out / name, format="parquet").to_table().to_pylist()
        for name in ("records", "problems", "segments")
    }
    assert rows_of(tables["records"]) == sample.rows(fault)
    check_sizes(tables["segments"], fault)
    if disk.failed:
        check_problems(tables["problems"], fault)


def run_without_faults(*arguments: object) -> Result:
    with faulty_disk():
        return run(*arguments)


def check_written(command: str, *options: str) -> Check:
    """Return the check of a command that writes logs: a partition that it cannot read is absent, others are whole."""

    def check(sample: SampleLog, fault: Fault, disk: FaultyDisk) -> None:
        out = sample.path.parent / f"written.{command}"
        shutil.rmtree(out, ignore_errors=True)
        result = run(command, sample.path, *options, "-o", out)
        assert_says_what_it_met(result, disk)
        sound, whole = sample.rows(fault), sample.rows()
        damaged = {row[:2] for row in whole - sound}
        rows = {}
        if any(out.glob("*-*")):
            dataset = mb.open(out, isolation_level="read_uncommitted", on_damage="skip")
            rows = rows_of(dataset.records(["topic", "partition", "offset"]).to_pylist())
        folder = fault.path if fault.path.is_dir() else fault.path.parent
        others = {row for row in whole if row[:2] not in damaged | {partition_of(folder)}}
        if command == "salvage":
            assert rows == sound
        elif command != "compact":
            assert others <= rows <= sound
            assert not {row for row in rows if row[:2] in damaged}

    return check


def partition_of(folder: Path) -> tuple[str, int] | None:
    topic, _, number = folder.name.rpartition("-")
    return (topic, int(number)) if number.isdigit() else None


READ_NO_LOGS = {"spec", "pcap", "completion", "man", "help"}
"""Commands that read no log directories; `pcap` is tested in test_pcap.py."""

CHECKS: dict[str, tuple[Check, ...]] = {
    "verify": (check_verify,),
    "dump": (check_dump, check_dump_of_tables, check_dump_of_companions),
    "export": (check_export,),
    "extract": (check_extract,),
    "view": (check_view,),
    "transactions": (check_transactions,),
    "groups": (check_groups,),
    "sql": (check_sql,),
    "stats": (check_stats,),
    "topics": (check_topics,),
    "pipeline": (check_pipeline,),
    "kafka-dump-log": (check_kafka_dump_log,),
    "rewrite": (check_written("rewrite"),),
    "convert": (check_written("convert", "--magic", "2", "--codec", "lz4"),),
    "salvage": (check_written("salvage"),),
    "erase": (check_written("erase", "--key", "nobody"),),
    "restore": (check_written("restore"),),
    "compact": (check_written("compact", "--include-active-segment"),),
}


def test_every_command_that_reads_logs_is_tried() -> None:
    assert CHECKS.keys() == {*COMMANDS} - READ_NO_LOGS


def test_the_faults_are_in_files_of_every_kind(sample: SampleLog) -> None:
    faults = sample.faults()
    assert len(set(faults)) == NUM_FAULTS
    assert sum(fault.is_of_segment for fault in faults) >= NUM_FAULTS // 2
    assert {fault.path.suffix for fault in faults} >= {".log", ".index", ".timeindex", ".snapshot"}
    assert any(fault.path.is_dir() for fault in faults)
    assert any(fault.path.parent == sample.path and fault.path.is_file() for fault in faults)


@pytest.mark.parametrize("command", CHECKS)
def test_every_sound_row_elsewhere_is_delivered_at_each_fault(
    command: str, sample: SampleLog
) -> None:
    """Each command meets each ninth fault, and together they meet all; with MAGICBYTE_WIDE=1, each meets all."""
    faults = list(enumerate(sample.faults()))
    for number, fault in faults if WIDE else faults[list(CHECKS).index(command) % 9 :: 9]:
        with faulty_disk(with_kernels=number % 2 == 1) as disk:
            fault.put_into(disk)
            for check in CHECKS[command]:
                disk.failed.clear()
                try:
                    check(sample, fault, disk)
                except BaseException:
                    print(f"seed {SEED}, fault {number}: {fault}, {check.__name__}")
                    raise


@pytest.mark.parametrize(
    "command", ["verify", "dump", "export", "transactions", "stats", "pipeline"]
)
def test_a_log_dir_that_cannot_be_listed_is_an_error(command: str, sample: SampleLog) -> None:
    out = sample.path.parent / f"none.{command}"
    options = {"export": ("--format", "arrow", "-o", out), "pipeline": (out,)}.get(command, ())
    with faulty_disk() as disk:
        Fault(sample.path, None).put_into(disk)
        result = run(command, sample.path, *options)
        assert_says_what_it_met(result, disk)
    assert disk.failed and str(sample.path) in result.stderr
    assert (result.stdout, out.exists()) == ("", False)


def test_on_damage_fail_ends_with_status_2(sample: SampleLog) -> None:
    path = next(iter(sample.batches))
    with faulty_disk() as disk:
        disk.blocks[str(path)] = {1}
        result = run("dump", sample.path, "--on-damage", "fail")
    assert result.exit_code == 2
    assert "4096 bytes" in result.stderr and "Input/output error" in result.stderr


@pytest.mark.parametrize("command", ["verify", "dump", "export", "stats"])
def test_a_file_that_vanishes_is_a_finding_and_the_rest_is_read(
    command: str, sample: SampleLog
) -> None:
    fault = Fault(list(sample.batches)[2], None)
    with faulty_disk() as disk:
        disk.unopened[str(fault.path)] = errno.ENOENT
        for check in CHECKS[command]:
            disk.failed.clear()
            check(sample, fault, disk)
        result = run("dump", sample.path, "--on-damage", "fail")
        assert result.exit_code == 2 and "gone since the read was planned" in result.stderr


def test_companion_files_that_can_be_read_are_printed(sample: SampleLog) -> None:
    first, second, *_ = (path for path in sample.files if path.name == f"{0:020}.index")
    with faulty_disk() as disk:
        disk.blocks[str(first)] = {0}
        result = run("dump", first, second, "--format", "ndjson")
        assert {row["file"] for row in objects(result)} == {str(second)}
        assert (result.exit_code, str(first) in result.stderr) == (2, True)
        assert run("dump", first).exit_code == 2


def test_produced_files_that_can_be_read_are_checked(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.bin", "b.bin")]
    for file in files:
        file.write_bytes(build.batch(count=9))
    with faulty_disk() as disk:
        disk.blocks[str(files[0])] = {0}
        result = run("verify", "--produced", *files, "--format", "ndjson")
    codes = {(row["file"], row["code"]) for row in objects(result) if row["kind"] == "problem"}
    assert result.exit_code == 2
    assert (str(files[0]), "unreadable") in codes and len({file for file, _ in codes}) == 2


@pytest.mark.skipif(
    shutil.which("cc") is None or not EIO.is_file(), reason=f"no C compiler, or no {EIO}"
)
def test_a_read_that_fails_in_the_system_is_survived(sample: SampleLog, tmp_path: Path) -> None:
    library, path = tmp_path / "eio.so", list(sample.batches)[1]
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, EIO, "-ldl"], check=True)
    command = [*COMMAND, "dump", str(sample.path), "--format", "ndjson"]
    faults = {"LD_PRELOAD": str(library), "EIO_MATCH": str(path), "EIO_AT": "10000"}
    done = subprocess.run(command, env=os.environ | faults, capture_output=True, check=False)
    rows = map(json.loads, done.stdout.splitlines())
    assert rows_of(rows) == sample.rows(Fault(path, 10000 // FaultyDisk.BLOCK))
    assert (done.returncode, b"Traceback" in done.stderr) == (2, False), done.stderr


def test_what_one_disk_does_not_deliver_is_read_from_another(folder: Folder) -> None:
    data = b"".join(build.batch_of(offset, b"x" * 1500) for offset in range(20))
    segments = []
    for node in range(3):
        log_dir = folder.log_dir(f"broker-{node}")
        properties = f"version=1\ncluster.id=c\nnode.id={node}\n"
        (log_dir.path / "meta.properties").write_text(properties)
        segments.append(log_dir.segment("t-0", data))
    names = [segment.parent.parent for segment in segments]
    with faulty_disk() as disk:
        for segment, block in zip(segments, (2, 5, 6), strict=True):
            disk.blocks[str(segment)] = {block}
        result = run("dump", *names, "--format", "ndjson", "--columns", "offset")
        assert [row["offset"] for row in objects(result)] == list(range(20))
        assert "are unreadable here; they are read from" in result.stderr
        assert run("verify", *names).exit_code == 2
        for segment in segments:
            disk.blocks[str(segment)] = {2}
        result = run("dump", *names, "--format", "ndjson", "--columns", "offset")
    assert [row["offset"] for row in objects(result)] == [*range(5), *range(8, 20)]
    assert result.exit_code == 2
