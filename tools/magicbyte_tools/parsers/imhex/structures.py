"""Writes the structures of a specification as types of ImHex's pattern language.

Kaitai's parsers give a sized field a stream of its own. A pattern has the whole file, so each type has
the two ends of its stream as parameters, `ofs_io` and `end_io`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from magicbyte_tools.generate.parsers import camel
from magicbyte_tools.parsers.imhex.expressions import UnsupportedExpression
from magicbyte_tools.parsers.imhex.name_resolver import (
    NameResolver,
    bare,
    expected_words,
    place,
    quoted,
    type_name,
    valid_condition,
)
from magicbyte_tools.reference.field_cells import is_impossible
from magicbyte_tools.reference.library import INTEGER, FormatStructure, Library, Spec, bits

TEXT = ("str", "strz")


@dataclass
class WrittenType:
    """A type of the pattern language, and the parameters that its users have to give after the stream."""

    text: str
    outer_paths: list[str] = field(default_factory=list)
    """Names of the values from the structure around it, as Kaitai paths without `_parent.`."""


class TypeWriter:
    """Writes types in the order in which they depend on each other, each once."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.types: dict[str, WrittenType] = {}
        """Written types by their name, functions and enums with them."""

    def write_root(self, structure: FormatStructure) -> None:
        """Write *structure*, a whole file, with a check that no field ends after the file, which ImHex lacks."""
        end = f'end_of_region($, end_io, "{structure.name}");'
        written = _StructWriter(structure, self).written(type_name(structure), end)
        self.types[type_name(structure)] = written

    def write(self, structure: FormatStructure) -> WrittenType:
        """Write *structure* and all types that its fields have."""
        name = type_name(structure)
        if name not in self.types:
            self.types[name] = (
                _primitive(structure)
                if structure.is_primitive
                else self._bits(structure)
                if structure.is_bits
                else _StructWriter(structure, self).written()
            )
        return self.types[name]

    def write_last(self, structure: FormatStructure, until: str) -> str:
        """Write *structure* as an element that ends its array where the condition *until* holds; return its name."""
        name = f"{type_name(structure)}UpToLast"
        writer = _StructWriter(structure, self)
        end = f"if ({writer.scope.expression(until)}) break;"
        self.types.setdefault(name, WrittenType(writer.written(name, end).text))
        return name

    def enum(self, name: str, user: FormatStructure, width: str) -> str:
        """Write the enum that *user* calls *name* for an integer of type *width*; return the type's name."""
        *outer, last = name.split("::")
        owner = self.library.find("::".join(outer), user) if outer else user
        found = self.library.enum(last, owner or user)
        if found is None:
            raise UnsupportedExpression(f"{type_name(user)}: there is no enum {name!r}")
        declaring, members = found
        type_ = f"{type_name(declaring)}{camel(last)}"
        lines = [f"enum {type_} : {width} {{"]
        lines += [f"    {member['id']} = {value}," for value, member in members.items()]
        self.types.setdefault(type_, WrittenType("\n".join([*lines, "};"])))
        return type_

    def _bits(self, structure: FormatStructure) -> WrittenType:
        lines = []
        for one in structure.fields:
            width = bits(one)
            kind = "bool " if width == 1 else ""
            if "enum" in one:
                kind = self.enum(one["enum"], structure, "u8") + " "
            lines.append(f"    {kind}{one['id']} : {width}{_comment(one)};")
        total = sum(map(bits, structure.fields))
        order = f"std::core::BitfieldOrder::MostToLeastSignificant, {total}"
        head = f"bitfield {type_name(structure)}<auto ofs_io, auto end_io> {{"
        return WrittenType("\n".join([head, *lines, f"}} [[bitfield_order({order})]];"]))


def _primitive(structure: FormatStructure) -> WrittenType:
    """Return the type of an integer of variable length, which has the integer as its value."""
    keys = structure.spec["-primitive"]
    function = f"{keys['encoding']}_{keys['bits']}"
    most = keys["max-bytes"]
    name = type_name(structure)
    return WrittenType(
        f"struct {name}<auto ofs_io, auto end_io> {{\n"
        f"    u8 groups[while(goes_on(addressof(this), {most}))] [[hidden]];\n"
        f"    if ($ > end_io || (std::mem::read_unsigned($ - 1, 1) & 0x80) != 0)\n"
        f'        std::error(std::format("{structure.format} of more than {most} bytes at byte {{}}", addressof(this)));\n'
        f'}} [[sealed, transform("{function}"), format("{function}")]];'
    )


