"""Decodes values of one Protobuf message into an Arrow array."""

import json
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.decoding._value_slices import body_slices, scatter
from magicbyte.decoding.avro import DecodedValues
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.protobuf._compiler import ProtobufFiles
from magicbyte.decoding.protobuf._library import library
from magicbyte.decoding.protobuf._message_types import (
    MAX_NANOSECONDS,
    TimeRangeError,
    is_recursive,
    message_type,
    message_value,
)
from magicbyte.engines.columnar.avro_columns import Starts

MAX_ONE_BY_ONE = 16
"""Messages of a batch that is not halved again: google.protobuf decodes all of it."""

PANIC = "PanicException"
"""Class of the errors of Rust that are no Exception in Python; ptars has none of its own."""


class ProtobufDecoder:
    """Decodes messages of one descriptor.

    Fields that the descriptor does not have are skipped: Protobuf's own rule for messages of other versions.

    Args:
        descriptor: Descriptor of the message.
    """

    def __init__(self, descriptor: Any) -> None:
        self._descriptor = descriptor
        factory = library("google.protobuf.message_factory")
        self._message_class = factory.GetMessageClass(descriptor)
        self._decode_error = library("google.protobuf.message").DecodeError
        self.is_json = is_recursive(descriptor)
        """True for a message that may contain itself: its values are texts of Protobuf's JSON."""
        self.type: pa.DataType = pa.string() if self.is_json else message_type(descriptor)
        self._handler = None if self.is_json else _ptars_handler(descriptor, self.type)

    def __reduce__(self) -> tuple[Any, ...]:
        descriptors = library("google.protobuf.descriptor_pb2")
        descriptor_set = descriptors.FileDescriptorSet()
        _add_files(descriptor_set, self._descriptor.file, set())
        return _decoder_named, (descriptor_set.SerializeToString(), self.name)

    @property
    def name(self) -> str:
        """Full name of the message."""
        return str(self._descriptor.full_name)

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        """Decode the messages of *values*, each from its byte of *starts* on."""
        bodies = body_slices(values, starts)
        fault_codes = np.zeros(len(values), np.int16)
        positions = np.zeros(len(values), np.int32)
        if self._handler is None:
            array = self._decode_one_by_one(bodies, fault_codes)
        else:
            array = self._decode_batch(bodies, fault_codes)
        positions[fault_codes != 0] = (
            starts if isinstance(starts, int) else starts[fault_codes != 0]
        )  # the library does not say where
        return DecodedValues(array, fault_codes, positions)

    def num_unknown_fields(self, message_bytes: bytes) -> int:
        """Return the fields of a message that the descriptor does not have: evidence against it."""
        fields = library("google.protobuf.unknown_fields")
        try:
            return len(fields.UnknownFieldSet(self._message_class.FromString(message_bytes)))
        except self._decode_error:
            return 1

    def _decode_batch(self, bodies: pa.Array, fault_codes: Any) -> pa.Array:
        """Return the messages by ptars; google.protobuf decides about those that ptars does not decode well.

        A batch that ptars refuses is halved until these messages are found.
        """
        rows = np.flatnonzero(~_nulls(bodies))
        messages = bodies if len(rows) == len(bodies) else bodies.take(pa.array(rows))
        piece_arrays: list[pa.Array] = []
        stack = [messages]
        first = 0
        while stack:
            chunk = stack.pop()
            array = self._by_ptars(chunk)
            if array is None and len(chunk) <= MAX_ONE_BY_ONE:
                chunk_codes = np.zeros(len(chunk), np.int16)
                array = self._decode_one_by_one(chunk, chunk_codes)
                fault_codes[rows[first : first + len(chunk)]] = chunk_codes
            if array is not None:
                piece_arrays.append(array)
                first += len(chunk)
            else:
                half = len(chunk) // 2
                stack += [chunk.slice(half), chunk.slice(0, half)]
        return scatter(piece_arrays, [rows], len(bodies), self.type)

    def _by_ptars(self, message_bodies: pa.Array) -> pa.Array | None:
        """Return *message_bodies* decoded by ptars; None if it refuses one, or decodes one in another way."""
        assert self._handler is not None
        try:
            array = self._structs(self._handler.array_to_record_batch(message_bodies))
        except ValueError:
            return None
        except BaseException as error:
            if type(error).__name__ != PANIC:
                raise
            return None
        return None if _has_other_values(array) else array

    def _structs(self, batch: pa.RecordBatch) -> pa.Array:
        if not self.type.num_fields:
            return pa.array([{}] * batch.num_rows, self.type)
        return batch.to_struct_array().cast(self.type)

    def _decode_one_by_one(self, bodies: pa.Array, fault_codes: Any) -> pa.Array:
        row_values: list[Any] = [None] * len(bodies)
        for row, body in enumerate(bodies.to_pylist()):
            if body is None:
                continue
            try:
                proto = self._message_class.FromString(body)
                row_values[row] = self._json(proto) if self.is_json else message_value(proto)
            except self._decode_error:
                fault_codes[row] = DecodeFault.PROTOBUF
            except TimeRangeError:
                fault_codes[row] = DecodeFault.TIME_RANGE
            except (ValueError, RecursionError):
                fault_codes[row] = DecodeFault.PROTOBUF
        return pa.array(row_values, self.type)

    def _json(self, proto: Any) -> str:
        json_format = library("google.protobuf.json_format")
        try:
            fields = json_format.MessageToDict(proto, preserving_proto_field_name=True)
        except (json_format.Error, TypeError, OverflowError) as error:
            raise ValueError(str(error)) from error
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _add_files(descriptor_set: Any, file: Any, added_names: set[str]) -> None:
    """Add *file* to *descriptor_set*, after the files that it imports; *added_names* are already in it."""
    if file.name in added_names:
        return
    added_names.add(file.name)
    for imported in file.dependencies:
        _add_files(descriptor_set, imported, added_names)
    file.CopyToProto(descriptor_set.file.add())


def _decoder_named(descriptor_set: bytes, name: str) -> ProtobufDecoder:
    return ProtobufDecoder(ProtobufFiles(descriptor_set, None, name).named(name))


def _ptars_handler(descriptor: Any, struct_type: pa.DataType) -> Any:
    """Return ptars' handler of *descriptor*; None if it is not installed or gives other columns."""
    try:
        ptars = library("ptars")
        config = ptars.PtarsConfig(enum_repr="string", map_value_nullable=True)
        handler = ptars.HandlerPool([descriptor.file], config).get_for_message(descriptor)
        names = handler.schema().names
        handler.list_to_record_batch([b""])
    except Exception:  # a library of one author, release 0.0: google.protobuf decodes instead
        return None
    return handler if names == [field.name for field in struct_type] else None


def _nulls(array: pa.Array) -> Any:
    return array.is_null().to_numpy(zero_copy_only=False)


def _has_other_values(array: pa.Array) -> bool:
    """Return whether a value differs from google.protobuf's.

    ptars puts times that do not fit at the end of their range, and has a null for a missing value of a map.
    """
    data_type = array.type
    if pa.types.is_struct(data_type):
        return any(_has_other_values(array.field(number)) for number in range(data_type.num_fields))
    if pa.types.is_map(data_type):
        return bool(array.items.null_count) or _has_other_values(array.items)
    if pa.types.is_list(data_type):
        return _has_other_values(array.values)
    if not (pa.types.is_timestamp(data_type) or pa.types.is_duration(data_type)) or not len(array):
        return False
    numbers = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array)]
    return bool((np.abs(np.clip(numbers, -MAX_NANOSECONDS, None)) == MAX_NANOSECONDS).any())
