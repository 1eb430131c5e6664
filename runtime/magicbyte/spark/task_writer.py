"""The tasks of a pipeline: read bytes once, write a share of two tables, and leave a note.

Tasks write Parquet by Arrow, which has the rows in columns already. Through Spark, each row would
become a Java object, and then a part of a column again.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import pyarrow as pa

from magicbyte.errors import InputError
from magicbyte.reading.read_options import alternatives
from magicbyte.reading.results import examine
from magicbyte.reading.split import Split, select_rows
from magicbyte.reading.table_rows import batch_rows
from magicbyte.reading.typed_columns import check_typed_columns
from magicbyte.spark._dates import parts_by_date
from magicbyte.spark._driver_log import without_traceback
from magicbyte.spark._pickling import PickledByValue
from magicbyte.spark._pipeline_plan import splits_of
from magicbyte.spark._split_stats import STATS_COLUMNS, SplitCounter, SplitStats
from magicbyte.spark._tasks import spare_collector
from magicbyte.spark._work_folder import WorkFolder
from magicbyte.storage import NO_OPTIONS, Storage, StorageOptions
from magicbyte.tables.arrays import batch_of
from magicbyte.tables.schemas import BATCHES, RECORDS, TABLES, table_named
from magicbyte.tables.stored_types import stored_schema, to_stored_batch
from magicbyte.tables.table_files import TableFile

if TYPE_CHECKING:
    from magicbyte.spark.typed_topics import TopicCounts, TypedTopic

ROWS_PER_BATCH = 4096
"""Largest number of rows of the table `batches` in one Arrow batch."""

TASK_TABLES = ("records", "batches")
"""Tables that tasks write, because they grow with the data."""

DATA_TABLES = ("records", "batches", "segments", "partitions", "problems")
"""Tables for which the data is read. The plan alone suffices for `transactions`."""

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""Hive's folder name for null."""


FOLDER_COLUMNS = ("topic", "date")
"""Columns whose values may be folders of records instead. The table batches has folders for topics alone."""

Folders = tuple[str, ...]
"""Folders of a file below the folder of its table."""

MAX_OPEN_FILES = 16
"""Files that a task writes at a time: each holds rows of up to 32 MiB. For one more, another one ends."""


