"""Decodes Avro values in ordinary Python: slow, and the reference for the kernel.

It decodes values of recursive types, which are no Arrow columns, and all values where no kernel can be loaded.
"""

import struct
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from magicbyte.decoding.avro import _resolution as steps
from magicbyte.decoding.avro._defaults import encode_default
from magicbyte.decoding.avro._program import DAY_LENGTHS
from magicbyte.decoding.avro._types import AvroFixed
from magicbyte.engines.columnar.avro_program import MAX_EMPTY_ITEMS, Fault

MAX_NESTING = 110
"""Records, arrays and maps inside of one another. Each takes up to four calls of Python."""

MAX_EMPTY_FIELDS = 100_000
"""Fields without bytes, such as nulls, in one value. Records that have others twice each may have any number."""
MAX_INT32 = (1 << 31) - 1
NANOS_IN_MILLISECOND = 1_000_000


class ValueFault(Exception):
    """A value does not decode; *position* is the byte at which the field begins that does not."""

    def __init__(self, reason: Fault, position: int) -> None:
        super().__init__(reason, position)
        self.reason, self.position = reason, position


@dataclass(frozen=True, slots=True)
class BranchValue:
    """Value of a union of several types."""

    index: int
    value: Any


class ValueReader:
    """Reads one value.

    Numbers of all logical types are integers, decimals without their scale; symbols of enums are their numbers;
    a duration is months, days and nanoseconds; a record is a list; a map is a list of pairs.
    """

    def __init__(self, encoded: bytes, start: int) -> None:
        self._encoded, self._position, self.start = encoded, start, start
        self._num_empty = self._num_empty_fields = self._depth = 0
        self._is_skipped = False

    def read_value(self, step: steps.Step) -> Any:
        """Return the whole value. Raises ValueFault."""
        if not 0 <= self._position <= len(self._encoded):
            raise ValueFault(Fault.FRAME, len(self._encoded))
        value = self.read(step)
        if self._position != len(self._encoded):
            raise ValueFault(Fault.LEFT_OVER, self._position)
        return value

    def read(self, step: steps.Step) -> Any:
        match step:
            case steps.ReadScalar():
                return self._scalar(step)
            case steps.ReadUnion():
                return self.read(step.branches[self._branch(len(step.branches))])
            case steps.ChooseBranch():
                value = self.read(step.branch_step)
                is_single = len(step.reader_union.value_indices) <= 1
                is_plain = is_single or step.index == step.reader_union.null_index
                return value if is_plain else BranchValue(step.index, value)
            case steps.Unresolved():
                raise ValueFault(step.reason, self._position)
        if self._depth == MAX_NESTING:
            raise ValueFault(Fault.DEPTH, self._position)
        self._depth += 1
        try:
            if isinstance(step, steps.ReadRecord):
                return self._record(step)
            if isinstance(step, steps.ReadMap):
                return self._items(step.value_step, is_map=True)
            return self._items(step.item_step, is_map=False)
        finally:
            self._depth -= 1

    def _record(self, record_step: steps.ReadRecord) -> list[Any]:
        if not record_step.field_steps:
            self._count_empty_field()
        values = [None] * len(record_step.reader_record.fields)
        for field_step, number in record_step.field_steps:
            if number >= 0:
                values[number] = self.read(field_step)
            else:
                self._skip(field_step)
        for number in record_step.defaults:
            values[number] = default_value(record_step, number)
        return values

    def _skip(self, step: steps.Step) -> None:
        """Pass over a field that the reader lacks: only the numbers that say where it ends are checked."""
        self._is_skipped, before = True, self._is_skipped
        self.read(step)
        self._is_skipped = before

    def _items(self, item_step: steps.Step, is_map: bool) -> list[Any]:
        least = steps.min_bytes(item_step) + is_map
        values: list[Any] = []
        while count := self._block_count(least):
            for _ in range(count):
                if is_map:
                    key = self._byte_string(is_text=True)
                    values.append((key, self.read(item_step)))
                else:
                    values.append(self.read(item_step))
        return values

    def _block_count(self, least: int) -> int:
        begin = self._position
        count = self.read_long()
        if count < 0:
            if count == -(1 << 63):
                raise ValueFault(Fault.BLOCK_COUNT, begin)
            count = -count
            self.read_long(begin)
        if least:
            if count > (len(self._encoded) - self._position) // least:
                raise ValueFault(Fault.BLOCK_COUNT, begin)
        else:
            if count > MAX_EMPTY_ITEMS - self._num_empty:
                raise ValueFault(Fault.EMPTY_ITEMS, begin)
            self._num_empty += count
        return count

    def _branch(self, count: int) -> int:
        begin = self._position
        index = self.read_long()
        if not 0 <= index < count:
            raise ValueFault(Fault.UNION_BRANCH, begin)
        return index

    def read_long(self, begin: int = -1) -> int:
        """Read a varint; a fault is at *begin*, by default where the varint begins."""
        begin = self._position if begin < 0 else begin
        number = shift = 0
        while True:
            if self._position == len(self._encoded):
                raise ValueFault(Fault.ENDS_EARLY, begin)
            byte = self._encoded[self._position]
            self._position += 1
            if shift == 63 and byte > 1:
                raise ValueFault(Fault.LONG_VARINT, begin)
            number |= (byte & 127) << shift
            if byte < 128:
                return number >> 1 ^ -(number & 1)
            shift += 7

    def _bytes(self, size: int) -> bytes:
        begin = self._position
        if size > len(self._encoded) - begin:
            raise ValueFault(Fault.ENDS_EARLY, begin)
        self._position += size
        return self._encoded[begin : self._position]

    def _byte_string(self, is_text: bool) -> Any:
        begin = self._position
        size = self.read_long()
        if not 0 <= size <= len(self._encoded) - self._position:
            raise ValueFault(Fault.LENGTH, begin)
        content = self._bytes(size)
        if not is_text or self._is_skipped:
            return content
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise ValueFault(Fault.UTF8, begin) from None

    def _scalar(self, scalar_step: steps.ReadScalar) -> Any:
        kind, begin = scalar_step.writer_scalar.kind, self._position
        logical = None if self._is_skipped else scalar_step.reader_scalar.logical
        match kind:
            case "null":
                return self._count_empty_field()
            case "boolean":
                byte = self._bytes(1)[0]
                if byte > 1:
                    raise ValueFault(Fault.BOOLEAN, begin)
                return byte == 1
            case "int" | "long":
                number = self.read_long()
                if kind == "int" and not -MAX_INT32 - 1 <= number <= MAX_INT32:
                    raise ValueFault(Fault.INT_RANGE, begin)
                below = DAY_LENGTHS.get(logical.name) if logical else None
                if below is not None and not 0 <= number < below:
                    raise ValueFault(Fault.TIME_OF_DAY, begin)
                return _as_reader(number, scalar_step.reader_scalar.kind)
            case "float" | "double":
                form, size = ("<f", 4) if kind == "float" else ("<d", 8)
                return struct.unpack(form, self._bytes(size))[0]
            case "enum":
                return self._symbol(scalar_step)
        if isinstance(scalar_step.writer_scalar, AvroFixed):
            content = self._bytes(scalar_step.writer_scalar.size)
            if not content:
                self._count_empty_field()
        else:
            content = self._byte_string(scalar_step.reader_scalar.kind == "string")
        return self._logical(content, logical, begin) if logical else content

    def _count_empty_field(self) -> None:
        self._num_empty_fields += 1
        if self._num_empty_fields > MAX_EMPTY_FIELDS:
            raise ValueFault(Fault.EMPTY_ITEMS, self._position)

    def _symbol(self, scalar_step: steps.ReadScalar) -> int:
        begin = self._position
        index = self.read_long()
        if not 0 <= index < len(scalar_step.symbols):
            raise ValueFault(Fault.ENUM_INDEX, begin)
        if scalar_step.symbols[index] < 0:
            raise ValueFault(Fault.NO_READER_SYMBOL, begin)
        return scalar_step.symbols[index]

    def _logical(self, stored: Any, logical: Any, begin: int) -> Any:
        match logical.name:
            case "decimal":
                if not stored:
                    raise ValueFault(Fault.DECIMAL_EMPTY, begin)
                number = int.from_bytes(stored, "big", signed=True)
                if abs(number) >= _decimal_limit(logical.precision):
                    raise ValueFault(Fault.DECIMAL_DIGITS, begin)
                return number
            case "uuid" if isinstance(stored, bytes):
                digits = stored.hex()
                sizes = ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))
                return "-".join(digits[first:last] for first, last in sizes)
            case "duration":
                months, days, milliseconds = struct.unpack("<III", stored)
                if max(months, days) > MAX_INT32:
                    raise ValueFault(Fault.DURATION, begin)
                return months, days, milliseconds * NANOS_IN_MILLISECOND
        return stored


@cache
def _decimal_limit(precision: int) -> int:
    return int(10**precision)


def _as_reader(number: int, kind: str) -> int | float:
    """Return *number* as the reader's type has it, rounded once."""
    match kind:
        case "float":
            return float(np.float32(np.int64(number)))
        case "double":
            return float(number)
    return number


def default_value(record_step: steps.ReadRecord, number: int) -> Any:
    """Return the default of the reader's field *number*."""
    if number not in record_step.default_values:
        reader_field = record_step.reader_record.fields[number]
        encoded = encode_default(
            reader_field, f"{record_step.reader_record.full_name}.{reader_field.name}"
        )
        field_step = steps.resolve(reader_field.type, reader_field.type)
        record_step.default_values[number] = ValueReader(encoded, 0).read_value(field_step)
    return record_step.default_values[number]
