"""Reads the fields of a type from the YAML as nodes of the entry model."""

import re
from dataclasses import dataclass, replace

from magicbyte_tools.generate.columnar.arithmetic import (
    Expression,
    UnsupportedSpecError,
    limits,
    only_valid_number,
)
from magicbyte_tools.generate.columnar.entry_model import (
    WIDTHS,
    BytesNode,
    FieldNode,
    LoopNode,
    NumberNode,
    RegionNode,
    RowColumn,
    RowTable,
)
from magicbyte_tools.generate.columnar.scope import Scope
from magicbyte_tools.generate.columns import ARROW, TIMESTAMP
from magicbyte_tools.generate.source import Spec
from magicbyte_tools.generate.wire import bit_fields

VARINTS = {("zigzag", 32): (5, "zigzag32"), ("zigzag", 64): (10, "zigzag64")}
"""Largest width in bytes and primitive that reads it, by encoding and bits."""

RESERVED = {"address", "available", "capacity", "desc", "end", "entries", "first", "last", "length"}
RESERVED |= {"n", "p", "p_end", "positions", "size", "state", "stop", "verify"}
RESERVED |= {"addresses", "begin", "is_estimated", "most", "num_rows", "row", "to"}
RESERVED |= {"element", "element_start", "is_lenient", "payload_start", "row_start", "rows_before"}
"""Variables of the kernels that no field may be called."""

KNOWN_KEYS = {"id", "type", "size", "if", "repeat", "repeat-expr", "doc", "doc-ref"}
KNOWN_KEYS |= {"valid", "enum"}
"""Keys of a field that are understood, or that make no difference to a kernel."""

REMAINDER = re.compile(r"(.*\band )?not _io\.eof")
"""Condition of a field for unread bytes. Kernels refuse an entry that has such bytes."""


def names_of(enum: Spec) -> tuple[tuple[int, str], ...]:
    """Return Kafka's names of the values of *enum*, with their numbers."""
    return tuple((int(number), member["-orig-id"]) for number, member in enum.items())


class FieldReader:
    """Reads Kaitai types of a specification, and of its imports, as nodes of the entry model."""

    def __init__(self, specs: dict[str, Spec]) -> None:
        self.specs = specs
        self.rows = RowTable("records")
        self.is_stream = False
        """True if the entry itself is a row."""
        self.variables = set(RESERVED)

    def variable(self, name: str, prefix: str = "") -> str:
        """Return an unused name for a variable."""
        var = f"{prefix}_{name}" if prefix else name
        while var in self.variables:
            var += "_"
        self.variables.add(var)
        return var

    def sequence(self, scope: Scope, prefix: str, table: RowTable | None) -> list[FieldNode]:
        """Return nodes for the fields of a Kaitai type; *table* is the table of their row."""
        return self.nodes(scope, scope.field_specs(), prefix, table)

    def nodes(
        self,
        scope: Scope,
        field_specs: list[tuple[Spec, str]],
        prefix: str,
        table: RowTable | None,
    ) -> list[FieldNode]:
        """Return nodes for *field_specs*, which are fields of a Kaitai type."""
        nodes: list[FieldNode] = []
        for field_spec, spec_path in field_specs:
            condition_text = " ".join(str(field_spec.get("if", "")).split())
            if REMAINDER.fullmatch(condition_text):
                continue
            unknown = {key for key in field_spec if not key.startswith("-")} - KNOWN_KEYS
            if unknown:
                key = min(unknown)
                raise UnsupportedSpecError(f"{spec_path}/{key}", f"{key} is not supported")
            condition = None
            if "if" in field_spec:
                condition = scope.expression(field_spec["if"], f"{spec_path}/if")
            reader = FieldOfType(self, scope, field_spec, spec_path, prefix, table)
            if "repeat" in field_spec:
                if condition is not None:
                    raise UnsupportedSpecError(f"{spec_path}/if", "a list with a condition")
                nodes.append(reader.loop())
            elif "size" in field_spec and "type" not in field_spec:
                nodes.append(reader.byte_string(condition))
            else:
                nodes.append(reader.number_or_region(condition))
        return nodes

    def inner(self, scope: Scope, field_spec: Spec, spec_path: str) -> Scope:
        """Return the scope of the Kaitai type of a field."""
        name, _, arguments = field_spec["type"].partition("(")
        if name in scope.root.get("types", {}):
            structure, root = scope.root["types"][name], scope.root
            type_path = f"{scope.spec_path.split('/')[0]}/types/{name}"
        elif name in self.specs:
            structure = root = self.specs[name]
            type_path = f"{name}.ksy:"
        else:
            raise UnsupportedSpecError(f"{spec_path}/type", f"no type {name}")
        expressions = [
            scope.expression(text, f"{spec_path}/type")
            for text in arguments.rstrip(")").split(",")
            if text
        ]
        params = [param["id"] for param in structure.get("params", [])]
        return Scope(structure, root, type_path, scope, dict(zip(params, expressions, strict=True)))

    def derived_column(self, derived_spec: Spec) -> RowColumn:
        """Add a column that is computed for each row, and return it."""
        arrow_type = derived_spec.get("type") or TIMESTAMP[derived_spec["unit"]]
        name = derived_spec["id"]
        var = self.variable(name, "to")
        column = RowColumn(name, arrow_type, var, derived_spec.get("sentinel"))
        self.rows.columns.append(column)
        return column


