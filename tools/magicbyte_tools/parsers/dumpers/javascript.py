"""Dumper syntax of JavaScript: an absent field is undefined; integers beyond 2**53 are rounded."""

from collections.abc import Iterator

from magicbyte_tools.parsers.dumpers.shapes import FieldShape, Integer, Path, Primitive
from magicbyte_tools.parsers.dumpers.walker import Language, ValuePath, function_name
from magicbyte_tools.parsers.identifier_names import camel, lower_camel, nested


class JavaScript(Language):
    import_line = 'const {{ {camel} }} = require("./{camel}");'

    def function(self, path: Path) -> str:
        return f"function {function_name(path)}(json, it)"

    def is_present(self, at: ValuePath) -> str:
        return f"{self.value(at.field)} !== undefined"

    def value(self, field: FieldShape) -> str:
        return f"it.{lower_camel(field.id)}"

    def loop(self, values: str) -> str:
        return f"for (const each of {values})"

    def case(self, at: ValuePath, path: Path, value: str) -> tuple[str, str]:
        return f"if ({value} instanceof {nested(path, '.')})", value

    def number(self, at: ValuePath, kind: Integer, value: str) -> str:
        return value

    def primitive(self, primitive_kind: Primitive, value: str) -> str:
        return f"{value}.value"

    def format(self, name: str) -> Iterator[str]:
        written = self.root(name, f"new {camel(name)}(stream)")
        yield f"{name}: (json, stream) => {written},"
