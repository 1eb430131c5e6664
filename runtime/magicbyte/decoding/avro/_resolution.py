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
    AvroType,
    AvroUnion,
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
MAX_LEAST_BYTES = 1 << 31
"""Larger sums say no more: no value has so many bytes."""


@dataclass(eq=False, slots=True)
class ReadScalar:
    """Step that reads a value of a primitive or fixed type, or an enum."""

    writer: AvroPrimitive | AvroFixed | AvroEnum
    reader: AvroPrimitive | AvroFixed | AvroEnum
    symbols: tuple[int, ...] = ()
    """Number of the reader's symbol for each of the writer's; -1 if it has none."""


@dataclass(eq=False, slots=True)
class ReadRecord:
    """Step that reads the fields of a record."""

    reader: AvroRecord
    steps: "list[tuple[Step, int]]" = field(default_factory=list)
    """In the writer's order: a step for each field, and the number of the reader's field; -1 if it has none."""
    defaults: list[int] = field(default_factory=list)
    """Numbers of the reader's fields that the writer lacks."""
    default_values: dict[int, Any] = field(default_factory=dict)
    """Decoded defaults by field, for decoders in ordinary Python."""
    least_bytes: int = -1
    """Bytes that every value has at least; -1 until `min_bytes` has computed it."""


@dataclass(eq=False, slots=True)
class ReadArray:
    items: "Step"
    reader: AvroArray


@dataclass(eq=False, slots=True)
class ReadMap:
    values: "Step"
    reader: AvroMap


@dataclass(eq=False, slots=True)
class ReadUnion:
    """Step that reads the number of a branch, then the branch."""

    branches: "tuple[Step, ...]"


@dataclass(eq=False, slots=True)
class ChooseBranch:
    """Step whose value belongs to one branch of the reader's union."""

    reader: AvroUnion
    index: int
    step: "Step"


@dataclass(eq=False, slots=True)
class Unresolved:
    """Step for a branch of the writer that the reader has no type for: a fault of the value."""

    code: int = Fault.NO_READER_BRANCH


Step = ReadScalar | ReadRecord | ReadArray | ReadMap | ReadUnion | ChooseBranch | Unresolved


def resolve(writer: AvroType, reader: AvroType) -> Step:
    """Return the steps that read values of *writer* as *reader*; those of recursive types refer to themselves.

    Raises SchemaError if no value can be read so.
    """
    return _Resolver().step(writer, reader, type_name(reader))


class _Resolver:
    def __init__(self) -> None:
        self._records: dict[tuple[int, int], ReadRecord] = {}
        self._depth = 0

    def step(self, writer: AvroType, reader: AvroType, where: str) -> Step:
        if self._depth == MAX_STEP_DEPTH:
            raise SchemaError("types nested too deeply", "a flatter schema", where=where)
        self._depth += 1
        try:
            return self._step(writer, reader, where)
        finally:
            self._depth -= 1

    def _step(self, writer: AvroType, reader: AvroType, where: str) -> Step:
        if isinstance(writer, AvroUnion):
            return self._writer_union(writer, reader, where)
        if isinstance(reader, AvroUnion):
            return self._reader_union(writer, reader, where)
        if not _is_match(writer, reader):
            raise _mismatch(writer, reader, where)
        match writer, reader:
            case AvroRecord(), AvroRecord():
                return self._record(writer, reader, where)
            case AvroArray(), AvroArray():
                return ReadArray(self.step(writer.items, reader.items, f"{where}[]"), reader)
            case AvroMap(), AvroMap():
                return ReadMap(self.step(writer.values, reader.values, f"{where}{{}}"), reader)
        return _scalar(writer, reader, where)

    def _writer_union(self, writer: AvroUnion, reader: AvroType, where: str) -> Step:
        branches: list[Step] = []
        reason: SchemaError | None = None
        for branch in writer.branches:
            try:
                branches.append(self.step(branch, reader, where))
            except SchemaError as error:
                reason = reason or error
                branches.append(Unresolved())
        if reason is not None and all(isinstance(step, Unresolved) for step in branches):
            raise reason
        return ReadUnion(tuple(branches))

    def _reader_union(self, writer: AvroType, reader: AvroUnion, where: str) -> Step:
        reason: SchemaError | None = None
        for index in _candidates(writer, reader):
            try:
                return ChooseBranch(reader, index, self.step(writer, reader.branches[index], where))
            except SchemaError as error:
                reason = reason or error
        raise reason or _mismatch(writer, reader, where)

    def _record(self, writer: AvroRecord, reader: AvroRecord, where: str) -> ReadRecord:
        identity = id(writer), id(reader)
        if identity in self._records:
            return self._records[identity]
        step = self._records[identity] = ReadRecord(reader)
        try:
            numbers = _field_numbers(writer, reader, where)
            for writer_field in writer.fields:
                number = numbers.get(writer_field.name, -1)
                reader_type = writer_field.type if number < 0 else reader.fields[number].type
                field_where = f"{where}.{writer_field.name}"
                step.steps.append((self.step(writer_field.type, reader_type, field_where), number))
        except SchemaError:
            # Records that were resolved since then may refer to this one.
            while self._records.popitem()[0] != identity:
                pass
            raise
        present = set(numbers.values())
        step.defaults += [number for number in range(len(reader.fields)) if number not in present]
        return step


