"""Real brokers' logs in memory, a framing of our own, and the reader under test."""

import gzip
import json
import os
import random
import shutil
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import crc32c
import pytest

import magicbyte as mb
from paths import DATA, shared

T = TypeVar("T")

WIDE = bool(os.environ.get("MAGICBYTE_WIDE"))
COLUMNS = ("offset", "timestamp", "key", "value", "producer_id", "file", "position")


# Framing, by nobody's code but this


@dataclass(frozen=True)
class Frame:
    """An entry of a segment, as ten lines of struct see it."""

    position: int
    size: int
    offset: int
    magic: int
    last: int
    attributes: int
    producer: int
    epoch: int
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
    """Return the entries of a sound segment, up to the first that is none."""
    found, at = [], 0
    while len(data) - at >= 26:
        offset, size, _, magic = struct.unpack_from(">qiib", data, at)
        if size < 14 or at + 12 + size > len(data) or not 0 <= magic <= 2:
            break
        last, attributes, producer, epoch, count, marker = offset, data[at + 17], -1, -1, None, None
        if magic == 2:
            attributes, delta, _, _, producer, epoch, _, count = struct.unpack_from(
                ">hiqqqhii", data, at + 21
            )
            last = offset + delta
            if attributes & 0x20 and count:
                marker = _marker(data, at + 61)
        found.append(
            Frame(at, 12 + size, offset, magic, last, attributes, producer, epoch, count, marker)
        )
        at += 12 + size
    return found


def _marker(data: bytes, at: int) -> str | None:
    """Return what the control record at byte *at* says: its key is two int16, version and type."""
    for field_number in range(5):  # length, attributes, time, offset, length of the key
        if field_number == 1:
            at += 1
            continue
        while data[at] & 0x80:
            at += 1
        at += 1
    return {0: "abort", 1: "commit"}.get(struct.unpack_from(">hh", data, at)[1])


@pytest.fixture(scope="session")
def frames() -> Callable[[bytes], list[Frame]]:
    return frames_of


# Bytes of our own making


def _varint(number: int) -> bytes:
    number = number << 1 ^ number >> 63
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _record(delta: int, key: bytes | None, value: bytes | None) -> bytes:
    body = b"\0" + _varint(0) + _varint(delta)
    for data in (key, value):
        body += _varint(-1) if data is None else _varint(len(data)) + data
    body += _varint(0)
    return _varint(len(body)) + body


class Maker:
    """Makes entries and companions, with right checksums."""

    def batch(
        self,
        base: int,
        *values: bytes,
        producer: int = -1,
        epoch: int = 0,
        sequence: int = 0,
        attributes: int = 0,
        key: bytes | None = None,
        last: int | None = None,
    ) -> bytes:
        """Return a v2 batch of records from offset *base*; in a transaction if it has a producer."""
        if producer >= 0:
            attributes |= 0x10
        delta = len(values) - 1 if last is None else last - base
        body = struct.pack(
            ">hiqqqhii",
            attributes,
            delta,
            1_700_000_000_000,
            1_700_000_000_000,
            producer,
            epoch if producer >= 0 else -1,
            sequence if producer >= 0 and not attributes & 0x20 else -1,
            len(values),
        )
        body += b"".join(_record(n, key, value) for n, value in enumerate(values))
        head = struct.pack(">qiibI", base, len(body) + 9, 0, 2, crc32c.crc32c(body))
        return head + body

    def marker(self, offset: int, producer: int, *, commits: bool, epoch: int = 0) -> bytes:
        """Return the batch that ends a transaction."""
        return self.batch(
            offset,
            struct.pack(">hi", 0, 0),
            producer=producer,
            epoch=epoch,
            attributes=0x20,
            key=struct.pack(">hh", 0, int(commits)),
        )

    def message(self, offset: int, value: bytes, magic: int = 0) -> bytes:
        """Return a v0 or v1 message."""
        time = struct.pack(">q", 1_700_000_000_000) if magic else b""
        body = struct.pack(">bb", magic, 0) + time + struct.pack(">ii", -1, len(value)) + value
        return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body

    def snapshot(self, *producers: tuple[int, int, int, int]) -> bytes:
        """Return a producer snapshot: id, epoch, last offset, first offset of what is open or -1.

        The last sequence of each is 0.
        """
        body = struct.pack(">i", len(producers))
        for producer, epoch, last, first in producers:
            body += struct.pack(
                ">qhiqiqiq", producer, epoch, 0, last, 0, 1_700_000_000_000, 0, first
            )
        return struct.pack(">hI", 1, crc32c.crc32c(body)) + body

    def txnindex(self, *aborted: tuple[int, int, int]) -> bytes:
        """Return a transaction index: producer, first offset, offset of the marker."""
        return b"".join(
            struct.pack(">hqqqq", 0, producer, first, last, last + 1)
            for producer, first, last in aborted
        )

    def checkpoint(self, topic: str, partition: int, offset: int) -> bytes:
        return f"0\n1\n{topic} {partition} {offset}\n".encode()


