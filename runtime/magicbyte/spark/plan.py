"""The plan of a pipeline: made once, written beside its tables as JSON, read by every task.

JSON, because a file beside somebody's tables must be safe to read: nothing in it is run. The
first line says what made it, each following one is a task.
"""

import json
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from pyspark.sql import SparkSession

from magicbyte.limits import MIB
from magicbyte.logdir.discover import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.planner import Planner
from magicbyte.reading.split import Split
from magicbyte.reading.survey import Survey
from magicbyte.spark.failures import plain_errors
from magicbyte.spark.surveying import pass_over
from magicbyte.spark.tasks import tasks
from magicbyte.storage import Storage, Store

FORMAT = "magicbyte plan 2"


@dataclass(frozen=True, slots=True)
class Plan:
    """All that the tables of a pipeline come from."""

    dataset: Dataset
    """The partitions whose records are read."""
    surveys: tuple[Survey, ...]
    """What the plan knows of those, and of the internal ones that only `segments` and
    `partitions` show."""
    read: tuple[tuple[Split, ...], ...]
    """Tasks whose records are read."""
    counted: tuple[tuple[Split, ...], ...]
    """Tasks of internal topics that nobody named: their bytes are only accounted for."""
    max_partition_bytes: int


def size_of(dataset: Dataset) -> int:
    """Return the bytes of the live segments whose records are read."""
    return sum(file.size_bytes for log in dataset.logs for file in log.logs)


SMALL_BYTES = 256 * MIB
"""Below it, starting Spark takes longer than the work."""


def make_plan(
    dataset: Dataset,
    max_partition_bytes: int,
    *,
    by_topic: bool = False,
    spark: Callable[[], SparkSession] | None = None,
    parallel_bytes: int = SMALL_BYTES,
) -> Plan:
    """Return the plan of *dataset*: one pass over the headers, whatever is read later.

    *by_topic*: no task reads of more than one topic. A dataset of *parallel_bytes* or more is
    passed over by *spark*, a task for each partition, if it is given.
    """

    planner = Planner(dataset.options)

    def in_tasks(logs: Sequence[PartitionLog]) -> tuple[tuple[Split, ...], ...]:
        splits = [split for log in logs for split in planner.plan(log, max_partition_bytes)]
        groups = groupby(splits, key=lambda split: split.topic if by_topic else None)
        return tuple(
            task for _, group in groups for task in tasks(list(group), max_partition_bytes)
        )

    read = {log.folder for log in dataset.logs}
    others = [log for log in dataset.all_logs if log.state is None and log.folder not in read]
    if spark is not None and len(dataset.logs) > 1 and size_of(dataset) >= parallel_bytes:
        with plain_errors():
            pass_over(planner, dataset.logs, max_partition_bytes, spark())
    return Plan(
        dataset,
        tuple(planner.survey(log, max_partition_bytes) for log in (*dataset.logs, *others)),
        in_tasks(dataset.logs),
        in_tasks(others),
        max_partition_bytes,
    )


def text_of(plan: Plan, *, about: dict[str, Any]) -> str:
    """Return *plan* as text, with *about*, which says where it comes from.

    The same files, read the same way, have the same text.
    """
    return text_of_tasks([(True, plan.read), (False, plan.counted)], about=about)


def text_of_tasks(
    groups: Iterable[tuple[bool, Sequence[tuple[Split, ...]]]], *, about: dict[str, Any]
) -> str:
    """Return tasks as text, *groups* of those whose records are read and those that are counted."""
    lines = [json.dumps({"format": FORMAT, **about})]
    for is_read, group in groups:
        for task in group:
            lines.append(json.dumps({"read": is_read, "splits": [encode(one) for one in task]}))
    return "\n".join(lines) + "\n"


def task_lines(text: str) -> list[str]:
    """Return the line of each task in the *text* of a plan."""
    return text.splitlines()[1:]


def is_plan(path: Path) -> bool:
    """Return whether *path* is a plan that a pipeline wrote."""
    try:
        with path.open("rb") as file:
            head = json.loads(file.readline(1 << 20))
    except (OSError, ValueError):
        return False
    return isinstance(head, dict) and head.get("format") == FORMAT


def splits_of(line: str, storage: Storage) -> tuple[bool, list[Split]]:
    """Return whether a task's records are read, and its splits, by its *line* of a plan.

    Their files are where *storage* says that they lie.
    """
    task = json.loads(line)
    splits = [decode(Split, value) for value in task["splits"]]
    return task["read"], [
        replace(split, file=replace(split.file, store=storage.store_of(split.file.path)))
        for split in splits
    ]


def encode(value: Any) -> Any:
    """Return *value*, of dataclasses, tuples and scalars, in JSON's types.

    Of a store it keeps nothing: what opens it has no place in a file.
    """
    if isinstance(value, Store):
        return None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    return value


def decode(kind: Any, value: Any) -> Any:
    """Return the value of the type *kind* that `encode` gave as *value*."""
    if value is None:
        return None
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        (one,) = (item for item in inner if item is not types.NoneType)
        return decode(one, value)
    if origin is tuple:
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(decode(inner[0], item) for item in value)
        return tuple(decode(item, one) for item, one in zip(inner, value, strict=True))
    if is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        return kind(**{name: decode(hints[name], item) for name, item in value.items()})
    if isinstance(kind, type) and issubclass(kind, tuple):  # a NamedTuple
        types_of = _hints(kind).values()
        return kind(*(decode(one, item) for one, item in zip(types_of, value, strict=True)))
    return value


_hints = cache(get_type_hints)