def _field_numbers(writer: AvroRecord, reader: AvroRecord, where: str) -> dict[str, int]:
    """Return the number of the reader's field for each name of a writer's field that it reads.

    Raises SchemaError if a field of the reader has neither a field of the writer nor a default.
    """
    names = {writer_field.name for writer_field in writer.fields}
    numbers = {
        reader_field.name: number
        for number, reader_field in enumerate(reader.fields)
        if reader_field.name in names
    }
    unread = names - numbers.keys()
    for number, reader_field in enumerate(reader.fields):
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


def _scalar(writer: AvroType, reader: AvroType, where: str) -> ReadScalar:
    scalars = AvroPrimitive | AvroFixed | AvroEnum
    assert isinstance(writer, scalars) and isinstance(reader, scalars)
    if writer.logical and reader.logical and writer.logical != reader.logical:
        raise SchemaError(
            f"the writer's logical type is {_logical_text(writer)}, the reader's {_logical_text(reader)}",
            "the same logical type, because Avro converts no values",
            where=where,
        )
    symbols: tuple[int, ...] = ()
    if isinstance(writer, AvroEnum) and isinstance(reader, AvroEnum):
        indices = {symbol: index for index, symbol in enumerate(reader.symbols)}
        default = -1 if reader.default is None else indices[reader.default]
        symbols = tuple(indices.get(symbol, default) for symbol in writer.symbols)
    return ReadScalar(writer, reader, symbols)


def _logical_text(scalar: Any) -> str:
    logical = scalar.logical
    return f"decimal({logical.precision}, {logical.scale})" if logical.precision else logical.name


def _candidates(writer: AvroType, reader: AvroUnion) -> list[int]:
    """Return the branches that may take values of *writer*, in the order in which Kafka's Java client tries them.

    That of the same kind and full name is the only one. A record may also be read as one of another name, of the
    same simple name first.
    """
    same = reader.index_of(writer)
    if same >= 0:
        return [same]
    candidates = [
        number for number, branch in enumerate(reader.branches) if _is_match(writer, branch)
    ]
    own_name = simple_name(type_name(writer))
    return sorted(
        candidates,
        key=lambda number: simple_name(type_name(reader.branches[number])) != own_name,
    )


def _is_match(writer: AvroType, reader: AvroType) -> bool:
    """Return whether *reader* can take values of *writer*, by their kinds, names and sizes."""
    match writer, reader:
        case AvroRecord(), AvroRecord():
            return True
        case AvroEnum(), AvroEnum():
            return _is_name_match(writer, reader)
        case AvroFixed(), AvroFixed():
            return writer.size == reader.size and _is_name_match(writer, reader)
    return writer.kind == reader.kind or reader.kind in PROMOTIONS.get(writer.kind, ())


def _is_name_match(writer: NamedType, reader: NamedType) -> bool:
    names = {writer.full_name, simple_name(writer.full_name)}
    return simple_name(reader.full_name) in names or not names.isdisjoint(reader.aliases)


def _mismatch(writer: AvroType, reader: AvroType, where: str) -> SchemaError:
    return SchemaError(
        f"the writer's type is {type_name(writer)}",
        f"a type that the reader's {type_name(reader)} takes",
        where=where,
    )


def min_bytes(step: Step) -> int:
    """Return a number of bytes that every value that *step* reads has at least."""
    match step:
        case ReadScalar():
            return _scalar_bytes(step.writer)
        case ReadRecord():
            if step.least_bytes < 0:
                step.least_bytes = 0  # for a record that contains itself
                total = sum(min_bytes(field_step) for field_step, _ in step.steps)
                step.least_bytes = min(total, MAX_LEAST_BYTES)
            return step.least_bytes
        case ChooseBranch():
            return min_bytes(step.step)
        case Unresolved():
            return 0
    return 1


def _scalar_bytes(writer: AvroPrimitive | AvroFixed | AvroEnum) -> int:
    if isinstance(writer, AvroFixed):
        return writer.size
    return {"null": 0, "float": 4, "double": 8}.get(writer.kind, 1)
