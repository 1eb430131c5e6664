"""Parsers for option values: names, flags, numbers, sizes, times, and partitions in JSON."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from magicbyte.decoding.decode_option import DecodeForm, parse_decode_option
from magicbyte.errors import InputError
from magicbyte.reading.read_options import alternatives
from magicbyte.storage import normalize_path

Collection = TypeVar("Collection", dict[str, Any], list[Any])

Partition = tuple[str, int]
"""A topic and a partition number."""

# Spark's own suffixes (org.apache.spark.network.util.JavaUtils).
_SIZE = re.compile(r"(\d{1,18})\s*(?:([kmgtp]?)b?)?", re.IGNORECASE)
_DURATION = re.compile(r"(\d{1,18})\s*(us|ms|s|min|m|h|d)?", re.IGNORECASE)
_MILLISECONDS = {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000}
_MILLISECONDS |= {"h": 3_600_000, "d": 86_400_000}

OFFSETS = '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'
TIMES = '{"topicA":{"0":1717200000000},"topicB":{"0":1717200000000}}'
PARTITIONS = '{"topicA":[0,1],"topicB":[2,4]}'
"""Examples of the documentation of Spark's Kafka source."""


def names(option: str, value: str) -> tuple[str, ...]:
    """Return the comma-separated names of *value*."""
    parsed = tuple(name.strip() for name in value.split(","))
    if not all(parsed):
        raise InputError(f"{option} {value!r}", "names, separated by commas")
    return parsed


def topics(option: str, value: str) -> tuple[str, ...]:
    """Return the comma-separated topics of *value*; empty ones are ignored."""
    parsed = tuple(filter(None, map(str.strip, value.split(","))))
    if not parsed:
        raise InputError(f"{option} {value!r}", "topics, separated by commas")
    return parsed


def pattern(option: str, value: str) -> "re.Pattern[str]":
    """Return the regular expression *value*. As in Spark, it may match any part of a name."""
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


def paths(option: str, value: str) -> tuple[str, ...]:
    """Return the path *value*, or the paths in it if it is a JSON list."""
    if not value.lstrip().startswith("["):
        return (value,)
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = None
    if not isinstance(parsed, list) or not all(isinstance(path, str) for path in parsed):
        raise InputError(f"{option} {value!r}", "a path, or a JSON list of paths")
    return tuple(parsed)


def file(option: str, value: str) -> str:
    """Return the path of a file on this machine or in a store."""
    if not value.strip() or value.strip().endswith("/"):
        raise InputError(f"{option} {value!r}", "the path of a file")
    return normalize_path(value.strip())


def flag(option: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise InputError(f"{option} {value!r}", "true or false")
    return value.lower() == "true"


def text(option: str, value: str) -> str:
    """Return *value* without the spaces around it."""
    return value.strip()


def integer(option: str, value: str) -> int:
    """Return *value* as a number that is not negative."""
    if not re.fullmatch(r"\d{1,18}", value.strip(), re.ASCII):
        raise InputError(f"{option} {value!r}", "a number, at least 0")
    return int(value)


def count(option: str, value: str) -> int:
    text = value.strip()
    if not text.isascii() or not text.isdigit() or len(text) > 18 or not int(text):
        raise InputError(f"{option} {value!r}", "a number, at least 1")
    return int(text)


def milliseconds(option: str, value: str) -> int:
    """Return the time *value*, in milliseconds since the Unix epoch."""
    text = value.strip()
    if not re.fullmatch(r"-?\d{1,18}", text, re.ASCII):
        raise InputError(f"{option} {value!r}", "milliseconds since the Unix epoch")
    return int(text)


def duration(option: str, value: str) -> int:
    """Return a duration in milliseconds: `500` or `500ms`, `10s`, `15m`, `1h`."""
    match = _DURATION.fullmatch(value.strip())
    if match is None:
        raise InputError(f"{option} {value!r}", "a time such as 500ms, 10s or 15m")
    return int(int(match[1]) * _MILLISECONDS[(match[2] or "ms").lower()])


def size_in_bytes(option: str, value: str) -> int:
    """Return a size in bytes: a number, or one with a unit of Spark's, such as `64m`."""
    match = _SIZE.fullmatch(value.strip())
    size = 0
    if match is not None:
        size = int(match[1]) << (10 * " kmgtp".index((match[2] or " ").lower()))
    if size < 1:
        raise InputError(f"{option} {value!r}", "bytes, at least 1, such as 1000000 or 64m")
    return size


def partitions(option: str, value: str) -> frozenset[Partition]:
    """Return the partitions in *value*, JSON lists of numbers by topic."""
    try:
        return frozenset(
            (topic, _number(number))
            for topic, numbers in _of_type(dict, json.loads(value)).items()
            for number in _of_type(list, numbers)
        )
    except ValueError:
        raise InputError(f"{option} {value!r}", f"e.g. {PARTITIONS}") from None


def by_partition(option: str, value: str, example: str) -> dict[Partition, int]:
    """Return the number of each partition in *value*, JSON objects by topic."""
    try:
        return {
            (topic, _number(partition)): _number(number, least=-(1 << 63))
            for topic, numbers in _of_type(dict, json.loads(value)).items()
            for partition, number in _of_type(dict, numbers).items()
        }
    except ValueError:
        raise InputError(f"{option} {value!r}", f"e.g. {example}") from None


def to_json(partition_offsets: Mapping[Partition, int]) -> dict[str, dict[str, int]]:
    """Return *partition_offsets* by partition in the form of Spark's Kafka source, sorted."""
    by_topic: dict[str, dict[str, int]] = {}
    for (topic, partition), number in sorted(partition_offsets.items()):
        by_topic.setdefault(topic, {})[str(partition)] = number
    return by_topic


def from_json(topic_offsets: Mapping[str, Mapping[str, int]]) -> dict[Partition, int]:
    """Return the numbers by partition that `to_json` has written."""
    return {
        (topic, int(partition)): number
        for topic, numbers in topic_offsets.items()
        for partition, number in numbers.items()
    }


def name_of(partition: Partition) -> str:
    return f"{partition[0]}-{partition[1]}"


def _of_type(type_: type[Collection], value: object) -> Collection:
    if not isinstance(value, type_):
        raise ValueError(value)
    return value


def _number(value: object, *, least: int = 0) -> int:
    """Return *value*, an int or a JSON key with digits, as an int; ValueError if below *least*."""
    if isinstance(value, str):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 1 << 63:
        raise ValueError(value)
    return value


def decode_forms(option: str, value: str) -> dict[str, DecodeForm]:
    """Return the forms of key and value in *value*, such as `key=string,value=registry`."""
    return parse_decode_option([value])
