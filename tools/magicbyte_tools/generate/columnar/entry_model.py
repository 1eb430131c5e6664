"""The intermediate form: what the bytes of an entry are, one after another.

A field is a number, a byte string, a region of stated size, or a list; each is one variable of
a kernel. An entry is a header, whose numbers have fixed places, and a payload. Its rows are
either in its payload (a repeated field with `-table`), or each entry is one, and then a
compressed entry holds more of its own kind.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from magicbyte_tools.generate.columnar.arithmetic import Expression, translate
from magicbyte_tools.generate.columnar.conditions import limits
from magicbyte_tools.generate.columnar.unsupported import Unsupported
from magicbyte_tools.generate.columns import ARROW, TIMESTAMP
from magicbyte_tools.generate.wire import bit_fields

__all__ = [
    "Bytes",
    "Column",
    "Entry",
    "EntryColumn",
    "Loop",
    "Node",
    "Number",
    "Region",
    "Table",
    "Unsupported",
    "formats",
    "read_form",
]

Spec = dict[str, Any]

WIDTHS = {"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4}
WIDTHS |= {"int64": 8, TIMESTAMP["ms"]: 8}

VARINTS = {("zigzag", 32): (5, "zigzag32"), ("zigzag", 64): (10, "zigzag64")}
"""The most bytes and the primitive that reads them, by encoding and bits."""

RESERVED = {"address", "desc", "end", "first", "last", "length", "n", "p", "p_end", "positions"}
RESERVED |= {"room", "size", "state", "stop", "verify"}
"""What kernels call something else."""

KNOWN = {"id", "type", "size", "if", "repeat", "repeat-expr", "doc", "doc-ref", "valid", "enum"}

REMAINDER = re.compile(r"(.*\band )?not _io\.eof")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table of rows."""

    name: str
    type: str
    var: str
    """The prefix of its variables."""
    sentinel: int | None = None
    is_nullable: bool = False
    """Of bytes: whether they can be absent."""
    members: "Table | None" = None
    """Of a list: its structs."""

    @property
    def is_bytes(self) -> bool:
        return self.type in ("binary", "string")

    @property
    def width(self) -> int:
        return WIDTHS[self.type]


@dataclass(frozen=True, slots=True)
class EntryColumn:
    """A column that is the same for all rows of an entry."""

    name: str
    type: str
    value: Expression
    sentinel: int | None
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: list[Column] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Node:
    var: str
    place: str


@dataclass(frozen=True, slots=True)
class Number(Node):
    reader: str
    """The primitive that reads it."""
    most: int
    """The most bytes that it takes."""
    least: int
    conditions: tuple[str, ...] = ()
    """What must hold of it."""
    cond: Expression | None = None
    """Where this does not hold, it is not there."""
    column: Column | None = None
    bits: tuple[tuple[str, int, int], ...] = ()
    """Of a type made of bits: name, shift and mask of each."""
    enums: tuple[tuple[str, tuple[tuple[int, str], ...]], ...] = ()

    @property
    def is_varint(self) -> bool:
        return self.most != self.least


@dataclass(frozen=True, slots=True)
class Bytes(Node):
    size: Expression
    cond: Expression | None
    column: Column | None
    is_compressed: bool = False


@dataclass(frozen=True, slots=True)
class Region(Node):
    size: Expression
    body: "list[Node]"


@dataclass(frozen=True, slots=True)
class Loop(Node):
    count: Expression
    body: "list[Node]"
    table: Table | None = None
    """The rows are these."""
    column: Column | None = None
    """Or they are a list column of the row around them."""
    derived: "list[tuple[Column, Expression]]" = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Entry:
    """An element of a stream."""

    name: str
    header: list[tuple[int, Number]]
    """The numbers of the header, with their places."""
    len_header: int
    """Bytes of the header that are always there."""
    size: Expression
    """Bytes of the whole entry."""
    body: list[Node]
    """What follows the header."""
    table: Table
    entry_columns: list[EntryColumn]
    codec: Expression
    codecs: tuple[tuple[int, str], ...]
    """Kafka's words for the codecs, by their numbers."""
    checksum: tuple[str, str, int]
    """Algorithm, variable, and the byte at which what it covers begins; it goes to the end."""
    is_stream: bool
    """Whether each entry is a row, and a compressed one holds others."""
    derived: list[tuple[Column, Expression]] = field(default_factory=list)
    """Of a stream: columns of the row that are computed."""

    @property
    def variables(self) -> list[Number]:
        return [number for _, number in self.header]

    @property
    def rows(self) -> Loop | None:
        """The list that holds the rows; None where the entry is one."""
        return next((n for n in self.body if isinstance(n, Loop) and n.table), None)


