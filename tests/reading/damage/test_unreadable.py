"""Tests of segments some of whose bytes the disk does not deliver."""

import errno
import pickle
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from io_faults import FaultyDisk, faulty_disk
from log_builder import Folder
from log_reader import Read, spans
from magicbyte.engines.header_scan import read_batch_headers
from magicbyte.errors import ChangedError, UnreadableError
from magicbyte.findings import Finding
from magicbyte.storage import SegmentFile

BLOCK = FaultyDisk.BLOCK


@pytest.fixture(params=[False, True], ids=["python", "kernels"])
def disk(request: pytest.FixtureRequest) -> Iterator[FaultyDisk]:
    """A disk with faults, once where kernels read headers past them, as a cache would deliver them."""
    with faulty_disk(with_kernels=request.param) as faulty:
        yield faulty


def of_size(base: int, size: int, **fields: Any) -> bytes:
    """Return a batch of one record that has exactly *size* bytes."""
    for length in range(size - 80, size):
        data = build.batch([build.record(b"x" * length)], base, **fields)
        if len(data) == size:
            return data
    raise AssertionError(size)


def offsets_outside(data: bytes, *blocks: int) -> list[int]:
    """Return the base offsets of the batches of *data* that have no byte in *blocks*."""
    offsets = []
    for begin, end in spans(data):
        if not any(begin < (block + 1) * BLOCK and block * BLOCK < end for block in blocks):
            offsets.append(int.from_bytes(data[begin : begin + 8], "big"))
    return offsets


def read(path: Path, **options: Any) -> Read:
    found = Read(mb.open(path, **{"on_damage": "skip", **options}))
    size = sum(file.stat().st_size for file in path.rglob("*.log"))
    assert sum(found.report.bytes.values()) == size
    return found


def unreadable(found: Read) -> list[tuple[int | None, int | None]]:
    """Return position and length of what could not be read; the bytes add up."""
    findings = [finding for finding in found.findings if finding.code == "unreadable"]
    lengths = sum(finding.length or 0 for finding in findings)
    assert lengths == found.report.bytes["unreadable"]
    return [(finding.position, finding.length) for finding in findings]


@pytest.mark.parametrize("engine", ["reference", "columnar"])
@pytest.mark.parametrize("blocks", [(0,), (3,), (4, 5), (2, 8), (9,)])
def test_batches_around_unreadable_blocks_are_delivered(
    blocks: tuple[int, ...], engine: str, folder: Folder, disk: FaultyDisk
) -> None:
    data = b"".join(of_size(base, 700 + base * 13) for base in range(40))
    data = data[: 9 * BLOCK] + data[9 * BLOCK :]
    path = folder.segment("t-0", data)
    disk.blocks[str(path)] = set(blocks)
    for threads in (1, 2):
        found = read(folder.path / "t-0", engine=engine, threads=threads)
        assert found.offsets == offsets_outside(data, *blocks)
        assert found.report.bytes["unreadable"] == sum(
            min((block + 1) * BLOCK, len(data)) - block * BLOCK for block in blocks
        )
        unreadable(found)
        assert {f.code for f in found.findings} <= {"unreadable", "found-by-search"}


@pytest.mark.parametrize("engine", ["reference", "columnar"])
def test_a_checksum_is_neither_right_nor_wrong_where_bytes_of_its_batch_cannot_be_read(
    engine: str, folder: Folder, disk: FaultyDisk
) -> None:
    wrong = bytearray(of_size(2, 500))
    wrong[-1] ^= 1
    data = of_size(0, 500) + of_size(1, 3 * BLOCK) + bytes(wrong) + of_size(3, 500)
    disk.blocks[str(folder.segment("t-0", data))] = {1, 2}
    dataset = mb.open(folder.path / "t-0", engine=engine, on_damage="skip")
    columns = ["base_offset", "crc_valid", "disposition"]
    assert [tuple(row.values()) for row in dataset.batches(columns).to_pylist()] == [
        (0, True, "delivered"),
        (1, None, "unreadable"),
        (2, False, "damaged"),
        (3, True, "delivered"),
    ]


@pytest.mark.parametrize("left", range(1, 9))
def test_a_batch_whose_offset_cannot_be_read_is_not_delivered_though_its_checksum_is_right(
    left: int, folder: Folder, disk: FaultyDisk
) -> None:
    data = of_size(0, BLOCK) + of_size(1, BLOCK - left)
    data += of_size(2, 500) + of_size(3, 500)
    path = folder.segment("t-0", data)
    disk.blocks[str(path)] = {1}
    found = read(folder.path / "t-0")
    assert found.offsets == [0, 3]
    assert unreadable(found) == [(BLOCK, BLOCK)]
    # The same where nothing is known about offsets.
    data = of_size(0, BLOCK - left) + of_size(1, 500) + of_size(2, 500)
    file = folder.segment("unnamed", data)
    disk.blocks[str(file)] = {0}
    for columns in (["offset"], ["offset", "value"]):
        rows = mb.open(file, on_damage="skip").records(columns)
        assert [row["offset"] for row in rows.to_pylist()] == [2]
        assert sum(rows.report.bytes.values()) == len(data)


