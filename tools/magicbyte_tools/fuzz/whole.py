"""Fuzzes whole partitions: mutates their files and reads them by both engines at both isolation levels."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

import magicbyte as mb
from magicbyte.errors import MagicbyteError
from magicbyte.tables.schemas import DISPOSITIONS, RECORDS
from magicbyte_tools.fuzz.mutate import altered, mutated
from magicbyte_tools.fuzz.partition import (
    MAX_BYTES,
    Files,
    SeedPartition,
    built,
    partitions,
    seed_of,
)
from magicbyte_tools.fuzz.task import Failure, Message, Tally, What

LEVELS = ("read_committed", "read_uncommitted")
ENGINES = ("reference", "columnar")

TOLD_EVERY = 20


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
class PartitionFuzzTask:
    """Task whose cases are partitions with one or two mutated files."""

    first: int
    end: int
    seed: int
    directories: tuple[Path, ...]
    """Folders whose small partitions are mutated, besides partitions that are built from the seed."""
    is_changed: bool = True
    """False to read the partitions unchanged, as `--replay` does."""
    tell: Callable[[Path, str, str], ReadResult] = read_partition

    @cached_property
    def partitions(self) -> list[SeedPartition]:
        if not self.is_changed:
            return list(partitions(self.directories))
        small = [one for one in partitions(self.directories) if one.num_bytes <= MAX_BYTES]
        return [*small, *built(self.seed)]

    def case(self, number: int) -> tuple[SeedPartition, Files]:
        chance = Random(f"{self.seed} whole {number}")
        partition = chance.choice(self.partitions)
        return partition, changed(chance, partition) if self.is_changed else {}

    def run(self, begin: Callable[[int], None], send: Callable[[Message], None]) -> None:
        tally: Tally = Counter()
        with TemporaryDirectory(prefix="magicbyte-fuzz-") as root:
            for number in range(self.first, self.end):
                begin(number)
                partition, files = self.case(number)
                # Partitions of two clusters may have the same name.
                own = Path(root, str(id(partition)), partition.name)
                with changed_folder(own, partition, files) as folder:
                    for became in self._read(folder, number, send):
                        tally["partitions", became] += 1
                if number % TOLD_EVERY == 0:
                    send(tally)
                    tally = Counter()
        send(tally)

    def _read(self, folder: Path, number: int, send: Callable[[Message], None]) -> Iterator[str]:
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

    def alone(self, case: int) -> "PartitionFuzzTask | None":
        return None

    def behind(self, case: int) -> "PartitionFuzzTask":
        return replace(self, first=case + 1)

    def failure(self, what: What, case: int, message: str) -> Failure:
        partition, files = self.case(case)
        whole = {
            f"{partition.name}/{name}": data for name, data in (partition.files | files).items()
        }
        return Failure(what, case, partition.name, message, whole)


@contextmanager
def changed_folder(
    folder: Path, seed_partition: SeedPartition, files: Mapping[str, bytes | None]
) -> Iterator[Path]:
    """Overwrite *files* of the partition in *folder*; restore them at the end of the context.

    A file without content is removed. Other files stay in place for the next case.
    """
    if not folder.exists():
        folder.mkdir(parents=True)
        _write(folder, seed_partition.files)
    _write(folder, files)
    try:
        yield folder
    finally:
        _write(folder, {name: seed_partition.files[name] for name in files})


def _write(folder: Path, files: Mapping[str, bytes | None]) -> None:
    for name, data in files.items():
        if data is None:
            (folder / name).unlink(missing_ok=True)
        else:
            (folder / name).write_bytes(data)
