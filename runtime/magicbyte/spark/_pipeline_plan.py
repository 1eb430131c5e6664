"""The plan of a pipeline, and its file: JSON lines that the tasks read, stored with the tables.

JSON is safe to read; a pickle could run code. The first line has the origin of the plan, each other
line a task.
"""

import json
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from pyspark.sql import SparkSession

from magicbyte.limits import MIB
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.partial_plan import plan_partitions
from magicbyte.reading.plan_ahead import plan_ahead
from magicbyte.reading.planner import Planner
from magicbyte.reading.split import Split
from magicbyte.reading.survey import Survey
from magicbyte.spark._spark_errors import translated_errors
from magicbyte.spark._survey_job import survey_on_spark
from magicbyte.spark._tasks import each_task
from magicbyte.storage import Storage, Store

FORMAT = "magicbyte plan 2"


@dataclass(frozen=True, slots=True)
class PipelinePlan:
    """Surveys and tasks from which all tables of a pipeline are written."""

    dataset: Dataset
    """The partitions whose records are read."""
    surveys: tuple[Survey, ...]
    """Surveys of these partitions, and of internal ones that only `segments` and `partitions` show."""
    read: tuple[tuple[Split, ...], ...]
    """Tasks whose records are read."""
    counted: tuple[tuple[Split, ...], ...]
    """Tasks of internal topics that were not selected: only their bytes are counted."""
    max_partition_bytes: int


def size_of(dataset: Dataset) -> int:
    """Return the bytes of the live segments whose records are read."""
    return sum(file.size_bytes - file.start for log in dataset.logs for file in log.logs)


SMALL_BYTES = 256 * MIB
"""Size below which starting Spark would take longer than the survey."""


def make_plan(
    dataset: Dataset,
    max_partition_bytes: int,
    *,
    by_topic: bool = False,
    for_records: bool = False,
    spark: Callable[[], SparkSession] | None = None,
    parallel_bytes: int = SMALL_BYTES,
) -> PipelinePlan:
    """Survey *dataset* and return its plan.

    *by_topic*: no task reads from two topics. *for_records*: only tables are written that tasks write, so index files
    are enough for a partition in a store, and other partitions are not counted. If *dataset* has *parallel_bytes*
    or more, *spark* surveys the others with one task per partition.
    """
    planner = Planner(dataset.options)

    def in_tasks(logs: Sequence[PartitionLog]) -> tuple[tuple[Split, ...], ...]:
        splits = plan_partitions(planner, logs, max_partition_bytes)
        groups = groupby(splits, key=lambda split: split.topic if by_topic else None)
        return tuple(task for _, group in groups for task in each_task(group, max_partition_bytes))

    read = {log.folder for log in dataset.logs}
    others = [log for log in dataset.all_logs if log.state is None and log.folder not in read]
    logs = dataset.logs
    if for_records:
        others, logs = [], tuple(without_index_plan(planner, logs, max_partition_bytes))
    if spark is not None and len(logs) > 1 and size_of(dataset) >= parallel_bytes:
        with translated_errors():
            survey_on_spark(planner, logs, max_partition_bytes, spark())
    return PipelinePlan(
        dataset,
        tuple(
            planner.survey(log, max_partition_bytes, for_records=for_records)
            for log in (*dataset.logs, *others)
        ),
        in_tasks(dataset.logs),
        in_tasks(others),
        max_partition_bytes,
    )


def without_index_plan(
    planner: Planner, logs: Sequence[PartitionLog], max_partition_bytes: int
) -> list[PartitionLog]:
    """Return the *logs* whose headers *planner* must survey; it caches surveys of the others, by index files."""
    survey = partial(planner.survey_by_index, split_bytes=max_partition_bytes)
    return [log for log, by_index in plan_ahead(logs, survey) if by_index is None]


def text_of(plan: PipelinePlan, *, about: dict[str, Any]) -> str:
    """Return *plan* as text, with its origin *about*; the text depends on files and options alone."""
    return text_of_tasks([(True, plan.read), (False, plan.counted)], about=about)


def text_of_tasks(
    groups: Iterable[tuple[bool, Sequence[tuple[Split, ...]]]], *, about: dict[str, Any]
) -> str:
    """Return tasks as text. Each of *groups* is a pair: are records read, and the tasks."""
    lines = [head_line(about)]
    for is_read, group in groups:
        lines += (task_line(task, is_read=is_read) for task in group)
    return "\n".join(lines) + "\n"


def head_line(about: dict[str, Any]) -> str:
    """Return the first line of a plan, with its origin *about*."""
    return json.dumps({"format": FORMAT, **about})


def task_line(task_splits: Iterable[Split], *, is_read: bool) -> str:
    """Return the line of a plan for *task_splits*."""
    return json.dumps({"read": is_read, "splits": [encode(split) for split in task_splits]})


def task_lines(text: str) -> list[str]:
    """Return the lines of the tasks in the *text* of a plan."""
    return text.splitlines()[1:]


def is_plan(path: Path) -> bool:
    """Return whether *path* is a plan in our format."""
    try:
        with path.open("rb") as file:
            return is_plan_text(file.readline(1 << 20))
    except OSError:
        return False


def is_plan_text(text: bytes) -> bool:
    """Return whether *text* begins as a plan in our format does."""
    try:
        origin = json.loads(text.partition(b"\n")[0])
    except ValueError:
        return False
    return isinstance(origin, dict) and origin.get("format") == FORMAT


def splits_of(line: str, storage: Storage) -> tuple[bool, list[Split]]:
    """Return whether the records of a task are read, and its splits, from its *line* of a plan.

    Their files are opened in the stores of *storage*.
    """
    task = json.loads(line)
    splits = [decode(Split, value) for value in task["splits"]]
    return task["read"], [_in_stores(split, storage) for split in splits]


def _in_stores(split: Split, storage: Storage) -> Split:
    """Return *split* with the stores of its files."""
    file = replace(split.file, store=storage.store_of(split.file.path))
    ahead = split.ahead
    if ahead is not None and ahead.next_file is not None:
        store = storage.store_of(ahead.next_file.path)
        ahead = replace(ahead, next_file=replace(ahead.next_file, store=store))
    return replace(split, file=file, ahead=ahead)


def encode(value: Any) -> Any:
    """Return *value*, made of dataclasses, tuples and scalars, in JSON's types.

    A store becomes null: its credentials must not be written to a file.
    """
    if isinstance(value, Store):
        return None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    return value


def decode(value_type: Any, value: Any) -> Any:
    """Return the value of type *value_type* that `encode` turned into *value*."""
    if value is None:
        return None
    origin, inner = get_origin(value_type), get_args(value_type)
    if origin in (Union, types.UnionType):
        (item_type,) = (item for item in inner if item is not types.NoneType)
        return decode(item_type, value)
    if origin is tuple:
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(decode(inner[0], item) for item in value)
        return tuple(decode(item_type, item) for item_type, item in zip(inner, value, strict=True))
    if is_dataclass(value_type) and isinstance(value_type, type):
        hints = _hints(value_type)
        return value_type(**{name: decode(hints[name], item) for name, item in value.items()})
    if isinstance(value_type, type) and issubclass(value_type, tuple):  # a NamedTuple
        item_types = _hints(value_type).values()
        return value_type(
            *(decode(each, item) for each, item in zip(item_types, value, strict=True))
        )
    return value


_hints = cache(get_type_hints)
