"""The tasks of a pipeline: read bytes once, write a share of two tables, and leave a note.

Tasks write Parquet by Arrow, which has the rows in columns already. Through Spark, each row would
become a Java object, and then a part of a column again.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Self
from urllib.parse import quote

import pyarrow as pa

from magicbyte.reading.split import Split, examine, select_rows
from magicbyte.reading.table_rows import batch_rows
from magicbyte.spark._driver_log import without_traceback
from magicbyte.spark._pickling import PickledByValue
from magicbyte.spark._split_stats import STATS_COLUMNS, SplitCounter, SplitStats
from magicbyte.spark._tasks import spare_collector
from magicbyte.spark.pipeline_plan import splits_of
from magicbyte.spark.stage import WorkFolder
from magicbyte.storage import NO_OPTIONS, Storage, StorageOptions
from magicbyte.tables.arrays import batch_of
from magicbyte.tables.schemas import BATCHES, RECORDS, TABLES
from magicbyte.tables.stored_types import stored_schema, to_stored_batch
from magicbyte.tables.table_files import TableFile

ROWS_PER_BATCH = 4096
"""Largest number of rows of the table `batches` in one Arrow batch."""

TASK_TABLES = ("records", "batches")
"""Tables that tasks write, because they grow with the data."""

DATA_TABLES = ("records", "batches", "segments", "partitions", "problems")
"""Tables for which the data is read. The plan alone suffices for `transactions`."""

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""Hive's folder name for null."""


@dataclass(frozen=True, slots=True)
class OutputSettings:
    """Tables and columns that a pipeline writes, and how it divides them into files."""

    tables: tuple[str, ...] = tuple(TABLES)
    columns: tuple[str, ...] = RECORDS.names
    """Columns of records, in the table's order."""
    by_topic: bool = False
    """Write records and batches to a folder per topic, without the column `topic`."""
    file_bytes: int | None = None
    """Size at which a file of records or batches ends and the next one begins."""

    @property
    def reads_data(self) -> bool:
        return any(name in DATA_TABLES for name in self.tables)

    def schema(self, table: str) -> pa.Schema:
        """Return the schema of the files of *table*."""
        names = self.columns if table == "records" else TABLES[table].names
        has_folders = self.has_topic_folders(table)
        names = tuple(name for name in names if not (has_folders and name == "topic"))
        return stored_schema(TABLES[table], names)

    def has_topic_folders(self, table: str) -> bool:
        return self.by_topic and table in TASK_TABLES


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that a task has written."""

    table: str
    is_of_topic: bool
    """True if the file belongs in the folder of its topic."""
    topic: str | None
    name: str
    """Name of the file in the work folder."""
    num_rows: int
    size_bytes: int

    def is_complete(self, path: Path) -> bool:
        """Return whether *path* is a file with as many bytes as the task has written."""
        return path.is_file() and path.stat().st_size == self.size_bytes


@dataclass(frozen=True, slots=True)
class TaskNote:
    """The note on a finished task: its files and the statistics of its splits."""

    files: tuple[WrittenFile, ...]
    stats: tuple[SplitStats, ...]

    def to_json(self) -> str:
        files = [asdict(file) for file in self.files]
        return json.dumps({"files": files, "stats": [each.to_json() for each in self.stats]})

    @classmethod
    def from_json(cls, text: str) -> Self:
        value: dict[str, Any] = json.loads(text)
        files = tuple(WrittenFile(**file) for file in value["files"])
        return cls(files, tuple(SplitStats.from_json(each) for each in value["stats"]))


@dataclass(frozen=True)
class TaskWriter(PickledByValue):
    """Executes tasks on any machine that Spark chooses."""

    work: WorkFolder
    output: OutputSettings
    storage_options: StorageOptions = NO_OPTIONS

    def __call__(self, tasks: Iterable[tuple[int, str]]) -> Iterator[int]:
        """Execute *tasks*, each a number and its line of the plan; yield the number of each."""
        spare_collector()
        for number, line in tasks:
            with without_traceback():
                note = self._write(*splits_of(line, Storage(self.storage_options)))
            self.work.write_note(number, note.to_json())
            yield number

    def _write(self, is_read: bool, splits: list[Split]) -> TaskNote:
        """Write the tables of *splits*; unless *is_read*, only count their bytes."""
        stats = []
        with _TaskFiles(self.work, self.output) as files:
            for split in splits:
                if is_read:
                    stats.append(_write_split(split, self.output, files))
                else:
                    stats.append(_count_split(split))
        return TaskNote(tuple(files.written), tuple(stats))


def _write_split(split: Split, output: OutputSettings, files: "_TaskFiles") -> SplitStats:
    """Write the rows of *split* to the tables of *output*, and return its statistics."""
    columns = output.columns if "records" in output.tables else ()
    needed = tuple(dict.fromkeys([*columns, *STATS_COLUMNS]))
    counter = SplitCounter(split)
    for piece in examine(split, needed, ordered="batches" in output.tables):
        counter.count(piece)
        if "records" in output.tables:
            for rows in select_rows(piece, ("delivered",)):
                files.write("records", split.topic, rows.select(output.columns))
        if "batches" in output.tables:
            files.add_batches(split.topic, batch_rows(split, piece, quick=False))
    return counter.stats()


def _count_split(split: Split) -> SplitStats:
    """Return the statistics of *split*, whose records are not written. Damage does not stop it."""
    counter = SplitCounter(split)
    split = replace(split, options=replace(split.options, on_damage="skip"))
    for piece in examine(split, STATS_COLUMNS, ordered=False):
        counter.count(piece)
    return counter.stats()


class _TaskFiles:
    """The files that a task writes: one per table, or one per table and topic."""

    def __init__(self, work: WorkFolder, output: OutputSettings) -> None:
        self.written: list[WrittenFile] = []
        self._work = work
        self._output = output
        self._open: dict[tuple[str, str | None], _OpenFile] = {}
        self._rows: dict[str | None, list[dict[str, Any]]] = {}
        """Rows of `batches`, by topic folder, that are not written yet."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        for topic in list(self._rows) if error_type is None else ():
            self._write_batches(topic, len(self._rows[topic]))
        for file in self._open.values():
            if error_type is None:
                self.written.append(file.close())
            else:
                file.discard()

    def write(self, table: str, topic: str | None, rows: pa.RecordBatch) -> None:
        is_of_topic = self._output.has_topic_folders(table)
        schema = self._output.schema(table)
        key = table, topic if is_of_topic else None
        if key not in self._open:
            self._open[key] = _OpenFile(self._work.new_file(), schema, is_of_topic, *key)
        file = self._open[key]
        file.write(to_stored_batch(rows.select(schema.names)))
        if self._output.file_bytes is not None and file.size_bytes >= self._output.file_bytes:
            self.written.append(self._open.pop(key).close())

    def add_batches(self, topic: str | None, rows: Iterable[dict[str, Any]]) -> None:
        folder = topic if self._output.has_topic_folders("batches") else None
        self._rows.setdefault(folder, []).extend(rows)
        while len(self._rows[folder]) >= ROWS_PER_BATCH:
            self._write_batches(folder, ROWS_PER_BATCH)

    def _write_batches(self, topic: str | None, count: int) -> None:
        rows = self._rows[topic]
        if rows:
            self.write("batches", topic, batch_of(rows[:count], BATCHES.schema(BATCHES.names)))
        del rows[:count]


