"""Lists the fields of an example with the byte range of each.

The generated Kaitai classes parse the bytes; the position of a field follows from the sizes of the
fields before it. A byte that belongs to no field raises UnaccountedError.
"""

import importlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kaitaistruct import KaitaiStream

from magicbyte_tools.generate.parsers import camel
from magicbyte_tools.reference.library import INTEGER, FormatStructure, Library, Spec, bits


@dataclass(frozen=True, slots=True)
class Leaf:
    """A field without nested fields: its value, and its bytes from *start* up to *end*."""

    field_path: tuple[str, ...]
    """Names from the outermost field to this one, without regions that Kafka does not name."""
    start: int
    end: int
    value: Any
    """Parsed value: a number, bytes, text, None, or a dict of bits by their ids."""
    field: Spec
    owner: FormatStructure


class UnaccountedError(Exception):
    """The sizes of the parsed fields do not add up to the number of bytes."""


def parse(structure: FormatStructure, data: bytes, *, parameters: tuple[Any, ...] = ()) -> Any:
    """Parse *data* with the generated Kaitai class of the format *structure*."""
    module = importlib.import_module(f"magicbyte_formats.kaitai.{structure.format}")
    parser = getattr(module, camel(structure.format))
    return parser(*parameters, KaitaiStream(io.BytesIO(data)))


def leaves(structure: FormatStructure, parsed: Any, data: bytes, library: Library) -> list[Leaf]:
    """Return the fields of *parsed* in the order of their bytes.

    Raises UnaccountedError where a byte of *data* belongs to no field.
    """
    walk = _Walk(data, library)
    found = list(walk.structure(structure, parsed, ()))
    position = 0
    for leaf in found:
        if leaf.start != position:
            raise UnaccountedError(f"{leaf.field_path} begins at {leaf.start}, not at {position}")
        position = leaf.end
    if position != len(data):
        raise UnaccountedError(f"{structure.name} ends at {position} of {len(data)}")
    return found


class _Walk:
    """A walk over the parsed fields in order; *at* is the position of the next field."""

    def __init__(self, data: bytes, library: Library) -> None:
        self.data, self.library, self.at = data, library, 0
        self.classes = {
            (name, ".".join(map(camel, (name, *structure.type_path)))): structure
            for name in library.formats
            for structure in library.structures(name)
        }

    def structure(
        self, structure: FormatStructure, parsed: Any, field_path: tuple[str, ...]
    ) -> Iterator[Leaf]:
        for attribute in structure.fields:
            name = str(attribute["id"])
            value = getattr(parsed, name)
            if isinstance(value, list):
                for number, one in enumerate(value):
                    numbered = (*field_path, f"{name}[{number}]")
                    yield from self.one(attribute, structure, one, numbered)
            elif "-ours" in attribute and "size" in attribute and self.known(value):
                yield from self.one(attribute, structure, value, field_path)
            else:
                yield from self.one(attribute, structure, value, (*field_path, name))

    def known(self, value: Any) -> FormatStructure | None:
        """Return the structure whose generated class *value* belongs to, None for a plain value."""
        kind = type(value)
        return self.classes.get((kind.__module__.split(".")[-1], kind.__qualname__))

    def one(
        self, attribute: Spec, owner: FormatStructure, value: Any, field_path: tuple[str, ...]
    ) -> Iterator[Leaf]:
        """Yield the leaves of one field, or of one element of a repeated field."""
        start = self.at
        inner = self.known(value)
        if inner is None:
            self.at += self.width(attribute, value)
            yield Leaf(field_path, start, self.at, value, attribute, owner)
        elif inner.is_primitive:
            for _ in self.structure(inner, value, field_path):
                pass
            yield Leaf(field_path, start, self.at, value.value, attribute, owner)
        elif inner.is_bits:
            self.at += sum(map(bits, inner.fields)) // 8
            found = {str(one["id"]): getattr(value, one["id"]) for one in inner.fields}
            yield Leaf(field_path, start, self.at, found, attribute, owner)
        else:
            yield from self.structure(inner, value, field_path)
            end = start + value._io.size()
            if ("size" in attribute or "size-eos" in attribute) and end != self.at:
                raise UnaccountedError(f"{field_path}: {end - self.at} bytes left over")

    def width(self, attribute: Spec, value: Any) -> int:
        if value is None:
            return 0
        integer = INTEGER.fullmatch(str(attribute.get("type", "")))
        if integer:
            return int(integer[2])
        if not isinstance(value, bytes | str):
            raise UnaccountedError(f"{attribute['id']} is a {type(value).__name__}")
        length = len(value.encode() if isinstance(value, str) else value)
        terminator = attribute.get("terminator")
        if terminator is None or attribute.get("include") or attribute.get("consume") is False:
            return length
        return length + (self.data[self.at + length :][:1] == bytes([terminator]))