@pytest.fixture(scope="session")
def make() -> Maker:
    return Maker()


# Real logs


@dataclass(frozen=True)
class Partition:
    """A partition's folder and the files of its log.dir, in memory."""

    cluster: str
    """Release and cluster."""
    name: str
    files: dict[str, bytes] = field(repr=False)
    log_dir: dict[str, bytes] = field(repr=False)
    oracle: Path

    def __str__(self) -> str:
        return f"{self.cluster}/{self.name}"

    @property
    def logs(self) -> list[str]:
        """The names of the live segments, by base offset."""
        return sorted(name for name in self.files if name.endswith(".log"))

    @property
    def is_internal(self) -> bool:
        return self.name.startswith("__")

    @property
    def has_markers(self) -> bool:
        return any(f.marker for name in self.logs for f in frames_of(self.files[name]))

    def with_files(self, **changed: bytes | None) -> dict[str, bytes]:
        """Return the files with some exchanged, or taken away where None."""
        return changed_files(self.files, changed)

    def delivered(self, isolation_level: str) -> list[dict[str, Any]] | None:
        """Return what Kafka's consumer delivered; None where it was not asked."""
        for level in (isolation_level, "read_uncommitted"):
            file = self.oracle / "records" / f"{self.name}.{level}.ndjson.gz"
            if file.exists():
                with gzip.open(file, "rt", encoding="utf-8") as lines:
                    return [json.loads(line) for line in lines]
        return None


def changed_files(files: dict[str, bytes], changed: dict[str, bytes | None]) -> dict[str, bytes]:
    merged = {**files, **changed}
    return {name: data for name, data in merged.items() if data is not None}


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
                        cluster / "oracle",
                    )


@pytest.fixture(scope="session")
def partitions() -> list[Partition]:
    """All partitions of tests/data; with MAGICBYTE_WIDE those of the shared folder instead."""
    wide = shared() / "logs"
    return list(_partitions(wide if WIDE and wide.is_dir() else DATA))


@pytest.fixture(scope="session")
def partition(partitions: list[Partition]) -> Callable[[str], Partition]:
    """Return the partition `release/cluster/topic-number`."""
    by_name = {str(one): one for one in partitions}
    return by_name.__getitem__


def transactional(partitions: Iterable[Partition]) -> list[Partition]:
    return [one for one in partitions if one.has_markers]


@pytest.fixture(scope="session")
def with_markers(partitions: list[Partition]) -> list[Partition]:
    """The partitions that hold a marker of a transaction."""
    return transactional(partitions)


@pytest.fixture(scope="session")
def some() -> Callable[[Sequence[T], int, str], list[T]]:
    """Return so many of the items, by a seed; all of them with MAGICBYTE_WIDE."""

    def choose(items: Sequence[T], number: int, seed: str) -> list[T]:
        if WIDE or len(items) <= number:
            return list(items)
        chosen = random.Random(seed).sample(range(len(items)), number)
        return [items[n] for n in sorted(chosen)]

    return choose


# The reader under test


class Workshop:
    """A folder in which damaged logs are put down and read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(
        self,
        files: dict[str, bytes],
        log_dir: dict[str, bytes] | None = None,
        name: str = "topic-0",
    ) -> str:
        """Put *files* down as a partition's folder, in a log.dir or alone; return what to open."""
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
        """Return the rows, as tuples, and the findings of a read."""
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
