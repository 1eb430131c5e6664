"""Write the seven tables as Parquet on Spark, from one plan.

Spark's tasks write `records` and `batches`, the tables that grow with the data, and leave statistics of
their splits in notes. From these and the plan the driver writes the other tables, with the same
functions as the Python API.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import magicbyte
from magicbyte.errors import InputError
from magicbyte.findings import Finding
from magicbyte.spark._driver_tables import PipelineSummary, write_driver_tables, write_table
from magicbyte.spark._pipeline_plan import PipelinePlan, task_lines, text_of
from magicbyte.spark._spark_errors import DamagedError, translated_errors
from magicbyte.spark._work_folder import METADATA_FOLDER, WorkFolder
from magicbyte.spark.session import LazySession
from magicbyte.spark.task_writer import (
    TASK_TABLES,
    OutputSettings,
    TaskNote,
    TaskWriter,
    output_path,
)
from magicbyte.spark.typed_topics import TypedTopics
from magicbyte.storage import NO_OPTIONS, StorageOptions
from magicbyte.verification.verify import Verification

Say = Callable[[str], None]
"""Receives a sentence for the user about each step that is finished."""

Notes = Mapping[int, TaskNote]
"""Notes by task number."""


class OutputStage(Protocol):
    """An output before it appears: files of tasks, and files of the driver in a local folder."""

    @property
    def ready(self) -> Path:
        """Folder on this machine for the driver's files."""

    def begin(self, plan: str) -> WorkFolder:
        """Return the folder for *plan*, the text of a plan, and delete work for other plans."""

    def placed_sizes(self) -> dict[str, int]:
        """Return the sizes of tasks' files that `place` has moved, by their paths in the output."""

    def place(self, targets: Mapping[str, str]) -> None:
        """Let the files of tasks, the keys of *targets*, become these paths of the output."""

    def clear(self) -> None:
        """Delete the files and notes of the tasks of all plans."""


def write_tables(
    plan: PipelinePlan,
    stage: OutputStage,
    *,
    output: OutputSettings,
    spark: LazySession,
    about: dict[str, Any],
    say: Say,
    storage_options: StorageOptions = NO_OPTIONS,
    verification: Verification | None = None,
    typed: TypedTopics | None = None,
) -> PipelineSummary:
    """Write the tables of *output*, and the plan, into *stage*.

    Times are microseconds (`magicbyte.tables.stored_types.stored_schema`), compression is zstd.

    Args:
        plan: Tasks and surveys of the logs.
        stage: The output. Tasks that an earlier run of the same plan has finished are reused.
        output: Tables, columns and files to write.
        spark: Session that runs the remaining tasks; not started if there are none.
        about: Origin of the plan, which is stored with it.
        say: Receives a sentence about each step.
        storage_options: Options that tasks need to open stores. They are not stored.
        verification: Findings and verdicts to add to the tables `problems` and `partitions`.
        typed: Decoders of keys and values; None: they stay bytes.
    Raises:
        DamagedError: A record cannot be read, and damage is not to be skipped.
        ChangedError: The files have changed since the plan was made.
        InputError: Spark fails.
    """
    text = text_of(plan, about=origin_of(about, output, typed))
    tasks = TaskRun.of(text, stage, output, typed=typed)
    notes = tasks.run(spark, storage_options, say)
    stats = [each for _, note in sorted(notes.items()) for each in note.stats]
    more_findings = tasks.decoding_findings(notes)
    summary = write_driver_tables(
        plan, output.tables, stage.ready, stats, verification, more_findings
    )
    tasks.write_facts(notes, spark, summary)
    return summary


def origin_of(
    about: dict[str, Any], output: OutputSettings, typed: TypedTopics | None
) -> dict[str, Any]:
    """Return the origin of a plan, which is stored with it: *about*, the version, *output*, and how values are decoded."""
    facts = {} if typed is None else typed.facts
    return {"magicbyte": magicbyte.__version__, **about, **asdict(output), **facts}


