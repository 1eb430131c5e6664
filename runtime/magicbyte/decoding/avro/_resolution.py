"""Resolves a writer's schema against a reader's, by Avro's rules, into steps that read one and give the other."""

from dataclasses import dataclass, field
from typing import Any

from magicbyte.decoding.avro._types import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroScalar,
    AvroType,
    AvroUnion,
    LogicalType,
    NamedType,
    simple_name,
    type_name,
)
from magicbyte.engines.columnar.avro_program import Fault
from magicbyte.errors import SchemaError

PROMOTIONS = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}
"""Types of a reader that take the values of a writer's type, beside the type itself."""


STRING = AvroPrimitive("string")
"""Type of the keys of maps."""
MAX_STEP_DEPTH = 210
"""Steps inside of steps: two for each type of the deepest schema. Two recursive schemas may need more."""
MAX_COMPARISONS = 100_000
"""Pairs of types that are compared. Two unions of thousands of records have millions, which takes minutes."""
MAX_LEAST_BYTES = 1 << 31
"""Larger sums say no more: no value has so many bytes."""


@dataclass(eq=False, slots=True)
class ReadScalar:
    """Step that reads a value of a primitive or fixed type, or an enum."""

    writer_scalar: AvroScalar
    reader_scalar: AvroScalar
    symbols: tuple[int, ...] = ()
    """Number of the reader's symbol for each of the writer's; -1 if it has none."""


@dataclass(eq=False, slots=True)
class ReadRecord:
    """Step that reads the fields of a record."""

    reader_record: AvroRecord
    field_steps: "list[tuple[Step, int]]" = field(default_factory=list)
    """Steps of the writer's fields, in their order, each with the number of the reader's field; -1 without one."""
    defaults: list[int] = field(default_factory=list)
    """Numbers of the reader's fields that the writer lacks."""
    default_values: dict[int, Any] = field(default_factory=dict)
    """Decoded defaults by field, for decoders in ordinary Python."""
    least_bytes: int = -1
    """Bytes that every value has at least; -1 until `min_bytes` has computed it."""


@dataclass(eq=False, slots=True)
class ReadArray:
    """Step that reads an array."""

    item_step: "Step"


@dataclass(eq=False, slots=True)
class ReadMap:
    """Step that reads a map."""

    value_step: "Step"


@dataclass(eq=False, slots=True)
class ReadUnion:
    """Step that reads the number of a branch, then the branch."""

    branches: "tuple[Step, ...]"


@dataclass(eq=False, slots=True)
class ChooseBranch:
    """Step whose value belongs to one branch of the reader's union."""

    reader_union: AvroUnion
    index: int
    branch_step: "Step"


@dataclass(eq=False, slots=True)
class Unresolved:
    """Step for a branch of the writer that the reader has no type for: a fault of the value."""

    reason: Fault = Fault.NO_READER_BRANCH


Step = ReadScalar | ReadRecord | ReadArray | ReadMap | ReadUnion | ChooseBranch | Unresolved


def resolve(writer_type: AvroType, reader_type: AvroType) -> Step:
    """Return the steps that read values of *writer_type* as *reader_type*; a recursive type has a cyclic step.

    Raises SchemaError if no value can be read so.
    """
    return _Resolver().step(writer_type, reader_type, type_name(reader_type))


class _LimitError(SchemaError):
    """Schemas are too deep or too large to be resolved, unlike a branch of a union that does not fit."""


