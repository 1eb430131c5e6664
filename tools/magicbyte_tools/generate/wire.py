"""Prints wire.py: headers of fixed width, the enums in them, and the columns of the tables.

Nothing here knows a particular format. `-header` names a structure whose leading fields of fixed
width become a class; `-column` and `-derived` declare the columns of a `-table`.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import dedent, indent

from magicbyte_tools.generate.columns import columns
from magicbyte_tools.generate.expressions import to_python
from magicbyte_tools.generate.parsers import camel
from magicbyte_tools.generate.source import Spec

STRUCT_FORMATS = {"s1": "b", "s2": "h", "s4": "i", "s8": "q"}
STRUCT_FORMATS |= {f"u{name[1]}": signed.upper() for name, signed in STRUCT_FORMATS.items()}
ORDERS = {"be": ">", "le": "<"}
"""Byte orders of `struct` and NumPy, by Kaitai's."""

PRELUDE = '''\
"""Headers of fixed width, enums, and columns of the tables, generated from spec/.

Numbers are as stored; the docstrings say what a sentinel such as -1 stands for.
"""

import struct
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

from magicbyte_kernels.wire_types import ChecksumField, LengthField, WireColumn

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
'''


@dataclass(frozen=True, slots=True)
class HeaderNumber:
    """Number in a header of fixed width."""

    name: str
    format: str
    """Format character of `struct`."""
    position: int
    """Bytes from the start of the structure."""
    condition: str | None = None
    """Condition for the field to exist; None: always."""
    bits: tuple["BitField", ...] = ()
    spec: Spec = field(default_factory=dict)

    @property
    def width(self) -> int:
        """Width of the number in bytes."""
        return struct.calcsize(self.format)


@dataclass(frozen=True, slots=True)
class BitField:
    """Bit field in a number of a header, which becomes a property of the header's class."""

    name: str
    shift: int
    width: int
    is_flag: bool
    doc: str


def module(specs: dict[str, Spec]) -> str:
    """Return the text of wire.py for all *specs*."""
    headers = [
        HeaderClass(spec, structure) for spec in specs.values() for structure in structures(spec)
    ]
    parts = [PRELUDE]
    parts += [part for enum in used_enums(headers) for part in enum_parts(*enum)]
    parts += [part for header in headers for part in header.parts()]
    parts.append(columns_part(specs))
    return "\n\n".join(part.strip("\n") + "\n" for part in parts)


def structures(spec: Spec) -> Iterator[Spec]:
    """Yield the structures of *spec* that name a header."""
    if "-header" in spec:
        yield spec
    for inner in spec.get("types", {}).values():
        yield from structures(inner)


