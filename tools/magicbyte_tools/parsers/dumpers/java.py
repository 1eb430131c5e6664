"""Dumper syntax of Java: an absent field is null, as is an enum field with an unnamed number."""

from collections.abc import Iterator

from magicbyte_tools.parsers.dumpers.shapes import (
    FieldShape,
    Integer,
    Path,
    Primitive,
    UnsupportedShape,
)
from magicbyte_tools.parsers.dumpers.walker import Language, ValuePath, function_name
from magicbyte_tools.parsers.identifier_names import camel, lower_camel, nested


class Java(Language):
    import_line = "import kafkaformats.{camel};"

    def function(self, path: Path) -> str:
        return f"static void {function_name(path)}(Writer json, {nested(path, '.')} it)"

    def is_present(self, at: ValuePath) -> str:
        if isinstance(at.field.kind, Integer) and at.field.kind.enum:
            raise UnsupportedShape(f"{at}: in Java, null is both absent and unknown")
        return f"{self.value(at.field)} != null"

    def value(self, field: FieldShape) -> str:
        return f"it.{lower_camel(field.id)}()"

    def loop(self, values: str) -> str:
        return f"for (var each : {values})"

    def case(self, at: ValuePath, path: Path, value: str) -> tuple[str, str]:
        name = nested(path, ".")
        return f"if ({value} instanceof {name})", f"({name}) {value}"

    def number(self, at: ValuePath, kind: Integer, value: str) -> str:
        if not kind.enum:
            unsigned = kind.is_text and not kind.signed
            return f"Long.toUnsignedString({value})" if unsigned else value
        # The parser drops a number that the enum does not name: read it from the stream again.
        offset = at.field.bit_offset
        if offset is None or at.field.is_repeated or not at.structure.has_own_stream:
            raise UnsupportedShape(
                f"{at}: Java loses the number of a value that the enum does not name"
            )
        stored = f"stored(it._io(), {offset}, {kind.bits}, {str(kind.signed).lower()})"
        return f"{value} != null ? {value}.id() : {stored}"

    def primitive(self, primitive_kind: Primitive, value: str) -> str:
        return f"{value}.value()"

    def format(self, name: str) -> Iterator[str]:
        written = self.root(name, f"new {camel(name)}(stream)")
        yield f'FORMATS.put("{name}", (json, stream) -> {written});'