class _Resolver:
    def __init__(self) -> None:
        self._records: dict[tuple[int, int], ReadRecord] = {}
        self._failures: dict[tuple[int, int], SchemaError] = {}
        """Pairs of records that do not fit. Each is tried once: a schema can refer to it very often."""
        self._depth = self._num_comparisons = 0

    def step(self, writer_type: AvroType, reader_type: AvroType, where: str) -> Step:
        if self._depth == MAX_STEP_DEPTH:
            raise _LimitError("types nested too deeply", "a flatter schema", where=where)
        self._count(1, where)
        self._depth += 1
        try:
            return self._step(writer_type, reader_type, where)
        finally:
            self._depth -= 1

    def _count(self, num_comparisons: int, where: str) -> None:
        self._num_comparisons += num_comparisons
        if self._num_comparisons > MAX_COMPARISONS:
            raise _LimitError(
                f"more than {MAX_COMPARISONS} pairs of types", "smaller schemas", where=where
            )

    def _step(self, writer_type: AvroType, reader_type: AvroType, where: str) -> Step:
        if isinstance(writer_type, AvroUnion):
            return self._writer_union(writer_type, reader_type, where)
        if isinstance(reader_type, AvroUnion):
            return self._reader_union(writer_type, reader_type, where)
        if not _is_match(writer_type, reader_type):
            raise _mismatch(writer_type, reader_type, where)
        match writer_type, reader_type:
            case AvroRecord(), AvroRecord():
                return self._record(writer_type, reader_type, where)
            case AvroArray(), AvroArray():
                return ReadArray(
                    self.step(writer_type.item_type, reader_type.item_type, f"{where}[]")
                )
            case AvroMap(), AvroMap():
                return ReadMap(
                    self.step(writer_type.value_type, reader_type.value_type, f"{where}{{}}")
                )
        return _scalar(writer_type, reader_type, where)

    def _writer_union(self, writer_union: AvroUnion, reader_type: AvroType, where: str) -> Step:
        branches: list[Step] = []
        reason: SchemaError | None = None
        for branch in writer_union.branches:
            try:
                branches.append(self.step(branch, reader_type, where))
            except _LimitError:
                raise
            except SchemaError as error:
                reason = reason or error
                branches.append(Unresolved())
        if reason is not None and all(isinstance(branch, Unresolved) for branch in branches):
            raise reason
        return ReadUnion(tuple(branches))

    def _reader_union(self, writer_type: AvroType, reader_union: AvroUnion, where: str) -> Step:
        reason: SchemaError | None = None
        candidates = _candidates(writer_type, reader_union)
        self._count(1 if len(candidates) == 1 else len(reader_union.branches), where)
        for index in candidates:
            try:
                branch_step = self.step(writer_type, reader_union.branches[index], where)
            except _LimitError:
                raise
            except SchemaError as error:
                reason = reason or error
            else:
                return ChooseBranch(reader_union, index, branch_step)
        raise reason or _mismatch(writer_type, reader_union, where)

    def _record(
        self, writer_record: AvroRecord, reader_record: AvroRecord, where: str
    ) -> ReadRecord:
        identity = id(writer_record), id(reader_record)
        if identity in self._records:
            return self._records[identity]
        if identity in self._failures:
            raise self._failures[identity]
        record_step = self._records[identity] = ReadRecord(reader_record)
        try:
            numbers = _field_numbers(writer_record, reader_record, where)
            for writer_field in writer_record.fields:
                number = numbers.get(writer_field.name, -1)
                reader_field = writer_field if number < 0 else reader_record.fields[number]
                field_where = f"{where}.{writer_field.name}"
                field_step = self.step(writer_field.type, reader_field.type, field_where)
                record_step.field_steps.append((field_step, number))
        except SchemaError as error:
            # Records that were resolved since then may refer to this one.
            while self._records.popitem()[0] != identity:
                pass
            self._failures[identity] = error
            raise
        read_numbers = set(numbers.values())
        record_step.defaults += [
            number for number in range(len(reader_record.fields)) if number not in read_numbers
        ]
        return record_step


def _field_numbers(
    writer_record: AvroRecord, reader_record: AvroRecord, where: str
) -> dict[str, int]:
    """Return the number of the reader's field for each name of a writer's field that it reads.

    Raises SchemaError if a field of the reader has neither a field of the writer nor a default.
    """
    names = {writer_field.name for writer_field in writer_record.fields}
    numbers = {
        reader_field.name: number
        for number, reader_field in enumerate(reader_record.fields)
        if reader_field.name in names
    }
    unread = names - numbers.keys()
    for number, reader_field in enumerate(reader_record.fields):
        if reader_field.name in names:
            continue
        alias = next((alias for alias in reader_field.aliases if alias in unread), "")
        if alias:
            numbers[alias] = number
            unread.remove(alias)
        elif not reader_field.has_default:
            raise SchemaError(
                f"the writer's schema has no field {reader_field.name!r}",
                "a default in the reader's schema",
                where=where,
            )
    return numbers


