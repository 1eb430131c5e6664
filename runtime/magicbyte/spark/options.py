"""The options of the data source."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from magicbyte import storage
from magicbyte.errors import InputError
from magicbyte.limits import MIB
from magicbyte.reading.dataset import ISOLATION_LEVELS, ON_DAMAGE, Dataset, open_paths

MAX_PARTITION_BYTES = 128 * MIB
"""As much of a segment as one task reads, by default; that of Spark's file sources."""

UNDERSTOOD = (
    "path",
    "paths",
    "subscribe",
    "isolationLevel",
    "kafka.isolation.level",
    "onDamage",
    "columns",
    "maxPartitionBytes",
    "includeInternal",
)

# Spark's own suffixes (org.apache.spark.network.util.JavaUtils).
_SIZE = re.compile(r"(\d{1,18})\s*(?:([kmgtp]?)b?)?", re.IGNORECASE)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What `option(...)` and `load(...)` said."""

    paths: tuple[str, ...]
    topics: tuple[str, ...] | None = None
    isolation_level: str = "read_committed"
    on_damage: str = "fail"
    columns: tuple[str, ...] | None = None
    max_partition_bytes: int = MAX_PARTITION_BYTES
    include_internal: bool = False

    def open(self) -> Dataset:
        """Return the dataset; InputError where a path is no log or a topic is not there."""
        return open_paths(
            *self.paths,
            topics=self.topics,
            isolation_level=self.isolation_level,
            on_damage=self.on_damage,
            include_internal=self.include_internal,
        )


def parse(options: Mapping[str, str]) -> ReadOptions:
    """Return *options*, whose names have no case, taken at their word.

    Raises InputError for an option that is not understood, a value that is not one, and for a
    path that is missing or that cannot be read.
    """
    given = {name.lower(): value for name, value in options.items()}
    known = {name.lower(): name for name in UNDERSTOOD}
    for name in given:
        if name not in known:
            raise InputError(f"no option {name!r}", f"some of {', '.join(UNDERSTOOD)}")
    read: dict[str, Any] = {"paths": _paths(given)}
    readers: dict[str, tuple[str, Callable[[str, str], Any]]] = {
        "subscribe": ("topics", _names),
        "isolationLevel": ("isolation_level", _one_of(ISOLATION_LEVELS)),
        "kafka.isolation.level": ("isolation_level", _one_of(ISOLATION_LEVELS)),
        "onDamage": ("on_damage", _one_of(ON_DAMAGE)),
        "columns": ("columns", _names),
        "maxPartitionBytes": ("max_partition_bytes", size_in_bytes),
        "includeInternal": ("include_internal", _flag),
    }
    for name, (field, reader) in readers.items():
        if name.lower() not in given:
            continue
        value = reader(name, given[name.lower()])
        if read.setdefault(field, value) != value:
            raise InputError(f"{name} {value!r}", f"the {read[field]!r} of isolationLevel")
    return ReadOptions(**read)


def _paths(given: Mapping[str, str]) -> tuple[str, ...]:
    if "path" in given and "paths" in given:
        raise InputError("both path and paths", "one of them")
    paths = [given["path"]] if "path" in given else json.loads(given.get("paths", "[]"))
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise InputError(f"paths {given['paths']!r}", "a JSON list of strings")
    if not paths or not all(paths):
        # Spark loses the options of CREATE TABLE ... USING magicbyte OPTIONS (...).
        raise InputError("no path", "load(path), or the option path")
    local = tuple(_local(path) for path in paths)
    for path in local:
        storage.kind_of(path)  # raises where there is nothing
    return local


def _local(path: str) -> str:
    scheme = _SCHEME.match(path)
    if scheme is None:
        return path
    if scheme[1].lower() != "file":
        raise InputError(f"a path of {scheme[1]}:", "files of this machine", path=path)
    return "/" + path[len(scheme[0]) :].lstrip("/")


def _names(option: str, value: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in value.split(","))
    if not all(names):
        raise InputError(f"{option} {value!r}", "names between commas")
    return names


def _one_of(allowed: tuple[str, ...]) -> Callable[[str, str], str]:
    def read(option: str, value: str) -> str:
        if value.lower() not in allowed:
            raise InputError(f"{option} {value!r}", " or ".join(allowed))
        return value.lower()

    return read


def _flag(option: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise InputError(f"{option} {value!r}", "true or false")
    return value.lower() == "true"


def size_in_bytes(option: str, value: str) -> int:
    """Return the bytes that *value* says: a plain number, or one of Spark's such as `64m`."""
    found = _SIZE.fullmatch(value.strip())
    size = 0
    if found is not None:
        size = int(found[1]) << (10 * " kmgtp".index((found[2] or " ").lower()))
    if size < 1:
        raise InputError(f"{option} {value!r}", "bytes, at least 1, such as 1000000 or 64m")
    return size
