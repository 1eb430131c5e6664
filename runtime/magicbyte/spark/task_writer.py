"""What the tasks of a pipeline do: read their bytes once, write their part of two tables, and a note.

A task writes Parquet by itself, by Arrow, which has the rows in columns already: through Spark
each would become a row of Java's and a column again.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Self
from urllib.parse import quote

import pyarrow as pa

from magicbyte.reading.split import Split, chosen_rows, examine
from magicbyte.reading.table_rows import batch_rows
from magicbyte.spark.driver_log import one_sentence
from magicbyte.spark.pickled_readers import Shipped
from magicbyte.spark.plan import splits_of
from magicbyte.spark.split_stats import COLUMNS, Facts, Told
from magicbyte.spark.stage import Work
from magicbyte.spark.tasks import spare_collector
from magicbyte.storage import NO_OPTIONS, Storage, StorageOptions
from magicbyte.tables.arrays import batch_of
from magicbyte.tables.schemas import BATCHES, RECORDS, TABLES
from magicbyte.tables.stored_types import stored_schema, to_stored_batch
from magicbyte.tables.table_files import TableFile

ROWS = 4096
"""Rows of batches in a record batch."""

BY_TASKS = ("records", "batches")
"""The tables that grow with the data."""

OF_TASKS = ("records", "batches", "segments", "partitions", "problems")
"""The tables for which the data is read. The plan alone tells `transactions`."""


NO_TOPIC = "__HIVE_DEFAULT_PARTITION__"
"""What stands for null in the name of a folder."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a pipeline is to write, and how."""

    tables: tuple[str, ...] = tuple(TABLES)
    columns: tuple[str, ...] = RECORDS.names
    """Of records, in the table's order."""
    by_topic: bool = False
    """Whether records and batches lie in a folder for each topic, which has no column then."""
    file_bytes: int | None = None
    """The size at which a file of theirs ends and the next begins."""

    @property
    def reads_data(self) -> bool:
        return any(name in OF_TASKS for name in self.tables)

    def schema(self, table: str) -> pa.Schema:
        """Return the schema of the files of *table*."""
        names = self.columns if table == "records" else TABLES[table].names
        kept = tuple(name for name in names if not (self.divides(table) and name == "topic"))
        return stored_schema(TABLES[table], kept)

    def divides(self, table: str) -> bool:
        return self.by_topic and table in BY_TASKS


@dataclass(frozen=True, slots=True)
class Written:
    """A file of a task."""

    table: str
    is_of_topic: bool
    """Whether it belongs into a folder of its topic."""
    topic: str | None
    name: str
    """By which the work has it until the output is put together."""
    num_rows: int
    size_bytes: int

    def is_whole(self, path: Path) -> bool:
        """Return whether *path* is this file."""
        return path.is_file() and path.stat().st_size == self.size_bytes


@dataclass(frozen=True, slots=True)
class Done:
    """The note on a task: what it has written, and what is to say of its splits."""

    files: tuple[Written, ...]
    facts: tuple[Facts, ...]

    def to_json(self) -> str:
        files = [asdict(one) for one in self.files]
        return json.dumps({"files": files, "facts": [one.to_json() for one in self.facts]})

    @classmethod
    def from_json(cls, text: str) -> Self:
        value: dict[str, Any] = json.loads(text)
        files = tuple(Written(**one) for one in value["files"])
        return cls(files, tuple(Facts.from_json(one) for one in value["facts"]))


@dataclass(frozen=True)
class Worker(Shipped):
    """Does a task, wherever Spark runs it."""

    work: Work
    wanted: Wanted
    opened_by: StorageOptions = NO_OPTIONS

    def __call__(self, tasks: Iterable[tuple[int, str]]) -> Iterator[int]:
        """Do each of *tasks*, numbers with lines of the plan; yield the numbers."""
        spare_collector()
        for number, line in tasks:
            with one_sentence():
                done = self._do(*splits_of(line, Storage(self.opened_by)))
            self.work.keep_note(number, done.to_json())
            yield number

    def _do(self, is_read: bool, splits: list[Split]) -> Done:
        facts = []
        with _Files(self.work, self.wanted) as files:
            for split in splits:
                if is_read:
                    facts.append(_read(split, self.wanted, files))
                else:
                    facts.append(_counted(split))
        return Done(tuple(files.written), tuple(facts))


