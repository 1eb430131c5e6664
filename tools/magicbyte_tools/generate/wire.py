"""wire.py: the headers of fixed width, the enums in them, and the columns that come from the wire.

Nothing about any one format is known here. `-header` names a structure whose leading fields of
fixed width become a class; `-column` and `-derived` say what is a column of which `-table`.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import dedent, indent
from typing import Any

from magicbyte_tools.generate.columns import columns
from magicbyte_tools.generate.expressions import to_python
from magicbyte_tools.generate.parsers import camel

Spec = dict[str, Any]

FORMATS = {"s1": "b", "u1": "B", "s2": "h", "u2": "H", "s4": "i", "u4": "I", "s8": "q", "u8": "Q"}
ORDERS = {"be": ">", "le": "<"}

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
class Member:
    """A number of a header: a field, or bits of one."""

    name: str
    kind: str
    position: int
    doc: str
    condition: str | None = None
    bits: tuple["Bits", ...] = ()
    spec: Spec = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bits:
    """Bits of a number: a property of the header."""

    name: str
    shift: int
    width: int
    is_flag: bool
    doc: str


def module(specs: dict[str, Spec]) -> str:
    """Return wire.py for all *specs*."""
    headers = [Header(spec, structure) for spec in specs.values() for structure in structures(spec)]
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


class Header:
    """The fields of fixed width that a structure begins with."""

    def __init__(self, root: Spec, structure: Spec) -> None:
        self.root = root
        self.structure = structure
        self.name: str = structure["-header"]
        self.order = ORDERS[root["meta"].get("endian", "be")]
        self.members = list(self._of_seq(structure, 0)) or self._of_instances()
        ends = [m.position + struct.calcsize(m.kind) for m in self.members if not m.condition]
        self.size = max(ends)

    def _of_seq(self, structure: Spec, start: int) -> Iterator[Member]:
        """Yield the leading run: it ends where a width or a position is not fixed."""
        for spec in structure.get("seq", []):
            if "repeat" in spec or isinstance(spec.get("type"), dict):
                return
            inner = self.root.get("types", {}).get(spec.get("type"), {})
            bits = bit_fields(inner)
            if bits and isinstance(spec.get("size"), int):
                kind = FORMATS[f"s{spec['size']}"]
                member = Member(spec["id"], kind, start, text(spec), None, bits, spec)
            elif inner and "if" not in spec:
                yield from self._of_seq(inner, start)
                return
            elif spec.get("type") in FORMATS:
                kind = FORMATS[spec["type"]]
                member = Member(spec["id"], kind, start, text(spec), spec.get("if"), (), spec)
            else:
                return
            yield member
            if member.condition:
                return
            start += struct.calcsize(kind)

    def _of_instances(self) -> list[Member]:
        """Return the numbers read ahead at a fixed distance from a structure's parameter.

        Of several at one position the last counts.
        """
        params = "|".join(param["id"] for param in self.structure.get("params", []))
        found: dict[int, Member] = {}
        for name, spec in self.structure.get("instances", {}).items():
            place = re.fullmatch(rf"(?:{params})(?: \+ (\d+))?", str(spec.get("pos", "")))
            if place and spec.get("type") in FORMATS:
                kind, position = FORMATS[spec["type"]], int(place[1] or 0)
                known = spec.get("-name", name)
                found[position] = Member(known, kind, position, text(spec), None, (), spec)
        return [found[position] for position in sorted(found)]

    def parts(self) -> Iterator[str]:
        """Yield the class of the fields, and the class that reads them."""
        yield "\n".join(
            [
                f"class _{self.name}(NamedTuple):",
                *self._fields(),
            ]
        )
        lines = [f"class {self.name}(_{self.name}):"]
        about = quoted(self.structure.get("doc", ""))
        lines += [*about, ""] if about else []
        lines += ["    __slots__ = ()", ""]
        lines += self._constants()
        lines += ["", *self._unpack()]
        for member in self.members:
            lines += self._properties(member)
        yield "\n".join(lines)

    def _fields(self) -> Iterator[str]:
        for member in self.members:
            kind = "int | None" if member.condition else "int"
            yield f"    {member.name}: {kind}"
            yield from quoted(member.doc)

    def _constants(self) -> Iterator[str]:
        fixed = [m for m in self.members if not m.condition]
        yield f"    SIZE: ClassVar[int] = {self.size}"
        yield '    """Bytes that are always there."""'
        yield "    POSITIONS: ClassVar[dict[str, int]] = {"
        yield from (f'        "{member.name}": {member.position},' for member in self.members)
        yield "    }"
        yield '    """Bytes from the start to each field."""'
        for member in self.members:
            width = struct.calcsize(member.kind)
            checksum = member.spec.get("-checksum")
            if checksum:
                start = next(m.position for m in self.members if m.name == checksum["from"])
                given = f'algorithm="{checksum["algorithm"]}", field_position={member.position}'
                yield f"    CHECKSUM: ClassVar[ChecksumField] = ChecksumField({given}, start={start})"
            if member.spec.get("-length-of") == "rest":
                least = member.spec["valid"]["min"]
                start = member.position + width
                given = f"field_position={member.position}, start={start}, least={least}"
                yield f"    LENGTH: ClassVar[LengthField] = LengthField({given})"
        yield f'    FIXED: ClassVar[struct.Struct] = struct.Struct("{self._format(fixed)}")'
        yield '    """The fields that are always there, in order."""'
        for member in self.members:
            if member.condition:
                name, only = f"_{member.name.upper()}", self.order + member.kind
                yield f'    {name}: ClassVar[struct.Struct] = struct.Struct("{only}")'

    def _format(self, members: Sequence[Member]) -> str:
        """Return the struct format of *members*, with what lies between them skipped."""
        made, at = self.order, 0
        for member in members:
            gap = member.position - at
            made += (f"{gap}x" if gap else "") + member.kind
            at = member.position + struct.calcsize(member.kind)
        return made

    def _unpack(self) -> Iterator[str]:
        yield "    @classmethod"
        yield '    def unpack_from(cls, buffer: "ReadableBuffer", position: int = 0) -> Self:'
        about = "Return what stands at *position*; struct.error where the buffer is too short."
        yield f'        """{about}"""'
        optional = [m for m in self.members if m.condition]
        if not optional:
            yield "        return cls._make(cls.FIXED.unpack_from(buffer, position))"
            return
        nones = ", ".join("None" for _ in optional)
        yield f"        header = cls._make((*cls.FIXED.unpack_from(buffer, position), {nones}))"
        for member in optional:
            names = {m.name: f"header.{m.name}" for m in self.members}
            yield f"        if {to_python(member.condition or '', names)}:"
            yield (
                f"            ({member.name},) = cls._{member.name.upper()}.unpack_from("
                f"buffer, position + {member.position})"
            )
            yield f"            header = header._replace({member.name}={member.name})"
        yield "        return header"

    def _properties(self, member: Member) -> Iterator[str]:
        for bits in member.bits:
            yield ""
            yield "    @property"
            yield f"    def {bits.name}(self) -> {'bool' if bits.is_flag else 'int'}:"
            yield from (f"    {line}" for line in quoted(bits.doc))
            mask = (1 << bits.width) - 1
            if bits.is_flag:
                yield f"        return bool(self.{member.name} & {mask << bits.shift:#x})"
            elif bits.shift:
                yield f"        return self.{member.name} >> {bits.shift} & {mask:#x}"
            else:
                yield f"        return self.{member.name} & {mask:#x}"


def bit_fields(structure: Spec) -> tuple[Bits, ...]:
    """Return the fields of a *structure* that is made of bits alone, highest first in the bytes."""
    seq = structure.get("seq", [])
    widths = [re.fullmatch(r"b(\d+)", str(one.get("type"))) for one in seq]
    if not seq or not all(widths):
        return ()
    shift = sum(int(width[1]) for width in widths if width)
    found = []
    for one, width in zip(seq, widths, strict=True):
        assert width is not None
        shift -= int(width[1])
        is_flag = width[1] == "1" and "enum" not in one
        found.append(Bits(one["id"], shift, int(width[1]), is_flag, text(one)))
    return tuple(reversed(found))


def used_enums(headers: Sequence[Header]) -> list[tuple[str, dict[int, Spec]]]:
    """Return the enums that *headers* use.

    Those of one name are merged and must agree; the sentences are those of the fullest.
    """
    found: dict[str, list[Spec]] = {}
    for header in headers:
        for name in {spec["enum"] for spec in every_field(header.structure, header.root)}:
            found.setdefault(name, []).append(header.root["enums"][name])
    return sorted((name, merged_enum(name, enums)) for name, enums in found.items())


def merged_enum(name: str, enums: Sequence[Spec]) -> dict[int, Spec]:
    """Return the values of all *enums*, which are called *name*."""
    values: dict[int, Spec] = {}
    for enum in sorted(enums, key=len):
        members: dict[str, Spec] = enum
        for value, member in members.items():
            known = values.get(int(value), member)
            if (known["id"], known["-orig-id"]) != (member["id"], member["-orig-id"]):
                raise ValueError(f"enum {name}: {value} is {known['id']} and {member['id']}")
            values[int(value)] = member
    return dict(sorted(values.items()))


def every_field(structure: Spec, root: Spec) -> Iterator[Spec]:
    """Yield the fields with an enum of *structure* and of the types in it."""
    for spec in structure.get("seq", []):
        if "enum" in spec:
            yield spec
        kind = spec.get("type")
        if isinstance(kind, str) and kind in root.get("types", {}):
            yield from every_field(root["types"][kind], root)


def enum_parts(name: str, values: dict[int, Spec]) -> Iterator[str]:
    """Yield an enum's class, and Kafka's words for its values."""
    singular = name.removesuffix("s")
    lines = [f"class {camel(singular)}(IntEnum):"]
    for value, member in values.items():
        lines.append(f"    {member['id'].upper()} = {value}")
        lines += quoted(member.get("doc", ""))
    yield "\n".join(lines)
    lines = [f"{singular.upper()}_NAMES: dict[int, str] = {{"]
    lines += [f'    {value}: "{member["-orig-id"]}",' for value, member in values.items()]
    yield "\n".join([*lines, "}"])


def columns_part(specs: dict[str, Spec]) -> str:
    """Return the dictionary of the tables' columns."""
    lines = ["COLUMNS: dict[str, tuple[WireColumn, ...]] = {"]
    for table, found in columns(specs).items():
        lines.append(f'    "{table}": (')
        for column in found:
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
    """Return a keyword argument whose long text is folded over several lines."""
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
    """Return *value* as Python, strings in double quotes."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def text(spec: Spec) -> str:
    """Return what a field's sentence says."""
    doc: str = spec.get("doc", "")
    return doc.strip()


def quoted(doc: str) -> list[str]:
    """Return *doc* as an indented docstring, or nothing."""
    lines = dedent(doc).strip().replace("\\", "\\\\").splitlines()
    if not lines:
        return []
    if len(lines) > 1:
        lines.append("")
    made = '"""' + "\n".join(lines) + '"""'
    return indent(made, "    ").splitlines()
