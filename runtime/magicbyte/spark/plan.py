"""The plan of a pipeline: made once, written beside its tables as JSON, read by every task.

JSON, because a file beside somebody's tables must be safe to read: nothing in it is run. The
first line says what made it, each following one is a task.
"""

import json
import types
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from magicbyte.errors import InputError
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.split import Split
from magicbyte.reading.survey import Survey
from magicbyte.spark.tasks import tasks
from magicbyte.storage import Storage, Store

FORMAT = "magicbyte plan 1"


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

    @property
    def num_splits(self) -> int:
        return sum(len(task) for task in (*self.read, *self.counted))

    @property
    def size_bytes(self) -> int:
        """Bytes of the live segments whose records are read."""
        return sum(file.size_bytes for log in self.dataset.logs for file in log.logs)


def make_plan(dataset: Dataset, max_partition_bytes: int) -> Plan:
    """Return the plan of *dataset*: one pass over the headers, whatever is read later."""
    read = {log.folder for log in dataset.logs}
    others = [log for log in dataset.all_logs if log.state is None and log.folder not in read]
    rest = Dataset(others, (), dataset.options)
    return Plan(
        dataset,
        (*dataset.surveys(max_partition_bytes), *rest.surveys(max_partition_bytes)),
        tuple(tasks(dataset.plan(max_partition_bytes), max_partition_bytes)),
        tuple(tasks(rest.plan(max_partition_bytes), max_partition_bytes)),
        max_partition_bytes,
    )


def write_plan(plan: Plan, path: Path, *, about: dict[str, Any]) -> None:
    """Write *plan* to *path*, with *about*, which says where it comes from."""
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"format": FORMAT, **about}) + "\n")
        for is_read, group in ((True, plan.read), (False, plan.counted)):
            for task in group:
                line = {"read": is_read, "splits": [encode(split) for split in task]}
                file.write(json.dumps(line) + "\n")


def is_plan(path: Path) -> bool:
    """Return whether *path* is a plan that `write_plan` wrote."""
    try:
        with path.open("rb") as file:
            head = json.loads(file.readline(1 << 20))
    except (OSError, ValueError):
        return False
    return isinstance(head, dict) and head.get("format") == FORMAT


def task_lines(path: Path) -> Iterator[tuple[bool, str]]:
    """Yield for each task whether its records are read, and the line that says what it spans."""
    if not is_plan(path):
        raise InputError("no plan", FORMAT, path=str(path))
    with path.open(encoding="utf-8") as file:
        next(file)
        for line in file:
            yield line.startswith('{"read": true'), line


def splits_of(line: str, storage: Storage) -> list[Split]:
    """Return the splits of a task's *line*, their files where *storage* says that they lie."""
    splits = [decode(Split, value) for value in json.loads(line)["splits"]]
    return [
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