class _StructWriter:
    """Writer of the struct of one structure."""

    def __init__(self, structure: FormatStructure, types: TypeWriter) -> None:
        self.structure, self.types, self.library = structure, types, types.library
        self.scope = NameResolver(structure, types.library)

    def written(self, name: str = "", *more: str) -> WrittenType:
        """Return the struct, called *name* if not as the structure is, with the lines *more* at its end."""
        lines = [line for one in self.structure.fields for line in self._field(one)]
        lines += [line for name in self._instances() for line in self._instance(name)]
        names = "".join(f", auto {each}" for each in self.scope.parameters())
        head = f"struct {name or type_name(self.structure)}<auto ofs_io, auto end_io{names}> {{"
        body = [f"    {line}" for line in (*lines, *more)]
        text = "\n".join([head, *body, "};"])
        return WrittenType(
            "\n\n".join([*self.scope.functions.values(), text]), self.scope.from_parent
        )

    # Fields

    def _field(self, one: Spec) -> Iterator[str]:
        body = [*self._body(one)]
        if "if" in one:
            yield f"if ({bare(self.scope.expression(one['if']))}) {{"
            yield from (f"    {line}" for line in body)
            yield "}"
        else:
            yield from body

    def _body(self, one: Spec) -> Iterator[str]:
        if is_impossible(one):
            yield f"std::error({quoted(f'{self._place(one)}: a byte that must not be')});"
            return
        if isinstance(one.get("type"), dict):
            yield from self._switch(one)
        elif self.library.of(one, self.structure):
            yield from self._typed(one, str(one["type"]))
        elif one.get("type") in TEXT:
            yield from self._text(one)
        elif INTEGER.fullmatch(str(one.get("type"))):
            yield f"{self._integer(one)} {one['id']}{self._count(one)}{_comment(one)};"
        elif "type" not in one:
            yield f"u8 {one['id']}[{self._size(one)}]{_comment(one)};"
        else:
            raise self.refusal(one, f"type {one['type']!r}")
        yield from self._validity(one)

    def _integer(self, one: Spec) -> str:
        """Return the type of an integer or of an enum over one."""
        match = INTEGER.fullmatch(str(one["type"]))
        assert match is not None
        width = f"{match[1]}{8 * int(match[2])}"
        return self.types.enum(one["enum"], self.structure, width) if "enum" in one else width

    def _text(self, one: Spec) -> Iterator[str]:
        if "terminator" not in one:
            yield f"char {one['id']}[{self._size(one)}]{_comment(one)};"
            return
        byte = f"0x{one['terminator']:02x}"
        yield f"char {one['id']}[bytes_up_to({byte}, end_io)]{_comment(one)};"
        yield "padding[1];"

    def _switch(self, one: Spec) -> Iterator[str]:
        kind = one["type"]
        yield f"u64 end_of_{one['id']} = $ + {self._size(one)};"
        yield f"match ({self.scope.expression(kind['switch-on'])}) {{"
        structures: list[FormatStructure] = []
        for value, name in kind["cases"].items():
            case = "_" if value == "_" else self.scope.expression(value)
            target = self.library.find(name, self.structure)
            if target is None:
                raise self.refusal(one, f"type {name!r}")
            structures.append(target)
            application = self._application(target, [], "$", f"end_of_{one['id']}")
            yield f"    ({case}): {application} {one['id']}{_comment(one)};"
        yield "}"
        yield from self._region_end(one, *structures)

    def _typed(self, one: Spec, kind: str) -> Iterator[str]:
        target, type_arguments = self._target(one, kind)
        width = self.library.fixed(target)
        if "size" in one and one["size"] == width:
            application = self._application(target, type_arguments, "$", f"$ + {width}")
            yield f"{application} {one['id']}{_comment(one)};"
        elif "size" in one or "size-eos" in one:
            yield f"u64 end_of_{one['id']} = $ + {self._size(one)};"
            application = self._application(target, type_arguments, "$", f"end_of_{one['id']}")
            yield f"{application} {one['id']}{_comment(one)};"
            yield from self._region_end(one, target)
        else:
            until = one.get("repeat-until") if "-until" not in one else None
            application = self._application(target, type_arguments, "ofs_io", "end_io", until)
            yield f"{application} {one['id']}{self._count(one)}{_comment(one)};"

    def _target(self, one: Spec, kind: str) -> tuple[FormatStructure, list[str]]:
        target = self.library.of(one, self.structure)
        assert target is not None
        inner = kind.partition("(")[2].rpartition(")")[0]
        return target, [self.scope.expression(each) for each in inner.split(",") if each.strip()]

    def _application(
        self,
        structure: FormatStructure,
        type_arguments: list[str],
        start: str,
        end: str,
        until: str | None = None,
    ) -> str:
        """Return the type *structure* with *type_arguments*; with *until*, one that ends the array around it."""
        written = self.types.write(structure)
        name = type_name(structure) if until is None else self.types.write_last(structure, until)
        outer = [self.scope.expression(path) for path in written.outer_paths]
        return f"{name}<{', '.join([start, end, *type_arguments, *outer])}>"

    def _region_end(self, one: Spec, *targets: FormatStructure) -> Iterator[str]:
        """Yield what refuses a field longer than its size, and shows the bytes that it leaves over."""
        end = f"end_of_{one['id']}"
        yield f"end_of_region($, {end}, {quoted(self._place(one))});"
        if targets and all("size-eos" in target.fields[-1] for target in targets):
            return
        words = (
            "Bytes that no field has; an error in Kafka." if "-exact" in one else "Not looked at."
        )
        yield f"if ($ < {end}) {{"
        yield f"    u8 rest_of_{one['id']}[{end} - $] [[comment({quoted(words)})]];"
        yield "}"

    def _size(self, one: Spec) -> str:
        if "size-eos" in one:
            return "end_io - $"
        if "size" not in one:
            raise self.refusal(one, "no size")
        return f"bounded({bare(self.scope.expression(one['size']))}, end_io)"

    def _count(self, one: Spec) -> str:
        repeat = one.get("repeat")
        if repeat is None:
            return ""
        if repeat == "expr":
            return f"[{bare(self.scope.expression(one['repeat-expr']))}]"
        if repeat == "eos":
            return "[while($ < end_io)]"
        target = self.library.of(one, self.structure)
        if one.get("-until") == "zeros" and target and (width := self.library.fixed(target)):
            return f"[while($ + {width} <= end_io && std::mem::read_unsigned($, {width}) != 0)]"
        if one["repeat"] == "until" and target:
            return "[while(true)]"  # its type ends the array, see `until`
        raise self.refusal(one, f"repeat: {repeat}")

    def _validity(self, one: Spec) -> Iterator[str]:
        """Yield the check of a field's value; Kafka's own rule where Kaitai's language has none for the type."""
        target = self.library.of(one, self.structure)
        valid = one.get("valid", one.get("-valid") if target and target.is_primitive else None)
        if valid is None:
            return
        condition = valid_condition(valid, str(one["id"]), self._place(one))
        message = f"{self._place(one)} is {{}}, expected: {expected_words(one)} (at byte {{}})"
        yield f"if (!({condition}))"
        yield f"    std::error(std::format({quoted(message)}, {one['id']}, addressof({one['id']})));"

    # Instances

    def _instances(self) -> Iterator[str]:
        """Yield the names of the instances that are structures at a position."""
        for name, one in self.structure.spec.get("instances", {}).items():
            if "pos" in one and self.library.of(one, self.structure):
                yield name

    def _instance(self, name: str) -> Iterator[str]:
        one = {"id": name, **self.structure.spec["instances"][name]}
        if "size" in one or "repeat" in one or isinstance(one["type"], dict):
            raise self.refusal(one, "an instance with a size")
        target, type_arguments = self._target(one, one["type"])
        application = self._application(target, type_arguments, "ofs_io", "end_io")
        line = (
            f"{application} {name} @ ofs_io + {self.scope.expression(one['pos'])}{_comment(one)};"
        )
        if "if" in one:
            yield f"if ({bare(self.scope.expression(one['if']))}) {{"
            yield f"    {line}"
            yield "}"
        else:
            yield line

    def _place(self, one: Spec) -> str:
        return place(self.structure, str(one["id"]))

    def refusal(self, one: Spec, words: str) -> UnsupportedExpression:
        return UnsupportedExpression(f"{self._place(one)}: {words} is not translated")


def _comment(one: Spec) -> str:
    """Return the attribute with Kafka's name and the sentence of a field."""
    words = re.sub(r"\s+", " ", str(one.get("doc", "")).strip())
    kafka = one.get("-orig-id")
    if kafka and kafka != one["id"]:
        words = f"{kafka}: {words}"
    return f" [[comment({quoted(words)})]]" if words else ""
