"""Dumper syntax of Rust: absent numbers are 0, absent bytes empty, structures have `is_none`."""

from collections.abc import Iterator

from magicbyte_tools.parsers.dumpers.conditions import Access, condition
from magicbyte_tools.parsers.dumpers.shapes import (
    FieldShape,
    Integer,
    Nested,
    Path,
    Primitive,
)
from magicbyte_tools.parsers.dumpers.walker import Language, ValuePath, function_name, method
from magicbyte_tools.parsers.identifier_names import camel, nested


class Rust(Language):
    asks = "if {}"
    import_line = "use kafka_formats::{name}::*;"
    last = "Ok(())"

    def function(self, path: Path) -> str:
        return (
            f"fn {function_name(path)}(json: &mut Writer, it: &{nested(path, '_')}) -> KResult<()>"
        )

    def is_present(self, at: ValuePath) -> str:
        value = self.value(at.field)
        if not at.field.is_repeated:
            match at.field.kind:
                case Nested(class_paths=(_,)) | Primitive():
                    return f"!{value}.is_none()"
                case Nested():
                    return f"{value}.is_some()"
        asked = condition(self.shapes, at, RustAccess())
        if isinstance(at.field.kind, Integer) and not at.field.is_repeated:
            return asked
        return f"!{value}.is_empty() || {asked}"

    def value(self, field: FieldShape) -> str:
        return f"it.{field.id}()?" if field.is_instance else f"it.{field.id}()"

    def loop(self, values: str) -> str:
        return f"for each in {values}.iter()"

    def write(self, path: Path, value: str) -> str:
        return f"{function_name(path)}(json, &*{value})?;"

    def case(self, at: ValuePath, path: Path, value: str) -> tuple[str, str]:
        union = f"{nested((*at.structure.path, at.field.id), '_')}::{nested(path, '_')}(found)"
        if at.field.is_repeated:
            return f"if let {union} = {value}", "found"
        return f"if let Some({union}) = &*{value}", "found"

    def number(self, at: ValuePath, kind: Integer, value: str) -> str:
        if kind.enum:
            return f"i64::from(&*{value})"
        if kind.is_boolean:
            return f"*{value}"
        return f"*{value} as {'i64' if kind.signed or not kind.is_text else 'u64'}"

    def primitive(self, primitive_kind: Primitive, value: str) -> str:
        return f"*{value}.value()? as i64"

    def argument(self, value: str) -> str:
        return f"&*{value}"

    def format(self, name: str) -> Iterator[str]:
        yield f'("{name}", |json, stream| {{'
        yield f"    let it = {camel(name)}::read_into::<_, {camel(name)}>(stream, None, None)?;"
        if name in self.shapes.primitives:
            kind = self.shapes.primitives[name]
            yield f"    json.{method(kind)}({self.primitive(kind, 'it')});"
            yield "    Ok(())"
        else:
            yield f"    {function_name((name,))}(json, &it)"
        yield "}),"


class RustAccess(Access):
    def field(self, holder: str, name: str) -> str:
        return f"{holder}.{name}()"

    def flag(self, holder: str, name: str) -> str:
        return f"*{self.field(holder, name)}"

    def number(self, holder: str, name: str, number_kind: Integer | Primitive) -> str:
        value = self.field(holder, name)
        if isinstance(number_kind, Primitive):
            return f"(*{value}.value()? as i64)"
        return f"i64::from(&*{value})" if number_kind.enum else f"(*{value} as i64)"

    def instance(self, holder: str, name: str) -> str:
        return f"*{self.field(holder, name)}?"

    def size(self, holder: str) -> str:
        return f"({holder}._io().size() as i64)"
