"""Layout of a structure's fields, as texts for tables: offset, size, condition, checksum."""

import re
from dataclasses import dataclass
from functools import cache

from magicbyte_tools.reference.library import FormatStructure, Library, Spec, bits

UNKNOWN = ""
TIMES = "\u00d7"


@dataclass(frozen=True, slots=True)
class FieldPlacement:
    """A field with its offset, size and condition in its structure, as texts for tables."""

    field: Spec
    owner: FormatStructure
    offset: str
    """Bytes from the start of the structure: `16`, or `16 or 24`; empty where it varies more."""
    size: str
    fixed: int | None
    """Size in bytes if it is constant, else None."""
    covered: bool
    """True where the structure's checksum covers the field."""
    condition: str
    """Condition under which the field is present; empty for a field that always is."""

    @property
    def id(self) -> str:
        return str(self.field["id"])


def places(
    structure: FormatStructure, library: Library, *, covered: bool = False
) -> list[FieldPlacement]:
    """Return the placements of *structure*'s fields, in order.

    *covered* is True if the checksum of an outer structure covers all of them. An optional field,
    such as a message's timestamp, gives the fields after it two offsets; variable sizes give none.
    """
    placements: list[FieldPlacement] = []
    possible_offsets: set[int] | None = {0}
    first_covered = _first_covered(structure)
    for attribute in structure.fields:
        covered = covered or attribute["id"] == first_covered
        size = None if bits(attribute) else library.size(attribute, structure)
        offset = " or ".join(map(str, sorted(possible_offsets))) if possible_offsets else UNKNOWN
        placements.append(
            FieldPlacement(
                attribute,
                structure,
                offset,
                size_words(attribute, structure, library),
                size,
                covered,
                condition(attribute),
            )
        )
        if possible_offsets is not None and size is not None:
            moved = {start + size for start in possible_offsets}
            possible_offsets = possible_offsets | moved if "if" in attribute else moved
        elif not (possible_offsets is not None and _replaced(attribute, structure)):
            possible_offsets = None
    return placements


def _first_covered(structure: FormatStructure) -> str | None:
    return next(
        (one["-checksum"]["from"] for one in structure.fields if "-checksum" in one),
        None,
    )


def _replaced(attribute: Spec, structure: FormatStructure) -> bool:
    """Return whether the next field is present exactly where *attribute* is absent."""
    following = structure.fields[structure.fields.index(attribute) + 1 :]
    return bool(following) and opposite(attribute.get("if"), following[0].get("if"))


def opposite(first_condition: object, second_condition: object) -> bool:
    """Return whether the conditions have the form `a == b` and `a != b`, in this order."""
    return str(first_condition).replace("==", "!=") == str(second_condition) and "==" in str(
        first_condition
    )


def condition(attribute: Spec) -> str:
    """Return the `if` of *attribute* as a short expression on one line, empty without an `if`."""
    return expression(attribute.get("if", ""))


def size_words(attribute: Spec, owner: FormatStructure, library: Library) -> str:
    """Return the size of *attribute* as text: bytes, an expression, or words such as `varies`."""
    one = _one_size(attribute, owner, library)
    repeat = attribute.get("repeat")
    if not repeat or one == "varies":
        return one
    count = expression(attribute["repeat-expr"]) if repeat == "expr" else "n"
    return f"{count} {TIMES} {one}"


def _one_size(attribute: Spec, owner: FormatStructure, library: Library) -> str:
    width = bits(attribute)
    if width:
        return f"{width} bit" + "s" * (width > 1)
    if attribute.get("size-eos"):
        return "the rest"
    alone = {key: value for key, value in attribute.items() if not key.startswith("repeat")}
    fixed = library.size(alone, owner)
    if fixed is not None:
        return str(fixed)
    if "size" in attribute:
        return expression(attribute["size"])
    if "terminator" in attribute or attribute.get("type") == "strz":
        return f"up to {byte_name(attribute.get('terminator', 0))}"
    structure = library.of(attribute, owner)
    if structure and structure.is_primitive:
        return f"1 to {structure.spec['-primitive']['max-bytes']}"
    return "varies"


def byte_name(value: int) -> str:
    """Return the name of a byte that terminates a text, such as `a line feed`."""
    names = {0: "a zero byte", 10: "a line feed", 13: "a carriage return", 32: "a space"}
    return names.get(value, f"0x{value:02x}")


@cache
def _shorten(text: str) -> str:
    text = re.sub(r"\.as<\w+>", "", text)
    text = re.sub(r"\.(?:value|clamped)\b|\b_parent\.|\b_\.body\.|\b_\.|\b\w+::", "", text)
    text = re.sub(r"\b(\w+)\.count\b", r"(\1 - 1)", text)
    return re.sub(r"\s+", " ", text).strip()


def expression(value: object) -> str:
    """Shorten an expression of a specification for a reader.

    Casts and the qualifiers of names are removed, and `x.value` of a varint becomes `x`.
    """
    return _shorten(str(value))
