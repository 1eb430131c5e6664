"""Prints type stubs with docstrings for the Kaitai compiler's Python, which has neither."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from magicbyte_tools.generate.expressions import type_of
from magicbyte_tools.generate.parsers import camel
from magicbyte_tools.generate.source import Spec

INTEGER = re.compile(r"[us][1248](le|be)?|b\d+(le|be)?")
SCALARS = {"str": "str", "strz": "str", "bool": "bool", "f4": "float", "f8": "float"}
PROPERTIES = {"_io.size": "int", "_io.pos": "int", "_io.eof": "bool"}

PACKAGE = '"""Kaitai classes: the reference parsers, an object per structure.\n\nA field whose condition is false is None. A number outside its enum is an int.\n"""\n'

CONSTRUCTORS = """\
@classmethod
def from_file(cls, filename: str | PathLike[str]) -> Self: ...
@classmethod
def from_bytes(cls, buf: bytes) -> Self: ...
@classmethod
def from_io(cls, io: BinaryIO) -> Self: ...""".splitlines()


def module(name: str, specs: dict[str, Spec]) -> str:
    """Return the text of the stub of the parser that is compiled from the specification *name*."""
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
    body = _ClassStub(name, spec, specs).lines()
    return "\n".join([*lines, "", *body]) + "\n"


class _ClassStub:
    """Prints the class of a structure, and resolves the names in its types and expressions."""

    def __init__(
        self, name: str, spec: Spec, specs: dict[str, Spec], outer: "_ClassStub | None" = None
    ) -> None:
        self.name, self.spec, self.specs, self.outer = name, spec, specs, outer
        self.root: _ClassStub = outer.root if outer else self
        self.qualified: str = f"{outer.qualified}.{camel(name)}" if outer else camel(name)
        self.inner = [
            _ClassStub(inner, definition, specs, self)
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
            f", {field_spec['id']}: {self.type(field_spec)}"
            for field_spec in self.spec.get("params", [])
        )
        stream = "_io: Any, _parent: Any = ..., _root: Any = ..."
        yield f"    def __init__(self{params}, {stream}) -> None: ..."
        if not params:
            yield from _indented(CONSTRUCTORS)
        yield "    _parent: Any"
        yield f"    _root: {self.root.qualified if not self.outer else 'Any'}"
        for field_spec in self.spec.get("params", []) + self.spec.get("seq", []):
            yield f"    {field_spec['id']}: {self.type(field_spec)}"
            yield from _indented(_sentences(field_spec))
        for instance, field_spec in self.spec.get("instances", {}).items():
            yield "    @property"
            yield f"    def {instance}(self) -> {self.type(field_spec)}:"
            yield from _indented(_indented(_sentences(field_spec) or ["..."]))

    def type(self, field_spec: Spec) -> str:
        """Return the annotation of a field, a parameter or an instance."""
        annotation = self.element_type(field_spec)
        if "repeat" in field_spec:
            annotation = f"list[{annotation}]"
        return f"{annotation} | None" if "if" in field_spec else annotation

    def element_type(self, field_spec: Spec) -> str:
        """Return the annotation of a field without its condition and repetition."""
        if "enum" in field_spec:
            return f"{self.enum(field_spec['enum'])} | int"
        if "value" in field_spec:
            return type_of(field_spec["value"], self.value)
        type_name = field_spec.get("type")
        if type_name is None:
            return "bytes"
        if isinstance(type_name, dict):
            cases = (self.named_type(case) for case in type_name["cases"].values())
            return " | ".join(dict.fromkeys(cases))
        return self.named_type(type_name)

    def named_type(self, type_name: str) -> str:
        """Return the annotation for Kaitai's type *type_name*."""
        name = type_name.split("(")[0].strip()
        if INTEGER.fullmatch(name):
            # The compiler's Python reads a single bit as a bool.
            return "bool" if re.fullmatch(r"b1(le|be)?", name) else "int"
        return SCALARS.get(name) or self.find(name).qualified

    def enum(self, name: str) -> str:
        """Return the qualified class of the enum *name*."""
        owner: _ClassStub | None = self
        while owner:
            if name in owner.spec.get("enums", {}):
                return f"{owner.qualified}.{camel(name)}"
            owner = owner.outer
        path = name.split("::")
        if len(path) > 1:
            return f"{self.find('::'.join(path[:-1])).qualified}.{camel(path[-1])}"
        raise ValueError(f"{self.qualified}: no enum {name!r}")

    def find(self, type_name: str) -> "_ClassStub":
        """Return the class of a user type, in scope or imported."""
        first, *rest = type_name.split("::")
        owner: _ClassStub | None = self
        stub = None
        while owner and not stub:
            stub = next((inner for inner in owner.inner if inner.name == first), None)
            owner = owner.outer
        if not stub and first in self.root.spec["meta"].get("imports", []):
            stub = _ClassStub(first, self.specs[first], self.specs)
        if not stub:
            raise ValueError(f"{self.qualified}: no type {type_name!r}")
        for name in rest:
            stub = next(inner for inner in stub.inner if inner.name == name)
        return stub

    def value(self, name: str) -> str:
        """Return the type of a dotted *name* in an expression."""
        if name in PROPERTIES:
            return PROPERTIES[name]
        stub = self
        *steps, last = name.split(".")
        for step in steps:
            if step in {"_parent", "_root"}:
                raise ValueError(f"{self.qualified}: the type of {name!r} depends on its parent")
            stub = stub.find(stub.field(step)["type"].split("(")[0])
        return stub.type(stub.field(last))

    def field(self, name: str) -> Spec:
        """Return the field, parameter or instance *name*."""
        fields: dict[str, Spec] = dict(self.spec.get("instances", {}))
        fields |= {one["id"]: one for key in ("params", "seq") for one in self.spec.get(key, [])}
        if name not in fields:
            raise ValueError(f"{self.qualified}: no field is called {name!r}")
        return fields[name]


def _enum(name: str, values: dict[str, Any]) -> Iterator[str]:
    yield f"class {camel(name)}(IntEnum):"
    for value, member in values.items():
        verbose = member if isinstance(member, dict) else {"id": member}
        yield f"    {verbose['id']} = {value}"
        yield from _indented(_sentences(verbose))


def _sentences(spec: Spec) -> list[str]:
    doc = spec.get("doc", "").strip()
    if not doc:
        return []
    first, *more = doc.replace("\\", "\\\\").splitlines()
    if not more:
        return [f'"""{first}"""']
    return [f'"""{first}', *more, '"""']


def _indented(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield f"    {line}" if line else ""
