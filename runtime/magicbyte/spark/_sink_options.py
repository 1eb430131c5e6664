"""Options of a write: Kafka's names for the properties of batches and topics, and our own."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from magicbyte.errors import InputError
from magicbyte.spark import _option_values
from magicbyte.spark._conditions import input_errors_have
from magicbyte.spark._options import (
    LEVEL_OPTIONS,
    SINK_NAMES,
    SINK_OPTIONS,
    ignored_options,
    unknown_option,
)
from magicbyte.writing.record_sink import TIMESTAMP_TYPES, RecordSink, record_sink

STARTING_OFFSETS = '{"topicA":{"0":23,"1":0},"topicB":{"0":7}}'

Value = TypeVar("Value")
Default = TypeVar("Default")


@input_errors_have("MAGICBYTE_INVALID_OPTION")
def parse_sink(spark_options: Mapping[str, str], *, overwrites: bool) -> RecordSink:
    """Return the write job of *spark_options*, whose names are case-insensitive.

    Raises InputError for an unknown option, a value that is not allowed, and a folder that cannot be written into.
    """
    ignored = {name.lower() for name in ignored_options(spark_options)}
    raw = {name.lower(): text for name, text in spark_options.items()}
    for name in raw:
        if name not in SINK_NAMES and name not in ignored:
            raise unknown_option(name, SINK_OPTIONS)

    def value(name: str, reader: Callable[[str, str], Value], fallback: Default) -> Value | Default:
        text = raw.get(name.lower())
        return fallback if text is None else reader(name, text)

    if not raw.get("path"):
        raise InputError("no path", "save(path), or the option path")
    codec = value("kafka.compression.type", _option_values.text, "none").lower()
    return record_sink(
        raw["path"],
        topic=raw.get("topic"),
        partitions=value("partitions", _option_values.count, 1),
        codec=codec,
        level=value(LEVEL_OPTIONS[codec], _option_values.integer, None)
        if codec in LEVEL_OPTIONS
        else None,
        batch_bytes=value("kafka.batch.size", _option_values.size_in_bytes, 16384),
        segment_bytes=value("kafka.segment.bytes", _option_values.size_in_bytes, None),
        index_interval_bytes=value("kafka.index.interval.bytes", _option_values.integer, 4096),
        timestamp_type=value("kafka.message.timestamp.type", _timestamp_type, "CreateTime"),
        starting_offset=value("startingOffset", _starting_offset, 0),
        leader_epoch=value("leaderEpoch", _option_values.integer, 0),
        overwrites=overwrites,
    )


def _timestamp_type(option: str, text: str) -> str:
    """Return *text* as Kafka spells it."""
    spelled = {name.lower(): name for name in TIMESTAMP_TYPES}
    return spelled[_option_values.one_of(*spelled)(option, text)]


def _starting_offset(option: str, text: str) -> int | Mapping[tuple[str, int], int]:
    """Return the offset for all partitions, or the offsets of a JSON object, by partition."""
    if text.lstrip().startswith("{"):
        return _option_values.by_partition(option, text, STARTING_OFFSETS)
    return _option_values.integer(option, text)
