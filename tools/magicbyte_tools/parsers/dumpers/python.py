"""Dumper syntax of Python: an absent field is None."""

from collections.abc import Iterator

from magicbyte_tools.parsers.dumpers.shapes import FieldShape, Integer, Path, Primitive
from magicbyte_tools.parsers.dumpers.walker import Language, ValuePath, function_name
from magicbyte_tools.parsers.identifier_names import camel, nested


class Python(Language):
    opens = ":"
    closes = None
    ends = ""
    asks = "if {}"
    import_line = "from magicbyte_formats.kaitai.{name} import {camel}"

    def function(self, path: Path) -> str:
        return f"def {function_name(path)}(json, it)"

    def is_present(self, at: ValuePath) -> str:
        return f"it.{at.field.id} is not None"

    def value(self, field: FieldShape) -> str:
        return f"it.{field.id}"

    def loop(self, values: str) -> str:
        return f"for each in {values}"

    def case(self, at: ValuePath, path: Path, value: str) -> tuple[str, str]:
        return f"if isinstance({value}, {nested(path, '.')})", value

    def number(self, at: ValuePath, kind: Integer, value: str) -> str:
        return f"int({value})" if kind.enum else value

    def primitive(self, primitive_kind: Primitive, value: str) -> str:
        return f"{value}.value"

    def format(self, name: str) -> Iterator[str]:
        written = self.root(name, f"{camel(name)}(stream)")
        yield f'"{name}": lambda json, stream: {written},'