def least(nodes: Sequence[Node]) -> int:
    """Return the fewest bytes that *nodes* take."""
    total = 0
    for node in nodes:
        if isinstance(node, Number) and node.cond is None:
            total += node.least
        elif isinstance(node, Region):
            total += least(node.body)
    return total


def formats(specs: dict[str, Spec]) -> list[str]:
    """Return the names of the specifications that kernels are made of."""
    return [name for name, spec in specs.items() if "-entry" in spec]


def read_form(name: str, specs: dict[str, Spec]) -> Entry:
    """Return the form of the entries of the specification *name*.

    Raises Unsupported where it says something that is outside of the subset.
    """
    return _Reader(name, specs).entry()


class _Scope:
    """Where the names in a type's expressions are looked up."""

    def __init__(
        self,
        reader: "_Reader",
        structure: Spec,
        root: Spec,
        place: str,
        parent: "_Scope | None" = None,
        params: dict[str, Expression] | None = None,
    ) -> None:
        self.reader, self.structure, self.root, self.place = reader, structure, root, place
        self.parent, self.params = parent, params or {}
        self.fields: dict[str, Number | _Scope] = {}

    def expression(self, text: object, place: str) -> Expression:
        return translate(text, lambda name: self.resolve(name, place), place)

    def resolve(self, name: str, place: str) -> Expression:
        if "::" in name:
            return self._enum_value(name, place)
        found = self._look_up(name.split("."), place)
        if found is None:
            raise Unsupported(place, f"{name!r} is not a number before it")
        return found

    def _look_up(self, parts: list[str], place: str) -> Expression | None:
        head, rest = parts[0], parts[1:]
        if head == "_parent" and self.parent is not None and rest:
            return self.parent._look_up(rest, place)
        if head in self.params and not rest:
            return self.params[head]
        one = self.fields.get(head)
        if isinstance(one, _Scope) and rest:
            return one._look_up(rest, place)
        if isinstance(one, Number):
            if not rest or (one.is_varint and rest == ["value"]):
                return Expression(one.var, frozenset([one.var]))
            for bit, _, _ in one.bits:
                if rest == [bit]:
                    return Expression(bit, frozenset([bit]), dict(one.enums).get(bit, ()))
        return None

    def _enum_value(self, name: str, place: str) -> Expression:
        enum, _, key = name.partition("::")
        for value, member in self.root.get("enums", {}).get(enum, {}).items():
            if member["id"] == key:
                return Expression(str(value))
        raise Unsupported(place, f"{name} is no value of an enum of this file")


