"""Library of all specifications, which resolves the types and enums that fields refer to."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Spec = dict[str, Any]

INTEGER = re.compile(r"([us])([1248])(?:le|be)?")
BITS = re.compile(r"b(\d+)(?:le|be)?")


@dataclass(frozen=True, slots=True)
class FormatStructure:
    """A structure of a specification: the format itself (empty type_path) or a nested type."""

    format: str
    type_path: tuple[str, ...]
    spec: Spec = field(repr=False)

    @property
    def name(self) -> str:
        """Name of the structure: the name of the format or of the type."""
        return self.type_path[-1] if self.type_path else self.format

    @property
    def fields(self) -> list[Spec]:
        fields: list[Spec] = self.spec.get("seq", [])
        return fields

    @property
    def doc(self) -> str:
        return str(self.spec.get("doc", "")).strip()

    @property
    def is_bits(self) -> bool:
        """True for a structure whose fields are all bit fields of one number."""
        return bool(self.fields) and all(bits(one) for one in self.fields)

    @property
    def is_primitive(self) -> bool:
        """True for a structure that is one number of variable length, such as a varint."""
        return "-primitive" in self.spec


def bits(attribute: Spec) -> int:
    """Return the width in bits of *attribute* if it is a bit field, else 0."""
    found = BITS.fullmatch(str(attribute.get("type", "")))
    return int(found[1]) if found else 0


class Library:
    """All formats by id, with methods that resolve the names in their fields."""

    def __init__(self, specs: Mapping[str, Spec]) -> None:
        self.formats = {name: FormatStructure(name, (), spec) for name, spec in specs.items()}

    def structures(self, name: str) -> Iterator[FormatStructure]:
        """Yield the structure of the format *name* and all its nested types, outer before inner."""
        waiting = [self.formats[name]]
        while waiting:
            structure = waiting.pop(0)
            yield structure
            inner = structure.spec.get("types", {})
            waiting[:0] = [
                FormatStructure(name, (*structure.type_path, kind), spec)
                for kind, spec in inner.items()
            ]

    def find(self, kind: str, user: FormatStructure) -> FormatStructure | None:
        """Return the structure that *kind* refers to in *user*, None for a built-in type."""
        name = kind.split("(")[0].strip().split("::")
        for depth in range(len(user.type_path), -1, -1):
            path = (*user.type_path[:depth], *name)
            for structure in self.structures(user.format):
                if structure.type_path == path:
                    return structure
        return self.formats.get(name[0])

    def of(self, attribute: Spec, user: FormatStructure) -> FormatStructure | None:
        """Return the structure of *attribute*, None where its type is built-in or a `switch-on`."""
        kind = attribute.get("type")
        return self.find(kind, user) if isinstance(kind, str) else None

    def cases(self, attribute: Spec, user: FormatStructure) -> list[tuple[str, FormatStructure]]:
        """Return the cases of a `switch-on` type: the selecting value and the structure of each."""
        kind = attribute.get("type")
        if not isinstance(kind, dict):
            return []
        found = [(str(value), self.find(one, user)) for value, one in kind["cases"].items()]
        return [(value, structure) for value, structure in found if structure]

    def enum(self, name: str, user: FormatStructure) -> tuple[FormatStructure, Spec] | None:
        """Return the structure that declares the enum *name* used in *user*, and the enum."""
        for depth in range(len(user.type_path), -1, -1):
            for structure in self.structures(user.format):
                enums = structure.spec.get("enums", {})
                if structure.type_path == user.type_path[:depth] and name in enums:
                    return structure, enums[name]
        return None

    def size(self, attribute: Spec, user: FormatStructure) -> int | None:
        """Return the size of *attribute* in bytes if it is constant, else None."""
        if "repeat" in attribute:
            return None
        if "size" in attribute:
            return attribute["size"] if isinstance(attribute["size"], int) else None
        if "contents" in attribute:
            return len(attribute["contents"])
        integer = INTEGER.fullmatch(str(attribute.get("type", "")))
        if integer:
            return int(integer[2])
        structure = self.of(attribute, user)
        return self.fixed(structure) if structure else None

    def fixed(self, structure: FormatStructure) -> int | None:
        """Return the size of *structure* in bytes if it is constant, else None."""
        if structure.is_bits:
            return sum(map(bits, structure.fields)) // 8
        sizes = [
            None if "if" in attribute else self.size(attribute, structure)
            for attribute in structure.fields
        ]
        return None if None in sizes or not sizes else sum(size for size in sizes if size)
