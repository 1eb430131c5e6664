"""Layout of a structure's fields, in words: offset, size, condition, checksum."""

import re
from dataclasses import dataclass
from functools import cache

from magicbyte_tools.reference.library import FormatStructure, Library, Spec, bits

UNKNOWN = ""
TIMES = "\u00d7"


@dataclass(frozen=True, slots=True)
class FieldPlacement:
    """A field and its position in its structure."""

    field: Spec
    owner: FormatStructure
    offset: str
    """Bytes from the start of the structure; empty where it begins at the end of the one above."""
    size: str
    fixed: int | None
    """The size, where it is always the same."""
    covered: bool
    """True where the structure's checksum covers the field."""
    condition: str
    """The condition without which it is not there, or nothing."""

    @property
    def id(self) -> str:
        return str(self.field["id"])


def places(
    structure: FormatStructure, library: Library, *, covered: bool = False
) -> list[FieldPlacement]:
    """Return the fields of *structure* in their order; *covered* if all are, by another's checksum.

    Offsets are told as long as at most one field before is there or not there, as the timestamp
    of a message is.
    """
    placements: list[FieldPlacement] = []
    starts: set[int] | None = {0}
    first_covered = _first_covered(structure)
    for attribute in structure.fields:
        covered = covered or attribute["id"] == first_covered
        size = None if bits(attribute) else library.size(attribute, structure)
        offset = " or ".join(map(str, sorted(starts))) if starts else UNKNOWN
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
        if starts is not None and size is not None:
            moved = {start + size for start in starts}
            starts = starts | moved if "if" in attribute else moved
        elif not (starts is not None and _replaced(attribute, structure)):
            starts = None
    return placements


def _first_covered(structure: FormatStructure) -> str | None:
    return next(
        (one["-checksum"]["from"] for one in structure.fields if "-checksum" in one),
        None,
    )


def _replaced(attribute: Spec, structure: FormatStructure) -> bool:
    """Return whether the next field has the same offset under the opposite condition."""
    following = structure.fields[structure.fields.index(attribute) + 1 :]
    return bool(following) and opposite(attribute.get("if"), following[0].get("if"))


def opposite(first_condition: object, second_condition: object) -> bool:
    """Return whether of two conditions `a == b` and `a != b` exactly one holds."""
    return str(first_condition).replace("==", "!=") == str(second_condition) and "==" in str(
        first_condition
    )


def condition(attribute: Spec) -> str:
    """Return the condition of *attribute* on one line, in few words."""
    return expression(attribute.get("if", ""))


def size_words(attribute: Spec, owner: FormatStructure, library: Library) -> str:
    """Return the bytes of *attribute* as a table says it."""
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
    """Return how a byte that ends a text is called."""
    names = {0: "a zero byte", 10: "a line feed", 13: "a carriage return", 32: "a space"}
    return names.get(value, f"0x{value:02x}")


@cache
def _shorten(text: str) -> str:
    text = re.sub(r"\.as<\w+>", "", text)
    text = re.sub(r"\.(?:value|clamped)\b|\b_parent\.|\b_\.body\.|\b_\.|\b\w+::", "", text)
    text = re.sub(r"\b(\w+)\.count\b", r"(\1 - 1)", text)
    return re.sub(r"\s+", " ", text).strip()


def expression(value: object) -> str:
    """Return an expression of the specification as a reader wants it.

    That is without casts, without the way to a name, and with a varint standing for its value.
    """
    return _shorten(str(value))