class _OpenFile:
    """A file that is being written."""

    def __init__(
        self, path: Path, schema: pa.Schema, is_of_topic: bool, table: str, topic: str | None
    ) -> None:
        self._path, self._table = path, table
        self._is_of_topic, self._topic = is_of_topic, topic
        self._stack = ExitStack()
        self._file: BinaryIO = self._stack.enter_context(path.open("xb"))
        self._rows = self._stack.enter_context(TableFile(self._file, schema, "parquet"))

    @property
    def size_bytes(self) -> int:
        """Bytes written so far."""
        return self._file.tell()

    def write(self, rows: pa.RecordBatch) -> None:
        self._rows.write(rows)

    def close(self) -> WrittenFile:
        self._stack.close()
        return WrittenFile(
            table=self._table,
            is_of_topic=self._is_of_topic,
            topic=self._topic,
            name=self._path.name,
            num_rows=self._rows.num_rows,
            size_bytes=self._path.stat().st_size,
        )

    def discard(self) -> None:
        self._stack.close()
        self._path.unlink()


def output_path(written_file: WrittenFile, task: int, number: int) -> Path:
    """Return the path in the output of *written_file*, the *number*-th of its kind that *task* wrote."""
    folder = Path(written_file.table)
    if written_file.is_of_topic:
        folder /= hive_folder(written_file.topic)
    return folder / f"part-{task:05d}-{number:03d}.zstd.parquet"


def hive_folder(topic: str | None) -> str:
    """Return the folder name for *topic*, as Hive, Spark and Arrow write and read it."""
    return f"topic={NULL_PARTITION if topic is None else quote(topic, safe='')}"
