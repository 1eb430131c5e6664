"""Decodes Avro values in Avro's JSON encoding."""

import numpy as np
import pyarrow as pa

from magicbyte.decoding._value_slices import body_slices
from magicbyte.decoding.avro import (
    AvroDecoder,
    AvroJsonDecoder,
    AvroSchema,
    DecodedValues,
    encode_json,
)
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.json_text import parse_json
from magicbyte.engines.columnar.avro_columns import Starts
from magicbyte.errors import SchemaError

MAX_VALUES = 1 << 20


class AvroTextDecoder:
    """Decodes values of one writer's schema in Avro's JSON encoding: in ordinary Python, then as binary values.

    Args:
        writer: Schema that the values were written with.
        binary_decoder: Decoder of the same values in the binary encoding.
    """

    def __init__(self, writer: AvroSchema, binary_decoder: AvroDecoder | AvroJsonDecoder) -> None:
        self._writer, self._binary_decoder = writer, binary_decoder

    @property
    def type(self) -> pa.DataType:
        """Arrow type of a value."""
        return self._binary_decoder.type

    @property
    def max_values(self) -> int:
        """Most values that one call of `decode` takes."""
        decoder = self._binary_decoder
        return decoder.max_values if isinstance(decoder, AvroDecoder) else MAX_VALUES

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        """Return *values*, each from its byte of *starts* on, decoded."""
        codes = np.zeros(len(values), np.int16)
        encoded: list[bytes | None] = []
        for row, body in enumerate(body_slices(values, starts).to_pylist()):
            encoded.append(None)
            if body is not None:
                try:
                    encoded[row] = encode_json(self._writer, parse_json(body.decode("utf-8")))
                except SchemaError:
                    codes[row] = DecodeFault.JSON_SHAPE
                except ValueError:
                    codes[row] = DecodeFault.JSON
        decoded = self._binary_decoder.decode(pa.array(encoded, pa.binary()), 0)
        codes = np.where(codes != 0, codes, decoded.error_codes).astype(np.int16)
        return DecodedValues(decoded.array, codes, np.zeros(len(values), np.int32))
