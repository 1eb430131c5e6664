"""Fixtures: real brokers' logs in memory, an independent frame parser, and a folder to damage."""

import shutil
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

import magicbyte as mb
from extent import WIDE
from paths import DATA, shared

T = TypeVar("T")

COLUMNS = ("offset", "timestamp", "key", "value", "producer_id", "file", "position")


# Framing that shares no code with the reader under test


@dataclass(frozen=True)
class Frame:
    """The header fields of a batch or message, parsed with `struct` alone."""

    position: int
    size: int
    offset: int
    magic: int
    last: int
    attributes: int
    producer: int
    count: int | None
    marker: str | None
    """`abort` or `commit`."""

    @property
    def end(self) -> int:
        return self.position + self.size

    @property
    def is_control(self) -> bool:
        return self.magic == 2 and bool(self.attributes & 0x20)

    @property
    def is_transactional(self) -> bool:
        return self.magic == 2 and bool(self.attributes & 0x10)


def frames_of(data: bytes) -> list[Frame]:
    """Return the frames of an undamaged segment, up to the first bytes that are no frame."""
    frames, at = [], 0
    while len(data) - at >= 26:
        offset, size, _, magic = struct.unpack_from(">qiib", data, at)
        if size < 14 or at + 12 + size > len(data) or not 0 <= magic <= 2:
            break
        last, attributes, producer, count, marker = offset, data[at + 17], -1, None, None
        if magic == 2:
            header = struct.unpack_from(">hiqqqhii", data, at + 21)
            attributes, delta, _, _, producer, _, _, count = header
            last = offset + delta
            if attributes & 0x20 and count:
                marker = _marker(data, at + 61)
        frame = Frame(at, 12 + size, offset, magic, last, attributes, producer, count, marker)
        frames.append(frame)
        at = frame.end
    return frames


def _marker(data: bytes, at: int) -> str | None:
    """Return the type of the control record at byte *at*; the key holds version and type."""
    for _ in range(5):  # length, attributes (0 in a marker), time, offset, length of the key
        while data[at] & 0x80:
            at += 1
        at += 1
    return {0: "abort", 1: "commit"}.get(struct.unpack_from(">hh", data, at)[1])


@pytest.fixture(scope="session")
def frames() -> Callable[[bytes], list[Frame]]:
    return frames_of


# Real logs


@dataclass(frozen=True)
class Partition:
    """A partition's folder and the files of its log.dir, in memory."""

    cluster: str
    """Kafka release and cluster name, as in `4.3/transactions`."""
    name: str
    files: dict[str, bytes] = field(repr=False)
    log_dir: dict[str, bytes] = field(repr=False)

    def __str__(self) -> str:
        return f"{self.cluster}/{self.name}"

    @property
    def logs(self) -> list[str]:
        """Return the names of the live segments, in order of base offset."""
        return sorted(name for name in self.files if name.endswith(".log"))

    @property
    def is_internal(self) -> bool:
        return self.name.startswith("__")

    @property
    def has_markers(self) -> bool:
        return any(f.marker for name in self.logs for f in frames_of(self.files[name]))


def _partitions(root: Path) -> Iterator[Partition]:
    for facts in sorted(root.glob("*/*/oracle/facts.json")):
        cluster = facts.parents[1]
        for log_dir in sorted(cluster.glob("log-*")):
            root_files = {f.name: f.read_bytes() for f in sorted(log_dir.iterdir()) if f.is_file()}
            for folder in sorted(log_dir.iterdir()):
                if folder.is_dir() and folder.name.rpartition("-")[2].isdecimal():
                    yield Partition(
                        f"{cluster.parent.name}/{cluster.name}",
                        folder.name,
                        {f.name: f.read_bytes() for f in sorted(folder.iterdir())},
                        root_files,
                    )


@pytest.fixture(scope="session")
def partitions() -> list[Partition]:
    """All partitions of tests/data, or of the shared folder's logs where MAGICBYTE_WIDE is set."""
    wide = shared() / "logs"
    return list(_partitions(wide if WIDE and wide.is_dir() else DATA))


@pytest.fixture(scope="session")
def partition(partitions: list[Partition]) -> Callable[[str], Partition]:
    """A function that returns a partition by its name, `release/cluster/topic-number`."""
    return {str(one): one for one in partitions}.__getitem__


@pytest.fixture(scope="session")
def with_markers(partitions: list[Partition]) -> list[Partition]:
    """The partitions that hold a transaction marker."""
    return [partition for partition in partitions if partition.has_markers]


# The reader under test


class Workshop:
    """A temporary folder: writes damaged partitions to it and reads them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(
        self,
        files: dict[str, bytes],
        log_dir: dict[str, bytes] | None = None,
        name: str = "topic-0",
    ) -> str:
        """Write *files* as a partition's folder, in a log.dir or alone; return the path to open."""
        shutil.rmtree(self.folder, ignore_errors=True)
        partition = self.folder / name
        partition.mkdir(parents=True)
        for file, data in files.items():
            (partition / file).write_bytes(data)
        if log_dir is None:
            return str(partition)
        for file, data in log_dir.items():
            (self.folder / file).write_bytes(data)
        return str(self.folder)

    def read(
        self,
        path: str,
        isolation_level: str = "read_uncommitted",
        columns: Sequence[str] = COLUMNS,
        dispositions: Sequence[str] = ("delivered",),
        **options: Any,
    ) -> tuple[list[tuple[Any, ...]], list[mb.Finding]]:
        """Read the records of *path*; return the rows, as tuples, and the findings."""
        rows = self.open(path, isolation_level, **options).records(
            list(columns), dispositions=dispositions
        )
        table = rows.to_table()
        if not columns:
            return [()] * table.num_rows, rows.report.findings
        return list(zip(*table.to_pydict().values(), strict=True)), rows.report.findings

    def open(
        self, path: str, isolation_level: str = "read_uncommitted", **options: Any
    ) -> mb.Dataset:
        options = {"on_damage": "skip", "include_internal": True} | options
        return mb.open(path, isolation_level=isolation_level, **options)


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path / "log-0")
