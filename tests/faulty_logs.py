"""A log directory, seeded faults of the disk in it, and the records that can still be read."""

import errno
import os
import random
import shutil
import struct
from collections.abc import Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import log_builder as build
from io_faults import FaultyDisk
from log_builder import Folder
from log_reader import spans

SEED = int(os.environ.get("MAGICBYTE_SEED", "20261126"))
NUM_FAULTS = 50
NUM_COMPANION_FAULTS = 17
NUM_OFFSETS = 36
"""Offsets of each segment."""

Row = tuple[str, int, int]
"""Topic, partition and offset of a record."""


@dataclass(frozen=True)
class Fault:
    """A block of a file that cannot be read; block None: the file or folder as a whole."""

    path: Path
    block: int | None

    @property
    def is_of_segment(self) -> bool:
        return self.path.suffix == ".log"

    @property
    def lost_bytes(self) -> range:
        """Positions of the bytes that cannot be read; none for a folder."""
        if self.path.is_dir():
            return range(0)
        size = self.path.stat().st_size
        if self.block is None:
            return range(size)
        begin = self.block * FaultyDisk.BLOCK
        return range(begin, min(begin + FaultyDisk.BLOCK, size))

    def put_into(self, disk: FaultyDisk) -> None:
        if self.block is not None:
            disk.blocks[str(self.path)] = {self.block}
        elif self.path.is_dir():
            disk.unlisted[str(self.path)] = errno.EIO
        else:
            disk.unopened[str(self.path)] = errno.EIO


@dataclass(frozen=True)
class Batch:
    """A batch or message of a segment."""

    begin: int
    end: int
    rows: tuple[Row, ...]


@dataclass
class SampleLog:
    """A log.dir, its files, and the records of each batch."""

    path: Path
    batches: dict[Path, list[Batch]] = field(default_factory=dict)
    """Batches by segment."""
    files: list[Path] = field(default_factory=list)

    def sound_batches(self, fault: Fault | None) -> dict[Path, list[Batch]]:
        """Return the batches, by segment, that have no byte in what *fault* makes unreadable."""
        if fault is None:
            return self.batches
        lost = fault.lost_bytes if fault.is_of_segment else range(0)
        return {
            path: [
                batch
                for batch in batches
                if path != fault.path or batch.end <= lost.start or lost.stop <= batch.begin
            ]
            for path, batches in self.batches.items()
            if path.parent != fault.path and self.path != fault.path
        }

    def rows(self, fault: Fault | None = None) -> set[Row]:
        """Return the records of the batches that can be read."""
        return {
            row
            for batches in self.sound_batches(fault).values()
            for batch in batches
            for row in batch.rows
        }

    def faults(self, seed: int = SEED) -> list[Fault]:
        """Return NUM_FAULTS different faults in segments, companions, checkpoints and folders."""
        drawn = random.Random(seed)
        others = [path for path in self.files if path not in self.batches and path.stat().st_size]
        folders = [Fault(path, None) for path in sorted({path.parent for path in self.batches})]
        companions = drawn.sample(_faults_of(others), NUM_COMPANION_FAULTS)
        num_left = NUM_FAULTS - len(folders) - len(companions)
        return [*folders, *companions, *drawn.sample(_faults_of(list(self.batches)), num_left)]

    def copy(self, path: Path, prefix: str, folders: Set[Path]) -> Self:
        """Copy the log.dir with these *folders* of partitions to *path*.

        *prefix* is put before the name of each topic.
        """
        path.mkdir(parents=True)
        for folder in folders:
            shutil.copytree(folder, path / f"{prefix}{folder.name}")
        for file in self.path.glob("*.properties"):
            shutil.copy(file, path)
        begins = tuple(f"{' '.join(folder.name.rsplit('-', 1))} " for folder in folders)
        for checkpoint in self.path.glob("*-checkpoint"):
            version, _, *lines = checkpoint.read_text().splitlines()
            lines = [prefix + line for line in lines if line.startswith(begins)]
            text = "\n".join([version, str(len(lines)), *lines, ""])
            (path / checkpoint.name).write_text(text)
        batches = {
            path / f"{prefix}{segment.parent.name}" / segment.name: [
                Batch(one.begin, one.end, tuple((prefix + row[0], *row[1:]) for row in one.rows))
                for one in batches
            ]
            for segment, batches in self.batches.items()
            if segment.parent in folders
        }
        return type(self)(path, batches, _files_below(path))

    def copy_with(self, fault: Fault, path: Path, prefix: str) -> tuple[Self, Fault]:
        """Copy the log.dir to *path*, as `copy` does; return the copy, and *fault* in it.

        If the fault is in a partition, no other partition is copied.
        """
        folders = {segment.parent for segment in self.batches}
        for folder in folders & {fault.path, fault.path.parent}:
            copied_log = self.copy(path, prefix, {folder})
            there = path / f"{prefix}{folder.name}" / fault.path.relative_to(folder)
            return copied_log, Fault(there, fault.block)
        return self.copy(path, prefix, folders), Fault(path / fault.path.name, fault.block)


def _faults_of(paths: list[Path]) -> list[Fault]:
    return [
        Fault(path, block)
        for path in paths
        for block in (None, *range(-(-path.stat().st_size // FaultyDisk.BLOCK)))
    ]


def _files_below(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file())


def write_sample(path: Path, seed: int = SEED) -> SampleLog:
    """Write a log.dir of four partitions, each with companion files, and all checkpoints."""
    drawn = random.Random(seed)
    folder = Folder(path).log_dir()
    sample = SampleLog(folder.path)
    offsets = {}
    for topic, number in (("a", 0), ("a", 1), ("b", 0), ("old", 0)):
        name, first = f"{topic}-{number}", 0
        for _ in range(2):
            if topic == "old":
                values = (drawn.randbytes(300) for _ in range(NUM_OFFSETS))
                messages = (build.message(v, first + at, v[:2]) for at, v in enumerate(values))
                data = b"".join(messages)
            else:
                data = _batches_of(topic, number, first, drawn)
            begins = list(spans(data))
            each, after = NUM_OFFSETS // len(begins), first + NUM_OFFSETS
            segment = folder.segment(name, data, first)
            sample.batches[segment] = [
                Batch(
                    begin,
                    end,
                    tuple((topic, number, first + at * each + i) for i in range(each)),
                )
                for at, (begin, end) in enumerate(begins)
            ]
            entries = [(at * each + each - 1, begins[at][0]) for at in range(2, len(begins), 9)]
            index = b"".join(struct.pack(">ii", *entry) for entry in entries)
            folder.segment(name, index, first, "index")
            folder.segment(name, struct.pack(">qi", build.TIME, each - 1), first, "timeindex")
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
    sample.files = _files_below(folder.path)
    return sample


def _batches_of(topic: str, number: int, first: int, drawn: random.Random) -> bytes:
    """Return batches of three records each, from the offset *first* on."""
    data = b""
    for offset in range(first, first + NUM_OFFSETS, 3):
        value = drawn.randbytes(drawn.choice([20, 300, 900, 2500]))
        data += build.batch_of(offset, value, value[:9], b"z", key=topic.encode() + bytes([number]))
    return data
