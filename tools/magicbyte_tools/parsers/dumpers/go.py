"""Dumper syntax of Go: an absent number is 0; absent bytes and structures are nil."""

from collections.abc import Iterator

from magicbyte_tools.parsers.dumpers.conditions import Access, condition
from magicbyte_tools.parsers.dumpers.shapes import (
    BytesShape,
    FieldShape,
    Integer,
    Nested,
    Path,
    Primitive,
)
from magicbyte_tools.parsers.dumpers.walker import Language, ValuePath, function_name
from magicbyte_tools.parsers.identifier_names import camel, nested


class Go(Language):
    ends = ""
    asks = "if {}"

    def function(self, path: Path) -> str:
        return f"func {function_name(path)}(json *writer, it *formats.{nested(path, '_')})"

    def is_present(self, at: ValuePath) -> str:
        value, repeated = self.value(at.field), at.field.is_repeated
        if not repeated and isinstance(at.field.kind, BytesShape | Nested | Primitive):
            return f"{value} != nil"
        asked = condition(self.shapes, at, GoAccess())
        return f"len({value}) > 0 || {asked}" if repeated else asked

    def value(self, field: FieldShape) -> str:
        return f"must(it.{camel(field.id)}())" if field.is_instance else f"it.{camel(field.id)}"

    def loop(self, values: str) -> str:
        return f"for _, each := range {values}"

    def case(self, at: ValuePath, path: Path, value: str) -> tuple[str, str]:
        return f"if found, ok := {value}.(*formats.{nested(path, '_')}); ok", "found"

    def number(self, at: ValuePath, kind: Integer, value: str) -> str:
        if kind.is_boolean:
            return value
        return f"{'int64' if kind.signed or not kind.is_text else 'uint64'}({value})"

    def primitive(self, primitive_kind: Primitive, value: str) -> str:
        return f"int64(must({value}.Value()))"

    def format(self, name: str) -> Iterator[str]:
        yield f'{{"{name}", func(json *writer, stream *kaitai.Stream) {{'
        yield f"    it := formats.New{camel(name)}()"
        yield "    check(it.Read(stream, nil, it))"
        yield f"    {self.root(name, 'it')}"
        yield "}},"


class GoAccess(Access):
    def field(self, holder: str, name: str) -> str:
        return f"{holder}.{camel(name)}"

    def flag(self, holder: str, name: str) -> str:
        return self.field(holder, name)

    def number(self, holder: str, name: str, number_kind: Integer | Primitive) -> str:
        value = self.field(holder, name)
        return (
            f"int64(must({value}.Value()))"
            if isinstance(number_kind, Primitive)
            else f"int64({value})"
        )

    def instance(self, holder: str, name: str) -> str:
        return f"must({self.field(holder, name)}())"

    def size(self, holder: str) -> str:
        return f"must({holder}.IO_().Size())"