@dataclass
class FieldOfType:
    """Reads one field of a Kaitai type as a node of the entry model."""

    reader: FieldReader
    scope: Scope
    field_spec: Spec
    spec_path: str
    prefix: str
    table: RowTable | None

    def __post_init__(self) -> None:
        self.id: str = self.field_spec["id"]

    def _unsupported(self, key: str, message: str) -> UnsupportedSpecError:
        return UnsupportedSpecError(f"{self.spec_path}/{key}", message)

    def _expression(self, key: str) -> Expression:
        return self.scope.expression(self.field_spec[key], f"{self.spec_path}/{key}")

    def _inner(self) -> Scope:
        return self.reader.inner(self.scope, self.field_spec, self.spec_path)

    def byte_string(self, condition: Expression | None) -> BytesNode:
        """Return the field as a byte string with a stated size."""
        size = self._expression("size")
        column = self._column("binary", condition is not None)
        is_compressed = "-compressed" in self.field_spec
        return BytesNode(self.id, self.spec_path, size, condition, column, is_compressed)

    def number_or_region(self, condition: Expression | None) -> FieldNode:
        """Return the field as a number, or as a structure of a stated size."""
        number = self.number()
        if number is not None:
            if condition is not None and number.is_varint:
                raise self._unsupported("if", "a number of variable width with a condition")
            column = number.column
            if condition is not None and column is not None and column.sentinel is None:
                raise self._unsupported("-column", "a column with a condition needs a sentinel")
            number = replace(number, condition=condition)
            self.scope.members[self.id] = number
            return number
        if condition is not None:
            raise self._unsupported("if", "a structure with a condition")
        if "size" not in self.field_spec or not isinstance(self.field_spec.get("type"), str):
            raise self._unsupported("type", "a structure without a size")
        if "-exact" not in self.field_spec:
            raise UnsupportedSpecError(self.spec_path, "a region without -exact")
        inner = self._inner()
        self.scope.members[self.id] = inner
        size = self._expression("size")
        body = self.reader.sequence(inner, self.prefix, self.table)
        var = self.reader.variable(self.id, self.prefix)
        return RegionNode(var, self.spec_path, size, body)

    def loop(self) -> LoopNode:
        """Return the field as a list: rows, a list column, or elements that no column needs."""
        if self.field_spec["repeat"] != "expr":
            raise self._unsupported("repeat", f"repeat: {self.field_spec['repeat']}")
        if not isinstance(self.field_spec.get("type"), str):
            raise self._unsupported("type", "a list of elements without a named type")
        count = self._expression("repeat-expr")
        inner = self._inner()
        var = self.reader.variable(self.id, self.prefix)
        if "-table" in self.field_spec:
            return self._rows(inner, count, var)
        column = self._column("list", False)
        if column is None:
            body = self.reader.sequence(inner, self.id, None)
            return LoopNode(var, self.spec_path, count, body)
        if self.table is None or column.type != "list":
            raise self._unsupported("-column", "a list that is not a list column of a row")
        struct_table = RowTable(self.id)
        body = self.reader.sequence(inner, self.id, struct_table)
        list_column = replace(column, struct_table=struct_table)
        self.table.columns[self.table.columns.index(column)] = list_column
        return LoopNode(var, self.spec_path, count, body, column=list_column)

    def _rows(self, inner: Scope, count: Expression, var: str) -> LoopNode:
        rows = self.reader.rows
        if rows.columns:
            raise self._unsupported("-table", "a second table of rows")
        self.scope.members["_"] = inner
        body = self.reader.sequence(inner, "", rows)
        derived = []
        for index, derived_spec in enumerate(self.field_spec.get("-derived", [])):
            if "if" in derived_spec:
                message = "a condition on a computed column of a row"
                raise self._unsupported(f"-derived/{index}/if", message)
            value_path = f"{self.spec_path}/-derived/{index}/value"
            value = self.scope.expression(derived_spec["value"], value_path)
            derived.append((self.reader.derived_column(derived_spec), value))
        return LoopNode(var, self.spec_path, count, body, table=rows, derived=derived)

    def number(self) -> NumberNode | None:
        """Return a number of fixed width, of bits, or of a `-primitive`; None for other types."""
        type_name = self.field_spec.get("type")
        if not isinstance(type_name, str):
            return None
        if re.fullmatch(r"[us][1248](le|be)?", type_name):
            return self._fixed_number(type_name)
        name = type_name.split("(")[0]
        structure = self.scope.root.get("types", {}).get(name) or self.reader.specs.get(name)
        if structure is None:
            raise self._unsupported("type", f"no type {type_name}")
        primitive = structure.get("-primitive")
        if primitive:
            varint = VARINTS.get((primitive["encoding"], primitive["bits"]))
            if varint is None or varint[0] != primitive["max-bytes"]:
                raise self._unsupported("type", f"no primitive reads a {type_name}")
            return self._number(varint[1], varint[0], 1, f"int{primitive['bits']}")
        return self._bits(structure) if bit_fields(structure) else None

    def _fixed_number(self, type_name: str) -> NumberNode:
        if type_name.startswith("u8"):
            raise self._unsupported("type", f"{type_name}: an unsigned number of 64 bits")
        order = self.reader.specs[self.scope.file]["meta"].get("endian", "be")
        primitive = type_name if type_name[1] == "1" or len(type_name) > 2 else type_name + order
        width = int(type_name[1])
        return self._number(primitive, width, width, ARROW[type_name[:2]])

    def _number(self, primitive: str, most: int, least: int, arrow_type: str) -> NumberNode:
        var = self.reader.variable(self.id, self.prefix)
        column = self._column(arrow_type, False)
        return NumberNode(
            var,
            self.spec_path,
            primitive,
            most,
            least,
            checks=self._checks(var),
            sentinel=self.field_spec.get("-sentinel"),
            constant=only_valid_number(self.field_spec, self.spec_path),
            column=column,
        )

    def _bits(self, structure: Spec) -> NumberNode:
        fields = bit_fields(structure)
        total = sum(int(bit["type"][1:]) for bit in structure["seq"])
        stated = self.field_spec.get("size")
        if total not in (8, 16, 32) or stated != total // 8:
            raise self._unsupported("size", f"{total} bits in {stated} bytes")
        if self.reader.specs[self.scope.file]["meta"].get("bit-endian", "be") != "be":
            raise self._unsupported("type", "bits that begin with the lowest")
        width = total // 8
        enums = tuple(
            (bit["id"], names_of(self.scope.root["enums"][bit["enum"]]))
            for bit in structure["seq"]
            if "enum" in bit
        )
        self.reader.variables.update(bit.name for bit in fields)
        return NumberNode(
            var=self.reader.variable(self.id),
            spec_path=self.spec_path,
            reader="u1" if width == 1 else f"u{width}be",
            most=width,
            least=width,
            bits=tuple((bit.name, bit.shift, (1 << bit.width) - 1) for bit in fields),
            enums=enums,
        )

    def _checks(self, var: str) -> tuple[str, ...]:
        """Return the comparisons that `valid` and `-valid` demand of a number."""
        return tuple(
            " or ".join(f"{var} {operator} {limit}" for limit in alternatives)
            for operator, alternatives in limits(self.field_spec, self.spec_path)
        )

    def _column(self, arrow_type: str, is_nullable: bool) -> RowColumn | None:
        """Return the column that the field fills, and add it to the table; None if there is none."""
        declared = self.field_spec.get("-column")
        if declared is None or self.table is None:
            return None
        column_spec: Spec = {} if declared is True else declared
        if self.reader.is_stream and self.table is self.reader.rows and "table" not in column_spec:
            return None  # a column of the entry's own table
        arrow_type = column_spec.get("type") or TIMESTAMP.get(
            column_spec.get("unit", ""), arrow_type
        )
        if arrow_type not in (*WIDTHS, "binary", "string", "list"):
            raise self._unsupported("-column", f"a column of type {arrow_type}")
        name = str(column_spec.get("name") or self.id)
        var = self.reader.variable(name, f"to_{self.prefix}" if self.prefix else "to")
        column = RowColumn(name, arrow_type, var, column_spec.get("sentinel"), is_nullable)
        self.table.columns.append(column)
        return column
