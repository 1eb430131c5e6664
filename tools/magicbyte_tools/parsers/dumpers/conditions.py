"""Translates the `if` of a field to Go and Rust, whose parsed objects do not show an absent field.

In Go and Rust an absent number is 0, as a present number may be; in Rust absent bytes are empty. So
the dumper evaluates the condition again, on the parsed object. Comparisons of numbers and enums,
booleans, `_io.size`, `and`, `or` and `not` are supported; others raise UnsupportedShape. `_io.eof`
of a field that extends to its stream's end counts as true, since only an empty field is tested.
"""

import ast
import re
from abc import ABC, abstractmethod

from magicbyte_tools.parsers.dumpers.shapes import (
    Integer,
    Nested,
    Path,
    Primitive,
    Shapes,
    StructureShape,
    UnsupportedShape,
)
from magicbyte_tools.parsers.dumpers.walker import ValuePath

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


class Access(ABC):
    """Expressions by which a language reads the operands of a condition; numbers have 64 bits."""

    @abstractmethod
    def field(self, holder: str, name: str) -> str:
        """Return the expression for the structure field *name* of *holder*."""

    @abstractmethod
    def flag(self, holder: str, name: str) -> str:
        """Return the expression for the boolean field or parameter *name* of *holder*."""

    @abstractmethod
    def number(self, holder: str, name: str, number_kind: Integer | Primitive) -> str:
        """Return the expression for the number field *name* of *holder*, as a 64-bit integer."""

    @abstractmethod
    def instance(self, holder: str, name: str) -> str:
        """Return the expression for the boolean instance *name* of *holder*."""

    @abstractmethod
    def size(self, holder: str) -> str:
        """Return the expression for the size in bytes of *holder*'s stream."""


def condition(shapes: Shapes, at: ValuePath, access: Access) -> str:
    """Translate the `if` of the field *at* to a boolean expression about `it`, its structure."""
    text = " ".join(str(at.field.condition).split())
    rewritten = re.sub(r"\.as<\w+>", "", text).replace("::", "__")
    try:
        tree = ast.parse(rewritten, mode="eval").body
        return _Translation(shapes, at, access).logic(tree)
    except (SyntaxError, KeyError, TypeError) as error:
        raise UnsupportedShape(f"{at}: the condition {text!r} is not understood") from error


class _Translation:
    """Translation of one field's condition from Kaitai's expressions to a target language."""

    def __init__(self, shapes: Shapes, at: ValuePath, access: Access) -> None:
        self.shapes, self.at, self.access = shapes, at, access

    def logic(self, node: ast.expr) -> str:
        """Translate *node* as a boolean expression."""
        match node:
            case ast.BoolOp(op=ast.And(), values=values) if "!true" in map(self.at_end, values):
                return "!true"
            case ast.BoolOp(op=op, values=values):
                word = " && " if isinstance(op, ast.And) else " || "
                return f"({word.join(self.logic(value) for value in values)})"
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"!{self.logic(operand)}"
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                sign = COMPARISONS[type(op)]
                return f"({self.number(left)} {sign} {self.number(right)})"
        if known := self.at_end(node):
            return known
        holder, structure, name = self.holder(node)
        if structure is None:
            raise TypeError(name)
        if name in structure.enum_names:
            return self.access.instance(holder, name)
        if name not in structure.params:
            self.kind(structure, name)
        return self.access.flag(holder, name)

    def at_end(self, node: ast.expr) -> str | None:
        """Return `true` for `_io.eof` in a field up to the stream's end, `!true` for its negation.

        The dumper evaluates the condition only where the field is empty: the stream was at its end.
        """
        match node:
            case ast.Attribute(value=ast.Name(id="_io"), attr="eof") if self.at.field.is_to_end:
                return "true"
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return "!true" if self.at_end(operand) == "true" else None
        return None

    def number(self, node: ast.expr) -> str:
        """Translate *node* as an integer expression."""
        match node:
            case ast.Constant(value=int(value)):
                return str(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
                return str(-value)
            case ast.Name(id=name) if "__" in name:
                return str(self.member(*name.split("__")))
            case ast.Attribute(attr="to_i", value=inner):
                return self.number(inner)
            case ast.Attribute(attr="value", value=inner):
                holder, structure, name = self.holder(inner)
                if structure and isinstance(kind := self.kind(structure, name), Primitive):
                    return self.access.number(holder, name, kind)
        holder, structure, name = self.holder(node)
        if structure is None and name == "size":
            return self.access.size(holder)
        if structure is None:
            raise TypeError(name)
        kind = self.kind(structure, name)
        if not isinstance(kind, Integer):
            raise TypeError(name)
        return self.access.number(holder, name, kind)

    def holder(self, node: ast.expr) -> tuple[str, StructureShape | None, str]:
        """Return the owner of a name, as expression and structure (None: stream), and the name."""
        match node:
            case ast.Name(id=name):
                return "it", self.at.structure, name
            case ast.Attribute(value=ast.Name(id="_io"), attr=name):
                return "it", None, name
            case ast.Attribute(value=inner, attr=name):
                holder, structure, field = self.holder(inner)
                if structure and isinstance(kind := self.kind(structure, field), Nested):
                    (path,) = kind.class_paths
                    return self.access.field(holder, field), self.shapes.structures[path], name
        raise TypeError(ast.dump(node))

    def kind(self, structure: StructureShape, name: str) -> object:
        """Return the type of the field or parameter *name* of *structure*."""
        return structure.params.get(name) or {one.id: one.kind for one in structure.fields}[name]

    def member(self, enum: str, name: str) -> int:
        """Return the number of the member *name* of *enum*, which an enclosing type declares."""
        path: Path = self.at.structure.path
        for depth in range(len(path), 0, -1):
            if (*path[:depth], enum) in self.shapes.enums:
                return self.shapes.enums[*path[:depth], enum][name]
        raise KeyError(enum)
