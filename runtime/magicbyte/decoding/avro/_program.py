"""Compiles steps into the program of the kernel, with the columns that it fills."""

from typing import NamedTuple

import numpy as np

from magicbyte.decoding.avro import _resolution as steps
from magicbyte.decoding.avro._arrow_types import MAX_DECIMAL128, MAX_DECIMAL256
from magicbyte.decoding.avro._columns import Column, ColumnTree
from magicbyte.decoding.avro._defaults import encode_default
from magicbyte.decoding.avro._types import (
    AvroFixed,
    AvroRecord,
    AvroType,
    AvroUnion,
)
from magicbyte.engines.columnar import avro_program as code
from magicbyte.engines.columnar.avro_program import AvroProgram
from magicbyte.errors import NotColumnarError

MAX_INSTRUCTIONS = 100_000
"""Instructions of the longest program; fields that are skipped have instructions, too."""

FORMS = {
    "int": code.AS_INT32,
    "long": code.AS_INT64,
    "float": code.AS_FLOAT,
    "double": code.AS_DOUBLE,
}
DAY_LENGTHS = {"time-millis": 86_400_000, "time-micros": 86_400_000_000}
FIXED_BYTES = {"float": 4, "double": 8}


class Compilation(NamedTuple):
    """A program, and the tree of the columns that it fills."""

    program: AvroProgram
    root: Column


def compile_program(step: steps.Step, reader: AvroType) -> Compilation:
    """Compile *step*, which gives values of *reader*.

    Raises NotColumnarError if the values are no columns, and SchemaError if a default has the wrong type.
    """
    tree = ColumnTree(reader)
    compiler = _Compiler()
    if tree.root.layout.is_nullable:
        compiler.emit(code.VALID, tree.root.number)
    compiler.compile(step, tree.root)
    compiler.emit(code.END)
    program = AvroProgram(
        instructions=np.array(compiler.instructions, np.int64).reshape(-1),
        table=np.array(compiler.table or [0], np.int64),
        constants=bytes(compiler.constants) + bytes(code.SLACK),
        columns=tuple(column.layout for column in tree.columns),
        num_spaces=tree.num_spaces,
        max_depth=compiler.max_depth,
    )
    return Compilation(program, tree.root)


