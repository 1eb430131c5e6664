"""Shapes: the structures of each format and the types of their fields, read from the .ksy files.

A dumper is generated from the shapes alone. When it runs, it asks the parsed object whether an
optional field is absent and which structure a `switch-on` chose.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from magicbyte_tools.parsers.compiler_output import VISUAL, Spec, types

Path = tuple[str, ...]
"""Path of a type: the name of its specification, then of the nested types, outermost first."""


class UnsupportedShape(Exception):
    """A specification uses a feature that dumpers do not support; the message says where."""


@dataclass(frozen=True, slots=True)
class Integer:
    """Shape of an integer, an enum's number, or a boolean (one bit without an enum)."""

    bits: int
    signed: bool
    enum: Path | None = None

    @property
    def is_boolean(self) -> bool:
        """True for a field of one bit without an enum, which is `true` or `false` in JSON."""
        return self.bits == 1 and self.enum is None

    @property
    def is_text(self) -> bool:
        """True above 32 bits: the integer is a string in JSON, as some readers lose digits."""
        return self.bits > 32


@dataclass(frozen=True, slots=True)
class BytesShape:
    """Shape of a byte array."""


@dataclass(frozen=True, slots=True)
class Text:
    """Shape of a string."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """Shape of a structure that stands for one number, such as a varint: its instance `value`."""

    path: Path
    bits: int

    @property
    def is_text(self) -> bool:
        """True for a number of more than 32 bits, which is a string in JSON."""
        return self.bits > 32


@dataclass(frozen=True, slots=True)
class Nested:
    """Shape of a nested structure; of several *class_paths*, a `switch-on` chooses one."""

    class_paths: tuple[Path, ...]


Kind = Integer | BytesShape | Text | Primitive | Nested


@dataclass(frozen=True, slots=True)
class FieldShape:
    """A field of a structure, or an instance that is printed like a field."""

    id: str
    kind: Kind
    condition: str | None
    is_repeated: bool
    is_instance: bool
    is_to_end: bool
    """True for a field that extends to the end of its stream."""
    bit_offset: int | None
    """Offset in bits from the start of the structure; None where it depends on the data."""


@dataclass(frozen=True, slots=True)
class StructureShape:
    """A structure of a specification: its fields, and the names that conditions on them may use."""

    path: Path
    fields: tuple[FieldShape, ...]
    params: dict[str, Integer | None]
    """Parameters by name: the shape of a number, None for any other type."""
    enum_names: frozenset[str]
    """Names of the instances that are not printed."""
    has_own_stream: bool
    """True for a structure that always begins at the start of its stream."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """All structures by path, and the ids of the formats that a dumper can read a file as."""

    structures: dict[Path, StructureShape]
    primitives: dict[str, Primitive]
    enums: dict[Path, dict[str, int]]
    formats: tuple[str, ...]


def shapes(specs: Mapping[str, Spec]) -> Shapes:
    """Return the shapes of *specs*, without the specifications for visualizers only."""
    printed = {name: spec for name, spec in specs.items() if name not in VISUAL}
    reader = _ShapeReader(printed)
    structures = {
        structure.path: structure
        for name, spec in printed.items()
        if name not in reader.primitives
        for structure in reader.structures((name,), spec)
    }
    return Shapes(
        structures,
        reader.primitives,
        {
            path: members
            for name, spec in printed.items()
            for path, members in _enums((name,), spec)
        },
        tuple(name for name, spec in printed.items() if not spec.get("params")),
    )


class _ShapeReader:
    """Reads the shapes of structures; *within* are those that may begin inside a stream."""

    def __init__(self, specs: Mapping[str, Spec]) -> None:
        self.specs = specs
        self.primitives = {
            name: Primitive((name,), spec["-primitive"]["bits"])
            for name, spec in specs.items()
            if "-primitive" in spec
        }
        self.within = {
            path
            for name, spec in specs.items()
            for holder, structure in types((name,), spec)
            for given in _given(structure)
            if not {"size", "size-eos"} & given.keys()
            for path in self.paths(holder, given)
        }

    def structures(self, path: Path, spec: Spec) -> Iterator[StructureShape]:
        """Yield the shapes of the structure at *path* and of its nested types."""
        for where, structure in types(path, spec):
            shown = [given for given in _given(structure) if self.is_shown(given)]
            yield StructureShape(
                where,
                tuple(self.fields(where, shown)),
                {given["id"]: self.parameter(given) for given in structure.get("params", [])},
                frozenset(structure.get("instances", {})) - {given["id"] for given in shown},
                where not in self.within,
            )

    def is_shown(self, given: Spec) -> bool:
        """Return whether a field or an instance is printed.

        Instances are printed if they parse a user type at a position. A field without any valid
        value, by which a specification refuses bytes, is not printed.
        """
        valid = given.get("valid")
        if (
            isinstance(valid, dict)
            and {"min", "max"} <= valid.keys()
            and valid["min"] > valid["max"]
        ):
            return False
        return not given["is_instance"] or ("pos" in given and _is_user_type(given.get("type")))

    def fields(self, path: Path, shown: list[Spec]) -> Iterator[FieldShape]:
        """Yield the shapes of the fields *shown* of the structure at *path*, in order."""
        offset: int | None = 0
        for given in shown:
            condition = given.get("if")
            field = FieldShape(
                id=given["id"],
                kind=self.kind(path, given),
                condition=None if condition is None else str(condition),
                is_repeated="repeat" in given,
                is_instance=given["is_instance"],
                is_to_end=bool(given.get("size-eos")) or given.get("repeat") == "eos",
                bit_offset=None if given["is_instance"] else offset,
            )
            yield field
            offset = _after(offset, given, field)

    def kind(self, path: Path, given: Spec) -> Kind:
        """Return the shape of the values of a field of the structure at *path*."""
        name = str(given.get("type", "")).split("(")[0]
        if paths := self.paths(path, given):
            return Nested(paths)
        if name in self.primitives:
            return self.primitives[name]
        if number := re.fullmatch(r"([su])([1248])([bl]e)?", name):
            return Integer(8 * int(number[2]), number[1] == "s", self.enum(path, given))
        if bits := re.fullmatch(r"b(\d+)([bl]e)?", name):
            return Integer(int(bits[1]), False, self.enum(path, given))
        if name in {"str", "strz"}:
            return Text()
        if not name:
            return BytesShape()
        raise UnsupportedShape(f"{_where(path, given)}: type {name!r} has no place in a tree")

    def parameter(self, given: Spec) -> Integer | None:
        """Return the shape of a number parameter, None for a parameter of another type."""
        number = re.fullmatch(r"([su])([1248])", str(given.get("type")))
        return Integer(8 * int(number[2]), number[1] == "s") if number else None

    def paths(self, path: Path, given: Spec) -> tuple[Path, ...]:
        """Return the paths of the structures that a field can have; empty for other types."""
        declared = given.get("type")
        if not _is_user_type(declared):
            return ()
        names = [declared]
        if isinstance(declared, dict):
            cases = {str(key): name for key, name in declared["cases"].items()}
            if "_" not in cases:
                # Where no case matches, some languages return raw bytes and some nothing.
                raise UnsupportedShape(f"{_where(path, given)}: a switch-on without the case `_`")
            names = [*cases.values()]
        found = (self.resolve(path, str(name).split("(")[0], given) for name in names)
        return tuple(dict.fromkeys(path for path in found if path[0] not in self.primitives))

    def resolve(self, path: Path, name: str, given: Spec) -> Path:
        """Return the path of the type that *name* refers to in the type at *path*."""
        for depth in range(len(path), 0, -1):
            if name in self.at(path[:depth]).get("types", {}):
                return (*path[:depth], name)
        if name in self.specs:
            return (name,)
        raise UnsupportedShape(f"{_where(path, given)}: no type {name!r} among what is dumped")

    def enum(self, path: Path, given: Spec) -> Path | None:
        """Return the path of a field's enum, None for a field without one."""
        name = given.get("enum")
        if name is None:
            return None
        for depth in range(len(path), 0, -1):
            if name in self.at(path[:depth]).get("enums", {}):
                return (*path[:depth], str(name))
        raise UnsupportedShape(f"{_where(path, given)}: no enum {name!r} in this file")

    def at(self, path: Path) -> Spec:
        """Return the definition of the type at *path*."""
        spec = self.specs[path[0]]
        for name in path[1:]:
            spec = spec["types"][name]
        return spec


