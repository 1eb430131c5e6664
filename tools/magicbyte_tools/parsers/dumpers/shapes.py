"""Shapes of the canonical tree, read from the YAML of the specifications.

A dumper knows a format by its shapes alone: the structures, their fields, the types of these, and
whether they may be absent. Whether a field *is* absent, and which structure a `switch-on` chose, it
asks the parsed object.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from magicbyte_tools.parsers.compiler_output import VISUAL, Spec, types

Path = tuple[str, ...]
"""Names of a specification and of the types in it, from the outside in."""


class UnsupportedShape(Exception):
    """A specification uses a feature that is not supported here; the message says where."""


@dataclass(frozen=True, slots=True)
class Integer:
    """A number: of how many bits, signed or not, or of an enum, or one single bit (a boolean)."""

    bits: int
    signed: bool
    enum: Path | None = None

    @property
    def is_boolean(self) -> bool:
        """True for a boolean, which is `true` or `false` in JSON."""
        return self.bits == 1 and self.enum is None

    @property
    def is_text(self) -> bool:
        """True for an integer that is a string in JSON, since some readers would lose digits."""
        return self.bits > 32


@dataclass(frozen=True, slots=True)
class BytesShape:
    """A byte array."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """A structure that stands for one number, its instance `value`."""

    path: Path
    bits: int

    @property
    def is_text(self) -> bool:
        """True for a primitive that is a string in JSON."""
        return self.bits > 32


@dataclass(frozen=True, slots=True)
class Nested:
    """A nested structure; with several *paths*, one of them is chosen by a `switch-on`."""

    class_paths: tuple[Path, ...]


Kind = Integer | BytesShape | Text | Primitive | Nested


@dataclass(frozen=True, slots=True)
class FieldShape:
    """A field of a structure, or an instance that is printed like one."""

    id: str
    kind: Kind
    condition: str | None
    is_repeated: bool
    is_instance: bool
    is_to_end: bool
    """True for a field that takes the rest of its stream."""
    bit_offset: int | None
    """Bit offset in its structure, where that does not depend on the bytes."""


@dataclass(frozen=True, slots=True)
class StructureShape:
    """A type, with the names that a condition on its fields may use."""

    path: Path
    fields: tuple[FieldShape, ...]
    params: dict[str, Integer | None]
    """Parameters, with what a number is; None for any other."""
    enum_names: frozenset[str]
    """Instances that are not printed."""
    has_own_stream: bool
    """True for a structure that always begins at the start of its stream."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """All structures by path, and the formats: those that a whole file can be."""

    structures: dict[Path, StructureShape]
    primitives: dict[str, Primitive]
    enums: dict[Path, dict[str, int]]
    formats: tuple[str, ...]


def shapes(specs: Mapping[str, Spec]) -> Shapes:
    """Return the shapes of *specs*, which dumpers use."""
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
    """Reads structures, after it has found those that may begin inside a stream."""

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
        """Yield the structure at *path* and those in it."""
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
        """Return whether a field or an instance is part of the tree.

        Instances are shown where they parse a user type. A field for which no value is valid is the
        specification's way to refuse bytes, and is never shown.
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
        """Yield the fields of a structure, with bit offsets where these are constant."""
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
        """Return the shape of a field of the structure at *path*."""
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
        """Return what kind of number a parameter is, None where it is none."""
        number = re.fullmatch(r"([su])([1248])", str(given.get("type")))
        return Integer(8 * int(number[2]), number[1] == "s") if number else None

    def paths(self, path: Path, given: Spec) -> tuple[Path, ...]:
        """Return the structures that a field can be, none where it is something else."""
        declared = given.get("type")
        if not _is_user_type(declared):
            return ()
        names = [declared]
        if isinstance(declared, dict):
            cases = {str(key): name for key, name in declared["cases"].items()}
            if "_" not in cases:
                # Where none matches, some languages have raw bytes and some nothing.
                raise UnsupportedShape(f"{_where(path, given)}: a switch-on without the case `_`")
            names = [*cases.values()]
        found = (self.resolve(path, str(name).split("(")[0], given) for name in names)
        return tuple(dict.fromkeys(path for path in found if path[0] not in self.primitives))

    def resolve(self, path: Path, name: str, given: Spec) -> Path:
        """Return the path of the type *name*, as seen from the type at *path*."""
        for depth in range(len(path), 0, -1):
            if name in self.at(path[:depth]).get("types", {}):
                return (*path[:depth], name)
        if name in self.specs:
            return (name,)
        raise UnsupportedShape(f"{_where(path, given)}: no type {name!r} among what is dumped")

    def enum(self, path: Path, given: Spec) -> Path | None:
        """Return the path of a field's enum."""
        name = given.get("enum")
        if name is None:
            return None
        for depth in range(len(path), 0, -1):
            if name in self.at(path[:depth]).get("enums", {}):
                return (*path[:depth], str(name))
        raise UnsupportedShape(f"{_where(path, given)}: no enum {name!r} in this file")

    def at(self, path: Path) -> Spec:
        """Return the type at *path*."""
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
