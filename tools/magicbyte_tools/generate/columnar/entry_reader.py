"""Reads the model of a format's log entries from its specification."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from magicbyte_tools.generate.columnar.arithmetic import Expression, UnsupportedSpecError
from magicbyte_tools.generate.columnar.entry_model import (
    WIDTHS,
    EntryModel,
    FieldNode,
    LoopNode,
    NumberNode,
    PerEntryColumn,
    RowColumn,
)
from magicbyte_tools.generate.columnar.field_reader import FieldOfType, FieldReader, names_of
from magicbyte_tools.generate.columnar.scope import Scope
from magicbyte_tools.generate.columns import TIMESTAMP
from magicbyte_tools.generate.source import Spec


def entry_formats(specs: dict[str, Spec]) -> list[str]:
    """Return the names of the specifications of log entries (`-entry`)."""
    return [name for name, spec in specs.items() if "-entry" in spec]


def read_entry(name: str, specs: dict[str, Spec]) -> EntryModel:
    """Return the model of the entries of the specification *name*.

    Raises UnsupportedSpecError if it uses a feature outside the supported subset.
    """
    return _EntryReader(name, specs).read()


class _EntryReader:
    """Reads the model of log entries from a specification and its imports."""

    def __init__(self, name: str, specs: dict[str, Spec]) -> None:
        self.name, self.specs, self.top = name, specs, specs[name]
        self.fields = FieldReader(specs)
        self.scope = Scope(self.top, self.top, f"{name}.ksy:")

    def read(self) -> EntryModel:
        """Return the model of the specification's log entries."""
        header_numbers, len_header, inner, field_specs = self._header()
        size_expression, checksum = self._size(header_numbers), self._checksum(header_numbers)
        payloads = (spec for spec, _ in field_specs if "-exact" in spec and "type" in spec)
        payload = next(payloads, None)
        if payload is not None:
            body, codec = self._payload(inner, field_specs, payload, size_expression, len_header)
            compressed, _ = self._compressed(inner, field_specs)
        else:
            self.fields.is_stream = True
            body = self.fields.nodes(inner, field_specs, "", self.fields.rows)
            compressed, spec_path = self._compressed(inner, field_specs)
            codec = inner.expression(compressed["codec"], spec_path)
        columns, derived = self._derived()
        if not self.fields.is_stream:
            columns += self._per_entry_columns(body, header_numbers)
        return EntryModel(
            name=self.name,
            header_numbers=header_numbers,
            len_header=len_header,
            size_expression=size_expression,
            body=body,
            table=self.fields.rows,
            entry_columns=columns,
            codec=codec,
            codec_names=names_of(self.top["enums"][compressed["names"]]),
            checksum=checksum,
            is_stream=self.fields.is_stream,
            derived=derived,
        )

    # Header

    def _header(
        self,
    ) -> tuple[list[tuple[int, NumberNode]], int, Scope, list[tuple[Spec, str]]]:
        """Return the leading numbers with their positions, and the fields after them."""
        header_numbers: list[tuple[int, NumberNode]] = []
        position = 0
        scope = self.scope
        field_specs = scope.field_specs()
        while field_specs:
            field_spec, spec_path = field_specs[0]
            number = None
            if "if" not in field_spec:
                field = FieldOfType(self.fields, scope, field_spec, spec_path, "", None)
                number = field.number()
            if number is None or number.is_varint:
                inner = self._last_region(field_specs, scope)
                if inner is None:
                    break
                scope.members[field_spec["id"]] = inner
                scope, field_specs = inner, inner.field_specs()
                continue
            field_specs.pop(0)
            scope.members[field_spec["id"]] = number
            header_numbers.append((position, number))
            position += number.most
        return header_numbers, position, scope, field_specs

    def _last_region(self, field_specs: list[tuple[Spec, str]], scope: Scope) -> Scope | None:
        """Return the scope of the last field if it is an unconditional region of a stated size."""
        field_spec, spec_path = field_specs[0]
        is_region = "size" in field_spec and isinstance(field_spec.get("type"), str)
        if len(field_specs) > 1 or not is_region or "if" in field_spec:
            return None
        return self.fields.inner(scope, field_spec, spec_path)

    def _size(self, header_numbers: list[tuple[int, NumberNode]]) -> Expression:
        for position, number in header_numbers:
            if self._field_at(number.spec_path).get("-length-of") == "rest":
                source = f"{number.var} + {position + number.most}"
                return Expression(source, frozenset([number.var]))
        raise UnsupportedSpecError(f"{self.name}.ksy:/seq", "no field of the header has -length-of")

    def _field_at(self, spec_path: str) -> Spec:
        """Return the field at *spec_path*."""
        file, _, steps = spec_path.partition(".ksy:/")
        item: Any = self.specs[file]
        for step in steps.split("/"):
            item = item[int(step) if step.isdigit() else step]
        field_spec: Spec = item
        return field_spec

    def _checksum(self, header_numbers: list[tuple[int, NumberNode]]) -> tuple[str, str, int]:
        positions = {number.var: position for position, number in header_numbers}
        ids = {n.var: self._field_at(n.spec_path)["id"] for n in self.scope.numbers()}
        for _, number in header_numbers:
            checksum = self._field_at(number.spec_path).get("-checksum")
            if checksum:
                start = next(positions[var] for var in ids if ids[var] == checksum["from"])
                return checksum["algorithm"], number.var, start
        raise UnsupportedSpecError(f"{self.name}.ksy:/seq", "no field of the header has -checksum")

    # Payload

    def _compressed(self, scope: Scope, field_specs: list[tuple[Spec, str]]) -> tuple[Spec, str]:
        """Return the `-compressed` of the first field that has one, and the field's path."""
        for field_spec, spec_path in field_specs:
            if "-compressed" in field_spec:
                return field_spec["-compressed"], spec_path
        raise UnsupportedSpecError(scope.spec_path, "no field has -compressed")

    def _payload(
        self,
        scope: Scope,
        field_specs: list[tuple[Spec, str]],
        payload: Spec,
        size_expression: Expression,
        len_header: int,
    ) -> tuple[list[FieldNode], Expression]:
        """Return the nodes of the payload, and the expression that selects its codec."""
        codec = None
        for field_spec, spec_path in field_specs:
            compressed = field_spec.get("-compressed", {})
            if field_spec is payload:
                inner = self.fields.inner(scope, field_spec, spec_path)
            elif compressed.get("like") == payload["id"]:
                codec = scope.expression(compressed["codec"], spec_path)
            else:
                raise UnsupportedSpecError(spec_path, "neither payload nor compressed payload")
            size_path = f"{spec_path}/size"
            stated = scope.expression(field_spec.get("size"), size_path)
            if not _is_rest(stated, size_expression, len_header):
                message = "the payload does not extend to the end of the entry"
                raise UnsupportedSpecError(size_path, message)
        if codec is None:
            raise UnsupportedSpecError(scope.spec_path, "no compressed form of the payload")
        return self.fields.sequence(inner, "", None), codec

    # Computed columns

    def _derived(self) -> tuple[list[PerEntryColumn], list[tuple[RowColumn, Expression]]]:
        """Return the columns of the rows that `-derived` of the specification declares."""
        per_entry: list[PerEntryColumn] = []
        per_row: list[tuple[RowColumn, Expression]] = []
        own_table = self.top["-entry"]
        for index, derived_spec in enumerate(self.top.get("-derived", [])):
            if derived_spec.get("table", own_table) == own_table:
                continue
            spec_path = f"{self.name}.ksy:/-derived/{index}"
            value = self.scope.expression(derived_spec["value"], f"{spec_path}/value")
            if derived_spec.get("outer") or not value.needs:
                per_entry.append(self._per_entry_column(derived_spec, value, spec_path))
            elif "if" in derived_spec:
                message = "a condition on a computed column of a row"
                raise UnsupportedSpecError(f"{spec_path}/if", message)
            else:
                per_row.append((self.fields.derived_column(derived_spec), value))
        return per_entry, per_row

    def _per_entry_column(
        self, derived_spec: Spec, value: Expression, spec_path: str
    ) -> PerEntryColumn:
        arrow_type = derived_spec.get("type") or TIMESTAMP[derived_spec["unit"]]
        condition = None
        if "if" in derived_spec:
            condition = self.scope.expression(derived_spec["if"], f"{spec_path}/if")
        if arrow_type == "string" and not value.enum:
            raise UnsupportedSpecError(f"{spec_path}/value", "a string that is not an enum value")
        sentinel = derived_spec.get("sentinel")
        return PerEntryColumn(derived_spec["id"], arrow_type, value, sentinel, condition)

    def _per_entry_columns(
        self, body: list[FieldNode], header_numbers: list[tuple[int, NumberNode]]
    ) -> Iterator[PerEntryColumn]:
        """Move computed columns that need the header alone from the rows to the entry."""
        header_names = {number.var for _, number in header_numbers}
        header_names |= {bit for _, number in header_numbers for bit, _, _ in number.bits}
        for index, node in enumerate(body):
            if not isinstance(node, LoopNode) or node.table is None:
                continue
            derived = []
            for column, value in node.derived:
                if value.needs <= header_names:
                    yield PerEntryColumn(column.name, column.type, value, column.sentinel, None)
                    self.fields.rows.columns.remove(column)
                    continue
                if column.type not in WIDTHS:
                    message = f"{column.name}: a computed {column.type} column of a row"
                    raise UnsupportedSpecError(node.spec_path, message)
                derived.append((column, value))
            body[index] = replace(node, derived=derived)


def _is_rest(stated: Expression, size_expression: Expression, len_header: int) -> bool:
    """Return whether *stated* bytes after the header extend to the end of an entry of *size*."""
    if stated.needs != size_expression.needs:
        return False
    variables = dict.fromkeys(size_expression.needs, 1 << 20)
    entry_bytes, payload_bytes = (
        eval(expression.source, {}, variables) for expression in (size_expression, stated)
    )
    return bool(entry_bytes - len_header == payload_bytes)
