"""Compiles steps into the program of the kernel."""

import numpy as np

from magicbyte.decoding.avro import _resolution as steps
from magicbyte.decoding.avro._arrow_types import MAX_DECIMAL128, MAX_DECIMAL256
from magicbyte.decoding.avro._columns import AvroColumn, ColumnTree
from magicbyte.decoding.avro._defaults import encode_default
from magicbyte.decoding.avro._types import (
    AvroFixed,
    AvroRecord,
    AvroUnion,
)
from magicbyte.engines.columnar import avro_program as code
from magicbyte.engines.columnar.avro_program import AvroProgram
from magicbyte.errors import NotColumnarError

MAX_STEPS = 100_000
"""Steps of the longest program, which has a few instructions for each; skipped fields have steps, too."""

FORMS = {
    "int": code.AS_INT32,
    "long": code.AS_INT64,
    "float": code.AS_FLOAT,
    "double": code.AS_DOUBLE,
}
DAY_LENGTHS = {"time-millis": 86_400_000, "time-micros": 86_400_000_000}
FIXED_BYTES = {"float": 4, "double": 8}


def compile_program(step: steps.Step, tree: ColumnTree) -> AvroProgram:
    """Compile *step*, whose values go into the columns of *tree*.

    Raises NotColumnarError if fields that are skipped are recursive, or have too many instructions, and
    SchemaError if a default has the wrong type.
    """
    compiler = _Compiler()
    if tree.root.layout.is_nullable:
        compiler.emit(code.VALID, tree.root.number)
    compiler.compile(step, tree.root)
    compiler.emit(code.END)
    return AvroProgram(
        instructions=np.array(compiler.instructions, np.int64).reshape(-1),
        table_numbers=np.array(compiler.table or [0], np.int64),
        constants=bytes(compiler.constants) + bytes(code.SLACK),
        columns=tuple(column.layout for column in tree.columns),
        num_spaces=tree.num_spaces,
        max_depth=compiler.max_depth,
        default_bytes=compiler.default_bytes,
    )