class HeaderClass:
    """Prints the class of a header: the leading fields of fixed width of a structure."""

    def __init__(self, root: Spec, structure: Spec) -> None:
        self.root = root
        self.structure = structure
        self.name: str = structure["-header"]
        self.order = ORDERS[root["meta"].get("endian", "be")]
        self.numbers = list(self._fields_of(structure, 0)) or self._instances()
        self.size = max(n.position + n.width for n in self.numbers if not n.condition)

    def _fields_of(self, structure: Spec, start: int) -> Iterator[HeaderNumber]:
        """Yield the leading fields whose position and width are fixed."""
        for spec in structure.get("seq", []):
            if "repeat" in spec or isinstance(spec.get("type"), dict):
                return
            inner = self.root.get("types", {}).get(spec.get("type"), {})
            bits = bit_fields(inner)
            if bits and isinstance(spec.get("size"), int):
                code = STRUCT_FORMATS[f"s{spec['size']}"]
                number = HeaderNumber(spec["id"], code, start, None, bits, spec)
            elif inner and "if" not in spec:
                yield from self._fields_of(inner, start)
                return
            elif spec.get("type") in STRUCT_FORMATS:
                code = STRUCT_FORMATS[spec["type"]]
                number = HeaderNumber(spec["id"], code, start, spec.get("if"), (), spec)
            else:
                return
            yield number
            if number.condition:
                return
            start += number.width

    def _instances(self) -> list[HeaderNumber]:
        """Return the instances that are numbers at a fixed distance from a parameter.

        If several have the same position, the last one is returned.
        """
        params = "|".join(param["id"] for param in self.structure.get("params", []))
        numbers_by_position: dict[int, HeaderNumber] = {}
        for name, spec in self.structure.get("instances", {}).items():
            match = re.fullmatch(rf"(?:{params})(?: \+ (\d+))?", str(spec.get("pos", "")))
            if match and spec.get("type") in STRUCT_FORMATS:
                code, position = STRUCT_FORMATS[spec["type"]], int(match[1] or 0)
                number = HeaderNumber(spec.get("-name", name), code, position, spec=spec)
                numbers_by_position[position] = number
        return [numbers_by_position[position] for position in sorted(numbers_by_position)]

    def parts(self) -> Iterator[str]:
        """Yield the source of the tuple class of the fields, and of the class that reads them."""
        yield "\n".join([f"class _{self.name}(NamedTuple):", *self._fields()])
        lines = [f"class {self.name}(_{self.name}):"]
        docstring = quoted(self.structure.get("doc", ""))
        lines += [*docstring, ""] if docstring else []
        lines += ["    __slots__ = ()", ""]
        lines += self._constants()
        lines += ["", *self._unpack()]
        for number in self.numbers:
            lines += self._properties(number)
        yield "\n".join(lines)

    def _fields(self) -> Iterator[str]:
        for number in self.numbers:
            annotation = "int | None" if number.condition else "int"
            yield f"    {number.name}: {annotation}"
            yield from quoted(number.spec.get("doc", ""))

    def _constants(self) -> Iterator[str]:
        fixed = [m for m in self.numbers if not m.condition]
        yield f"    SIZE: ClassVar[int] = {self.size}"
        yield '    """Bytes of the fields that every structure has."""'
        yield "    POSITIONS: ClassVar[dict[str, int]] = {"
        yield from (f'        "{number.name}": {number.position},' for number in self.numbers)
        yield "    }"
        yield '    """Bytes from the start of the structure to each field."""'
        for number in self.numbers:
            checksum = number.spec.get("-checksum")
            if checksum:
                start = next(m.position for m in self.numbers if m.name == checksum["from"])
                fields = f'algorithm="{checksum["algorithm"]}", field_position={number.position}'
                yield f"    CHECKSUM: ClassVar[ChecksumField] = ChecksumField({fields}, start={start})"
            if number.spec.get("-length-of") == "rest":
                least = number.spec["valid"]["min"]
                start = number.position + number.width
                fields = f"field_position={number.position}, start={start}, least={least}"
                yield f"    LENGTH: ClassVar[LengthField] = LengthField({fields})"
        yield f'    FIXED: ClassVar[struct.Struct] = struct.Struct("{self._format(fixed)}")'
        yield '    """Fields that every structure has, in order."""'
        for number in self.numbers:
            if number.condition:
                name, only = f"_{number.name.upper()}", self.order + number.format
                yield f'    {name}: ClassVar[struct.Struct] = struct.Struct("{only}")'

    def _format(self, header_numbers: Sequence[HeaderNumber]) -> str:
        """Return the struct format of *header_numbers*, which skips the bytes between them."""
        struct_format, end = self.order, 0
        for number in header_numbers:
            gap = number.position - end
            struct_format += (f"{gap}x" if gap else "") + number.format
            end = number.position + number.width
        return struct_format

    def _unpack(self) -> Iterator[str]:
        yield "    @classmethod"
        yield '    def unpack_from(cls, buffer: "ReadableBuffer", position: int = 0) -> Self:'
        raises = "Raises struct.error if the buffer is too short."
        yield f'        """Return the header at *position*. {raises}"""'
        optional = [m for m in self.numbers if m.condition]
        if not optional:
            yield "        return cls._make(cls.FIXED.unpack_from(buffer, position))"
            return
        nones = ", ".join("None" for _ in optional)
        yield f"        header = cls._make((*cls.FIXED.unpack_from(buffer, position), {nones}))"
        for number in optional:
            names = {m.name: f"header.{m.name}" for m in self.numbers}
            yield f"        if {to_python(number.condition or '', names)}:"
            yield (
                f"            ({number.name},) = cls._{number.name.upper()}.unpack_from("
                f"buffer, position + {number.position})"
            )
            yield f"            header = header._replace({number.name}={number.name})"
        yield "        return header"

    def _properties(self, header_number: HeaderNumber) -> Iterator[str]:
        for bits in header_number.bits:
            yield ""
            yield "    @property"
            yield f"    def {bits.name}(self) -> {'bool' if bits.is_flag else 'int'}:"
            yield from (f"    {line}" for line in quoted(bits.doc))
            mask = (1 << bits.width) - 1
            if bits.is_flag:
                yield f"        return bool(self.{header_number.name} & {mask << bits.shift:#x})"
            elif bits.shift:
                yield f"        return self.{header_number.name} >> {bits.shift} & {mask:#x}"
            else:
                yield f"        return self.{header_number.name} & {mask:#x}"


