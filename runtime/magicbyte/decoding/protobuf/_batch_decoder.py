"""Decodes values of one Protobuf message into an Arrow array."""

from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.decoding._value_slices import body_slices, scatter
from magicbyte.decoding.avro import DecodedValues
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.protobuf._compiler import ProtobufFiles
from magicbyte.decoding.protobuf._json_values import JsonReader
from magicbyte.decoding.protobuf._library import library
from magicbyte.decoding.protobuf._message_types import has_columns, message_type
from magicbyte.decoding.protobuf._message_values import MessageFault, MessageReader
from magicbyte.decoding.protobuf._ptars_decoder import ptars_decoder
from magicbyte.decoding.protobuf._wire_program import compile_program
from magicbyte.engines.columnar.avro_columns import FaultCodes, Starts
from magicbyte.engines.columnar.avro_program import Fault
from magicbyte.engines.columnar.kernel_loader import is_library_built
from magicbyte.engines.columnar.protobuf_check import Verdicts, check_messages
from magicbyte.engines.columnar.protobuf_program import TOO_LARGE, UNUSUAL, USUAL
from magicbyte.errors import SchemaError
from magicbyte.tables.arrays import null_mask

MAX_ONE_BY_ONE = 16
"""Messages of a batch that is not halved again: google.protobuf decodes all of it."""
OBJECT_ROWS = 1024
"""Messages that are Python objects at a time."""


class ProtobufDecoder:
    """Decodes messages of one descriptor.

    Fields that the descriptor does not have are skipped: Protobuf's own rule for messages of other versions.
    ptars decodes the messages that every decoder takes alike, google.protobuf all others.

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
        self.type: pa.DataType = pa.string() if self.is_json else message_type(descriptor)
        self._read = (
            JsonReader(descriptor).text if self.is_json else MessageReader(descriptor).value
        )
        self._fast = None if self.is_json else ptars_decoder(descriptor, self.type)
        self._program = compile_program(descriptor, has_columns=not self.is_json)

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
        verdicts = self._verdicts(bodies)
        verdicts[null_mask(bodies)] = NULL
        fault_codes[verdicts == TOO_LARGE] = Fault.OUTPUT_LIMIT
        piece_arrays: list[pa.Array] = []
        piece_rows: list[Any] = []
        for verdict, decode in ((USUAL, self._decode_usual), (UNUSUAL, self._decode_one_by_one)):
            rows = np.flatnonzero(verdicts == verdict)
            if len(rows):
                message_bodies = bodies if len(rows) == len(bodies) else bodies.take(pa.array(rows))
                piece_codes = np.zeros(len(rows), np.int16)
                piece_arrays += decode(message_bodies, piece_codes)
                piece_rows.append(rows)
                fault_codes[rows] = piece_codes
        array = scatter(piece_arrays, piece_rows, len(bodies), self.type)
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

    def _verdicts(self, bodies: pa.Array) -> Verdicts:
        """Return which decoder takes each of *bodies*."""
        if not is_library_built():
            return np.full(len(bodies), UNUSUAL, np.uint8)
        return check_messages(self._program, bodies, UNUSUAL if self._fast is None else USUAL)

    def _decode_usual(self, message_bodies: pa.Array, fault_codes: FaultCodes) -> list[pa.Array]:
        """Return *message_bodies* by ptars; google.protobuf decides about those that ptars does not decode well.

        A batch that ptars refuses, such as for text that is not UTF-8, is halved until these messages are found.
        """
        assert self._fast is not None
        piece_arrays: list[pa.Array] = []
        stack = [message_bodies]
        first = 0
        while stack:
            chunk = stack.pop()
            array = self._fast.decode(chunk)
            if array is not None:
                piece_arrays.append(array)
            elif len(chunk) <= MAX_ONE_BY_ONE:
                chunk_codes = fault_codes[first : first + len(chunk)]
                piece_arrays += self._decode_one_by_one(chunk, chunk_codes)
            else:
                half = len(chunk) // 2
                stack += [chunk.slice(half), chunk.slice(0, half)]
                continue
            first += len(chunk)
        return piece_arrays

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


NULL = 255
"""Verdict on a value that is null."""


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
