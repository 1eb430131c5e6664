"""The six tables as Parquet, made on Spark from one plan.

Spark's tasks write `records` and `batches`, the tables that grow with the data. What they say of
their splits beside that stands in their notes, and the driver makes the other tables of it and of
the plan, by the same functions that the Python API uses.
"""

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import magicbyte
from magicbyte.errors import InputError
from magicbyte.spark.driver_tables import Summary, write_small, write_table
from magicbyte.spark.failures import DamagedError, plain_errors
from magicbyte.spark.plan import Plan, task_lines, text_of
from magicbyte.spark.session import Lazy
from magicbyte.spark.stage import OWN, Stage, plan_path
from magicbyte.spark.task_writer import BY_TASKS, Done, Wanted, Worker, Written, place_of
from magicbyte.storage import NO_OPTIONS, StorageOptions

Say = Callable[[str], None]
"""Is told in a line what was done."""


def write_tables(
    plan: Plan,
    stage: Stage,
    *,
    wanted: Wanted,
    spark: Lazy,
    about: dict[str, Any],
    say: Say,
    storage_options: StorageOptions = NO_OPTIONS,
) -> Summary:
    """Write the *wanted* tables of *plan*, and the plan, into the folder that *stage* has ready.

    What an earlier run of the same plan has done is used; *spark* does the rest. *about* says where the plan comes from,
    and is kept with it; *storage_options* are handed to the tasks, and not kept. Times are
    microseconds (`magicbyte.tables.stored_types.stored_schema`), compression is zstd. Raises
    DamagedError where a record cannot be read and damage is not to be skipped, ChangedError where
    the files are no longer what they were, InputError where Spark fails.
    """
    run = _Run(
        plan,
        text_of(plan, about={"magicbyte": magicbyte.__version__, **about, **asdict(wanted)}),
        stage,
        wanted,
        spark,
    )
    try:
        run.do(storage_options, say)
    except DamagedError:
        stage.clear()  # what is to change is the input, or what is done about damage
        raise
    return run.put_together()


class _Run:
    """The tasks of a plan: those that are done, and those that are to be."""

    def __init__(self, plan: Plan, text: str, stage: Stage, wanted: Wanted, spark: Lazy) -> None:
        self.begun = datetime.now(UTC)
        self.plan = plan
        self.wanted = wanted
        self.lines = task_lines(text) if wanted.reads_data else []
        self.work = stage.begin(text)
        self.spark = spark
        self.done: dict[int, Done] = {}
        self._take_notes()
        self.num_done_before = len(self.done)

    def do(self, storage_options: StorageOptions, say: Say) -> None:
        """Have Spark do what is to be done."""
        rest = [(task, line) for task, line in enumerate(self.lines) if task not in self.done]
        if self.done:
            say(f"an earlier run did {len(self.done)} of {len(self.lines)} tasks")
        if not rest:
            return
        with plain_errors():
            context = self.spark.get().sparkContext
            begun = time.monotonic()
            worker = Worker(self.work, self.wanted, storage_options)
            context.parallelize(rest, len(rest)).mapPartitions(worker).count()
        self._take_notes()
        lost = [task for task, _ in rest if task not in self.done]
        if lost:
            raise InputError(
                f"{len(lost)} of {len(rest)} tasks left nothing in {self.work.folder}",
                "a folder that driver and executors share",
            )
        for table in self.wanted.tables:
            if table in BY_TASKS:
                say(f"{table}: {self.num_rows(table):,} rows")
        say(f"read and written ({_since(begun)})")

    def num_rows(self, table: str) -> int:
        """Return the rows that tasks have written of *table*."""
        files = (file for done in self.done.values() for file in done.files)
        return sum(file.num_rows for file in files if file.table == table)

    def put_together(self) -> Summary:
        """Put what tasks have written where it belongs, and add what the driver makes."""
        out = self.work.out
        self._gather(out)
        facts = [one for _, done in sorted(self.done.items()) for one in done.facts]
        summary = write_small(self.plan, self.wanted.tables, out, facts)
        shutil.copyfile(self.work.plan, plan_path(out))
        (out / OWN / "run.json").write_text(json.dumps(self._facts(), indent=2) + "\n")
        return summary

    def _take_notes(self) -> None:
        """Note which tasks are done: those whose notes tell of files that are all there."""
        for task in range(len(self.lines)):
            if task in self.done or (note := self.work.note_of(task)) is None:
                continue
            done = Done.from_json(note)
            if all(self._is_there(file, place) for file, place in _placed(task, done)):
                self.done[task] = done

    def _is_there(self, file: Written, place: Path) -> bool:
        return file.is_whole(self.work.file(file.name)) or file.is_whole(self.work.out / place)

    def _gather(self, out: Path) -> None:
        """Move the files of tasks into *out*, of which an earlier run may have moved some."""
        wanted = set()
        for task, done in self.done.items():
            for file, place in _placed(task, done):
                there, here = out / place, self.work.file(file.name)
                wanted.add(there)
                if here.exists():
                    there.parent.mkdir(parents=True, exist_ok=True)
                    here.replace(there)
        for table in self.wanted.tables:
            (out / table).mkdir(exist_ok=True)
            for path in (out / table).rglob("*.parquet"):
                if path not in wanted:
                    path.unlink()
            if table in BY_TASKS and not self.num_rows(table):
                write_table(self.wanted.schema(table).empty_table(), out / table)

    def _facts(self) -> dict[str, Any]:
        """Return what is to be known of the run beside its tables."""
        return {
            "magicbyte": magicbyte.__version__,
            "spark": self.spark.version,
            "started": self.begun.isoformat(timespec="seconds"),
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "tasks": len(self.lines),
            "tasks_of_earlier_runs": self.num_done_before,
            "rows": {
                table: self.num_rows(table) for table in self.wanted.tables if table in BY_TASKS
            },
        }


def _placed(task: int, done: Done) -> Iterator[tuple[Written, Path]]:
    """Yield the files of a *task* that is *done*, with where in the output they belong."""
    numbers: Counter[tuple[str, str | None]] = Counter()
    for file in done.files:
        yield file, place_of(file, task, numbers[file.table, file.topic])
        numbers[file.table, file.topic] += 1


def _since(begun: float) -> str:
    return f"{time.monotonic() - begun:.1f} s"
