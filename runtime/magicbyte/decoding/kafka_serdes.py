"""Decodes the values of Kafka's own serializers: strings, numbers, UUIDs and booleans."""

import uuid
from typing import Protocol

import numpy as np
import pyarrow as pa

from magicbyte.decoding._value_slices import body_slices
from magicbyte.decoding.avro import DecodedValues
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.schema_frames import Int32Array
from magicbyte.engines.columnar.avro_columns import FaultCodes, Starts
from magicbyte.tables.arrays import null_mask, value_offsets


class ValueDecoder(Protocol):
    """Decodes binary values into an Arrow array of one type."""

    @property
    def type(self) -> pa.DataType:
        """Arrow type of a value."""

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        """Return *values*, each from its byte of *starts* on, decoded."""


class NumberDecoder:
    """Decodes big-endian numbers of a fixed number of bytes."""

    def __init__(self, dtype: str, data_type: pa.DataType) -> None:
        self._dtype = np.dtype(dtype)
        self.type = data_type

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        bodies = body_slices(values, starts)
        offsets = value_offsets(bodies).astype(np.int64)
        sizes, is_null = offsets[1:] - offsets[:-1], null_mask(bodies)
        size = self._dtype.itemsize
        is_wrong = (sizes != size) & ~is_null
        is_set = ~is_null & ~is_wrong
        data = np.frombuffer(bodies.buffers()[2] or b"", np.uint8)
        positions = offsets[:-1][is_set][:, None] + np.arange(size)
        numbers = np.zeros(len(bodies), self._dtype.newbyteorder("="))
        numbers[is_set] = data[positions].reshape(-1).view(self._dtype)
        array = pa.array(numbers, self.type, mask=~is_set)
        return DecodedValues(array, *_faults(is_wrong, DecodeFault.WRONG_SIZE))


class BooleanDecoder:
    """Decodes booleans of one byte."""

    type = pa.bool_()

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        decoded = NumberDecoder(">u1", pa.uint8()).decode(values, starts)
        numbers = decoded.array.fill_null(0).to_numpy()
        is_wrong = numbers > 1
        codes = np.where(is_wrong, np.int16(DecodeFault.BOOLEAN), decoded.error_codes)
        mask = null_mask(decoded.array) | is_wrong
        return DecodedValues(
            pa.array(numbers == 1, mask=mask), codes.astype(np.int16), decoded.error_positions
        )


class TextDecoder:
    """Decodes UTF-8, with a check of the text if a subclass has one."""

    type: pa.DataType = pa.string()

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        bodies = body_slices(values, starts)
        codes = np.zeros(len(bodies), np.int16)
        try:
            texts = bodies.cast(pa.string())
        except pa.ArrowInvalid:
            texts = pa.array(
                [_utf8(body, codes, row) for row, body in enumerate(bodies.to_pylist())],
                pa.string(),
            )
        array = self._check(texts, codes)
        return DecodedValues(array, codes, np.zeros(len(bodies), np.int32))

    def _check(self, text_array: pa.Array, fault_codes: FaultCodes) -> pa.Array:
        """Return *text_array* without those that fail, whose codes are set."""
        return text_array


def _utf8(value_bytes: bytes | None, fault_codes: FaultCodes, row_number: int) -> str | None:
    try:
        return None if value_bytes is None else value_bytes.decode("utf-8")
    except UnicodeDecodeError:
        fault_codes[row_number] = DecodeFault.UTF8
        return None


class UuidDecoder(TextDecoder):
    """Decodes UUIDs, which UUIDSerializer writes as text."""

    def _check(self, text_array: pa.Array, fault_codes: FaultCodes) -> pa.Array:
        checked = text_array.to_pylist()
        for row, text in enumerate(checked):
            if text is not None:
                try:
                    if str(uuid.UUID(text)) == text.lower():
                        continue
                except ValueError:
                    pass
                fault_codes[row], checked[row] = DecodeFault.UUID, None
        return pa.array(checked, pa.string())


class BytesDecoder:
    """Returns the bytes unchanged."""

    type = pa.binary()

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        bodies = body_slices(values, starts)
        return DecodedValues(
            bodies, *_faults(np.zeros(len(bodies), np.bool_), DecodeFault.WRONG_SIZE)
        )


def _faults(
    is_wrong: "np.ndarray[tuple[int], np.dtype[np.bool_]]", reason: DecodeFault
) -> "tuple[np.ndarray[tuple[int], np.dtype[np.int16]], Int32Array]":
    codes = np.where(is_wrong, np.int16(reason), np.int16(0)).astype(np.int16)
    return codes, np.zeros(len(codes), np.int32)


def primitive_decoder(form: str) -> ValueDecoder | None:
    """Return the decoder of *form*, such as `int64`; None if it is no form of Kafka's serializers."""
    if form in NUMBERS:
        return NumberDecoder(*NUMBERS[form])
    maker = OTHER_FORMS.get(form)
    return None if maker is None else maker()


NUMBERS = {
    "int16": (">i2", pa.int16()),
    "int32": (">i4", pa.int32()),
    "int64": (">i8", pa.int64()),
    "float": (">f4", pa.float32()),
    "double": (">f8", pa.float64()),
}
OTHER_FORMS: dict[str, type[TextDecoder] | type[BooleanDecoder] | type[BytesDecoder]] = {
    "string": TextDecoder,
    "uuid": UuidDecoder,
    "boolean": BooleanDecoder,
    "bytes": BytesDecoder,
}
