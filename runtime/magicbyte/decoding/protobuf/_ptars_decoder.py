"""Decodes messages by ptars, where it gives what Protobuf's own library does."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.decoding.protobuf._library import library
from magicbyte.decoding.protobuf._message_types import (
    GROUP,
    TIMES,
    WRAPPERS,
    well_known_type,
)
from magicbyte.tables.arrays import to_numpy

PANIC = "PanicException"
"""Class of the errors of Rust that are no Exception in Python; ptars has none of its own."""
MAX_NUMBERS = 1 << 18
"""Sum of the greatest field numbers: ptars allocates 16 bytes for each number up to it, in each call."""
OTHER_TYPES = frozenset(("google.type.Date", "google.type.TimeOfDay"))
"""Messages that ptars turns into dates and times, though their fields may have values that are none."""
TIME_MARGIN = 1 << 32
"""ptars puts times beyond the range at its end, and adds nanoseconds of 32 bits to that."""


class PtarsDecoder:
    """Decodes usual messages, as `check_messages` calls them.

    Args:
        handler: Handler of ptars.
        struct_type: Type of the columns; the handler's own, but for what may be null and the order of fields.
    """

    def __init__(self, handler: Any, struct_type: pa.DataType) -> None:
        self._handler, self._type = handler, struct_type

    def decode(self, message_bodies: pa.Array) -> pa.Array | None:
        """Return *message_bodies* as structs; None if ptars refuses one, or decodes one in another way."""
        try:
            batch = self._handler.array_to_record_batch(message_bodies)
        except ValueError:
            return None
        except BaseException as error:
            if type(error).__name__ != PANIC:
                raise
            return None
        array = batch.to_struct_array().cast(self._type)
        return None if _has_other_values(array) else array


def ptars_decoder(descriptor: Any, struct_type: pa.DataType) -> PtarsDecoder | None:
    """Return a decoder of *descriptor*; None if ptars is not installed, or cannot give *struct_type*."""
    if not struct_type.num_fields or not _is_suitable(descriptor):
        return None
    try:
        ptars = library("ptars")
        config = ptars.PtarsConfig(enum_repr="string", map_value_nullable=True)
        handler = ptars.HandlerPool([descriptor.file], config).get_for_message(descriptor)
        decoder = PtarsDecoder(handler, struct_type)
        decoded = decoder.decode(pa.array([b""], pa.binary()))
    except Exception:  # a library of one author, release 0.0: google.protobuf decodes instead
        return None
    return None if decoded is None else decoder


def _is_suitable(descriptor: Any) -> bool:
    """Return whether ptars knows all that *descriptor* has.

    It skips groups, and panics at editions.
    """
    sums: dict[str, int] = {}

    def numbers(proto: Any) -> int:
        """Return the sum of the greatest field numbers of *proto* and the messages in it."""
        if proto.full_name in sums:
            return sums[proto.full_name]
        total = max((member.number for member in proto.fields), default=0)
        for member in proto.fields:
            inner = member.message_type
            if inner is None:
                continue
            is_known_name = inner.full_name in TIMES or inner.full_name in WRAPPERS
            if (
                member.type == GROUP
                or inner.full_name in OTHER_TYPES
                or (is_known_name and well_known_type(inner) is None)
            ):
                return MAX_NUMBERS + 1
            total = min(total + numbers(inner), MAX_NUMBERS + 1)
        sums[proto.full_name] = total
        return total

    return numbers(descriptor) <= MAX_NUMBERS and _has_syntax(descriptor.file, set())


def _has_syntax(file: Any, done: set[str]) -> bool:
    """Return whether *file* and its imports are proto2 or proto3."""
    if file.name in done:
        return True
    done.add(file.name)
    proto = library("google.protobuf.descriptor_pb2").FileDescriptorProto()
    file.CopyToProto(proto)
    return proto.syntax in ("", "proto2", "proto3") and all(
        _has_syntax(one, done) for one in file.dependencies
    )


def _has_other_values(array: pa.Array) -> bool:
    """Return whether a value differs from google.protobuf's.

    ptars puts times that do not fit at the end of their range, and keeps map entries whose key occurs again.
    """
    data_type = array.type
    if pa.types.is_struct(data_type):
        return any(_has_other_values(array.field(number)) for number in range(data_type.num_fields))
    if pa.types.is_map(data_type):
        return _has_key_twice(array) or _has_other_values(array.items)
    if pa.types.is_list(data_type):
        return _has_other_values(array.values)
    if not (pa.types.is_timestamp(data_type) or pa.types.is_duration(data_type)) or not len(array):
        return False
    numbers = np.frombuffer(array.buffers()[1], np.int64, len(array), 8 * array.offset)
    last = (1 << 63) - 1 - TIME_MARGIN
    return bool(numbers.max() >= last or numbers.min() <= -last)


def _has_key_twice(maps: pa.MapArray) -> bool:
    offsets = np.frombuffer(maps.buffers()[1], np.int32, len(maps) + 1)
    sizes = np.diff(offsets)
    if not len(maps) or int(sizes.max()) < 2:
        return False
    keys = maps.keys.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    codes = keys.dictionary_encode()
    numbers = to_numpy(codes.indices) + np.repeat(np.arange(len(maps)), sizes) * len(
        codes.dictionary
    )
    return int(pc.count_distinct(pa.array(numbers)).as_py()) < len(numbers)