@dataclass(slots=True)
class TaskRun:
    """The tasks of a plan, and the stage in which they leave files and notes."""

    stage: OutputStage
    work: WorkFolder
    output: OutputSettings
    lines: Sequence[str]
    """Line of the plan for each task."""
    prefix: str
    """Part of the names of the files, which no other run has."""
    started: datetime
    typed: TypedTopics | None = None
    """Decoders of keys and values; None: they stay bytes."""
    num_earlier: int = 0
    """Tasks that an earlier run has finished."""

    @classmethod
    def of(
        cls,
        plan: str,
        stage: OutputStage,
        output: OutputSettings,
        *,
        prefix: str = "",
        typed: TypedTopics | None = None,
    ) -> "TaskRun":
        """Return the tasks of *plan*, the text of a plan."""
        work = stage.begin(plan)
        lines = task_lines(plan) if output.reads_data else []
        return cls(stage, work, output, lines, prefix, datetime.now(UTC), typed)

    def run(self, spark: LazySession, storage_options: StorageOptions, say: Say) -> Notes:
        """Run the tasks that no earlier run has finished, place all files, and return the notes."""
        earlier = self.finished()
        self.num_earlier = len(earlier)
        try:
            notes = self.run_rest(earlier, spark, storage_options, say)
        except DamagedError:
            self.stage.clear()  # the next run needs another input, or another damage policy
            raise
        self.assemble(notes)
        return notes

    def finished(self) -> dict[int, TaskNote]:
        """Return the notes of the tasks whose files are all complete."""
        notes = {task: TaskNote.from_json(text) for task, text in self.work.read_notes().items()}
        sizes, placed = self.work.files.files(), self.stage.placed_sizes()
        return {
            task: note
            for task, note in sorted(notes.items())
            if task < len(self.lines)
            and all(
                file.size_bytes in (sizes.get(file.name), placed.get(path))
                for file, path in zip(note.files, self._output_paths(task, note), strict=True)
            )
        }

    def run_rest(
        self, earlier: Notes, spark: LazySession, storage_options: StorageOptions, say: Say
    ) -> Notes:
        """Run the tasks that are not in *earlier*, and return the notes of all tasks."""
        rest = [(task, line) for task, line in enumerate(self.lines) if task not in earlier]
        if earlier:
            say(f"an earlier run has finished {len(earlier)} of {len(self.lines)} tasks")
        if not rest:
            return earlier
        with translated_errors():
            context = spark.get().sparkContext
            started = time.monotonic()
            typed = None if self.typed is None else self.typed.topics_by_name
            writer = TaskWriter(self.work, self.output, storage_options, typed)
            context.parallelize(rest, len(rest)).mapPartitions(writer).count()
        notes = self.finished()
        lost = [task for task, _ in rest if task not in notes]
        if lost:
            raise InputError(
                f"{len(lost)} of {len(rest)} tasks wrote nothing to {self.work.root.path}",
                "a folder that driver and executors share",
            )
        for table in self.output.tables:
            if table in TASK_TABLES:
                say(f"{table}: {num_rows(notes, table):,} rows")
        say(f"read and written ({time.monotonic() - started:.1f} s)")
        return notes

    def assemble(self, notes: Notes) -> None:
        """Place the tasks' files in the output, and a file without rows for a table that has none."""
        self.stage.place(
            {
                file.name: path
                for task, note in notes.items()
                for file, path in zip(note.files, self._output_paths(task, note), strict=True)
            }
        )
        for table in self.output.tables:
            has_columns = table != "records" or self.typed is None
            if table in TASK_TABLES and has_columns and not num_rows(notes, table):
                empty = self.output.schema(table).empty_table()
                write_table(empty, self.stage.ready / table)

    def decoding_findings(self, notes: Notes) -> list[Finding]:
        """Return the findings about the values that the tasks have decoded."""
        if self.typed is None:
            return []
        decoded = (each for _, note in sorted(notes.items()) for each in note.decoded_counts)
        return list(self.typed.findings_of(decoded))

    def write_facts(self, notes: Notes, spark: LazySession, summary: PipelineSummary) -> None:
        """Write run.json: versions, times and numbers."""
        severities = Counter(finding.severity for finding in summary.findings)
        facts = {
            "magicbyte": magicbyte.__version__,
            "spark": spark.version,
            "started": self.started.isoformat(timespec="seconds"),
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "tasks": len(self.lines),
            "tasks_of_earlier_runs": self.num_earlier,
            "rows": {
                name: num_rows(notes, name) for name in self.output.tables if name in TASK_TABLES
            },
            "records": {name: number for name, number in sorted(summary.records.items()) if number},
            "bytes": {name: number for name, number in sorted(summary.bytes.items()) if number},
            "findings": dict(sorted(severities.items())),
        }
        path = self.stage.ready / METADATA_FOLDER / "run.json"
        path.write_text(json.dumps(facts, indent=2) + "\n")

    def _output_paths(self, task: int, note: TaskNote) -> list[str]:
        """Return the path in the output of each file of *task*."""
        counter: Counter[tuple[str, ...]] = Counter()
        paths = []
        for file in note.files:
            key = file.table, *file.folders
            paths.append(output_path(file, self.prefix, task, counter[key]))
            counter[key] += 1
        return paths


def num_rows(notes: Notes, table: str) -> int:
    """Return the rows of *table* that tasks have written."""
    files = (file for note in notes.values() for file in note.files)
    return sum(file.num_rows for file in files if file.table == table)
