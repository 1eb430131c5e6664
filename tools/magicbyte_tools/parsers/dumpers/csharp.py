"""Dumper syntax of C#: an absent field is null."""

from collections.abc import Iterator

from magicbyte_tools.parsers.dumpers.shapes import FieldShape, Integer, Path, Primitive
from magicbyte_tools.parsers.dumpers.walker import Language, ValuePath, function_name
from magicbyte_tools.parsers.identifier_names import camel, nested


class CSharp(Language):
    def function(self, path: Path) -> str:
        return f"static void {function_name(path)}(Writer json, {nested(path, '.')} it)"

    def is_present(self, at: ValuePath) -> str:
        return f"{self.value(at.field)} != null"

    def value(self, field: FieldShape) -> str:
        return f"it.{camel(field.id)}"

    def loop(self, values: str) -> str:
        return f"foreach (var each in {values})"

    def case(self, at: ValuePath, path: Path, value: str) -> tuple[str, str]:
        name = nested(path, ".")
        return f"if ({value} is {name})", f"({name}) {value}"

    def number(self, at: ValuePath, kind: Integer, value: str) -> str:
        if kind.is_boolean:
            return f"(bool) {value}"
        return f"({'long' if kind.signed or not kind.is_text else 'ulong'}) {value}"

    def primitive(self, primitive_kind: Primitive, value: str) -> str:
        return f"{value}.Value"

    def format(self, name: str) -> Iterator[str]:
        written = self.root(name, f"new {camel(name)}(stream)")
        yield f'{{"{name}", (json, stream) => {written}}},'
