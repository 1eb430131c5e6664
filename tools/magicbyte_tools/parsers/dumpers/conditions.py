"""Translates the `if` of a field, for languages whose objects do not tell an absent field.

In Go and Rust an absent number is 0, as a present one may be; in Rust absent bytes are empty. So the
dumper evaluates the condition again, on the parsed object. Supported are comparisons of numbers and
enums, booleans, `_io.size`, and their logic; everything else is refused. For an empty field that
extends to the end of the stream, `_io.eof` was true, so the rest of its condition does not matter.
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
    """Expressions with which a language reads the operands of a condition; numbers have 64 bits."""

    @abstractmethod
    def field(self, holder: str, name: str) -> str:
        """Return a field that is a structure."""

    @abstractmethod
    def flag(self, holder: str, name: str) -> str:
        """Return a field or a parameter that is true or false."""

    @abstractmethod
    def number(self, holder: str, name: str, number_kind: Integer | Primitive) -> str:
        """Return a field that is a number."""

    @abstractmethod
    def instance(self, holder: str, name: str) -> str:
        """Return an instance, which is true or false."""

    @abstractmethod
    def size(self, holder: str) -> str:
        """Return the size of *holder*'s stream."""


def condition(shapes: Shapes, at: ValuePath, access: Access) -> str:
    """Return a field's condition as an expression about `it`."""
    text = " ".join(str(at.field.condition).split())
    rewritten = re.sub(r"\.as<\w+>", "", text).replace("::", "__")
    try:
        tree = ast.parse(rewritten, mode="eval").body
        return _Translation(shapes, at, access).logic(tree)
    except (SyntaxError, KeyError, TypeError) as error:
        raise UnsupportedShape(f"{at}: the condition {text!r} is not understood") from error


class _Translation:
    def __init__(self, shapes: Shapes, at: ValuePath, access: Access) -> None:
        self.shapes, self.at, self.access = shapes, at, access

    def logic(self, node: ast.expr) -> str:
        """Return the boolean expression for *node*."""
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
        """Return the value that *node* had if it only tests whether a field to the end of the stream is empty.

        The dumper evaluates it only where the field is empty: then the stream was at its end.
        """
        match node:
            case ast.Attribute(value=ast.Name(id="_io"), attr="eof") if self.at.field.is_to_end:
                return "true"
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return "!true" if self.at_end(operand) == "true" else None
        return None

    def number(self, node: ast.expr) -> str:
        """Return a number."""
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
        """Return the owner of the name in *node*, as an expression and as a type (None: a stream)."""
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
        """Return the type of the field or the parameter *name*."""
        return structure.params.get(name) or {one.id: one.kind for one in structure.fields}[name]

    def member(self, enum: str, name: str) -> int:
        """Return the number of a member of an enum."""
        path: Path = self.at.structure.path
        for depth in range(len(path), 0, -1):
            if (*path[:depth], enum) in self.shapes.enums:
                return self.shapes.enums[*path[:depth], enum][name]
        raise KeyError(enum)
