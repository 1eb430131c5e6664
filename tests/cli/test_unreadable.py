"""Every command reads past what a disk does not deliver, says so, and ends with status 2."""

import errno
import json
import os
import random
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import Result

import log_builder as build
from cli.conftest import COMMAND, run
from io_faults import FaultyDisk, faulty_disk
from log_builder import Folder
from log_reader import spans
from paths import shared

SEED = int(os.environ.get("MAGICBYTE_SEED", "20261126"))
NUM_FAULTS = 50

EIO = shared() / "hostile-cases" / "eio.c"

Row = tuple[str, int, int]
"""Topic, partition and offset of a record."""


@dataclass
class SampleLog:
    """A log.dir, its files, and the records of each batch."""

    path: Path
    batches: dict[Path, list[tuple[int, int, list[Row]]]] = field(default_factory=dict)
    """Begin, end and delivered records of each batch, by segment."""
    files: list[Path] = field(default_factory=list)

    def rows_outside(self, damaged: Path | None, block: int | None) -> set[Row]:
        """Return the records of all batches but those with a byte in *block* of the file *damaged*."""
        rows = set()
        for path, batches in self.batches.items():
            for begin, end, records in batches:
                low = -1 if block is None else block * FaultyDisk.BLOCK
                high = end + 1 if block is None else low + FaultyDisk.BLOCK
                if path != damaged or not (begin < high and low < end):
                    rows.update(records)
        return rows