@pytest.mark.parametrize("readable", [1, 8, 12, 16, 17, 40, 60, 61, 100])
def test_a_batch_whose_header_is_read_in_part_is_not_delivered(
    readable: int, folder: Folder, disk: FaultyDisk
) -> None:
    data = of_size(0, BLOCK - readable) + of_size(1, 600)
    while len(data) < 4 * BLOCK:
        data += of_size(len(data), 600)
    path = folder.segment("t-0", data)
    disk.blocks[str(path)] = {1}
    assert read(folder.path / "t-0").offsets == offsets_outside(data, 1)
    # The same where the next header can be read.
    path.write_bytes(of_size(0, BLOCK - readable) + of_size(1, BLOCK + 500) + of_size(2, 600))
    assert read(folder.path / "t-0").offsets == [0, 2]


def test_headers_end_before_one_that_is_read_in_part(folder: Folder) -> None:
    data = of_size(0, BLOCK - 40) + of_size(1, BLOCK + 500) + of_size(2, 600)
    path = folder.segment("t-0", data)
    with faulty_disk() as disk, SegmentFile(str(path), None) as file:
        disk.blocks[str(path)] = {1}
        headers = read_batch_headers(file, 0, len(data))
    assert headers.column("position").tolist() == [0]


def test_a_batch_between_two_unreadable_blocks_is_delivered(
    folder: Folder, disk: FaultyDisk
) -> None:
    data = of_size(0, BLOCK + 900) + of_size(1, BLOCK - 900) + of_size(2, 600) + of_size(3, BLOCK)
    data += of_size(4, 3 * BLOCK - 600 - BLOCK) + of_size(5, 200)
    path = folder.segment("t-0", data)
    # The header after the batch is in the second block: nothing confirms it but its checksum.
    disk.blocks[str(path)] = {0, 2}
    assert read(folder.path / "t-0").offsets == offsets_outside(data, 0, 2) != []


def test_messages_around_an_unreadable_block_are_delivered(
    folder: Folder, disk: FaultyDisk
) -> None:
    data = b"".join(build.message(b"x" * 70, offset, magic=offset % 2) for offset in range(300))
    path = folder.segment("t-0", data)
    disk.blocks[str(path)] = {2}
    assert read(folder.path / "t-0").offsets == offsets_outside(data, 2)


def test_a_finding_names_file_position_length_and_the_first_offset_of_the_batch(
    folder: Folder, disk: FaultyDisk
) -> None:
    data = of_size(7, 3 * BLOCK) + of_size(8, 200)
    path = folder.segment("t-0", data, 7)
    disk.blocks[str(path)] = {1}
    found = read(folder.path / "t-0")
    (finding,) = found.findings
    assert (finding.topic, finding.partition, finding.file) == ("t", 0, path.name)
    assert (finding.position, finding.length, finding.base_offset) == (BLOCK, BLOCK, 7)
    assert finding.severity == "error" and str(path) in finding.message
    assert found.report.bytes["damaged"] == 2 * BLOCK
    assert found.offsets == [8]


def test_unreadable_bytes_at_the_end_are_no_tail(folder: Folder, disk: FaultyDisk) -> None:
    data = of_size(0, BLOCK) + of_size(1, 100)
    path = folder.segment("t-0", data)
    disk.blocks[str(path)] = {1}
    found = read(folder.path / "t-0")
    assert (found.offsets, unreadable(found)) == ([0], [(BLOCK, 100)])
    path.write_bytes(data[: BLOCK + 5])
    found = read(folder.path / "t-0")
    assert (found.offsets, unreadable(found)) == ([0], [(BLOCK, 5)])
    assert found.report.bytes["tail"] == 0


def test_damage_is_reported_beside_what_cannot_be_read(folder: Folder, disk: FaultyDisk) -> None:
    garbage = bytes(range(1, 200)) * 10
    data = of_size(0, 500) + garbage + of_size(1, 3 * BLOCK) + of_size(2, 500)
    path = folder.segment("t-0", data)
    disk.blocks[str(path)] = {2}
    found = read(folder.path / "t-0")
    assert found.offsets == [0, 2]
    codes = {finding.code for finding in found.findings if finding.severity == "error"}
    assert codes == {"unknown-magic", "unreadable"} or codes == {"bad-size", "unreadable"}
    unreadable(found)


