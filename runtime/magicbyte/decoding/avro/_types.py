"""The types of an Avro schema, as a tree whose named types may refer back to themselves."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

PRIMITIVES: Final = (*("null", "boolean", "int", "long", "float", "double", "bytes", "string"),)
"""Names of the types that need no definition."""


class LogicalType(NamedTuple):
    """A logical type that is valid for the type that has it; the specification has all others ignored."""

    name: str
    precision: int = 0
    scale: int = 0


@dataclass(eq=False, slots=True)
class AvroPrimitive:
    kind: str
    """A name in PRIMITIVES."""
    logical: LogicalType | None = None


@dataclass(eq=False, slots=True)
class AvroFixed:
    full_name: str
    size: int
    aliases: tuple[str, ...] = ()
    """Full names of the aliases."""
    logical: LogicalType | None = None
    kind = "fixed"


@dataclass(eq=False, slots=True)
class AvroEnum:
    full_name: str
    symbols: tuple[str, ...]
    default_symbol: str | None = None
    aliases: tuple[str, ...] = ()
    kind = "enum"
    logical = None


@dataclass(eq=False, slots=True)
class AvroArray:
    item_type: "AvroType"
    kind = "array"
    logical = None


@dataclass(eq=False, slots=True)
class AvroMap:
    value_type: "AvroType"
    kind = "map"
    logical = None


@dataclass(eq=False, slots=True)
class AvroUnion:
    branches: tuple["AvroType", ...]
    branch_names: list[str] = field(init=False)
    """Simple names of the branches' types; full names where two simple names are equal."""
    _indices: dict[tuple[str, str], int] = field(init=False)
    kind = "union"
    logical = None

    def __post_init__(self) -> None:
        full_names = [type_name(branch) for branch in self.branches]
        counts = Counter(map(simple_name, full_names))
        self.branch_names = [
            simple_name(name) if counts[simple_name(name)] == 1 else name for name in full_names
        ]
        self._indices = {
            (branch.kind, type_name(branch)): number for number, branch in enumerate(self.branches)
        }

    def index_of(self, branch: "AvroType") -> int:
        """Return the index of the branch of the kind and name of *branch*; -1 if there is none."""
        return self._indices.get((branch.kind, type_name(branch)), -1)

    @property
    def null_index(self) -> int:
        """Index of the branch null; -1 without one."""
        return self._indices.get(("null", "null"), -1)

    @property
    def value_indices(self) -> list[int]:
        """Indices of the branches that are not null."""
        return [number for number, branch in enumerate(self.branches) if branch.kind != "null"]


@dataclass(eq=False, slots=True)
class AvroField:
    name: str
    type: "AvroType"
    aliases: tuple[str, ...] = ()
    has_default: bool = False
    default: Any = None
    """Default as JSON; its bytes have the type of `type`."""


@dataclass(eq=False, slots=True)
class AvroRecord:
    full_name: str
    fields: list[AvroField] = field(default_factory=list)
    aliases: tuple[str, ...] = ()
    kind = "record"
    logical = None


AvroScalar = AvroPrimitive | AvroFixed | AvroEnum
"""Types without inner values."""
NamedType = AvroRecord | AvroEnum | AvroFixed
AvroType = AvroPrimitive | NamedType | AvroArray | AvroMap | AvroUnion


def type_name(avro_type: AvroType) -> str:
    """Return the full name of a named type, or the name of the kind of any other."""
    return avro_type.full_name if isinstance(avro_type, NamedType) else avro_type.kind


def simple_name(full_name: str) -> str:
    """Return *full_name* without its namespace."""
    return full_name.rpartition(".")[2]