def _given(structure: Spec) -> Iterator[Spec]:
    for given in structure.get("seq", []):
        yield {**given, "is_instance": False}
    for name, given in structure.get("instances", {}).items():
        yield {**given, "id": name, "is_instance": True}


def _enums(path: Path, spec: Spec) -> Iterator[tuple[Path, dict[str, int]]]:
    for where, structure in types(path, spec):
        for name, members in structure.get("enums", {}).items():
            yield (
                (*where, name),
                {
                    str(member["id"] if isinstance(member, dict) else member): number
                    for number, member in members.items()
                },
            )


def _is_user_type(declared: Any) -> bool:
    builtin = r"[su][1248]([bl]e)?|f[48]([bl]e)?|b\d+([bl]e)?|strz?"
    return declared is not None and not re.fullmatch(builtin, str(declared))


def _where(path: Path, given: Spec) -> str:
    return "/".join((*path, str(given.get("id"))))


def _after(offset: int | None, given: Spec, field: FieldShape) -> int | None:
    if offset is None or field.condition is not None or field.is_repeated:
        return None
    if isinstance(field.kind, Integer):
        return offset + field.kind.bits
    size = given.get("size")
    aligned = -(-offset // 8) * 8
    return aligned + 8 * size if isinstance(size, int) else None