class _Compiler:
    def __init__(self) -> None:
        self.instructions: list[list[int]] = []
        self.table: list[int] = []
        self.constants = bytearray()
        self.max_depth = self.default_bytes = self._num_steps = 0
        self._depth = 0
        self._open_steps: set[int] = set()

    def emit(self, operation: int, number: int = -1, a: int = 0, b: int = 0, c: int = 0) -> int:
        """Append an instruction; return its number."""
        self.instructions.append([operation, number, a, b, c])
        return len(self.instructions) - 1

    def compile(self, step: steps.Step, avro_column: AvroColumn | None) -> None:
        """Emit instructions for *step*, whose values go into *avro_column*, or are skipped."""
        self._num_steps += 1  # a null has no instruction
        if self._num_steps > MAX_STEPS:
            raise NotColumnarError(
                f"more than {MAX_STEPS} fields to read", "a smaller schema, or values as JSON"
            )
        match step:
            case steps.ReadScalar():
                self._scalar(step, avro_column)
            case steps.ReadRecord():
                self._record(step, avro_column)
            case steps.ReadArray():
                self._list([step.item_step], steps.min_bytes(step.item_step), avro_column)
            case steps.ReadMap():
                key = steps.ReadScalar(steps.STRING, steps.STRING)
                least = 1 + steps.min_bytes(step.value_step)
                self._list([key, step.value_step], least, avro_column)
            case steps.ReadUnion():
                self._union(step, avro_column)
            case steps.ChooseBranch():
                self._choose(step, avro_column)
            case steps.Unresolved():
                self.emit(code.FAULT, a=step.reason)

    def _record(self, record_step: steps.ReadRecord, avro_column: AvroColumn | None) -> None:
        if id(record_step) in self._open_steps:
            raise NotColumnarError(
                f"the record {record_step.reader_record.full_name} contains itself",
                "a schema without recursion, or values as JSON",
            )
        self._open_steps.add(id(record_step))
        for field_step, number in record_step.field_steps:
            is_read = avro_column is not None and number >= 0
            self.compile(
                field_step, avro_column.inner_columns[number] if avro_column and is_read else None
            )
        if avro_column is not None:
            for number in record_step.defaults:
                self._default(record_step.reader_record, number, avro_column.inner_columns[number])
        self._open_steps.remove(id(record_step))

    def _default(self, reader_record: AvroRecord, number: int, avro_column: AvroColumn) -> None:
        reader_field = reader_record.fields[number]
        encoded = encode_default(reader_field, f"{reader_record.full_name}.{reader_field.name}")
        is_nullable = isinstance(reader_field.type, AvroUnion) and reader_field.type.null_index >= 0
        if reader_field.default is None and is_nullable:
            self.emit(code.ABSENT, avro_column.number, avro_column.end)
            return
        self.emit(code.CONSTANT, a=len(self.constants), b=len(encoded))
        self.constants += encoded
        if not self._depth:
            self.default_bytes += len(encoded)
        self.compile(steps.resolve(reader_field.type, reader_field.type), avro_column)
        self.emit(code.CONSTANT_END)

    def _list(
        self, body: list[steps.Step], least_bytes: int, avro_column: AvroColumn | None
    ) -> None:
        self._depth += 1
        self.max_depth = max(self.max_depth, self._depth)
        number = -1 if avro_column is None else avro_column.number
        space = -1 if avro_column is None else avro_column.layout.width
        begin = self.emit(code.LIST, number, a=space, c=least_bytes)
        for position, step in enumerate(body):
            self.compile(step, None if avro_column is None else avro_column.inner_columns[position])
        self.emit(code.LIST_NEXT, a=begin)
        self.instructions[begin][code.B] = len(self.instructions)
        self._depth -= 1

    def _union(self, union_step: steps.ReadUnion, avro_column: AvroColumn | None) -> None:
        if avro_column is not None and self._nullable(union_step, avro_column):
            return
        first = len(self.table)
        self.table += [0] * len(union_step.branches)
        self.emit(code.UNION, a=first, b=len(union_step.branches))
        jumps = []
        for number, branch in enumerate(union_step.branches):
            self.table[first + number] = len(self.instructions)
            self.compile(branch, avro_column)
            jumps.append(self.emit(code.JUMP))
        for jump in jumps:
            self.instructions[jump][code.A] = len(self.instructions)

    def _nullable(self, union_step: steps.ReadUnion, avro_column: AvroColumn) -> bool:
        """Emit one instruction for a union of null and one type that is read as such a union, if it is one."""
        if len(union_step.branches) != 2 or avro_column.branch_columns:
            return False
        nulls = [
            number
            for number, branch in enumerate(union_step.branches)
            if isinstance(branch, steps.ChooseBranch)
            and branch.index == branch.reader_union.null_index
        ]
        if len(nulls) != 1:
            return False
        other = union_step.branches[1 - nulls[0]]
        if not isinstance(other, steps.ChooseBranch):
            return False
        begin = self.emit(code.NULLABLE, avro_column.number, a=avro_column.end, c=nulls[0])
        self.compile(other.branch_step, avro_column)
        self.instructions[begin][code.B] = len(self.instructions)
        return True

    def _choose(self, choice: steps.ChooseBranch, avro_column: AvroColumn | None) -> None:
        if avro_column is None:
            self.compile(choice.branch_step, None)
        elif choice.index == choice.reader_union.null_index:
            self.emit(code.ABSENT, avro_column.number, avro_column.end)
        elif not avro_column.branch_columns:
            self._valid(avro_column)
            self.compile(choice.branch_step, avro_column)
        else:
            child = avro_column.branch_columns[choice.index]
            self.emit(code.ABSENT, avro_column.number, avro_column.end)
            self._valid(avro_column)
            self._valid(child)
            self.compile(choice.branch_step, child)

    def _valid(self, avro_column: AvroColumn) -> None:
        if avro_column.layout.is_nullable:
            self.emit(code.VALID, avro_column.number)

    def _scalar(self, scalar_step: steps.ReadScalar, avro_column: AvroColumn | None) -> None:
        number = -1 if avro_column is None else avro_column.number
        kind, reader = scalar_step.writer_scalar.kind, scalar_step.reader_scalar
        logical = None if avro_column is None else reader.logical
        if logical is not None and (kind == "fixed" or logical.name == "decimal"):
            self._wide_logical(scalar_step, number)
            return
        match kind:
            case "boolean":
                self.emit(code.BOOLEAN, number)
            case "int" | "long":
                below = DAY_LENGTHS.get(logical.name, 0) if logical else 0
                operation = code.INT if kind == "int" else code.LONG
                self.emit(operation, number, FORMS[reader.kind], below)
            case "float" if reader.kind == "double":
                self.emit(code.FLOAT_AS_DOUBLE, number)
            case "float" | "double":
                self.emit(code.FIXED, number, FIXED_BYTES[kind])
            case "fixed":
                assert isinstance(scalar_step.writer_scalar, AvroFixed)
                self.emit(code.FIXED, number, scalar_step.writer_scalar.size)
            case "bytes" | "string":
                self.emit(code.BYTES, number, a=int(reader.kind == "string" and number >= 0))
            case "enum":
                self.emit(code.ENUM, number, a=len(self.table), b=len(scalar_step.symbols))
                self.table += scalar_step.symbols

    def _wide_logical(self, scalar_step: steps.ReadScalar, number: int) -> None:
        logical, writer = scalar_step.reader_scalar.logical, scalar_step.writer_scalar
        assert logical is not None
        size = writer.size if isinstance(writer, AvroFixed) else -1
        match logical.name:
            case "uuid":
                self.emit(code.UUID, number)
            case "duration":
                self.emit(code.DURATION, number)
            case "decimal" if logical.precision > MAX_DECIMAL256:
                largest = 10**logical.precision - 1
                num_bytes = largest.bit_length() // 8 + 1
                self.emit(code.DECIMAL_TEXT, number, size, len(self.table), num_bytes)
                for bound in (largest, -largest):
                    self.table += bound.to_bytes(num_bytes, "big", signed=True)
            case "decimal":
                words = 2 if logical.precision <= MAX_DECIMAL128 else 4
                self.emit(code.DECIMAL, number, size, len(self.table), words)
                largest = 10**logical.precision - 1
                self.table += [*_words(largest, words), *_words(-largest, words)]


def _words(number: int, count: int) -> list[int]:
    """Return *number* as *count* signed words, the lowest first."""
    content = number.to_bytes(8 * count, "little", signed=True)
    return [int(word) for word in np.frombuffer(content, "<i8")]
