"""Tests of companion files read without their log: the Construct twin's rows, and each fault."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import magicbyte as mb
from file_damage import flip
from magicbyte.companion_tables import kind_of
from magicbyte_construct import (
    LeaderEpochCheckpoint,
    OffsetCheckpoint,
    OffsetIndex,
    PartitionMetadata,
    ProducerSnapshot,
    TimeIndex,
    TransactionIndex,
)
from paths import DATA

LEAST_FILES = {
    "index": 20,
    "timeindex": 50,
    "txnindex": 5,
    "snapshot": 50,
    "leader epochs": 20,
    "offsets": 10,
    "partition metadata": 20,
    "properties": 3,
    "quorum state": 2,
}


def by_kind() -> dict[str, list[Path]]:
    files: dict[str, list[Path]] = {kind: [] for kind in LEAST_FILES}
    for path in sorted(DATA.rglob("*")):
        if path.is_file() and (kind := kind_of(path)):
            files[kind].append(path)
    return files


def twins(kind: str, path: Path, data: bytes) -> list[tuple[Any, ...]]:
    """Return the rows that the Construct twin reads in *data*, in the order of the columns."""

    def of(number: int) -> int | None:
        return None if number == -1 else number

    match kind:
        case "index" | "timeindex":
            base = int(path.name[:20])
            parser, field = (
                (OffsetIndex, "position") if kind == "index" else (TimeIndex, "timestamp")
            )
            return [
                (e.relative_offset, base + e.relative_offset, e[field])
                for e in parser.parse(data).entries
            ]
        case "txnindex":
            return [
                (e.version, e.producer_id, e.first_offset, e.last_offset, e.last_stable_offset)
                for e in TransactionIndex.parse(data).entries
            ]
        case "snapshot":
            return [
                (
                    e.producer_id,
                    e.epoch,
                    of(e.last_sequence),
                    of(e.last_offset),
                    e.offset_delta,
                    e.timestamp,
                    of(e.coordinator_epoch),
                    of(e.current_transaction_first_offset),
                )
                for e in ProducerSnapshot.parse(data).producers
            ]
        case "leader epochs":
            return [(e.epoch, e.start_offset) for e in LeaderEpochCheckpoint.parse(data).entries]
        case "offsets":
            return [(e.topic, e.partition, e.offset) for e in OffsetCheckpoint.parse(data).entries]
        case _:
            return [("version", "0"), ("topic_id", PartitionMetadata.parse(data).topic_id)]


def rows_of(found: mb.Companion) -> Iterator[tuple[Any, ...]]:
    columns = [
        column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
        for column in found.rows.columns
    ]
    return zip(*(column.to_pylist() for column in columns), strict=True)


@pytest.mark.parametrize("kind", [*LEAST_FILES][:-2])
def test_rows_are_those_that_the_twin_reads(kind: str) -> None:
    paths = by_kind()[kind]
    assert len(paths) >= LEAST_FILES[kind]
    for path in paths:
        found = mb.companion(path)
        assert (found.kind, found.findings) == (kind, ()), path
        assert list(rows_of(found)) == twins(kind, path, path.read_bytes()), path


@pytest.mark.parametrize(
    ("kind", "names"),
    [("properties", {"version", "cluster.id"}), ("quorum state", {"leaderId", "leaderEpoch"})],
)
def test_properties_have_a_row_each(kind: str, names: set[str]) -> None:
    paths = by_kind()[kind]
    assert len(paths) >= LEAST_FILES[kind]
    for path in paths:
        rows = dict(rows_of(mb.companion(path)))
        assert names <= set(rows), path
        assert all(f"{value}" in path.read_text().replace("\\", "") for value in rows.values())


def test_properties_are_read_as_java_writes_them(tmp_path: Path) -> None:
    (path := tmp_path / "meta.properties").write_bytes(b"#\n #now\n\na.b = c\\:d\\=e\r\nf=\n")
    found = mb.companion(path)
    assert list(rows_of(found)) == [("a.b", "c:d=e"), ("f", "")]
    assert found.findings == ()


def test_a_name_is_enough_under_any_suffix(tmp_path: Path) -> None:
    for suffix in ("", ".deleted", ".cleaned", ".swap"):
        path = tmp_path / f"00000000000000000100.index{suffix}"
        path.write_bytes(bytes.fromhex("00000005 00000040 00000000 00000000"))
        assert list(rows_of(mb.companion(path))) == [(5, 105, 64)]


WRONG = [
    # file name, bytes in hex, number of rows, finding code, position, part of the message
    ("00000000000000000000.index", "0000000500000040 0000000900", 1, "index-invalid", 8, "5 bytes"),
    ("00000000000000000000.index", "0000000500000040 0000000400000050", 2, "index-invalid", 8, "relative_offset 4, expected 5"),
    ("00000000000000000000.index", "ffffffff00000040", 1, "index-invalid", 0, "relative_offset -1, expected 0"),
    ("00000000000000000000.timeindex", "000000000000000900000001 000000000000000800000002", 2, "timeindex-invalid", 12, "timestamp 8, expected 9"),
    ("00000000000000000000.txnindex", "00000000", 0, "txnindex-invalid", 0, "4 bytes"),
    ("00000000000000000000.snapshot", "0002000000000000", 0, "snapshot-invalid", 0, "8 bytes"),
    ("leader-epoch-checkpoint", b"0\n2\n0 0\n".hex(), 0, "checkpoint-invalid", None, "line 2: '2', expected 1"),
    ("leader-epoch-checkpoint", b"0\n1\n0 x\n".hex(), 0, "checkpoint-invalid", None, "line 3: '0 x', expected leader epoch"),
    ("leader-epoch-checkpoint", b"0\n1\n2147483648 0\n".hex(), 0, "checkpoint-invalid", None, "line 3: '2147483648 0'"),
    ("leader-epoch-checkpoint", b"0\n1\n0 9223372036854775808\n".hex(), 0, "checkpoint-invalid", None, "line 3: '0 9223372036854775808'"),
    ("leader-epoch-checkpoint", b"0\n1\n0 0 0\n".hex(), 0, "checkpoint-invalid", None, "line 3: '0 0 0'"),
    ("meta.properties", b"#\n\n a\n".hex(), 0, "checkpoint-invalid", None, "line 3: ' a', expected a name, '=' and a value"),
    ("partition.metadata", b"version: 0\ntopic_id\n".hex(), 0, "checkpoint-invalid", None, "line 2: 'topic_id'"),
    ("quorum-state", b"[]".hex(), 0, "checkpoint-invalid", None, "JSON of list"),
    ("quorum-state", b"{".hex(), 0, "checkpoint-invalid", None, "no JSON"),
    ("meta.properties", b"\xff".hex(), 0, "checkpoint-invalid", None, "byte 0"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "count", "code", "position", "said"), WRONG)
def test_damaged_companion_file_has_a_finding_and_rows_of_its_whole_entries(
    tmp_path: Path, name: str, data: str, count: int, code: str, position: int | None, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(bytes.fromhex(data))
    found = mb.companion(path)
    (finding,) = found.findings
    assert (finding.code, finding.position, finding.file) == (code, position, name)
    assert said in finding.message
    assert found.rows.num_rows == count


def test_producers_of_a_snapshot_are_shown_though_its_checksum_is_wrong(tmp_path: Path) -> None:
    sound = next(path for path in by_kind()["snapshot"] if path.stat().st_size > 100)
    path = Path(shutil.copy(sound, tmp_path))
    flip(path, -1, 1)
    found = mb.companion(path)
    assert [finding.code for finding in found.findings] == ["snapshot-invalid"]
    assert found.rows.num_rows == mb.companion(sound).rows.num_rows > 1


def test_another_name_is_refused(tmp_path: Path) -> None:
    (path := tmp_path / "notes.txt").write_text("0\n")
    with pytest.raises(mb.InputError, match="no file beside a log has; expected one of"):
        mb.companion(path)
    with pytest.raises(mb.MagicbyteError, match="leader-epoch-checkpoint"):
        mb.companion(tmp_path / "leader-epoch-checkpoint")