def batches_of(topic: str, number: int, first: int, count: int, drawn: random.Random) -> bytes:
    data = b""
    for offset in range(first, first + 3 * count, 3):
        value = drawn.randbytes(drawn.choice([20, 300, 900, 2500]))
        data += build.batch_of(offset, value, value[:9], b"z", key=topic.encode() + bytes([number]))
    return data


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> SampleLog:
    """Provide a log.dir of four partitions, each with companion files, and all checkpoints."""
    drawn = random.Random(SEED)
    folder = Folder(tmp_path_factory.mktemp("disk") / "kafka").log_dir()
    out = SampleLog(folder.path)
    offsets = {}
    for topic, number in (("a", 0), ("a", 1), ("b", 0), ("old", 0)):
        name, first = f"{topic}-{number}", 0
        for _ in range(2):
            if topic == "old":
                values = (drawn.randbytes(90) for _ in range(90))
                messages = (build.message(v, first + at, v[:2]) for at, v in enumerate(values))
                data, after = b"".join(messages), first + 90
            else:
                data, after = batches_of(topic, number, first, 30, drawn), first + 90
            path = folder.segment(name, data, first)
            begins = list(spans(data))
            each = 90 // len(begins)
            out.batches[path] = [
                (begin, end, [(topic, number, first + at * each + i) for i in range(each)])
                for at, (begin, end) in enumerate(begins)
            ]
            entries = [(at * each + each - 1, begins[at][0]) for at in range(2, len(begins), 9)]
            index = b"".join(struct.pack(">ii", *entry) for entry in entries)
            folder.segment(name, index, first, "index")
            times = struct.pack(">qi", build.TIME, each - 1)
            folder.segment(name, times, first, "timeindex")
            folder.segment(name, build.producer_snapshot(), after, "snapshot")
            first = after
        folder.segment(name, b"", 0, "txnindex")
        metadata = folder.path / name / "partition.metadata"
        metadata.write_text("version: 0\ntopic_id: 9wRSUCzJSL6cLeX8xKuzhQ\n")
        (folder.path / name / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
        offsets[topic, number] = first
    for checkpoint, values in (
        ("replication-offset-checkpoint", offsets),
        ("recovery-point-offset-checkpoint", offsets),
        ("log-start-offset-checkpoint", dict.fromkeys(offsets, 0)),
        ("cleaner-offset-checkpoint", {}),
    ):
        folder.checkpoint(checkpoint, values)
    out.files = sorted(path for path in folder.path.rglob("*") if path.is_file())
    return out


@dataclass(frozen=True)
class Fault:
    """A block of a file that cannot be read; block None: the file or folder as a whole."""

    path: Path
    block: int | None

    @property
    def is_of_segment(self) -> bool:
        return self.path.suffix == ".log"

    def put_into(self, disk: FaultyDisk) -> None:
        if self.block is not None:
            disk.blocks[str(self.path)] = {self.block}
        elif self.path.is_dir():
            disk.unlisted[str(self.path)] = errno.EACCES
        else:
            disk.unopened[str(self.path)] = errno.EIO


def drawn_faults(sample: SampleLog) -> list[Fault]:
    """Return seeded faults in segments, companions, checkpoints and folders, most in segments."""
    drawn = random.Random(SEED)
    segments = list(sample.batches)
    others = [path for path in sample.files if path not in sample.batches and path.stat().st_size]
    folders = sorted({path.parent for path in segments})
    faults = []
    for number in range(NUM_FAULTS):
        path = drawn.choice((segments, segments, segments, others, others, folders)[number % 6])
        is_whole = path.is_dir() or number % 7 == 0
        size = path.stat().st_size
        faults.append(Fault(path, None if is_whole else drawn.randrange(size) // FaultyDisk.BLOCK))
    return faults


def objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def dump(sample: SampleLog, *arguments: object) -> tuple[set[Row], Result]:
    columns = "topic,partition,offset"
    result = run("dump", sample.path, "--format", "ndjson", "--columns", columns, *arguments)
    rows = [(row["topic"], row["partition"], row["offset"]) for row in objects(result)]
    assert len(rows) == len(set(rows))
    return set(rows), result


def expected_rows(sample: SampleLog, fault: Fault) -> set[Row]:
    if fault.path.is_dir():
        return {
            row for row in sample.rows_outside(None, 0) if f"{row[0]}-{row[1]}" != fault.path.name
        }
    return sample.rows_outside(fault.path if fault.is_of_segment else None, fault.block)


def check_verify(sample: SampleLog, fault: Fault, is_met: bool) -> None:
    result = run("verify", sample.path, "--format", "ndjson")
    found = objects(result)
    problems = [row for row in found if row["kind"] == "problem" and row["code"] == "unreadable"]
    assert result.exit_code == 2, result.stderr
    assert problems
    for row in found:
        if row["kind"] == "segment" and row["file_kind"] == "log" and row["live"]:
            sizes = sum(
                n for name, n in row.items() if name.startswith("bytes_") and "after" not in name
            )
            assert sizes == row["size_bytes"], row
    if fault.is_of_segment:
        length = sum(row["length"] for row in problems)
        assert length == sum(
            row["bytes_unreadable"]
            for row in found
            if row["kind"] == "segment" and row["live"]
            if row["bytes_unreadable"] is not None
        )
        assert {row["file"] for row in problems} == {fault.path.name}


def check_dump(sample: SampleLog, fault: Fault, is_met: bool) -> None:
    rows, result = dump(sample)
    assert rows == expected_rows(sample, fault)
    assert (result.exit_code, "unreadable" in result.stderr) == (
        (2, True) if is_met else (0, False)
    )


def check_export(sample: SampleLog, fault: Fault, is_met: bool) -> None:
    out = sample.path.parent / "rows.parquet"
    result = run("export", sample.path, "-o", out, "--overwrite", "--threads", 2)
    table = pq.read_table(out, columns=["topic", "partition", "offset"])
    assert {tuple(row.values()) for row in table.to_pylist()} == expected_rows(sample, fault)
    assert result.exit_code == (2 if is_met else 0)


def check_stats(sample: SampleLog, fault: Fault, is_met: bool) -> None:
    result = run("stats", sample.path, "--format", "ndjson", "--by", "partition")
    total = objects(result)[-1]
    assert total["record_count"] == len(expected_rows(sample, fault))
    assert result.exit_code == (2 if is_met else 0)


def check_transactions(sample: SampleLog, fault: Fault, is_met: bool) -> None:
    result = run("transactions", sample.path, "--format", "ndjson")
    assert result.stdout == "" and result.exit_code in (0, 2)


def check_tail(sample: SampleLog, fault: Fault, is_met: bool) -> None:
    rows, result = dump(sample, "--tail", 5)
    expected: set[Row] = set()
    by_partition: dict[tuple[str, int], list[Row]] = {}
    for row in sorted(expected_rows(sample, fault)):
        by_partition.setdefault(row[:2], []).append(row)
    for partition_rows in by_partition.values():
        expected.update(partition_rows[-5:])
    assert rows == expected
    assert result.exit_code in (0, 2)


def check_kafka_dump_log(sample: SampleLog, fault: Fault, is_met: bool) -> None:
    names = ",".join(map(str, sample.batches))
    result = run("kafka-dump-log", "--deep-iteration", "--files", names)
    rows, path = set(), Path()
    for line in result.stdout.splitlines():
        if line.startswith("Dumping "):
            path = Path(line.removeprefix("Dumping "))
        elif line.startswith(("| offset: ", "offset: ")):
            topic, _, number = path.parent.name.rpartition("-")
            rows.add((topic, int(number), int(line.split("offset: ")[1].split()[0])))
    in_segment = fault.path if fault.is_of_segment else None
    assert rows == sample.rows_outside(in_segment, fault.block)
    assert result.exit_code == (2 if in_segment else 0), result.stderr


def check_extract(sample: SampleLog, fault: Fault, is_met: bool) -> None:
    segment = fault.path if fault.is_of_segment else next(iter(sample.batches))
    for begin, end, _ in sample.batches[segment][:6]:
        low = (fault.block or 0) * FaultyDisk.BLOCK
        is_hit = fault.is_of_segment and (
            fault.block is None or (begin < low + FaultyDisk.BLOCK and low < end)
        )
        if "old" in str(segment):
            continue
        result = run("extract", f"{segment}@{begin}")
        assert result.exit_code == (2 if is_hit else 0), result.stderr


CHECKS = (
    *(check_export, check_stats, check_transactions, check_tail),
    *(check_kafka_dump_log, check_extract),
)


def test_every_sound_row_elsewhere_is_delivered_in_every_command(sample: SampleLog) -> None:
    print(f"seed {SEED}")
    for number, fault in enumerate(drawn_faults(sample)):
        checks: Iterable[Any] = (
            check_verify,
            check_dump,
            *(CHECKS[(number + i) % 6] for i in (0, 3)),
        )
        with faulty_disk(with_kernels=number % 2 == 1) as disk:
            fault.put_into(disk)
            for check in checks:
                disk.failed.clear()
                try:
                    is_index = fault.path.suffix in (".index", ".timeindex")
                    check(sample, fault, is_met=not is_index)
                except BaseException:
                    print(f"seed {SEED}, fault {number}: {fault}, {check.__name__}")
                    raise


def test_on_damage_fail_ends_with_status_2(sample: SampleLog) -> None:
    path = next(iter(sample.batches))
    with faulty_disk() as disk:
        disk.blocks[str(path)] = {1}
        _, result = dump(sample, "--on-damage", "fail")
    assert result.exit_code == 2
    assert "4096 bytes" in result.stderr and "Input/output error" in result.stderr


@pytest.mark.parametrize("check", [check_verify, check_dump, check_export, check_stats])
def test_a_file_that_vanishes_is_a_finding_and_the_rest_is_read(
    check: Callable[..., None], sample: SampleLog
) -> None:
    fault = Fault(list(sample.batches)[2], None)
    with faulty_disk() as disk:
        disk.unopened[str(fault.path)] = errno.ENOENT
        check(sample, fault, is_met=True)
        _, result = dump(sample, "--on-damage", "fail")
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
    found = {(row["topic"], row["partition"], row["offset"]) for row in rows}
    assert found == sample.rows_outside(path, 10000 // FaultyDisk.BLOCK)
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