def test_fail_raises_and_stop_ends_where_bytes_cannot_be_read(
    folder: Folder, disk: FaultyDisk
) -> None:
    data = of_size(0, BLOCK) + of_size(1, BLOCK) + of_size(2, BLOCK)
    path = folder.segment("t-0", data)
    disk.blocks[str(path)] = {1}
    with pytest.raises(UnreadableError, match="Input/output error") as raised:
        mb.open(folder.path / "t-0").records().to_table()
    assert raised.value.finding.position == BLOCK
    found = read(folder.path / "t-0", on_damage="stop")
    assert found.offsets == [0]
    assert found.report.bytes["unreadable"] == BLOCK
    assert found.report.bytes["outside_range"] == BLOCK


@pytest.mark.parametrize("number", [errno.EACCES, errno.ELOOP, errno.EIO])
def test_a_segment_that_cannot_be_opened_is_unreadable_as_a_whole(
    number: int, folder: Folder, disk: FaultyDisk
) -> None:
    folder.segment("t-0", of_size(0, 500))
    path = folder.segment("t-0", of_size(1, 3 * BLOCK), 1)
    folder.segment("t-0", of_size(2, 500), 2)
    disk.unopened[str(path)] = number
    found = read(folder.path / "t-0")
    assert (found.offsets, unreadable(found)) == ([0, 2], [(0, 3 * BLOCK)])
    with pytest.raises(UnreadableError):
        mb.open(folder.path / "t-0").records().to_table()


def test_a_segment_that_vanishes_is_an_error_of_a_read_and_a_finding_of_checks(
    folder: Folder, disk: FaultyDisk
) -> None:
    """A reader may find its records in the file that replaces it; a check goes on."""
    folder.segment("t-0", of_size(0, 500))
    path = folder.segment("t-0", of_size(1, 500), 1)
    disk.unopened[str(path)] = errno.ENOENT
    for policy in ("skip", "fail"):
        with pytest.raises(ChangedError, match="gone"):
            mb.open(folder.path / "t-0", on_damage=policy).records().to_table()
    for findings in (mb.verify(folder.path).findings, mb.stats(folder.path).findings):
        assert [(f.file, f.length) for f in findings if f.code == "unreadable"] == [
            (path.name, 500)
        ]


def test_a_transaction_whose_marker_cannot_be_read_is_undecided(
    folder: Folder, disk: FaultyDisk
) -> None:
    data = build.transactional(0, 7) + of_size(1, BLOCK)
    data += bytes(0) + build.control(build.ABORT, 2, 7)
    begin = len(data) // BLOCK
    while len(data) < 4 * BLOCK:
        data += of_size(3 + len(data), 600)
    path = folder.segment("t-0", data)
    disk.blocks[str(path)] = {begin}
    found = read(folder.path / "t-0")
    assert "transaction-undecided" in found.codes
    outcomes = {row["offset"]: row["disposition"] for row in found.rows}
    assert outcomes[0] == "withheld"
    assert found.offsets == [
        offset for offset in offsets_outside(data, begin) if offset not in (0, 2)
    ]


def findings_of(found: Read) -> list[Finding]:
    return [finding for finding in found.findings if finding.code == "unreadable"]


@pytest.mark.parametrize("kind", ["snapshot", "txnindex"])
def test_a_companion_that_cannot_be_read_is_a_finding_and_as_good_as_absent(
    kind: str, folder: Folder
) -> None:
    data = build.transactional(40, 7) + build.control(build.ABORT, 41, 7) + of_size(42, 200)
    folder.segment("t-0", data, 40)
    aborted = build.transaction_index((7, 40, 41))
    content = build.producer_snapshot() if kind == "snapshot" else aborted
    path = folder.segment("t-0", content, 40, kind)
    with faulty_disk() as disk:
        disk.blocks[str(path)] = {0}
        found = read(folder.path / "t-0")
        with pytest.raises(UnreadableError, match=path.name):
            mb.open(folder.path / "t-0").records().to_table()
    (finding,) = findings_of(found)
    assert (finding.file, finding.topic) == (path.name, "t")
    path.unlink()
    assert found.offsets == read(folder.path / "t-0").offsets == [42]


@pytest.mark.parametrize("name", ["partition.metadata", "leader-epoch-checkpoint"])
def test_small_files_of_a_partition_that_cannot_be_read_are_findings(
    name: str, folder: Folder
) -> None:
    folder.segment("t-0", of_size(0, 500))
    path = folder.path / "t-0" / name
    path.write_text("version: 0\ntopic_id: 9wRSUCzJSL6cLeX8xKuzhQ\n")
    for number in (errno.EACCES, errno.EIO, errno.ELOOP):
        with faulty_disk() as disk:
            disk.unopened[str(path)] = number
            found = Read(mb.open(folder.path / "t-0", on_damage="skip"))
            assert [finding.file for finding in findings_of(found)] == [name]
            assert found.offsets == [0]
            with pytest.raises(UnreadableError, match=name):
                mb.open(folder.path / "t-0").records().to_table()