class _Compiler:
    def __init__(self) -> None:
        self.instructions: list[list[int]] = []
        self.table: list[int] = []
        self.constants = bytearray()
        self.max_depth = 0
        self._depth = 0
        self._open_steps: set[int] = set()

    def emit(self, operation: int, column: int = -1, a: int = 0, b: int = 0, c: int = 0) -> int:
        """Append an instruction; return its number."""
        if len(self.instructions) == MAX_INSTRUCTIONS:
            raise NotColumnarError(
                f"more than {MAX_INSTRUCTIONS} fields to read",
                "a smaller schema, or values as JSON",
            )
        self.instructions.append([operation, column, a, b, c])
        return len(self.instructions) - 1

    def compile(self, step: steps.Step, column: Column | None) -> None:
        """Emit instructions for *step*, whose values go into *column*, or are skipped."""
        match step:
            case steps.ReadScalar():
                self._scalar(step, column)
            case steps.ReadRecord():
                self._record(step, column)
            case steps.ReadArray():
                self._list([step.items], steps.min_bytes(step.items), column)
            case steps.ReadMap():
                key = steps.ReadScalar(steps.STRING, steps.STRING)
                least = 1 + steps.min_bytes(step.values)
                self._list([key, step.values], least, column)
            case steps.ReadUnion():
                self._union(step, column)
            case steps.ChooseBranch():
                self._choose(step, column)
            case steps.Unresolved():
                self.emit(code.FAULT, a=step.code)

    def _record(self, step: steps.ReadRecord, column: Column | None) -> None:
        if id(step) in self._open_steps:
            raise NotColumnarError(
                f"the record {step.reader.full_name} contains itself",
                "a schema without recursion, or values as JSON",
            )
        self._open_steps.add(id(step))
        for field_step, number in step.steps:
            is_read = column is not None and number >= 0
            self.compile(field_step, column.children[number] if column and is_read else None)
        if column is not None:
            for number in step.defaults:
                self._default(step.reader, number, column.children[number])
        self._open_steps.remove(id(step))

    def _default(self, record: AvroRecord, number: int, column: Column) -> None:
        field = record.fields[number]
        encoded = encode_default(field, f"{record.full_name}.{field.name}")
        is_nullable = isinstance(field.type, AvroUnion) and field.type.null_index >= 0
        if field.default is None and is_nullable:
            self.emit(code.ABSENT, column.number, column.end)
            return
        self.emit(code.CONSTANT, a=len(self.constants), b=len(encoded))
        self.constants += encoded
        self.compile(steps.resolve(field.type, field.type), column)
        self.emit(code.CONSTANT_END)

    def _list(self, body: list[steps.Step], least_bytes: int, column: Column | None) -> None:
        self._depth += 1
        self.max_depth = max(self.max_depth, self._depth)
        number = -1 if column is None else column.number
        space = -1 if column is None else column.layout.width
        begin = self.emit(code.LIST, number, a=space, c=least_bytes)
        for position, step in enumerate(body):
            self.compile(step, None if column is None else column.children[position])
        self.emit(code.LIST_NEXT, a=begin)
        self.instructions[begin][code.B] = len(self.instructions)
        self._depth -= 1

    def _union(self, step: steps.ReadUnion, column: Column | None) -> None:
        if column is not None and self._nullable(step, column):
            return
        first = len(self.table)
        self.table += [0] * len(step.branches)
        self.emit(code.UNION, a=first, b=len(step.branches))
        jumps = []
        for number, branch in enumerate(step.branches):
            self.table[first + number] = len(self.instructions)
            self.compile(branch, column)
            jumps.append(self.emit(code.JUMP))
        for jump in jumps:
            self.instructions[jump][code.A] = len(self.instructions)

    def _nullable(self, step: steps.ReadUnion, column: Column) -> bool:
        """Emit one instruction for a union of null and one type that is read as such a union, if it is one."""
        if len(step.branches) != 2 or column.branch_columns:
            return False
        nulls = [
            number
            for number, branch in enumerate(step.branches)
            if isinstance(branch, steps.ChooseBranch) and branch.index == branch.reader.null_index
        ]
        if len(nulls) != 1:
            return False
        other = step.branches[1 - nulls[0]]
        if not isinstance(other, steps.ChooseBranch):
            return False
        begin = self.emit(code.NULLABLE, column.number, a=column.end, c=nulls[0])
        self.compile(other.step, column)
        self.instructions[begin][code.B] = len(self.instructions)
        return True

    def _choose(self, step: steps.ChooseBranch, column: Column | None) -> None:
        if column is None:
            self.compile(step.step, None)
        elif step.index == step.reader.null_index:
            self.emit(code.ABSENT, column.number, column.end)
        elif not column.branch_columns:
            self._valid(column)
            self.compile(step.step, column)
        else:
            child = column.branch_columns[step.index]
            self.emit(code.ABSENT, column.number, column.end)
            self._valid(column)
            self._valid(child)
            self.compile(step.step, child)

    def _valid(self, column: Column) -> None:
        if column.layout.is_nullable:
            self.emit(code.VALID, column.number)

    def _scalar(self, step: steps.ReadScalar, column: Column | None) -> None:
        number = -1 if column is None else column.number
        kind, reader = step.writer.kind, step.reader
        logical = None if column is None else reader.logical
        if logical is not None and (kind == "fixed" or logical.name == "decimal"):
            self._wide_logical(step, number)
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
                assert isinstance(step.writer, AvroFixed)
                self.emit(code.FIXED, number, step.writer.size)
            case "bytes" | "string":
                self.emit(code.BYTES, number, a=int(reader.kind == "string" and number >= 0))
            case "enum":
                self.emit(code.ENUM, number, a=len(self.table), b=len(step.symbols))
                self.table += step.symbols

    def _wide_logical(self, step: steps.ReadScalar, number: int) -> None:
        logical, writer = step.reader.logical, step.writer
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
