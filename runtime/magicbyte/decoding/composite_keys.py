"""Decodes the keys of Kafka Streams, which end with the times of a window or a session."""

import numpy as np
import pyarrow as pa

from magicbyte.decoding._value_slices import body_slices, scatter
from magicbyte.decoding.avro import DecodedValues
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.kafka_serdes import NumberDecoder, ValueDecoder
from magicbyte.engines.columnar.avro_columns import Starts
from magicbyte.tables.arrays import null_mask, value_offsets

TIME = pa.timestamp("ms", tz="UTC")
INT64, INT32 = (">i8", pa.int64()), (">i4", pa.int32())

SUFFIXES = {
    "windowed": (("window_start", INT64, TIME),),
    "window-store": (("window_start", INT64, TIME), ("sequence", INT32, pa.int32())),
    "session": (("session_end", INT64, TIME), ("session_start", INT64, TIME)),
}
"""Fields after the key, by form: TimeWindowedSerializer, WindowKeySchema, SessionKeySchema."""


class SuffixedKeyDecoder:
    """Decodes keys that end with numbers of fixed sizes.

    Args:
        form: A name of SUFFIXES.
        inner: Decoder of the key itself.
    """

    def __init__(self, form: str, inner: ValueDecoder) -> None:
        self._fields = SUFFIXES[form]
        self._inner = inner
        members = [(name, kind) for name, _, kind in self._fields]
        self.type = pa.struct([("key", inner.type), *members])
        self._size = sum(np.dtype(number[0]).itemsize for _, number, _ in self._fields)

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        bodies = body_slices(values, starts)
        offsets = value_offsets(bodies)
        sizes = offsets[1:] - offsets[:-1]
        is_set = ~null_mask(bodies) & (sizes >= self._size)
        codes = np.where(null_mask(bodies) | is_set, 0, np.int16(DecodeFault.WRONG_SIZE))
        rows = np.flatnonzero(is_set)
        complete = bodies.take(pa.array(rows))
        keys = self._inner.decode(body_slices(complete, 0, self._size), 0)
        members = [keys.array]
        left = self._size
        for _, number, kind in self._fields:
            complete_sizes = (sizes[rows] - left).astype(np.int32)
            left -= np.dtype(number[0]).itemsize
            field = body_slices(complete, complete_sizes, left)
            members.append(NumberDecoder(*number).decode(field, 0).array.cast(kind))
        structs = pa.StructArray.from_arrays(members, fields=list(self.type))
        codes[rows] = keys.error_codes
        sound = keys.error_codes == 0
        array = scatter(
            [structs.take(pa.array(np.flatnonzero(sound)))], [rows[sound]], len(values), self.type
        )
        return DecodedValues(array, codes.astype(np.int16), np.zeros(len(values), np.int32))
