"""Write the seven tables as Parquet on Spark, from one plan.

Spark's tasks write `records` and `batches`, the tables that grow with the data, and leave statistics of
their splits in notes. From these and the plan the driver writes the other tables, with the same
functions as the Python API.
"""

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import magicbyte
from magicbyte.errors import InputError
from magicbyte.spark._driver_tables import PipelineSummary, write_driver_tables, write_table
from magicbyte.spark._spark_errors import DamagedError, translated_errors
from magicbyte.spark.pipeline_plan import PipelinePlan, task_lines, text_of
from magicbyte.spark.session import LazySession
from magicbyte.spark.stage import METADATA_FOLDER, Stage, WorkFolder, plan_path
from magicbyte.spark.task_writer import (
    TASK_TABLES,
    OutputSettings,
    TaskNote,
    TaskWriter,
    WrittenFile,
    output_path,
)
from magicbyte.storage import NO_OPTIONS, StorageOptions
from magicbyte.verification.verify import Verification

Say = Callable[[str], None]
"""Receives a sentence for the user about each step that is finished."""

Notes = Mapping[int, TaskNote]
"""Notes by task number."""


def write_tables(
    plan: PipelinePlan,
    stage: Stage,
    *,
    output: OutputSettings,
    spark: LazySession,
    about: dict[str, Any],
    say: Say,
    storage_options: StorageOptions = NO_OPTIONS,
    verification: Verification | None = None,
) -> PipelineSummary:
    """Write the tables of *output*, and the plan, into the folder ``stage.ready``.

    Times are microseconds (`magicbyte.tables.stored_types.stored_schema`), compression is zstd.

    Args:
        plan: Tasks and surveys of the logs.
        stage: Folder of this run. Tasks that an earlier run of the same plan has finished are reused.
        output: Tables, columns and files to write.
        spark: Session that runs the remaining tasks; not started if there are none.
        about: Origin of the plan, which is stored with it.
        say: Receives a sentence about each step.
        storage_options: Options that tasks need to open stores. They are not stored.
        verification: Findings and verdicts to add to the tables `problems` and `partitions`.
    Raises:
        DamagedError: A record cannot be read, and damage is not to be skipped.
        ChangedError: The files have changed since the plan was made.
        InputError: Spark fails.
    """
    started = datetime.now(UTC)
    about = {"magicbyte": magicbyte.__version__, **about, **asdict(output)}
    text = text_of(plan, about=about)
    tasks = _Tasks(stage.begin(text), output, task_lines(text) if output.reads_data else [])
    earlier = tasks.finished()
    try:
        notes = tasks.run_rest(earlier, spark, storage_options, say)
    except DamagedError:
        stage.clear()  # the next run needs another input, or another damage policy
        raise
    summary = tasks.assemble(plan, notes, verification)
    run = {
        "magicbyte": magicbyte.__version__,
        "spark": spark.version,
        "started": started.isoformat(timespec="seconds"),
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "tasks": len(tasks.lines),
        "tasks_of_earlier_runs": len(earlier),
        "rows": {name: _num_rows(notes, name) for name in output.tables if name in TASK_TABLES},
    }
    path = stage.ready / METADATA_FOLDER / "run.json"
    path.write_text(json.dumps(run, indent=2) + "\n")
    return summary


@dataclass(frozen=True, slots=True)
class _Tasks:
    """The tasks of a pipeline's plan, and the folder in which they write files and notes."""

    work: WorkFolder
    output: OutputSettings
    lines: Sequence[str]
    """Line of the plan for each task."""

    def finished(self) -> dict[int, TaskNote]:
        """Return the notes of the tasks whose files are all complete."""
        notes = {}
        for task in range(len(self.lines)):
            text = self.work.read_note(task)
            if text is None:
                continue
            note = TaskNote.from_json(text)
            if all(
                file.is_complete(self.work.file(file.name))
                or file.is_complete(self.work.out / path)
                for file, path in _output_paths(task, note)
            ):
                notes[task] = note
        return notes

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
            writer = TaskWriter(self.work, self.output, storage_options)
            context.parallelize(rest, len(rest)).mapPartitions(writer).count()
        notes = self.finished()
        lost = [task for task, _ in rest if task not in notes]
        if lost:
            raise InputError(
                f"{len(lost)} of {len(rest)} tasks wrote nothing to {self.work.folder}",
                "a folder that driver and executors share",
            )
        for table in self.output.tables:
            if table in TASK_TABLES:
                say(f"{table}: {_num_rows(notes, table):,} rows")
        say(f"read and written ({time.monotonic() - started:.1f} s)")
        return notes

    def assemble(
        self, plan: PipelinePlan, notes: Notes, verification: Verification | None
    ) -> PipelineSummary:
        """Move the tasks' files to their place in the output, and write the driver's tables."""
        out = self.work.out
        self._move_files(notes)
        stats = [each for _, note in sorted(notes.items()) for each in note.stats]
        summary = write_driver_tables(plan, self.output.tables, out, stats, verification)
        shutil.copyfile(self.work.plan, plan_path(out))
        return summary

    def _move_files(self, notes: Notes) -> None:
        """Move the files of tasks to the output; an earlier run may have moved some of them."""
        out = self.work.out
        expected = set()
        for task, note in notes.items():
            for file, path in _output_paths(task, note):
                target, source = out / path, self.work.file(file.name)
                expected.add(target)
                if source.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    source.replace(target)
        for table in self.output.tables:
            (out / table).mkdir(exist_ok=True)
            for path in (out / table).rglob("*.parquet"):
                if path not in expected:
                    path.unlink()
            if table in TASK_TABLES and not _num_rows(notes, table):
                write_table(self.output.schema(table).empty_table(), out / table)


def _num_rows(notes: Notes, table: str) -> int:
    """Return the rows of *table* that tasks have written."""
    files = (file for note in notes.values() for file in note.files)
    return sum(file.num_rows for file in files if file.table == table)


def _output_paths(task: int, note: TaskNote) -> Iterator[tuple[WrittenFile, Path]]:
    """Yield the files of *task*, each with its path in the output."""
    counter: Counter[tuple[str, str | None]] = Counter()
    for file in note.files:
        yield file, output_path(file, task, counter[file.table, file.topic])
        counter[file.table, file.topic] += 1