def _read(split: Split, wanted: Wanted, files: "_Files") -> Facts:
    """Write what *split* has of the wanted tables, and return its facts."""
    columns = wanted.columns if "records" in wanted.tables else ()
    needed = tuple(dict.fromkeys([*columns, *COLUMNS]))
    told = Told(split)
    for piece in examine(split, needed):
        told.count(piece)
        if "records" in wanted.tables:
            for rows in chosen_rows(piece, ("delivered",)):
                files.write("records", split.topic, rows.select(wanted.columns))
        if "batches" in wanted.tables:
            files.add_batches(split.topic, batch_rows(split, piece, quick=False))
    return told.facts()


def _counted(split: Split) -> Facts:
    """Return the facts of *split*, whose records nobody wants: nor does its damage stop anything."""
    told = Told(split)
    split = replace(split, options=replace(split.options, on_damage="skip"))
    for piece in examine(split, COLUMNS):
        told.count(piece)
    return told.facts()


class _Files:
    """The files that a task writes: of each table one for each topic, or for all."""

    def __init__(self, work: Work, wanted: Wanted) -> None:
        self.written: list[Written] = []
        self._work = work
        self._wanted = wanted
        self._open: dict[tuple[str, str | None], _File] = {}
        self._rows: dict[str | None, list[dict[str, Any]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for topic in list(self._rows) if kind is None else ():
            self._write_batches(topic, len(self._rows[topic]))
        for file in self._open.values():
            if kind is None:
                self.written.append(file.close())
            else:
                file.give_up()

    def write(self, table: str, topic: str | None, rows: pa.RecordBatch) -> None:
        is_of_topic = self._wanted.divides(table)
        schema = self._wanted.schema(table)
        place = table, topic if is_of_topic else None
        if place not in self._open:
            self._open[place] = _File(self._work.new_file(), schema, is_of_topic, *place)
        file = self._open[place]
        file.write(to_stored_batch(rows.select(schema.names)))
        if self._wanted.file_bytes is not None and file.size_bytes >= self._wanted.file_bytes:
            self.written.append(self._open.pop(place).close())

    def add_batches(self, topic: str | None, rows: Iterable[dict[str, Any]]) -> None:
        folder = topic if self._wanted.divides("batches") else None
        self._rows.setdefault(folder, []).extend(rows)
        while len(self._rows[folder]) >= ROWS:
            self._write_batches(folder, ROWS)

    def _write_batches(self, topic: str | None, count: int) -> None:
        rows = self._rows[topic]
        if rows:
            made = batch_of(rows[:count], BATCHES.schema(BATCHES.names))
            self.write("batches", topic, made)
        del rows[:count]


class _File:
    """A file that is being written."""

    def __init__(
        self, path: Path, schema: pa.Schema, is_of_topic: bool, table: str, topic: str | None
    ) -> None:
        self._path, self._table = path, table
        self._is_of_topic, self._topic = is_of_topic, topic
        self._ends = ExitStack()
        self._file: BinaryIO = self._ends.enter_context(path.open("xb"))
        self._rows = self._ends.enter_context(TableFile(self._file, schema, "parquet"))

    @property
    def size_bytes(self) -> int:
        """Bytes that were written so far."""
        return self._file.tell()

    def write(self, rows: pa.RecordBatch) -> None:
        self._rows.write(rows)

    def close(self) -> Written:
        self._ends.close()
        size = self._path.stat().st_size
        return Written(
            table=self._table,
            is_of_topic=self._is_of_topic,
            topic=self._topic,
            name=self._path.name,
            num_rows=self._rows.num_rows,
            size_bytes=size,
        )

    def give_up(self) -> None:
        self._ends.close()
        self._path.unlink()


def place_of(file: Written, task: int, number: int) -> Path:
    """Return where in the output *file*, the one of that *number* that *task* wrote, belongs."""
    folder = Path(file.table)
    if file.is_of_topic:
        folder /= hive_folder(file.topic)
    return folder / f"part-{task:05d}-{number:03d}.zstd.parquet"


def hive_folder(topic: str | None) -> str:
    """Return the name of the folder of a *topic*, as Hive, Spark and Arrow write and read it."""
    return f"topic={NO_TOPIC if topic is None else quote(topic, safe='')}"
