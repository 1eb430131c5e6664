"""Model of a file of fixed-width rows: a header of numbers, then rows of numbers.

Supported is one top-level field with `-table`, with nothing but numbers before it and nothing but
unread bytes after it.
"""

import re
from dataclasses import dataclass

from magicbyte_tools.generate.columnar.arithmetic import (
    Expression,
    UnsupportedSpecError,
    limits,
    translate,
)
from magicbyte_tools.generate.columns import sentence
from magicbyte_tools.generate.source import Spec
from magicbyte_tools.generate.wire import ORDERS

NUMBER_KEYS = {"id", "type", "valid", "doc", "doc-ref"}
NUMBER_KEYS |= {"-orig-id", "-ours", "-column", "-valid", "-checksum"}
COLUMN_KEYS = {"name", "sentinel", "unit", "doc"}
ROWS_KEYS = {"id", "type", "repeat", "repeat-expr", "repeat-until", "if", "doc", "doc-ref"}
ROWS_KEYS |= {"-orig-id", "-ours", "-table", "-until"}
"""Keys that are understood, or that make no difference here."""


@dataclass(frozen=True, slots=True)
class FixedNumber:
    """Number of fixed width in the header or in the rows of a file."""

    name: str
    """Name of the column, if it is one, or of the field."""
    type: str
    """NumPy type, such as `>i4`."""
    limits: tuple[tuple[str, list[int]], ...]
    """Comparisons that a valid number passes: an operator, and alternative numbers."""
    doc: str

    @property
    def width(self) -> int:
        """Bytes of the number."""
        return int(self.type[-1])


@dataclass(frozen=True, slots=True)
class RowFile:
    """Model of the files of one format with fixed-width rows."""

    name: str
    table_name: str
    """Table that the rows belong to."""
    header_numbers: tuple[FixedNumber, ...]
    row_numbers: tuple[FixedNumber, ...]
    stated_count: Expression | None
    """Number of rows that the header states; None if the rows extend to the end of the file."""
    ends_at_zeros: bool
    """True if the rows end before the first one that is all zeros."""


def row_file_formats(specs: dict[str, Spec]) -> list[str]:
    """Return the names of the specifications of files of fixed-width rows."""
    tables = {name for name, spec in specs.items() for f in spec.get("seq", []) if "-table" in f}
    return [name for name, spec in specs.items() if name in tables and "-entry" not in spec]


def read_row_file(name: str, spec: Spec) -> RowFile:
    """Return the model of the files of *spec*, the specification *name*.

    Raises UnsupportedSpecError if it uses a feature outside the supported subset.
    """
    seq: list[Spec] = spec["seq"]
    paths = [f"{name}.ksy:/seq/{index}" for index in range(len(seq))]
    endian = spec["meta"].get("endian")
    rows_index = next(index for index, field_spec in enumerate(seq) if "-table" in field_spec)
    header_numbers = tuple(_number(seq[index], endian, paths[index]) for index in range(rows_index))
    for field_spec, spec_path in zip(seq[rows_index + 1 :], paths[rows_index + 1 :], strict=True):
        if "size-eos" not in field_spec:
            raise UnsupportedSpecError(spec_path, "a field after the rows, other than unread bytes")
    rows_spec, rows_path = seq[rows_index], paths[rows_index]
    _check_keys(ROWS_KEYS, rows_spec, rows_path)
    return RowFile(
        name=name,
        table_name=rows_spec["-table"],
        header_numbers=header_numbers,
        row_numbers=_row(rows_spec, name, spec, rows_path),
        stated_count=_count(rows_spec, header_numbers, rows_path),
        ends_at_zeros="-until" in rows_spec,
    )


def _row(rows_spec: Spec, name: str, spec: Spec, spec_path: str) -> tuple[FixedNumber, ...]:
    type_name = str(rows_spec.get("type")).partition("(")[0]
    structure = spec.get("types", {}).get(type_name)
    if structure is None:
        raise UnsupportedSpecError(f"{spec_path}/type", f"no type {type_name} in this file")
    type_path, seq = f"{name}.ksy:/types/{type_name}", structure.get("seq", [])
    if not seq:
        raise UnsupportedSpecError(type_path, "a row of no bytes")
    endian = structure.get("meta", {}).get("endian", spec["meta"].get("endian"))
    return tuple(
        _number(field_spec, endian, f"{type_path}/seq/{index}")
        for index, field_spec in enumerate(seq)
    )


def _number(field_spec: Spec, endian: object, spec_path: str) -> FixedNumber:
    """Return a number; *endian* is its byte order if its type names none."""
    _check_keys(NUMBER_KEYS, field_spec, spec_path)
    match = re.fullmatch(r"([us])([1248])(le|be)?", str(field_spec.get("type")))
    if match is None:
        message = f"{field_spec.get('type')} is not a number of fixed width"
        raise UnsupportedSpecError(f"{spec_path}/type", message)
    order = ORDERS.get(match[3] or str(endian), "|" if match[2] == "1" else None)
    if order is None:
        raise UnsupportedSpecError(f"{spec_path}/type", f"{field_spec['type']} has no byte order")
    declared = field_spec.get("-column", True)
    column_spec: Spec = {} if declared is True else declared
    _check_keys(COLUMN_KEYS, column_spec, f"{spec_path}/-column")
    return FixedNumber(
        name=str(column_spec.get("name", field_spec["id"])),
        type=f"{order}{'i' if match[1] == 's' else 'u'}{match[2]}",
        limits=tuple(limits(field_spec, spec_path)),
        doc=sentence(field_spec.get("doc", "")),
    )


def _count(
    rows_spec: Spec, header_numbers: tuple[FixedNumber, ...], spec_path: str
) -> Expression | None:
    if ("-until" in rows_spec) != (rows_spec.get("repeat") == "until"):
        message = "repeat: until needs -until, and -until needs repeat: until"
        raise UnsupportedSpecError(f"{spec_path}/repeat", message)
    if "if" in rows_spec and "-until" not in rows_spec:
        raise UnsupportedSpecError(f"{spec_path}/if", "rows with a condition")
    match rows_spec.get("repeat"):
        case "eos" | "until":
            return None
        case "expr":
            count_path = f"{spec_path}/repeat-expr"
            header_names = {number.name for number in header_numbers}

            def resolve(name: str) -> Expression:
                if name not in header_names:
                    raise UnsupportedSpecError(
                        count_path, f"{name!r} is not a number of the header"
                    )
                return Expression(f'int(header["{name}"])', frozenset([name]))

            return translate(rows_spec["repeat-expr"], resolve, count_path)
        case _:
            raise UnsupportedSpecError(spec_path, "a row that is not repeated")


def _check_keys(known_keys: set[str], item_spec: Spec, spec_path: str) -> None:
    """Raise UnsupportedSpecError if *item_spec* has a key that is not in *known_keys*."""
    unknown = min(item_spec.keys() - known_keys - {"-webide-parse-mode"}, default=None)
    if unknown is not None:
        raise UnsupportedSpecError(f"{spec_path}/{unknown}", f"{unknown} is not supported")
