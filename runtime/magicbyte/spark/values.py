"""What the values of options say: names, flags, numbers, sizes, times, partitions in JSON."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from magicbyte.errors import InputError
from magicbyte.reading.options import alternatives
from magicbyte.storage import is_url, local_path

Partition = tuple[str, int]
"""A topic, and the number of a partition of it."""

# Spark's own suffixes (org.apache.spark.network.util.JavaUtils).
_SIZE = re.compile(r"(\d{1,18})\s*(?:([kmgtp]?)b?)?", re.IGNORECASE)
_DURATION = re.compile(r"(\d{1,18})\s*(us|ms|s|min|m|h|d)?", re.IGNORECASE)
_MILLISECONDS = {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000}
_MILLISECONDS |= {"h": 3_600_000, "d": 86_400_000}

OFFSETS = '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'
TIMES = '{"topicA":{"0":1717200000000},"topicB":{"0":1717200000000}}'
PARTITIONS = '{"topicA":[0,1],"topicB":[2,4]}'
"""What the documentation of Spark's Kafka source has as examples."""


def names(option: str, value: str) -> tuple[str, ...]:
    found = tuple(name.strip() for name in value.split(","))
    if not all(found):
        raise InputError(f"{option} {value!r}", "names between commas")
    return found


def topics(option: str, value: str) -> tuple[str, ...]:
    """Return the topics between the commas of *value*; where there is nothing, it is left out."""
    found = tuple(name.strip() for name in value.split(",") if name.strip())
    if not found:
        raise InputError(f"{option} {value!r}", "topics between commas")
    return found


def pattern(option: str, value: str) -> "re.Pattern[str]":
    """Return the regular expression *value*, of which a name need hold only a part, as in Spark."""
    if not value.strip():
        raise InputError(f"{option} {value!r}", "a regular expression")
    try:
        return re.compile(value.strip())
    except re.error as error:
        raise InputError(f"{option} {value!r}: {error}", "a regular expression") from error


def one_of(*allowed: str) -> Callable[[str, str], str]:
    def read(option: str, value: str) -> str:
        if value.lower() not in allowed:
            raise InputError(f"{option} {value!r}", alternatives(allowed))
        return value.lower()

    return read


def file(option: str, value: str) -> Path:
    """Return the path of a file on this machine."""
    path = local_path(value.strip())
    if not path or is_url(path):
        raise InputError(f"{option} {value!r}", "the path of a file on the driver's machine")
    return Path(path)


def flag(option: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise InputError(f"{option} {value!r}", "true or false")
    return value.lower() == "true"


def count(option: str, value: str) -> int:
    found = value.strip()
    if not found.isascii() or not found.isdigit() or len(found) > 18 or not int(found):
        raise InputError(f"{option} {value!r}", "a number, at least 1")
    return int(found)


def milliseconds(option: str, value: str) -> int:
    """Return the milliseconds since the Unix epoch that *value* says."""
    found = value.strip()
    if not re.fullmatch(r"-?\d{1,18}", found, re.ASCII):
        raise InputError(f"{option} {value!r}", "milliseconds since the Unix epoch")
    return int(found)


def duration(option: str, value: str) -> int:
    """Return the milliseconds that *value* lasts: `500` or `500ms`, `10s`, `15m`, `1h`."""
    found = _DURATION.fullmatch(value.strip())
    if found is None:
        raise InputError(f"{option} {value!r}", "a time such as 500ms, 10s or 15m")
    return int(int(found[1]) * _MILLISECONDS[(found[2] or "ms").lower()])


def size_in_bytes(option: str, value: str) -> int:
    """Return the bytes that *value* says: a plain number, or one of Spark's such as `64m`."""
    found = _SIZE.fullmatch(value.strip())
    size = 0
    if found is not None:
        size = int(found[1]) << (10 * " kmgtp".index((found[2] or " ").lower()))
    if size < 1:
        raise InputError(f"{option} {value!r}", "bytes, at least 1, such as 1000000 or 64m")
    return size


def partitions(option: str, value: str) -> frozenset[Partition]:
    """Return the partitions that *value* lists, by topic."""
    found = _json(option, value, PARTITIONS)
    try:
        return frozenset(
            (topic, _number(number))
            for topic, numbers in found.items()
            for number in _list(numbers)
        )
    except ValueError:
        raise InputError(f"{option} {value!r}", f"e.g. {PARTITIONS}") from None


def by_partition(option: str, value: str, example: str) -> dict[Partition, int]:
    """Return the number that *value* gives each partition, by topic."""
    found = _json(option, value, example)
    try:
        return {
            (topic, _number(partition)): _number(number, least=-(1 << 63))
            for topic, numbers in found.items()
            for partition, number in _mapping(numbers).items()
        }
    except ValueError:
        raise InputError(f"{option} {value!r}", f"e.g. {example}") from None


def to_json(numbers: Mapping[Partition, int]) -> dict[str, dict[str, int]]:
    """Return *numbers* of partitions as Spark's Kafka source writes them, in order."""
    made: dict[str, dict[str, int]] = {}
    for (topic, partition), number in sorted(numbers.items()):
        made.setdefault(topic, {})[str(partition)] = number
    return made


def from_json(offsets: Mapping[str, Mapping[str, int]]) -> dict[Partition, int]:
    """Return the numbers that `to_json` wrote."""
    return {
        (topic, int(partition)): number
        for topic, numbers in offsets.items()
        for partition, number in numbers.items()
    }


def name_of(partition: Partition) -> str:
    return f"{partition[0]}-{partition[1]}"


def _json(option: str, value: str, example: str) -> dict[str, Any]:
    try:
        return _mapping(json.loads(value))
    except ValueError:
        raise InputError(f"{option} {value!r}", f"e.g. {example}") from None


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(value)
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(value)
    return value


def _number(value: object, *, least: int = 0) -> int:
    """Return the number that JSON has as *value*, or as a key."""
    if isinstance(value, str):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 1 << 63:
        raise ValueError(value)
    return value