def _scalar(writer_type: AvroType, reader_type: AvroType, where: str) -> ReadScalar:
    assert isinstance(writer_type, AvroScalar) and isinstance(reader_type, AvroScalar)
    if writer_type.logical and reader_type.logical and writer_type.logical != reader_type.logical:
        raise SchemaError(
            f"the writer's logical type is {_logical_text(writer_type.logical)}, "
            f"the reader's {_logical_text(reader_type.logical)}",
            "the same logical type, because Avro converts no values",
            where=where,
        )
    symbols: tuple[int, ...] = ()
    if isinstance(writer_type, AvroEnum) and isinstance(reader_type, AvroEnum):
        indices = {symbol: index for index, symbol in enumerate(reader_type.symbols)}
        default = indices.get(reader_type.default_symbol or "", -1)
        symbols = tuple(indices.get(symbol, default) for symbol in writer_type.symbols)
    return ReadScalar(writer_type, reader_type, symbols)


def _logical_text(logical: LogicalType) -> str:
    digits = f"({logical.precision}, {logical.scale})" if logical.precision else ""
    return logical.name + digits


def _candidates(writer_type: AvroType, reader_union: AvroUnion) -> list[int]:
    """Return the branches that may take values of *writer_type*, in the order in which Avro's Java library tries them.

    A branch of the same kind and full name is the only candidate. A record may also be read as one of another
    name; one of the same name without its namespace, or with such an alias, comes first.
    """
    same = reader_union.index_of(writer_type)
    if same >= 0:
        return [same]
    branches = reader_union.branches
    candidates = [
        number for number, branch in enumerate(branches) if _is_match(writer_type, branch)
    ]
    return sorted(candidates, key=lambda number: not _is_name_match(writer_type, branches[number]))


def _is_match(writer_type: AvroType, reader_type: AvroType) -> bool:
    """Return whether *reader_type* can take values of *writer_type*, by their kinds, names and sizes."""
    match writer_type, reader_type:
        case AvroRecord(), AvroRecord():
            return True
        case AvroEnum(), AvroEnum():
            return _is_name_match(writer_type, reader_type)
        case AvroFixed(), AvroFixed():
            is_same_size = writer_type.size == reader_type.size
            return is_same_size and _is_name_match(writer_type, reader_type)
    promotions = PROMOTIONS.get(writer_type.kind, ())
    return writer_type.kind == reader_type.kind or reader_type.kind in promotions


def _is_name_match(writer_type: AvroType, reader_type: AvroType) -> bool:
    """Return whether both have the same name without namespace, or an alias of the reader is the writer's name."""
    if not isinstance(writer_type, NamedType) or not isinstance(reader_type, NamedType):
        return False
    names = {writer_type.full_name, simple_name(writer_type.full_name)}
    return simple_name(reader_type.full_name) in names or not names.isdisjoint(reader_type.aliases)


def _mismatch(writer_type: AvroType, reader_type: AvroType, where: str) -> SchemaError:
    return SchemaError(
        f"the writer's type is {type_name(writer_type)}",
        f"a type that the reader's {type_name(reader_type)} takes",
        where=where,
    )


def min_bytes(step: Step) -> int:
    """Return a number of bytes that every value that *step* reads has at least."""
    match step:
        case ReadScalar():
            return _scalar_bytes(step.writer_scalar)
        case ReadRecord():
            if step.least_bytes < 0:
                step.least_bytes = 0  # for a record that contains itself
                total = sum(min_bytes(field_step) for field_step, _ in step.field_steps)
                step.least_bytes = min(total, MAX_LEAST_BYTES)
            return step.least_bytes
        case ChooseBranch():
            return min_bytes(step.branch_step)
        case Unresolved():
            return 0
    return 1


def _scalar_bytes(scalar: AvroScalar) -> int:
    if isinstance(scalar, AvroFixed):
        return scalar.size
    return {"null": 0, "float": 4, "double": 8}.get(scalar.kind, 1)
