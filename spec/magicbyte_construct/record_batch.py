"""Record batch, magic 2 (org.apache.kafka.common.record.DefaultRecordBatch)."""

from typing import Any

from construct import (
    Construct,
    ConstructError,
    Container,
    Default,
    Int8sb,
    Int16sb,
    Int16ub,
    Int32sb,
    Int32ub,
    Int64sb,
    IntegerError,
    Subconstruct,
)
from construct.core import stream_write
from crc32c import crc32c

from magicbyte_construct.fields import (
    AtLeast,
    Counted,
    Expected,
    Fields,
    LeftOver,
    Sealed,
    Sized,
)
from magicbyte_construct.record import Record

MIN_BATCH_LENGTH = 49
"""Length of a batch without records: 61 bytes of header less offset and length."""


class Attributes(Construct):
    """Integer that consists of bit fields, the highest first.

    *bits* maps a name to the width of a field, or to ``bool`` for a flag. Building also accepts the
    integer itself; fields that are not given have their value in *default*.
    """

    def __init__(self, integer: Any, *, default: int = 0, **bits: int | type[bool]) -> None:
        super().__init__()
        self.integer, self.bits = integer, bits
        self.default = self.named(default)
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        return self.named(self.integer._parsereport(stream, context, path))

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        given = obj or {}
        if isinstance(given, int):
            return self.named(self.integer._build(given, stream, context, path))
        unknown = [name for name in given if name not in self.bits]
        if unknown:
            bits = ", ".join(self.bits)
            raise TypeError(f"no bit {unknown[0]!r} at {path}; the bits are {bits}")
        value = self.joined(self.default | given, path)
        return self.named(self.integer._build(value, stream, context, path))

    def named(self, value: int) -> Any:
        """Return the bit fields of *value*, by name."""
        names = Container()
        shift = 8 * self.integer.sizeof()
        for name, bits in self.bits.items():
            shift -= 1 if bits is bool else int(bits)
            if bits is bool:
                names[name] = bool(value >> shift & 1)
            else:
                names[name] = value >> shift & ((1 << int(bits)) - 1)
        return names

    def joined(self, bit_values: Any, path: str) -> int:
        """Return the integer that consists of the bit fields *bit_values*."""
        value = 0
        for name, bits in self.bits.items():
            width, part = 1 if bits is bool else int(bits), int(bit_values[name])
            if part >> width:
                raise IntegerError(f"{name} {part} has more than {width} bits", path=path)
            value = value << width | part
        return value


BatchAttributes = Attributes(
    Int16ub,
    reserved=9,
    has_delete_horizon=bool,
    is_control=bool,
    is_transactional=bool,
    timestamp_type=1,
    codec=3,
)


class Payload(Subconstruct):
    """Records, or their compressed bytes if a codec is set."""

    def __init__(self, subcon: Any) -> None:
        super().__init__(subcon)
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        if context["attributes"]["codec"]:
            return stream.read()
        return self.subcon._parsereport(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        if not isinstance(obj, bytes):
            return self.subcon._build(obj, stream, context, path)
        stream_write(stream, obj, len(obj), path)
        return obj


def given_records(context: Any) -> Any:
    """Return the records to build. Raises ConstructError if they are given as bytes."""
    records = context.get("records") or ()
    if isinstance(records, bytes):
        raise ConstructError("records given as bytes have no count, offsets and timestamps")
    return records


def last_offset_delta(context: Any) -> int:
    """Return the offset delta of the last record; -1 if there is none."""
    delta, base_offset = -1, context["base_offset"]
    for number, record in enumerate(given_records(context)):
        if record.get("offset_delta") is not None:
            delta = record["offset_delta"]
        elif record.get("offset") is not None:
            delta = record["offset"] - base_offset
        else:
            delta = number
    return int(delta)


def base_timestamp(context: Any) -> int:
    """Return the timestamp of the first record; -1 if there is none."""
    records = given_records(context)
    timestamp = records[0].get("timestamp") if records else None
    return -1 if timestamp is None else int(timestamp)


def max_timestamp(context: Any) -> int:
    """Return the largest timestamp of a record; -1 if there is none."""
    base = context["base_timestamp"]
    timestamps = []
    for record in given_records(context):
        if record.get("timestamp_delta") is not None:
            timestamps.append(base + record["timestamp_delta"])
        else:
            timestamps.append(base if record.get("timestamp") is None else record["timestamp"])
    return max(timestamps, default=-1)


def num_records(context: Any) -> int:
    """Return the number of records to build."""
    return len(given_records(context))


def is_empty(context: Any) -> bool:
    """Return whether the count of records is 0; Kafka then ignores the rest of the batch."""
    return bool(context["num_records"] == 0)


RecordBatch = Fields(
    "base_offset" / Default(Int64sb, 0),
    Sized(
        "len_batch",
        Int32sb,
        "partition_leader_epoch" / Default(Int32sb, -1),
        "magic" / Expected(Int8sb, 2),
        Sealed(
            "crc",
            Int32ub,
            "CRC-32C",
            crc32c,
            "attributes" / BatchAttributes,
            "last_offset_delta" / Default(Int32sb, last_offset_delta),
            "base_timestamp" / Default(Int64sb, base_timestamp),
            "max_timestamp" / Default(Int64sb, max_timestamp),
            "producer_id" / Default(Int64sb, -1),
            "producer_epoch" / Default(Int16sb, -1),
            "base_sequence" / Default(Int32sb, -1),
            "num_records" / Default(AtLeast(0, Int32sb), num_records),
            "records" / Payload(Counted("num_records", Record)),
            "trailing" / LeftOver(is_empty),
        ),
        minimum=MIN_BATCH_LENGTH,
    ),
)
"""Batch. ``records`` is a list, or the compressed bytes if ``codec`` is not 0."""
