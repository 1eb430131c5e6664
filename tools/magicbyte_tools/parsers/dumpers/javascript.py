"""JavaScript: an absent field is undefined, and 64 bits beyond 2**53 come out rounded."""

from collections.abc import Iterator

from magicbyte_tools.parsers.dumpers.shapes import FieldShape, Integer, Path, Primitive
from magicbyte_tools.parsers.dumpers.walker import Language, ValuePath, function_name, method
from magicbyte_tools.parsers.identifier_names import camel, lower_camel, nested


class JavaScript(Language):
    def imports(self) -> Iterator[str]:
        for name in sorted({path[0] for path in self.shapes.structures} | {*self.shapes.formats}):
            yield f'const {{ {camel(name)} }} = require("./{camel(name)}");'

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

    def primitive(self, kind: Primitive, value: str) -> str:
        return f"{value}.value"

    def format(self, name: str) -> Iterator[str]:
        parsed = f"new {camel(name)}(stream)"
        if name in self.shapes.primitives:
            kind = self.shapes.primitives[name]
            yield f"{name}: (json, stream) => json.{method(kind)}({parsed}.value),"
        else:
            yield f"{name}: (json, stream) => {function_name((name,))}(json, {parsed}),"