@dataclass(frozen=True, slots=True)
class OutputSettings:
    """Tables and columns that a pipeline writes, and how it divides them into files."""

    tables: tuple[str, ...] = tuple(TABLES)
    columns: tuple[str, ...] = RECORDS.names
    """Columns of records, in the table's order."""
    partition_by: tuple[str, ...] = ()
    """Some of FOLDER_COLUMNS, in this order."""
    file_bytes: int | None = None
    """Size at which a file of records or batches ends and the next one begins."""
    is_typed: bool = False
    """True if keys and values are decoded: each topic has columns of its own."""

    @classmethod
    def of(
        cls,
        tables: Iterable[str] | None,
        columns: Iterable[str] | None,
        partition_by: Iterable[str],
        file_bytes: int | None,
        *,
        is_typed: bool = False,
    ) -> Self:
        """Return the settings for names as a user gives them, in any order; None means all.

        With typed keys and values, records are in folders by topic, and *columns* have the order of the user.

        Raises InputError for a name that does not exist.
        """
        requested = {table_named(name).name for name in (TABLES if tables is None else tables)}
        if unwritten := requested - TABLES.keys():
            raise InputError(f"the table {min(unwritten)}", f"some of {', '.join(TABLES)}")
        by = tuple(partition_by)
        if is_typed:
            if "records" not in requested:
                raise InputError("decode without the table records", "the table records")
            by = tuple(dict.fromkeys(("topic", *by)))
            names = check_typed_columns(columns)
        else:
            selected = RECORDS.names if columns is None else RECORDS.check(tuple(columns))
            names = tuple(name for name in RECORDS.names if name in selected)
        if unknown := set(by) - set(FOLDER_COLUMNS):
            raise InputError(f"folders by {min(unknown)!r}", alternatives(FOLDER_COLUMNS))
        return cls(
            tuple(name for name in TABLES if name in requested),
            names,
            tuple(name for name in FOLDER_COLUMNS if name in by),
            file_bytes,
            is_typed,
        )

    @property
    def reads_data(self) -> bool:
        return any(name in DATA_TABLES for name in self.tables)

    def schema(self, table: str) -> pa.Schema:
        """Return the schema of the files of *table*, with keys and values as bytes."""
        names = self.columns if table == "records" else TABLES[table].names
        has_folders = "topic" in self.partition_by and table in TASK_TABLES
        names = tuple(name for name in names if not (has_folders and name == "topic"))
        return stored_schema(TABLES[table], names)

    def topic_folders(self, topic: str | None) -> Folders:
        """Return the folders for *topic*."""
        return (hive_folder("topic", topic),) if "topic" in self.partition_by else ()

    def by_date_folders(self, rows: pa.RecordBatch) -> Iterator[tuple[Folders, pa.RecordBatch]]:
        """Yield the parts of *rows* of each date, the date in UTC of their timestamps, with its folders."""
        if "date" not in self.partition_by:
            yield (), rows
            return
        for date, part in parts_by_date(rows):
            yield (hive_folder("date", date),), part


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that a task has written."""

    table: str
    folders: Folders
    """Folders of the file below the folder of its table, such as `topic=orders`."""
    name: str
    """Name of the file in the work folder."""
    num_rows: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class TaskNote:
    """The note on a finished task: its files and the statistics of its splits."""

    files: tuple[WrittenFile, ...]
    stats: tuple[SplitStats, ...]
    decoded_counts: tuple[Any, ...] = ()
    """Topics with their counts of decoded values in JSON, as `TypedTopics.findings_of` takes them."""

    def to_json(self) -> str:
        files = [asdict(file) for file in self.files]
        stats = [each.to_json() for each in self.stats]
        return json.dumps({"files": files, "stats": stats, "decoded": self.decoded_counts})

    @classmethod
    def from_json(cls, text: str) -> Self:
        value: dict[str, Any] = json.loads(text)
        files = tuple(
            WrittenFile(**{**file, "folders": tuple(file["folders"])}) for file in value["files"]
        )
        stats = tuple(SplitStats.from_json(each) for each in value["stats"])
        return cls(files, stats, tuple(value["decoded"]))


@dataclass(frozen=True)
class TaskWriter(PickledByValue):
    """Executes tasks on any machine that Spark chooses."""

    work: WorkFolder
    output: OutputSettings
    storage_options: StorageOptions = NO_OPTIONS
    typed: "Mapping[str | None, TypedTopic] | None" = None
    """Decoders of the topics; None: keys and values stay bytes."""

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
        counts_by_topic: dict[str | None, TopicCounts] = {}
        with _TaskFiles(self.work, self.output) as files:
            for split in splits:
                if not is_read:
                    stats.append(_count_split(split))
                    continue
                records = self._records(split.topic, counts_by_topic)
                stats.append(_write_split(split, self.output, files, records))
        counts = tuple((topic, of_topic.to_json()) for topic, of_topic in counts_by_topic.items())
        return TaskNote(tuple(files.written), tuple(stats), counts)

    def _records(
        self, topic: str | None, counts_by_topic: "dict[str | None, TopicCounts]"
    ) -> "_PlainRecords | _TypedRecords":
        if self.typed is None:
            return _PlainRecords(self.output)
        typed_topic = self.typed[topic]
        return _TypedRecords(
            typed_topic, counts_by_topic.setdefault(topic, typed_topic.new_counts())
        )


class _PlainRecords:
    """Records as files have them, with keys and values as bytes."""

    def __init__(self, output: OutputSettings) -> None:
        self.sources = output.columns if "records" in output.tables else ()
        self._names = output.schema("records").names

    def stored(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of a file for *rows*."""
        return to_stored_batch(rows.select(self._names))


