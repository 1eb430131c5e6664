"""Fuzzes whole partitions: mutates their files and reads them by both engines at both isolation levels."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

import magicbyte as mb
from magicbyte.errors import MagicbyteError
from magicbyte.tables.schemas import DISPOSITIONS, RECORDS
from magicbyte_tools.fuzz.folder_task import ENGINES, LEVELS, FolderFuzzTask
from magicbyte_tools.fuzz.log_changes import ChangedFiles
from magicbyte_tools.fuzz.mutate import altered, mutated
from magicbyte_tools.fuzz.partition import (
    MAX_BYTES,
    Files,
    SeedPartition,
    built,
    partitions,
    seed_of,
)
from magicbyte_tools.fuzz.task import Message


def changed(chance: Random, seed_partition: SeedPartition) -> Files:
    """Return the mutated files of *seed_partition* by name: one log, sometimes also a companion file."""
    name = chance.choice(seed_partition.logs)
    entries = list(seed_partition.entries[name])
    at = chance.randrange(len(entries))
    drawn = chance.random()
    if drawn < 0.6:
        seed = seed_of(entries[at])
        if seed is not None:
            entries[at] = mutated(chance, seed, seed_partition.seeds, sealed=0.8)
    elif drawn < 0.7:
        entries[at] = chance.choice((b"", entries[at] * 2, chance.choice(entries)))
    elif drawn < 0.75:
        entries[at:at] = [chance.choice((bytes(chance.randrange(1, 200)), chance.randbytes(40)))]
    elif drawn < 0.8:
        del entries[at:]
    data = bytearray(b"".join(entries))
    if drawn >= 0.8 or chance.random() < 0.1:
        altered(chance, data, seed_partition.seeds)
    files = {name: bytes(data)}
    others = sorted(seed_partition.files.keys() - set(seed_partition.logs))
    if others and chance.random() < 0.1:
        name = chance.choice(others)
        one = bytearray(seed_partition.files[name])
        altered(chance, one, seed_partition.seeds)
        files[name] = bytes(one)
    return files


@dataclass(frozen=True)
class ReadResult:
    """Rows and report of a read, or its error."""

    rows: pa.Table | None
    report: tuple[Any, ...]
    has_error: bool = True

    def differs_from(self, other_result: "ReadResult") -> str | None:
        if self.report != other_result.report:
            return f"{self.report}, {other_result.report}"
        if self.rows is None or other_result.rows is None or self.rows.equals(other_result.rows):
            return None
        names = self.rows.column_names
        wrong = [name for name in names if not self.rows[name].equals(other_result.rows[name])]
        return f"rows: {', '.join(wrong)}"


def read_partition(folder: Path, engine: str, level: str) -> ReadResult:
    """Read the partition *folder* by *engine*; return its rows and report, or the error that is raised."""
    try:
        dataset = mb.open(folder, engine=engine, isolation_level=level, on_damage="skip")
        rows = dataset.records(tuple(RECORDS.names), dispositions=DISPOSITIONS)
        table = rows.to_table()
    except MagicbyteError as error:
        return ReadResult(None, (type(error), str(error)))
    table.validate(full=True)
    report = rows.report
    summary = (report.findings, +report.records, +report.bytes)
    return ReadResult(table, summary, report.severity == "error")


@dataclass(frozen=True)
class PartitionFuzzTask(FolderFuzzTask):
    """Task whose cases are partitions with one or two mutated files."""

    word: str = "whole"
    tell: Callable[[Path, str, str], ReadResult] = read_partition

    @cached_property
    def partitions(self) -> list[SeedPartition]:
        if not self.is_changed:
            return list(partitions(self.directories))
        small = [one for one in partitions(self.directories) if one.num_bytes <= MAX_BYTES]
        return [*small, *built(self.seed)]

    def changed(self, chance: Random, seed_partition: SeedPartition) -> ChangedFiles:
        return {**changed(chance, seed_partition)}

    def outcomes(self, folder: Path, number: int, send: Callable[[Message], None]) -> Iterator[str]:
        yield "cases"
        for level in LEVELS:
            try:
                expected, made = (self.tell(folder, engine, level) for engine in ENGINES)
            except Exception as error:  # on_damage="skip" should raise no such exception
                send(self.failure("error", number, f"{level}: {type(error).__name__}: {error}"))
                return
            if (difference := expected.differs_from(made)) is not None:
                send(self.failure("difference", number, f"{level}: {difference}"))
                return
        yield "damaged" if expected.has_error else "sound"
