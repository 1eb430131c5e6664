"""Types and sentences for the compiler's Python, which has neither."""

import re
from collections.abc import Iterator
from typing import Any

from magicbyte_tools.generate.expressions import type_of
from magicbyte_tools.generate.parsers import camel

Spec = dict[str, Any]

INTEGER = re.compile(r"[us][1248](le|be)?|b\d+(le|be)?")
SCALARS = {"str": "str", "strz": "str", "bool": "bool", "f4": "float", "f8": "float"}
PROPERTIES = {"_io.size": "int", "_io.pos": "int", "_io.eof": "bool"}

PACKAGE = '"""Kaitai classes: the reference parsers, an object per structure.\n\nA field whose condition is false is None. A number outside its enum is an int.\n"""\n'

FROM = """\
@classmethod
def from_file(cls, filename: str | PathLike[str]) -> Self: ...
@classmethod
def from_bytes(cls, buf: bytes) -> Self: ...
@classmethod
def from_io(cls, io: BinaryIO) -> Self: ...""".splitlines()


def module(name: str, specs: dict[str, Spec]) -> str:
    """Return the .pyi of the parser compiled from the spec *name*."""
    spec = specs[name]
    lines = [
        "from enum import IntEnum",
        "from os import PathLike",
        "from typing import Any, BinaryIO, Self",
        "",
        "from magicbyte_kernels.kaitai_struct import KaitaiStruct",
        "",
    ]
    lines += [f"from .{other} import {camel(other)}" for other in spec["meta"].get("imports", [])]
    body = _Class(name, spec, specs).lines()
    return "\n".join([*lines, "", *body]) + "\n"


class _Class:
    """One structure of a spec, with the names that its types and expressions may use."""

    def __init__(
        self, name: str, spec: Spec, specs: dict[str, Spec], outer: "_Class | None" = None
    ) -> None:
        self.name, self.spec, self.specs, self.outer = name, spec, specs, outer
        self.root: _Class = outer.root if outer else self
        self.qualified: str = f"{outer.qualified}.{camel(name)}" if outer else camel(name)
        self.inner = [
            _Class(inner, definition, specs, self)
            for inner, definition in spec.get("types", {}).items()
        ]

    def lines(self) -> Iterator[str]:
        """Yield the class as a stub."""
        yield f"class {camel(self.name)}(KaitaiStruct):"
        yield from _indented(_sentences(self.spec))
        for enum, values in self.spec.get("enums", {}).items():
            yield from _indented(_enum(enum, values))
        for inner in self.inner:
            yield from _indented(inner.lines())
        params = "".join(
            f", {field['id']}: {self.type(field)}" for field in self.spec.get("params", [])
        )
        stream = "_io: Any, _parent: Any = ..., _root: Any = ..."
        yield f"    def __init__(self{params}, {stream}) -> None: ..."
        if not params:
            yield from _indented(FROM)
        yield "    _parent: Any"
        yield f"    _root: {self.root.qualified if not self.outer else 'Any'}"
        for field in self.spec.get("params", []) + self.spec.get("seq", []):
            yield f"    {field['id']}: {self.type(field)}"
            yield from _indented(_sentences(field))
        for instance, field in self.spec.get("instances", {}).items():
            yield "    @property"
            yield f"    def {instance}(self) -> {self.type(field)}:"
            yield from _indented(_indented(_sentences(field) or ["..."]))

    def type(self, field: Spec) -> str:
        """Return the annotation of a field, a parameter or an instance."""
        found = self.one(field)
        if "repeat" in field:
            found = f"list[{found}]"
        return f"{found} | None" if "if" in field else found

    def one(self, field: Spec) -> str:
        """Return the annotation of a field without its condition and repetition."""
        if "enum" in field:
            return f"{self.enum(field['enum'])} | int"
        if "value" in field:
            return type_of(field["value"], self.value)
        kind = field.get("type")
        if kind is None:
            return "bytes"
        if isinstance(kind, dict):
            cases = (self.named(case) for case in kind["cases"].values())
            return " | ".join(dict.fromkeys(cases))
        return self.named(kind)

    def named(self, kind: str) -> str:
        """Return the annotation for the spec's type *kind*."""
        kind = kind.split("(")[0].strip()
        if INTEGER.fullmatch(kind):
            # One bit is a number to the compiler's C++, and a bool to its Python.
            return "bool" if re.fullmatch(r"b1(le|be)?", kind) else "int"
        return SCALARS.get(kind) or self.find(kind).qualified

    def enum(self, name: str) -> str:
        """Return the qualified class of the enum *name*."""
        owner: _Class | None = self
        while owner:
            if name in owner.spec.get("enums", {}):
                return f"{owner.qualified}.{camel(name)}"
            owner = owner.outer
        path = name.split("::")
        if len(path) > 1:
            return f"{self.find('::'.join(path[:-1])).qualified}.{camel(path[-1])}"
        raise ValueError(f"{self.qualified}: no enum {name!r}")

    def find(self, kind: str) -> "_Class":
        """Return the class of the user type *kind*, in scope or imported."""
        first, *rest = kind.split("::")
        owner: _Class | None = self
        found = None
        while owner and not found:
            found = next((inner for inner in owner.inner if inner.name == first), None)
            owner = owner.outer
        if not found and first in self.root.spec["meta"].get("imports", []):
            found = _Class(first, self.specs[first], self.specs)
        if not found:
            raise ValueError(f"{self.qualified}: no type {kind!r}")
        for name in rest:
            found = next(inner for inner in found.inner if inner.name == name)
        return found

    def value(self, path: str) -> str:
        """Return the type of what an expression calls *path*."""
        if path in PROPERTIES:
            return PROPERTIES[path]
        here = self
        *steps, last = path.split(".")
        for step in steps:
            if step in {"_parent", "_root"}:
                raise ValueError(f"{self.qualified}: the type of {path!r} depends on its parent")
            here = here.find(here.field(step)["type"].split("(")[0])
        return here.type(here.field(last))

    def field(self, name: str) -> Spec:
        """Return the field, parameter or instance *name*."""
        for field in self.spec.get("params", []) + self.spec.get("seq", []):
            if field["id"] == name:
                found: Spec = field
                return found
        found = self.spec.get("instances", {}).get(name)
        if found is None:
            raise ValueError(f"{self.qualified}: nothing is called {name!r}")
        return found


def _enum(name: str, values: dict[str, Any]) -> Iterator[str]:
    yield f"class {camel(name)}(IntEnum):"
    for value, member in values.items():
        verbose = member if isinstance(member, dict) else {"id": member}
        yield f"    {verbose['id']} = {value}"
        yield from _indented(_sentences(verbose))


def _sentences(of: Spec) -> list[str]:
    doc = of.get("doc", "").strip()
    if not doc:
        return []
    first, *more = doc.replace("\\", "\\\\").splitlines()
    if not more:
        return [f'"""{first}"""']
    return [f'"""{first}', *more, '"""']


def _indented(lines: "Iterator[str] | list[str]") -> Iterator[str]:
    for line in lines:
        yield f"    {line}" if line else ""
