"""Dumper syntax of C++: each optional field has a method that says whether the field is absent."""

from collections.abc import Iterator

from magicbyte_tools.parsers.dumpers.shapes import FieldShape, Integer, Path, Primitive
from magicbyte_tools.parsers.dumpers.walker import Language, ValuePath, function_name, method


class Cpp(Language):
    import_line = '#include "{name}.h"'

    def imports(self) -> Iterator[str]:
        yield from super().imports()
        yield ""
        yield "class writer;"
        for path in self.shapes.structures:
            yield f"{self.function(path)};"

    def function(self, path: Path) -> str:
        return f"void {function_name(path)}(writer &json, {class_name(path)} *it)"

    def is_present(self, at: ValuePath) -> str:
        return f"!it->_is_null_{at.field.id}()"

    def value(self, field: FieldShape) -> str:
        return f"it->{field.id}()"

    def loop(self, values: str) -> str:
        return f"for (auto each : *{values})"

    def case(self, at: ValuePath, path: Path, value: str) -> tuple[str, str]:
        return f"if (auto found = dynamic_cast<{class_name(path)} *>({value}))", "found"

    def number(self, at: ValuePath, kind: Integer, value: str) -> str:
        # An enum without negative members is unsigned in C++, but an unnamed -1 must stay -1.
        return f"static_cast<int{kind.bits}_t>({value})" if kind.enum and kind.signed else value

    def primitive(self, primitive_kind: Primitive, value: str) -> str:
        return f"{value}->value()"

    def format(self, name: str) -> Iterator[str]:
        yield f'{{"{name}",'
        yield " [](writer &json, kaitai::kstream *stream) {"
        yield f"     {class_name((name,))} it(stream);"
        if name in self.shapes.primitives:
            kind = self.shapes.primitives[name]
            yield f"     json.{method(kind)}(it.value());"
        else:
            yield f"     {function_name((name,))}(json, &it);"
        yield " }},"


def class_name(path: Path) -> str:
    """Return the name of the C++ class of the structure *path*."""
    return "::".join(f"{name}_t" for name in path)