class _TypedRecords:
    """Records as files have them, with typed keys and values."""

    def __init__(self, typed_topic: "TypedTopic", topic_counts: "TopicCounts") -> None:
        self.sources = typed_topic.decoder.sources
        self._typed_topic, self._topic_counts = typed_topic, topic_counts

    def stored(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of a file for *rows*."""
        return self._typed_topic.stored(rows, self._topic_counts)


def _write_split(
    split: Split,
    output: OutputSettings,
    files: "_TaskFiles",
    file_records: _PlainRecords | _TypedRecords,
) -> SplitStats:
    """Write the rows of *split* to the tables of *output*, and return its statistics."""
    columns = file_records.sources
    needed = tuple(dict.fromkeys([*columns, *STATS_COLUMNS]))
    counter = SplitCounter(split)
    folders = output.topic_folders(split.topic)
    for piece in examine(split, needed, ordered="batches" in output.tables):
        counter.count(piece)
        if "records" in output.tables:
            for rows in select_rows(piece, ("delivered",)):
                for date_folders, part in output.by_date_folders(rows):
                    files.write("records", folders + date_folders, file_records.stored(part))
        if "batches" in output.tables:
            files.add_batches(folders, batch_rows(split, piece, quick=False))
    return counter.stats()


def _count_split(split: Split) -> SplitStats:
    """Return the statistics of *split*, whose records are not written. Damage does not stop it."""
    counter = SplitCounter(split)
    split = replace(split, options=replace(split.options, on_damage="skip"))
    for piece in examine(split, STATS_COLUMNS, ordered=False):
        counter.count(piece)
    return counter.stats()


class _TaskFiles:
    """The files that a task writes: one for each table and folder."""

    def __init__(self, work: WorkFolder, output: OutputSettings) -> None:
        self.written: list[WrittenFile] = []
        self._work = work
        self._output = output
        self._open: dict[tuple[str, Folders], _OpenFile] = {}
        """Open files; the one that was written last is the last."""
        self._rows: dict[Folders, list[dict[str, Any]]] = {}
        """Rows of `batches`, by folder, that are not written yet."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        for folders in list(self._rows) if error_type is None else ():
            self._write_batches(folders, len(self._rows[folders]))
        for file in self._open.values():
            if error_type is None:
                self.written.append(file.close())
            else:
                file.discard()

    def write(self, table: str, folders: Folders, rows: pa.RecordBatch) -> None:
        """Write *rows*, which have the types of files."""
        key = table, folders
        file = self._open.pop(key, None)
        if file is None:
            while len(self._open) >= MAX_OPEN_FILES:
                self.written.append(self._open.pop(next(iter(self._open))).close())
            file = _OpenFile(self._work, rows.schema, *key)
        self._open[key] = file
        file.write(rows)
        if self._output.file_bytes is not None and file.size_bytes >= self._output.file_bytes:
            self.written.append(self._open.pop(key).close())

    def add_batches(self, folders: Folders, rows: Iterable[dict[str, Any]]) -> None:
        self._rows.setdefault(folders, []).extend(rows)
        while len(self._rows[folders]) >= ROWS_PER_BATCH:
            self._write_batches(folders, ROWS_PER_BATCH)

    def _write_batches(self, folders: Folders, count: int) -> None:
        rows = self._rows[folders]
        if rows:
            batch = batch_of(rows[:count], BATCHES.schema(BATCHES.names))
            names = self._output.schema("batches").names
            self.write("batches", folders, to_stored_batch(batch.select(names)))
        del rows[:count]


class _OpenFile:
    """A file that is being written."""

    def __init__(self, work: WorkFolder, schema: pa.Schema, table: str, folders: Folders) -> None:
        self._work, self._table, self._folders = work, table, folders
        self._name, self._file = work.create_file()
        self._rows = TableFile(self._file, table, schema, "parquet")

    @property
    def size_bytes(self) -> int:
        """Bytes written so far."""
        return self._file.tell()

    def write(self, rows: pa.RecordBatch) -> None:
        self._rows.write(rows)

    def close(self) -> WrittenFile:
        with self._file:
            with self._rows:
                pass  # leaving writes the rows that are left, and the footer
            size = self._file.tell()
        return WrittenFile(
            table=self._table,
            folders=self._folders,
            name=self._name,
            num_rows=self._rows.num_rows,
            size_bytes=size,
        )

    def discard(self) -> None:
        self._file.close()
        self._work.files.delete(self._name)


def output_path(written_file: WrittenFile, prefix: str, task: int, number: int) -> str:
    """Return the path in the output of *written_file*, the *number*-th of its kind that *task* wrote.

    *prefix* tells apart the files of several runs that write to one output.
    """
    name = f"part-{prefix}{task:05d}-{number:03d}.zstd.parquet"
    return "/".join((written_file.table, *written_file.folders, name))


def hive_folder(column: str, value: str | None) -> str:
    """Return the folder name for *value* of *column*, as Hive, Spark and Arrow write and read it."""
    return f"{column}={NULL_PARTITION if value is None else quote(value, safe='')}"
