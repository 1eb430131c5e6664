"""Decodes keys and values of the internal topics of foreign-key joins of Kafka Streams.

A subscription goes from the left table to the partition of its foreign key (`...-SUBSCRIPTION-REGISTRATION-...-topic`), where
a store keeps it (`...-SUBSCRIPTION-STATE-STORE-...-changelog`); the response goes back (`...-SUBSCRIPTION-RESPONSE-...-topic`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.decoding._value_slices import body_slices, scatter
from magicbyte.decoding.avro import DecodedValues
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.kafka_serdes import ValueDecoder
from magicbyte.decoding.schema_frames import Int64Array, Prefixes
from magicbyte.engines.columnar.avro_columns import FaultCodes, Starts
from magicbyte.tables.arrays import Mask, null_mask

HASH_BYTES = 16
"""Bytes of the hash of the left value (Murmur3.hash128)."""
NO_HASH = 0x80
"""Bit of the first byte of a wrapper without a hash; the others are its version."""
VERSION_WITH_PARTITION = 1
"""Version of a subscription, since 3.1, that ends with the partition of the primary key (KIP-775)."""
RESPONSE_VERSION = 0

INSTRUCTIONS = (
    "DELETE_KEY_NO_PROPAGATE",
    "DELETE_KEY_AND_PROPAGATE",
    "PROPAGATE_NULL_IF_NO_FK_VAL_AVAILABLE",
    "PROPAGATE_ONLY_IF_FK_VAL_AVAILABLE",
)
"""Names of SubscriptionWrapper.Instruction, by number."""


class CombinedKeyDecoder:
    """Decodes keys of the store of subscriptions: a foreign key after its length, and a primary key (CombinedKeySchema).

    Args:
        foreign_key: Decoder of the foreign key.
        primary_key: Decoder of the primary key.
    """

    def __init__(self, foreign_key: ValueDecoder, primary_key: ValueDecoder) -> None:
        self._foreign_key, self._primary_key = foreign_key, primary_key
        self.type = pa.struct(
            [("foreign_key", foreign_key.type), ("primary_key", primary_key.type)]
        )

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        """Return *values*, each from its byte of *starts* on, decoded."""
        rows = _Rows.of(body_slices(values, starts), min_bytes=4)
        # A negative length has its highest bit set, and is greater than any size.
        lengths = Prefixes(rows.complete).number(0, 4)
        rows.keep(lengths <= rows.body_sizes - 4, DecodeFault.WRONG_SIZE)
        lengths = Prefixes(rows.complete).number(0, 4)
        return rows.decoded(
            {
                "foreign_key": self._foreign_key.decode(
                    rows.slices(4, rows.body_sizes - 4 - lengths), 0
                ),
                "primary_key": self._primary_key.decode(rows.slices(4 + lengths, 0), 0),
            },
            self.type,
        )


class SubscriptionDecoder:
    """Decodes subscriptions: an instruction, the hash of the left value, and the primary key (SubscriptionWrapper).

    Args:
        primary_key: Decoder of the primary key.
    """

    def __init__(self, primary_key: ValueDecoder) -> None:
        self._primary_key = primary_key
        self.type = pa.struct(
            [
                ("instruction", pa.string()),
                ("hash", pa.binary(HASH_BYTES)),
                ("primary_key", primary_key.type),
                ("primary_partition", pa.int32()),
            ]
        )

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        """Return *values*, each from its byte of *starts* on, decoded."""
        rows = _Rows.of(body_slices(values, starts), min_bytes=2)
        prefixes = Prefixes(rows.complete)
        versions, instructions = prefixes.byte(0) & 0x7F, prefixes.byte(1)
        is_known = (versions <= VERSION_WITH_PARTITION) & (instructions < len(INSTRUCTIONS))
        rows.keep(is_known, DecodeFault.WRAPPER)
        begins, ends = self._bounds(rows)
        rows.keep(begins + ends <= rows.body_sizes, DecodeFault.WRONG_SIZE)
        begins, ends = self._bounds(rows)
        prefixes = Prefixes(rows.complete)
        partitions = np.zeros(len(begins), np.int64)
        for position in range(4):
            at = np.maximum(rows.body_sizes - 4 + position, 0)
            partitions = (partitions << 8) | prefixes.bytes_at(at)
        names = pa.array(INSTRUCTIONS).take(pa.array(prefixes.byte(1).astype(np.int32)))
        return rows.decoded(
            {
                "instruction": names,
                "hash": _hashes(prefixes, 2, begins > 2),
                "primary_key": self._primary_key.decode(rows.slices(begins, ends), 0),
                "primary_partition": pa.array(partitions.astype(np.int32), mask=ends == 0),
            },
            self.type,
        )

    def _bounds(self, rows: "_Rows") -> tuple[Int64Array, Int64Array]:
        """Return the bytes before and after the primary key of each row."""
        first = Prefixes(rows.complete).byte(0)
        begins = np.where(first & NO_HASH, 2, 2 + HASH_BYTES)
        ends = np.where(first & 0x7F == VERSION_WITH_PARTITION, 4, 0)
        return begins.astype(np.int64), ends.astype(np.int64)


class SubscriptionResponseDecoder:
    """Decodes responses to subscriptions: the hash of the left value, and the right value (SubscriptionResponseWrapper).

    Args:
        foreign_value: Decoder of the value of the right table.
    """

    def __init__(self, foreign_value: ValueDecoder) -> None:
        self._foreign_value = foreign_value
        self.type = pa.struct(
            [("hash", pa.binary(HASH_BYTES)), ("foreign_value", foreign_value.type)]
        )

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        """Return *values*, each from its byte of *starts* on, decoded."""
        rows = _Rows.of(body_slices(values, starts), min_bytes=1)
        rows.keep(Prefixes(rows.complete).byte(0) & 0x7F == RESPONSE_VERSION, DecodeFault.WRAPPER)
        rows.keep(self._begins(rows) <= rows.body_sizes, DecodeFault.WRONG_SIZE)
        begins = self._begins(rows)
        # The serializer writes no byte for a null; a value of no bytes cannot be told from it.
        foreign_values = rows.slices(begins, 0)
        is_null = rows.body_sizes == begins
        foreign_values = foreign_values.take(pa.array(np.arange(len(begins)), mask=is_null))
        return rows.decoded(
            {
                "hash": _hashes(Prefixes(rows.complete), 1, begins > 1),
                "foreign_value": self._foreign_value.decode(foreign_values, 0),
            },
            self.type,
        )

    def _begins(self, rows: "_Rows") -> Int64Array:
        has_no_hash = Prefixes(rows.complete).byte(0) & NO_HASH
        return np.where(has_no_hash, 1, 1 + HASH_BYTES).astype(np.int64)


def _hashes(prefixes: Prefixes, start: int, has_hash: Mask) -> pa.Array:
    """Return the hashes from byte *start* on; null where there is none."""
    rows = np.flatnonzero(has_hash)
    hashes = prefixes.contents(rows, start, start + HASH_BYTES)
    return scatter([hashes], [rows], len(has_hash), pa.binary(HASH_BYTES))


@dataclass(slots=True)
class _Rows:
    """Rows of an array that are complete so far, and the faults of the others."""

    fault_codes: FaultCodes
    numbers: Int64Array
    complete: pa.Array
    body_sizes: Int64Array

    @classmethod
    def of(cls, bodies: pa.Array, *, min_bytes: int) -> "_Rows":
        sizes = Prefixes(bodies).sizes
        numbers = np.flatnonzero(~null_mask(bodies))
        rows = cls(
            np.zeros(len(bodies), np.int16),
            numbers,
            bodies.take(pa.array(numbers)),
            sizes[numbers].astype(np.int64),
        )
        rows.keep(rows.body_sizes >= min_bytes, DecodeFault.WRONG_SIZE)
        return rows

    def keep(self, is_sound: Mask, decode_fault: DecodeFault) -> None:
        """Leave out the rows that are not sound, for the reason *decode_fault*."""
        self.fault_codes[self.numbers[~is_sound]] = decode_fault
        if not is_sound.all():
            self.numbers, self.body_sizes = self.numbers[is_sound], self.body_sizes[is_sound]
            self.complete = self.complete.take(pa.array(np.flatnonzero(is_sound)))

    def slices(self, begins: Any, ends: Any) -> pa.Array:
        """Return the bytes of each row without the first *begins* and the last *ends* ones."""
        return body_slices(
            self.complete,
            np.broadcast_to(begins, len(self.numbers)).astype(np.int32),
            np.broadcast_to(ends, len(self.numbers)).astype(np.int32),
        )

    def decoded(
        self, members: dict[str, pa.Array | DecodedValues], data_type: pa.DataType
    ) -> DecodedValues:
        """Return the rows as structs of *members*; null where a member did not decode."""
        arrays = []
        codes = np.zeros(len(self.numbers), np.int16)
        for member in members.values():
            if isinstance(member, DecodedValues):
                codes = np.where(codes != 0, codes, member.error_codes).astype(np.int16)
                member = member.array
            arrays.append(member)
        structs = pa.StructArray.from_arrays(arrays, fields=list(data_type))
        self.fault_codes[self.numbers] = codes
        sound = np.flatnonzero(codes == 0)
        array = scatter(
            [structs.take(pa.array(sound))], [self.numbers[sound]], len(self.fault_codes), data_type
        )
        return DecodedValues(array, self.fault_codes, np.zeros(len(self.fault_codes), np.int32))
