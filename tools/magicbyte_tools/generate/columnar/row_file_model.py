"""The form of a file of rows: numbers of fixed width, and then rows that are all of one width.

What is understood: a top-level field with `-table`, before it nothing but numbers, behind it
nothing but what is left over, and in a row nothing but numbers. Those with `-column` are its
columns.
"""

import re
from dataclasses import dataclass
from typing import Any

from magicbyte_tools.generate.columnar.arithmetic import Expression, translate
from magicbyte_tools.generate.columnar.conditions import limits
from magicbyte_tools.generate.columnar.unsupported import Unsupported
from magicbyte_tools.generate.columns import sentence

__all__ = ["File", "Number", "files_of_rows", "read_file"]

Spec = dict[str, Any]

ORDERS = {"be": ">", "le": "<"}

OF_A_NUMBER = {"id", "type", "valid", "doc", "doc-ref"}
OF_A_NUMBER |= {"-orig-id", "-ours", "-column", "-valid", "-checksum"}
OF_A_COLUMN = {"name", "sentinel", "unit", "doc"}
OF_THE_ROWS = {"id", "type", "repeat", "repeat-expr", "repeat-until", "if", "doc", "doc-ref"}
OF_THE_ROWS |= {"-orig-id", "-ours", "-table", "-until"}
"""The keys that are understood, or that change nothing here."""


@dataclass(frozen=True, slots=True)
class Number:
    name: str
    """That of the column, where it is one."""
    type: str
    """As NumPy writes it, such as `>i4`."""
    limits: tuple[tuple[str, list[int]], ...]
    """What must hold of it: operators, and numbers for one of which each does."""
    doc: str

    @property
    def width(self) -> int:
        return int(self.type[-1])


@dataclass(frozen=True, slots=True)
class File:
    name: str
    table: str
    """What the rows are."""
    header: tuple[Number, ...]
    row: tuple[Number, ...]
    count: Expression | None
    """The rows that the header states; None where they go on to the end."""
    ends_at_zeros: bool
    """Whether there is no row from the first on that is all zeros."""


def files_of_rows(specs: dict[str, Spec]) -> list[str]:
    """Return the names of the specifications of files that hold rows, and no entries."""
    return [
        name
        for name, spec in specs.items()
        if "-entry" not in spec and any("-table" in one for one in spec.get("seq", []))
    ]


def read_file(name: str, spec: Spec) -> File:
    """Return the form of the files of *spec*, the specification *name*.

    Raises Unsupported where it says something that is outside of the subset.
    """
    seq: list[Spec] = spec["seq"]
    places = [f"{name}.ksy:/seq/{index}" for index in range(len(seq))]
    order = spec["meta"].get("endian")
    at = next(index for index, one in enumerate(seq) if "-table" in one)
    header = tuple(
        _number(one, order, place) for one, place in zip(seq[:at], places[:at], strict=True)
    )
    for one, place in zip(seq[at + 1 :], places[at + 1 :], strict=True):
        if "size-eos" not in one:
            raise Unsupported(place, "something behind the rows, and not all that is left over")
    rows, place = seq[at], places[at]
    _only(OF_THE_ROWS, rows, place)
    return File(
        name=name,
        table=rows["-table"],
        header=header,
        row=_row(rows, name, spec, place),
        count=_count(rows, header, place),
        ends_at_zeros="-until" in rows,
    )


def _row(rows: Spec, name: str, spec: Spec, place: str) -> tuple[Number, ...]:
    kind = str(rows.get("type")).partition("(")[0]
    structure = spec.get("types", {}).get(kind)
    if structure is None:
        raise Unsupported(f"{place}/type", f"no type {kind} in this file")
    here, seq = f"{name}.ksy:/types/{kind}", structure.get("seq", [])
    if not seq:
        raise Unsupported(here, "a row of no bytes")
    order = structure.get("meta", {}).get("endian", spec["meta"].get("endian"))
    return tuple(_number(one, order, f"{here}/seq/{index}") for index, one in enumerate(seq))


def _number(one: Spec, endian: object, place: str) -> Number:
    """Return the number *one*, of the byte order *endian* where its type has none of its own."""
    _only(OF_A_NUMBER, one, place)
    found = re.fullmatch(r"([us])([1248])(le|be)?", str(one.get("type")))
    if found is None:
        raise Unsupported(f"{place}/type", f"{one.get('type')} is no number of fixed width")
    order = ORDERS.get(found[3] or str(endian), "|" if found[2] == "1" else None)
    if order is None:
        raise Unsupported(f"{place}/type", f"{one['type']} has no byte order")
    kind = f"{order}{'i' if found[1] == 's' else 'u'}{found[2]}"
    declared = one.get("-column", True)
    column: Spec = {} if declared is True else declared
    _only(OF_A_COLUMN, column, f"{place}/-column")
    return Number(
        str(column.get("name", one["id"])),
        kind,
        tuple(limits(one, place)),
        sentence(one.get("doc", "")),
    )


def _count(rows: Spec, header: tuple[Number, ...], place: str) -> Expression | None:
    if ("-until" in rows) != (rows.get("repeat") == "until"):
        raise Unsupported(f"{place}/repeat", "repeat: until and -until are not without each other")
    if "if" in rows and "-until" not in rows:
        raise Unsupported(f"{place}/if", "rows with a condition")
    match rows.get("repeat"):
        case "eos" | "until":
            return None
        case "expr":
            names = {number.name for number in header}

            def resolve(name: str) -> Expression:
                if name not in names:
                    raise Unsupported(f"{place}/repeat-expr", f"{name!r} is no number before it")
                return Expression(f'int(header["{name}"])', frozenset([name]))

            return translate(rows["repeat-expr"], resolve, f"{place}/repeat-expr")
        case _:
            raise Unsupported(place, "a row that is not repeated")


def _only(known: set[str], one: Spec, place: str) -> None:
    """Raise Unsupported where *one* has a key that is not *known*."""
    unknown = min(one.keys() - known - {"-webide-parse-mode"}, default=None)
    if unknown is not None:
        raise Unsupported(f"{place}/{unknown}", f"{unknown} is outside of the subset")
