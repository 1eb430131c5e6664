"""Decodes values of one Protobuf message into an Arrow array."""

from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.decoding._value_slices import body_slices
from magicbyte.decoding.avro import DecodedValues
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.protobuf._arrays import build_array, rows_with_equal_keys
from magicbyte.decoding.protobuf._columns import ProtobufColumnTree
from magicbyte.decoding.protobuf._compiler import ProtobufFiles
from magicbyte.decoding.protobuf._json_values import JsonReader
from magicbyte.decoding.protobuf._library import library
from magicbyte.decoding.protobuf._message_types import has_columns
from magicbyte.decoding.protobuf._message_values import MessageFault, MessageReader
from magicbyte.decoding.protobuf._program import compile_program
from magicbyte.engines.columnar.avro_columns import FaultCodes, Starts
from magicbyte.engines.columnar.avro_program import Fault
from magicbyte.engines.columnar.kernel_loader import is_library_built
from magicbyte.engines.columnar.protobuf_columns import Verdicts, fill_messages
from magicbyte.engines.columnar.protobuf_program import NULL, TOO_LARGE, UNUSUAL
from magicbyte.errors import SchemaError
from magicbyte.tables.arrays import null_mask

OBJECT_ROWS = 1024
"""Messages that are Python objects at a time."""


class ProtobufDecoder:
    """Decodes messages of one descriptor.

    Fields that the descriptor does not have are skipped: Protobuf's own rule for messages of other versions.
    A kernel decodes usual messages into columns, and google.protobuf all others.

    Args:
        descriptor: Descriptor of the message.
    Raises:
        SchemaError: Messages of the descriptor are nested too deeply for google.protobuf.
    """

    def __init__(self, descriptor: Any) -> None:
        self._descriptor = descriptor
        self._message_class = _message_class(descriptor)
        self._parse = self._message_class.FromString
        self._decode_error = library("google.protobuf.message").DecodeError
        self.is_json = not has_columns(descriptor)
        """True for a message that may contain itself: its values are texts of Protobuf's JSON."""
        self._tree = None if self.is_json else ProtobufColumnTree(descriptor)
        self.type: pa.DataType = pa.string() if self._tree is None else self._tree.root.arrow_type
        self._read = (
            JsonReader(descriptor).text if self.is_json else MessageReader(descriptor).value
        )
        self._program = compile_program(descriptor, self._tree)

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
        fault_codes = np.zeros(len(values), np.int16)
        positions = np.zeros(len(values), np.int32)
        array, verdicts = self._decode_usual(values, starts)
        fault_codes[verdicts == TOO_LARGE] = Fault.OUTPUT_LIMIT
        rows = np.flatnonzero(verdicts == UNUSUAL)
        if len(rows):
            unusual_values = values if len(rows) == len(values) else values.take(pa.array(rows))
            unusual_starts = starts if isinstance(starts, int) else starts[rows]
            unusual_codes = np.zeros(len(rows), np.int16)
            message_bodies = body_slices(unusual_values, unusual_starts)
            array = _replaced(array, rows, self._decode_one_by_one(message_bodies, unusual_codes))
            fault_codes[rows] = unusual_codes
        positions[fault_codes != 0] = (
            starts if isinstance(starts, int) else starts[fault_codes != 0]
        )  # the library does not say where
        return DecodedValues(array, fault_codes, positions)

    def num_unknown_fields(self, message_bytes: bytes) -> int:
        """Return the fields of a message that the descriptor does not have: evidence against it."""
        fields = library("google.protobuf.unknown_fields")
        try:
            return len(fields.UnknownFieldSet(self._parse(message_bytes)))
        except self._decode_error:
            return 1

    def _decode_usual(self, values: pa.Array, starts: Starts | int) -> tuple[pa.Array, Verdicts]:
        """Return the messages of *values* that the kernel decodes, null for all others, and the verdicts."""
        if not is_library_built():
            return self._undecoded(values)
        filled = fill_messages(self._program, values, starts)
        if self._tree is None:
            return pa.nulls(len(values), self.type), filled.verdicts
        array = build_array(filled, self._tree.root)
        filled.verdicts[rows_with_equal_keys(array, self._tree.root)] = UNUSUAL
        return array, filled.verdicts

    def _undecoded(self, values: pa.Array) -> tuple[pa.Array, Verdicts]:
        """Return nulls, and the verdicts that leave all of *values* to google.protobuf."""
        verdicts = np.where(null_mask(values), NULL, UNUSUAL).astype(np.uint8)
        return pa.nulls(len(values), self.type), verdicts

    def _decode_one_by_one(
        self, message_bodies: pa.Array, fault_codes: FaultCodes
    ) -> list[pa.Array]:
        """Return *message_bodies* by google.protobuf, and set the codes of their faults."""
        piece_arrays = []
        for first in range(0, len(message_bodies), OBJECT_ROWS):
            row_values: list[Any] = []
            for row, content in enumerate(
                message_bodies.slice(first, OBJECT_ROWS).to_pylist(), first
            ):
                value = None
                try:
                    value = self._read(self._parse(content))
                except self._decode_error:
                    fault_codes[row] = DecodeFault.PROTOBUF
                except MessageFault as fault:
                    fault_codes[row] = fault.reason
                row_values.append(value)
            piece_arrays.append(pa.array(row_values, self.type))
        return piece_arrays


def _replaced(array: pa.Array, rows: Any, piece_arrays: list[pa.Array]) -> pa.Array:
    """Return *array* with the elements of *piece_arrays* at *rows*."""
    indexes = np.arange(len(array))
    indexes[rows] = len(array) + np.arange(len(rows))
    return pa.concat_arrays([array, *piece_arrays]).take(pa.array(indexes))


def _message_class(descriptor: Any) -> Any:
    try:
        return library("google.protobuf.message_factory").GetMessageClass(descriptor)
    except RecursionError as error:
        raise SchemaError(
            "messages nested too deeply", "fewer levels", where=str(descriptor.full_name)
        ) from error


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