def bit_fields(structure: Spec) -> tuple[BitField, ...]:
    """Return the bit fields of *structure*, the lowest bits first; none unless it is bits alone."""
    seq = structure.get("seq", [])
    widths = [re.fullmatch(r"b(\d+)", str(field_spec.get("type"))) for field_spec in seq]
    if not seq or not all(widths):
        return ()
    shift = sum(int(width[1]) for width in widths if width)
    fields = []
    for field_spec, width in zip(seq, widths, strict=True):
        assert width is not None
        shift -= int(width[1])
        is_flag = width[1] == "1" and "enum" not in field_spec
        doc = field_spec.get("doc", "")
        fields.append(BitField(field_spec["id"], shift, int(width[1]), is_flag, doc))
    return tuple(reversed(fields))


def used_enums(headers: Sequence[HeaderClass]) -> list[tuple[str, dict[int, Spec]]]:
    """Return the enums that *headers* use.

    Enums of the same name must agree and are merged, with the docs of the largest.
    """
    enums_by_name: dict[str, list[Spec]] = {}
    for header in headers:
        for name in {spec["enum"] for spec in enum_fields(header.structure, header.root)}:
            enums_by_name.setdefault(name, []).append(header.root["enums"][name])
    return sorted((name, merged_enum(name, enums)) for name, enums in enums_by_name.items())


def merged_enum(name: str, enums: Sequence[Spec]) -> dict[int, Spec]:
    """Return the members of all *enums*, which are called *name*, by number."""
    merged: dict[int, Spec] = {}
    for enum in sorted(enums, key=len):
        enum_members: dict[str, Spec] = enum
        for number, member in enum_members.items():
            same = merged.get(int(number), member)
            if (same["id"], same["-orig-id"]) != (member["id"], member["-orig-id"]):
                raise ValueError(f"enum {name}: {number} is {same['id']} and {member['id']}")
            merged[int(number)] = member
    return dict(sorted(merged.items()))


def enum_fields(structure: Spec, root: Spec) -> Iterator[Spec]:
    """Yield the fields with an enum, in *structure* and in the types that it uses."""
    for spec in structure.get("seq", []):
        if "enum" in spec:
            yield spec
        type_name = spec.get("type")
        if isinstance(type_name, str) and type_name in root.get("types", {}):
            yield from enum_fields(root["types"][type_name], root)


def enum_parts(name: str, enum_members: dict[int, Spec]) -> Iterator[str]:
    """Yield the source of an enum's class, and of the dictionary of Kafka's names of its values."""
    singular = name.removesuffix("s")
    lines = [f"class {camel(singular)}(IntEnum):"]
    for number, member in enum_members.items():
        lines.append(f"    {member['id'].upper()} = {number}")
        lines += quoted(member.get("doc", ""))
    yield "\n".join(lines)
    lines = [f"{singular.upper()}_NAMES: dict[int, str] = {{"]
    lines += [f'    {number}: "{member["-orig-id"]}",' for number, member in enum_members.items()]
    yield "\n".join([*lines, "}"])


def columns_part(specs: dict[str, Spec]) -> str:
    """Return the source of the dictionary of the columns of all tables."""
    lines = ["COLUMNS: dict[str, tuple[WireColumn, ...]] = {"]
    for table, table_columns in columns(specs).items():
        lines.append(f'    "{table}": (')
        for column in table_columns:
            lines.append("        WireColumn(")
            lines += [
                f"            {key}={literal(getattr(column, key))},"
                for key in ("name", "type", "nullable", "sentinel", "unit")
            ]
            lines += folded("doc", column.doc)
            lines += folded("source", column.source)
            lines.append("        ),")
        lines.append("    ),")
    return "\n".join([*lines, "}"])


def folded(key: str, value: str, width: int = 76) -> list[str]:
    """Return the lines of a keyword argument; a text longer than *width* takes several lines."""
    if len(value) <= width:
        return [f"            {key}={literal(value)},"]
    lines, rest = [], value
    while len(rest) > width:
        cut = rest.rfind(" ", 0, width) + 1 or width
        lines.append(rest[:cut])
        rest = rest[cut:]
    return [
        f"            {key}=(",
        *(f"                {literal(line)}" for line in [*lines, rest]),
        "            ),",
    ]


def literal(value: object) -> str:
    """Return *value* as Python, with strings in double quotes."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def quoted(doc: str) -> list[str]:
    """Return the lines of *doc* as an indented docstring; none if it is empty."""
    lines = dedent(doc).strip().replace("\\", "\\\\").splitlines()
    if not lines:
        return []
    if len(lines) > 1:
        lines.append("")
    return indent('"""' + "\n".join(lines) + '"""', "    ").splitlines()