class _Reader:
    """Reads one specification and those that it imports."""

    def __init__(self, name: str, specs: dict[str, Spec]) -> None:
        self.name, self.specs, self.top = name, specs, specs[name]
        self.order = self.top["meta"].get("endian", "be")
        self.vars = set(RESERVED)
        self.rows = Table("records")
        self.is_stream = False

    def place(self, name: str, *steps: object) -> str:
        return "/".join([f"{name}.ksy:", *map(str, steps)])

    def variable(self, name: str, prefix: str = "") -> str:
        """Return a variable's name that no other has."""
        made = f"{prefix}_{name}" if prefix else name
        while made in self.vars:
            made += "_"
        self.vars.add(made)
        return made

    # An entry

    def entry(self) -> Entry:
        scope = _Scope(self, self.top, self.top, self.place(self.name))
        header, len_header, rest = self._header(scope)
        numbers = {number.var: at for at, number in header}
        size, checksum = self._size(header), self._checksum(scope, numbers)
        inner_scope, fields = rest
        payload = next((one for one, _ in fields if "-exact" in one and "type" in one), None)
        codec: Expression | None = None
        codecs: tuple[tuple[int, str], ...] = ()
        for one, _ in fields:
            if "-compressed" in one:
                codecs = self._words(self.top["enums"][one["-compressed"]["names"]])
        if payload is not None:
            body, codec = self._payload(inner_scope, fields, payload, size, len_header)
        else:
            self.is_stream = True
            body = self._sequence(inner_scope, fields, "", self.rows)
            for one, place in fields:
                if "-compressed" in one:
                    codec = inner_scope.expression(one["-compressed"]["codec"], place)
        if codec is None:
            raise Unsupported(inner_scope.place, "nothing with -compressed")
        columns, derived = self._derived(scope, header)
        if not self.is_stream:
            columns += self._of_entry(body, header)
        return Entry(
            name=self.name,
            header=header,
            len_header=len_header,
            size=size,
            body=body,
            table=self.rows,
            entry_columns=columns,
            codec=codec,
            codecs=codecs,
            checksum=checksum,
            is_stream=self.is_stream,
            derived=derived,
        )

    def _header(
        self, scope: _Scope
    ) -> tuple[list[tuple[int, Number]], int, tuple[_Scope, list[tuple[Spec, str]]]]:
        """Return the leading numbers with their places, and what comes behind them."""
        header: list[tuple[int, Number]] = []
        at = 0
        fields = self._fields(scope)
        while fields:
            one, place = fields[0]
            number = None if "if" in one else self._number(one, scope, place, "", None)
            if number is None or number.is_varint:
                inner = self._last_region(fields, scope)
                if inner is None:
                    break
                scope.fields[one["id"]] = inner
                scope, fields = inner, self._fields(inner)
                continue
            fields.pop(0)
            scope.fields[one["id"]] = number
            header.append((at, number))
            at += number.most
        return header, at, (scope, fields)

    def _fields(self, scope: _Scope) -> list[tuple[Spec, str]]:
        """Return the fields of a type with their places."""
        return [
            (one, f"{scope.place}/seq/{number}")
            for number, one in enumerate(scope.structure.get("seq", []))
        ]

    def _last_region(self, fields: list[tuple[Spec, str]], scope: _Scope) -> _Scope | None:
        """Return the scope of a sized region without condition that is all that is left."""
        one, place = fields[0]
        is_region = "size" in one and isinstance(one.get("type"), str) and "if" not in one
        return self._inner(one, scope, place) if len(fields) == 1 and is_region else None

    def _size(self, header: list[tuple[int, Number]]) -> Expression:
        for at, number in header:
            if self._is_length(number):
                behind = at + number.most
                return Expression(f"{number.var} + {behind}", frozenset([number.var]))
        raise Unsupported(self.place(self.name, "seq"), "no field of the header has -length-of")

    def _is_length(self, number: Number) -> bool:
        return bool(self._field_at(number.place).get("-length-of") == "rest")

    def _field_at(self, place: str) -> Spec:
        """Return the field that stands at *place*."""
        file, _, path = place.partition(".ksy:/")
        found: Any = self.specs[file]
        for step in path.split("/"):
            found = found[int(step) if step.isdigit() else step]
        one: Spec = found
        return one

    def _checksum(self, scope: _Scope, numbers: dict[str, int]) -> tuple[str, str, int]:
        for var in numbers:
            at = next(n for n in self._numbers(scope) if n.var == var)
            given = self._field_at(at.place).get("-checksum")
            if given:
                start = next(
                    numbers[n.var]
                    for n in self._numbers(scope)
                    if self._field_at(n.place)["id"] == given["from"]
                )
                return given["algorithm"], var, start
        raise Unsupported(self.place(self.name, "seq"), "no field of the header has -checksum")

    def _numbers(self, scope: _Scope) -> Iterator[Number]:
        for one in scope.fields.values():
            if isinstance(one, Number):
                yield one
            else:
                yield from self._numbers(one)

    def _payload(
        self,
        scope: _Scope,
        fields: list[tuple[Spec, str]],
        payload: Spec,
        size: Expression,
        len_header: int,
    ) -> tuple[list[Node], Expression]:
        """Return what the payload is made of, and what selects its codec."""
        codec = None
        for one, place in fields:
            compressed = one.get("-compressed", {})
            if one is payload:
                inner = self._inner(one, scope, place)
            elif compressed.get("like") == payload["id"]:
                codec = scope.expression(compressed["codec"], place)
            else:
                raise Unsupported(place, "neither the payload nor its compressed form")
            stated = scope.expression(one.get("size"), f"{place}/size")
            if not self._is_rest(stated, size, len_header):
                raise Unsupported(f"{place}/size", "the payload does not go to the entry's end")
        if codec is None:
            raise Unsupported(scope.place, "no compressed form of the payload")
        return self._sequence(inner, self._fields(inner), "", None), codec

    def _is_rest(self, stated: Expression, size: Expression, len_header: int) -> bool:
        """Whether *stated* bytes behind the header go to the end of an entry of *size*."""
        if stated.needs != size.needs:
            return False
        values = dict.fromkeys(size.needs, 1 << 20)
        whole, behind = (eval(one.source, {}, values) for one in (size, stated))
        return bool(whole - len_header == behind)

    # Columns that are computed

    def _derived(
        self, scope: _Scope, header: list[tuple[int, Number]]
    ) -> tuple[list[EntryColumn], list[tuple[Column, Expression]]]:
        """Return the columns of the row that `-derived` of the whole entry declares."""
        entry: list[EntryColumn] = []
        rows: list[tuple[Column, Expression]] = []
        for number, one in enumerate(self.top.get("-derived", [])):
            if one.get("table", self.top["-entry"]) == self.top["-entry"]:
                continue
            place = self.place(self.name, "-derived", number)
            value = scope.expression(one["value"], f"{place}/value")
            if one.get("outer") or not value.needs:
                entry.append(self._entry_column(one, value, scope, place))
            elif "if" in one:
                raise Unsupported(f"{place}/if", "a condition on a value of each row")
            else:
                rows.append((self._derived_column(one, place), value))
        return entry, rows

    def _of_entry(
        self, body: list[Node], header: list[tuple[int, Number]]
    ) -> Iterator[EntryColumn]:
        """Take from the rows' list what needs the header alone: it is one value per entry."""
        known = {n.var for _, n in header} | {bit for _, n in header for bit, _, _ in n.bits}
        for index, node in enumerate(body):
            if not isinstance(node, Loop) or node.table is None:
                continue
            derived = []
            for column, value in node.derived:
                if value.needs <= known:
                    yield EntryColumn(column.name, column.type, value, column.sentinel, None)
                    self.rows.columns.remove(column)
                else:
                    derived.append((column, value))
                    self._check_fixed(column, node.place)
            body[index] = replace(node, derived=derived)

    def _check_fixed(self, column: Column, place: str) -> None:
        if column.type not in WIDTHS:
            raise Unsupported(place, f"{column.name}: a {column.type} of each row is computed")

    def _entry_column(self, one: Spec, value: Expression, scope: _Scope, place: str) -> EntryColumn:
        kind = one.get("type") or TIMESTAMP[one["unit"]]
        condition = scope.expression(one["if"], f"{place}/if") if "if" in one else None
        if kind == "string" and not value.enum:
            raise Unsupported(f"{place}/value", "a string that is no value of an enum")
        return EntryColumn(one["id"], kind, value, one.get("sentinel"), condition)

    def _derived_column(self, one: Spec, place: str) -> Column:
        kind = one.get("type") or TIMESTAMP[one["unit"]]
        column = Column(one["id"], kind, self.variable(one["id"], "to"), one.get("sentinel"))
        self.rows.columns.append(column)
        return column

    # Fields

    def _sequence(
        self, scope: _Scope, fields: list[tuple[Spec, str]], prefix: str, table: Table | None
    ) -> list[Node]:
        """Return the nodes of a type; *table* is that whose row is being read."""
        nodes: list[Node] = []
        for one, place in fields:
            condition = str(one.get("if", ""))
            if REMAINDER.fullmatch(" ".join(condition.split())):
                # What is left over. An entry that has such bytes is not for a kernel.
                continue
            unknown = {key for key in one if not key.startswith("-")} - KNOWN
            if unknown:
                key = min(unknown)
                raise Unsupported(f"{place}/{key}", f"{key} is outside of the subset")
            cond = scope.expression(one["if"], f"{place}/if") if "if" in one else None
            if "repeat" in one:
                if cond is not None:
                    raise Unsupported(f"{place}/if", "a list with a condition")
                nodes.append(self._loop(one, scope, place, prefix, table))
            elif "size" in one and "type" not in one:
                nodes.append(self._bytes(one, scope, place, prefix, table, cond))
            else:
                nodes.append(self._number_or_region(one, scope, place, prefix, table, cond))
        return nodes

    def _bytes(
        self,
        one: Spec,
        scope: _Scope,
        place: str,
        prefix: str,
        table: Table | None,
        cond: Expression | None,
    ) -> Bytes:
        size = scope.expression(one["size"], f"{place}/size")
        column = self._column(one, place, prefix, table, "binary", cond is not None)
        return Bytes(one["id"], place, size, cond, column, "-compressed" in one)

    def _number_or_region(
        self,
        one: Spec,
        scope: _Scope,
        place: str,
        prefix: str,
        table: Table | None,
        cond: Expression | None,
    ) -> Node:
        number = self._number(one, scope, place, prefix, table)
        if number is not None:
            if cond is not None and number.is_varint:
                raise Unsupported(f"{place}/if", "a number of variable width with a condition")
            if cond is not None and number.column is not None and number.column.sentinel is None:
                raise Unsupported(f"{place}/-column", "a column with a condition has a sentinel")
            number = replace(number, cond=cond)
            scope.fields[one["id"]] = number
            return number
        if cond is not None:
            raise Unsupported(f"{place}/if", "a structure with a condition")
        if "size" not in one or not isinstance(one.get("type"), str):
            raise Unsupported(f"{place}/type", "a structure without a size")
        if "-exact" not in one:
            raise Unsupported(place, "a region without -exact")
        inner = self._inner(one, scope, place)
        scope.fields[one["id"]] = inner
        size = scope.expression(one["size"], f"{place}/size")
        nodes = self._sequence(inner, self._fields(inner), prefix, table)
        return Region(self.variable(one["id"], prefix), place, size, nodes)

    def _inner(self, one: Spec, scope: _Scope, place: str) -> _Scope:
        """Return the scope of a field's type."""
        name, _, given = one["type"].partition("(")
        if name in scope.root.get("types", {}):
            structure, root = scope.root["types"][name], scope.root
            here = f"{scope.place.split('/')[0]}/types/{name}"
        elif name in self.specs:
            structure = root = self.specs[name]
            here = self.place(name)
        else:
            raise Unsupported(f"{place}/type", f"no type {name}")
        values = [
            scope.expression(text, f"{place}/type") for text in given.rstrip(")").split(",") if text
        ]
        names = [param["id"] for param in structure.get("params", [])]
        params = dict(zip(names, values, strict=True))
        return _Scope(self, structure, root, here, scope, params)

    def _loop(self, one: Spec, scope: _Scope, place: str, prefix: str, table: Table | None) -> Loop:
        if one["repeat"] != "expr":
            raise Unsupported(f"{place}/repeat", f"repeat: {one['repeat']}")
        if not isinstance(one.get("type"), str):
            raise Unsupported(f"{place}/type", "a list of what is no structure")
        count = scope.expression(one["repeat-expr"], f"{place}/repeat-expr")
        inner = self._inner(one, scope, place)
        var = self.variable(one["id"], prefix)
        if "-table" in one:
            return self._rows(one, scope, inner, place, count, var)
        column = self._column(one, place, prefix, table, "list", False)
        if column is None:
            body = self._sequence(inner, self._fields(inner), one["id"], None)
            return Loop(var, place, count, body)
        if table is None or column.type != "list":
            raise Unsupported(f"{place}/-column", "a list that is no column of a row")
        members = Table(one["id"])
        body = self._sequence(inner, self._fields(inner), one["id"], members)
        whole = replace(column, members=members)
        table.columns[table.columns.index(column)] = whole
        return Loop(var, place, count, body, column=whole)

    def _rows(
        self,
        one: Spec,
        scope: _Scope,
        inner: _Scope,
        place: str,
        count: Expression,
        var: str,
    ) -> Loop:
        if self.rows.columns:
            raise Unsupported(f"{place}/-table", "a second table of rows")
        scope.fields["_"] = inner
        body = self._sequence(inner, self._fields(inner), "", self.rows)
        derived = []
        for number, given in enumerate(one.get("-derived", [])):
            here = f"{place}/-derived/{number}"
            if "if" in given:
                raise Unsupported(f"{here}/if", "a condition on a value of each row")
            value = scope.expression(given["value"], f"{here}/value")
            derived.append((self._derived_column(given, here), value))
        return Loop(var, place, count, body, table=self.rows, derived=derived)

    def _number(
        self, one: Spec, scope: _Scope, place: str, prefix: str, table: Table | None
    ) -> Number | None:
        """Return a field of fixed width, of bits, or of a `-primitive`; None if it is none."""
        kind = one.get("type")
        if not isinstance(kind, str):
            return None
        if re.fullmatch(r"[us][1248](le|be)?", kind):
            if kind.startswith("u8"):
                raise Unsupported(f"{place}/type", f"{kind}: a number of 64 bits without sign")
            order = self.specs[scope.place.partition(".ksy")[0]]["meta"].get("endian", "be")
            reader = kind if kind[1] == "1" or len(kind) > 2 else kind + order
            var, width = self.variable(one["id"], prefix), int(kind[1])
            column = self._column(one, place, prefix, table, ARROW[kind[:2]], False)
            conditions = self._conditions(one, var, place)
            return Number(var, place, reader, width, width, conditions, column=column)
        name = kind.split("(")[0]
        structure = scope.root.get("types", {}).get(name) or self.specs.get(name)
        if structure is None:
            raise Unsupported(f"{place}/type", f"no type {kind}")
        primitive = structure.get("-primitive")
        if primitive:
            given = VARINTS.get((primitive["encoding"], primitive["bits"]))
            if given is None or given[0] != primitive["max-bytes"]:
                raise Unsupported(f"{place}/type", f"no primitive reads a {kind}")
            most, reader = given
            var = self.variable(one["id"], prefix)
            column = self._column(one, place, prefix, table, f"int{primitive['bits']}", False)
            conditions = self._conditions(one, var, place)
            return Number(var, place, reader, most, 1, conditions, column=column)
        if bit_fields(structure):
            return self._bits(one, structure, scope, place)
        return None

    def _bits(self, one: Spec, structure: Spec, scope: _Scope, place: str) -> Number:
        found = bit_fields(structure)
        total = sum(int(bit["type"][1:]) for bit in structure["seq"])
        if total not in (8, 16, 32) or one.get("size") != total // 8:
            raise Unsupported(f"{place}/size", f"{total} bits in {one.get('size')} bytes")
        order = self.specs[scope.place.partition(".ksy")[0]]["meta"].get("bit-endian", "be")
        if order != "be":
            raise Unsupported(f"{place}/type", "bits that begin with the lowest")
        width = total // 8
        reader = "u1" if width == 1 else f"u{width}be"
        enums = tuple(
            (bit["id"], self._words(scope.root["enums"][bit["enum"]]))
            for bit in structure["seq"]
            if "enum" in bit
        )
        bits = tuple((bit.name, bit.shift, (1 << bit.width) - 1) for bit in found)
        self.vars.update(bit.name for bit in found)
        var = self.variable(one["id"])
        return Number(var, place, reader, width, width, bits=bits, enums=enums)

    def _words(self, enum: Spec) -> tuple[tuple[int, str], ...]:
        return tuple((int(value), member["-orig-id"]) for value, member in enum.items())

    def _conditions(self, one: Spec, var: str, place: str) -> tuple[str, ...]:
        """Return what `valid`, `-valid` and `-sentinel` demand of a number."""
        made = [
            " or ".join(f"{var} {operator} {number}" for number in numbers)
            for operator, numbers in limits(one, place)
        ]
        if "-sentinel" in one:
            made.append(f"{var} >= 0 or {var} == {one['-sentinel']}")
        return tuple(made)

    def _column(
        self,
        one: Spec,
        place: str,
        prefix: str,
        table: Table | None,
        kind: str,
        is_nullable: bool,
    ) -> Column | None:
        """Return the column that a field of the row is, and add it to *table*."""
        declared = one.get("-column")
        if declared is None or table is None:
            return None
        given: Spec = {} if declared is True else declared
        if self.is_stream and table is self.rows and "table" not in given:
            return None  # of the entry's own table
        kind = given.get("type") or TIMESTAMP.get(given.get("unit", ""), kind)
        if kind not in (*WIDTHS, "binary", "string", "list"):
            raise Unsupported(f"{place}/-column", f"a column of type {kind}")
        name = str(given.get("name") or one["id"])
        var = self.variable(name, f"to_{prefix}" if prefix else "to")
        column = Column(name, kind, var, given.get("sentinel"), is_nullable)
        table.columns.append(column)
        return column