@pytest.mark.parametrize(
    "name",
    [
        "meta.properties",
        "log-start-offset-checkpoint",
        "replication-offset-checkpoint",
        "recovery-point-offset-checkpoint",
        "cleaner-offset-checkpoint",
    ],
)
def test_checkpoints_that_cannot_be_read_are_findings_of_every_table(
    name: str, folder: Folder
) -> None:
    log_dir = folder.log_dir()
    log_dir.segment("t-0", of_size(0, 500))
    log_dir.segment("u-0", of_size(0, 500))
    if name != "meta.properties":
        log_dir.checkpoint(name, {("t", 0): 0})
    with faulty_disk() as disk:
        disk.unopened[str(folder.path / name)] = errno.EIO
        dataset = mb.open(folder.path, on_damage="skip")
        for table in ("records", "batches", "segments", "transactions", "partitions", "problems"):
            rows = getattr(dataset, table)()
            rows.to_table()
            findings = [f for f in rows.report.findings if f.code == "unreadable"]
            assert [finding.file for finding in findings] == [name], table
        verification = mb.verify(folder.path)
    assert [f.file for f in verification.findings if f.code == "unreadable"] == [name]


def test_what_a_startup_cannot_read_is_not_predicted(folder: Folder, disk: FaultyDisk) -> None:
    path = folder.segment("t-0", of_size(0, BLOCK) + of_size(1, BLOCK))
    disk.blocks[str(path)] = {1}
    (row,) = mb.verify(folder.path).partitions
    assert row["verdict"] == "unknown"


def test_the_error_can_be_pickled() -> None:
    finding = Finding(code="unreadable", message="f cannot be read: EIO", position=3, length=5)
    error = pickle.loads(pickle.dumps(UnreadableError(finding, errno=errno.EIO)))
    assert (error.finding, error.errno, str(error)) == (finding, errno.EIO, str(finding))
    assert isinstance(error, OSError) and isinstance(error, mb.InputError)


def test_an_index_that_a_range_of_times_needs_is_a_finding_and_rows_are_right(
    folder: Folder,
) -> None:
    for base in (0, 20):
        data = b"".join(
            build.batch_of(offset, b"x", time=build.TIME + offset)
            for offset in range(base, base + 20)
        )
        folder.segment("t-0", data, base)
        folder.segment("t-0", struct.pack(">qi", build.TIME + base + 19, 19), base, "timeindex")
        folder.segment("t-0", struct.pack(">ii", 19, len(data) - 70), base, "index")
    times = (build.TIME + 5, build.TIME + 30)
    expected = list(range(5, 30))
    assert Read(mb.open(folder.path / "t-0", times=times)).offsets == expected
    path = folder.path / "t-0" / f"{0:020}.timeindex"
    with faulty_disk() as disk:
        disk.unopened[str(path)] = errno.EIO
        found = Read(mb.open(folder.path / "t-0", times=times, on_damage="skip"))
        assert found.offsets == expected
        assert [finding.file for finding in findings_of(found)] == [path.name]


def test_nothing_is_concluded_from_the_absence_of_what_cannot_be_read(
    folder: Folder, disk: FaultyDisk
) -> None:
    log_dir = folder.log_dir()
    log_dir.segment("t-0", of_size(0, 500))
    path = log_dir.segment("t-0", of_size(1, 500), 1)
    log_dir.segment("t-0", build.producer_snapshot(), 2, "snapshot")
    log_dir.checkpoint("replication-offset-checkpoint", {("t", 0): 2})
    log_dir.checkpoint("log-start-offset-checkpoint", {("t", 0): 2})
    log_dir.segment("u-0", of_size(0, 500))
    for name in ("t-0", "u-0"):
        (log_dir.path / name / "partition.metadata").write_text(
            "version: 0\ntopic_id: 9wRSUCzJSL6cLeX8xKuzhQ\n"
        )
    disk.unopened[str(path)] = errno.EACCES
    disk.unopened[str(log_dir.path / "t-0" / "partition.metadata")] = errno.EACCES
    findings = [each for each in mb.verify(folder.path).findings if each.topic == "t"]
    assert {(each.code, each.file) for each in findings if each.severity != "note"} == {
        ("unreadable", path.name),
        ("unreadable", "partition.metadata"),
    }
