"""Generates the source of a dumper from the shapes, in the syntax of a language.

The source calls a JSON writer named `json`, which the language's template defines. The writer
inserts the commas, so the generated code can leave out absent fields.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from magicbyte_tools.parsers.dumpers.shapes import (
    BytesShape,
    FieldShape,
    Integer,
    Nested,
    Path,
    Primitive,
    Shapes,
    StructureShape,
    Text,
)
from magicbyte_tools.parsers.identifier_names import camel


@dataclass(frozen=True, slots=True)
class ValuePath:
    """A field together with the structure that declares it."""

    structure: StructureShape
    field: FieldShape

    def __str__(self) -> str:
        return "/".join((*self.structure.path, self.field.id))


class Language(ABC):
    """Syntax of a target language; `it` is the current structure, `each` an array element."""

    opens: ClassVar[str] = " {"
    closes: ClassVar[str | None] = "}"
    ends: ClassVar[str] = ";"
    asks: ClassVar[str] = "if ({})"
    import_line: ClassVar[str] = ""
    """Template of the line that imports a specification's classes; empty where none is needed."""
    last: ClassVar[str | None] = None
    """Last statement of a generated function, if the language needs one."""

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes

    def imports(self) -> Iterator[str]:
        """Yield the program's import lines, one per specification, in alphabetical order."""
        names = {path[0] for path in self.shapes.structures} | {*self.shapes.formats}
        if self.import_line:
            for name in sorted(names):
                yield self.import_line.format(name=name, camel=camel(name))

    @abstractmethod
    def function(self, path: Path) -> str:
        """Return the signature of the function that writes the structure at *path*."""

    @abstractmethod
    def is_present(self, at: ValuePath) -> str:
        """Return the boolean expression that tests whether a field with an `if` is present."""

    @abstractmethod
    def value(self, field: FieldShape) -> str:
        """Return the expression for the value of *field* in the structure `it`."""

    @abstractmethod
    def loop(self, values: str) -> str:
        """Return the first line of a loop over *values* with the variable `each`."""

    @abstractmethod
    def case(self, at: ValuePath, path: Path, value: str) -> tuple[str, str]:
        """Return a test whether *value* is of the type *path*, and an expression of that type."""

    @abstractmethod
    def number(self, at: ValuePath, kind: Integer, value: str) -> str:
        """Convert the integer expression *value* to an argument of the writer's number methods."""

    @abstractmethod
    def primitive(self, primitive_kind: Primitive, value: str) -> str:
        """Convert the primitive *value* to a number argument of the JSON writer."""

    @abstractmethod
    def format(self, name: str) -> Iterator[str]:
        """Yield the lines of the program's table of formats for the format *name*."""

    def call(self, method: str, *arguments: str) -> str:
        """Return a statement that calls *method* of the JSON writer with *arguments*."""
        return f"json.{method}({', '.join(arguments)}){self.ends}"

    def write(self, path: Path, value: str) -> str:
        """Return a statement that writes *value*, a structure of the type *path*."""
        return f"{function_name(path)}(json, {value}){self.ends}"

    def root(self, name: str, value: str) -> str:
        """Return a call that writes *value*, the root of the format *name*, without a semicolon."""
        kind = self.shapes.primitives.get(name)
        if kind is None:
            return f"{function_name((name,))}(json, {value})"
        return f"json.{method(kind)}({self.primitive(kind, value)})"

    def argument(self, value: str) -> str:
        """Convert a bytes or string expression to an argument of the JSON writer."""
        return value


def function_name(path: Path) -> str:
    """Return the unique name of the generated function that writes the structure *path*."""
    return "write_" + "__".join(path)


def program(language: Language, template: str) -> str:
    """Return a dumper's source: *template* with lines such as `@imports@` replaced."""
    parts = {
        "@imports@": [*language.imports()],
        "@structures@": [*structures(language)],
        "@formats@": [line for name in language.shapes.formats for line in language.format(name)],
    }
    lines = []
    for line in template.splitlines():
        marker = line.strip()
        indent = line.removesuffix(marker)
        given = parts.get(marker, [marker])
        lines += [indent + one if one else "" for one in given]
    return "\n".join(lines) + "\n"


def structures(language: Language) -> Iterator[str]:
    """Yield the source lines of the functions that write the structures, one function for each."""
    for structure in language.shapes.structures.values():
        yield from block(language, language.function(structure.path), body(language, structure))
        yield ""


def body(language: Language, structure: StructureShape) -> Iterator[str]:
    """Yield the statements that write *structure* as a JSON object."""
    yield language.call("open")
    for field in structure.fields:
        at = ValuePath(structure, field)
        if field.condition is None:
            yield from member(language, at)
        else:
            question = language.asks.format(language.is_present(at))
            yield from block(language, question, member(language, at))
    yield language.call("close")
    if language.last:
        yield language.last


def member(language: Language, at: ValuePath) -> Iterator[str]:
    """Yield the statements that write the key and value of a present field."""
    yield language.call("key", f'"{at.field.id}"')
    value = language.value(at.field)
    if not at.field.is_repeated:
        yield from element(language, at, value)
        return
    yield language.call("open_array")
    inner = [language.call("item"), *element(language, at, "each")]
    yield from block(language, language.loop(value), inner)
    yield language.call("close_array")


def element(language: Language, at: ValuePath, value: str) -> Iterator[str]:
    """Yield the statements that write *value*, the field's value or one element of its array."""
    match at.field.kind:
        case Integer(is_boolean=True) as kind:
            yield language.call("flag", language.number(at, kind, value))
        case Integer() as kind:
            yield language.call(method(kind), language.number(at, kind, value))
        case Primitive() as kind:
            yield language.call(method(kind), language.primitive(kind, value))
        case BytesShape():
            yield language.call("hex", language.argument(value))
        case Text():
            yield language.call("quoted", language.argument(value))
        case Nested(class_paths=(path,)):
            yield language.write(path, value)
        case Nested(class_paths=paths):
            for path in paths:
                head, name = language.case(at, path, value)
                yield from block(language, head, [language.write(path, name)])


def method(number_kind: Integer | Primitive) -> str:
    """Return the JSON writer's method for a number: `digits` above 32 bits, else `number`."""
    return "digits" if number_kind.is_text else "number"


def block(language: Language, head: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a block of source: *head*, the indented *lines*, and the closing line, if any."""
    yield head + language.opens
    for line in lines:
        yield f"    {line}"
    if language.closes is not None:
        yield language.closes
