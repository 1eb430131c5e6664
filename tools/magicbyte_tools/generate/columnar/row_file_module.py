"""Prints the module of a file of fixed-width rows: bytes to columns, by NumPy alone.

The position of every number is known in advance, so a NumPy type of a row gives all columns at no
cost per row. A Numba kernel would be no faster and would have to be compiled first. Both engines
use these modules.
"""

from collections.abc import Iterator, Sequence
from textwrap import fill

from magicbyte_tools.generate.columnar.row_file_model import FixedNumber, RowFile


def row_file_module(row_file: RowFile) -> str:
    """Return the text of the module that reads the rows of *row_file*."""
    return "\n".join(
        [
            f'"""Rows of {row_file.name}: bytes to columns, by NumPy alone."""',
            "",
            "import numpy as np",
            "",
            f'TABLE = "{row_file.table_name}"',
            *_dtype("HEADER", row_file.header_numbers),
            *_dtype("ROW", row_file.row_numbers),
            "",
            "",
            "def rows(data: bytes) -> np.ndarray[tuple[int], np.dtype[np.void]]:",
            '    """Return the rows of *data*, a whole file: an array with a field per number of a row.',
            "",
            f"    {_end_sentence(row_file)}",
            "    Numbers are returned as stored. Nothing is copied.",
            '    """',
            *(f"    {line}" for line in _body(row_file)),
            "",
        ]
    )


def _end_sentence(row_file: RowFile) -> str:
    reasons = ["is incomplete"]
    if any(number.limits for number in row_file.row_numbers):
        reasons.append("has a number that `valid` forbids")
    if row_file.ends_at_zeros:
        reasons.append("is all zeros")
    count = "" if row_file.stated_count is None else ", and after the stated count"
    return f"They end before the first row that {' or '.join(reasons)}{count}."


def _dtype(name: str, fixed_numbers: Sequence[FixedNumber]) -> Iterator[str]:
    """Yield the source of a structure's NumPy type, and its docstring with the meaning of the numbers."""
    if not fixed_numbers:
        yield f"{name} = np.dtype([])"
        yield '"""Empty."""'
        return
    yield f"{name} = np.dtype("
    yield "    ["
    yield from (f'        ("{number.name}", "{number.type}"),' for number in fixed_numbers)
    yield "    ]"
    yield ")"
    sentences = [fill(f"`{number.name}`: {number.doc}", 96) for number in fixed_numbers]
    yield from ('"""' + "\n".join(sentences) + '\n"""').splitlines()


def _body(row_file: RowFile) -> Iterator[str]:
    start = sum(number.width for number in row_file.header_numbers)
    width = sum(number.width for number in row_file.row_numbers)
    if row_file.header_numbers:
        yield f"if len(data) < {start}:"
        yield "    return np.empty(0, ROW)"
        yield "header = np.frombuffer(data, HEADER, 1)[0]"
        conditions = list(_conditions("header", row_file.header_numbers))
        if conditions:
            yield f"if not ({' & '.join(conditions)}):"
            yield "    return np.empty(0, ROW)"
    count = f"(len(data) - {start}) // {width}" if start else f"len(data) // {width}"
    if row_file.stated_count is not None:
        count = f"max(0, min({row_file.stated_count.source}, {count}))"
    yield f"count = {count}"
    yield f"rows = np.frombuffer(data, ROW, count, {start})"
    conditions = list(_conditions("rows", row_file.row_numbers))
    if row_file.ends_at_zeros:
        conditions.append(f"rows.view(np.uint8).reshape(count, {width}).any(axis=1)")
    if conditions:
        yield f"is_row = {' & '.join(conditions)}"
        yield "return rows if is_row.all() else rows[: is_row.argmin()]"
    else:
        yield "return rows"


def _conditions(variable: str, fixed_numbers: Sequence[FixedNumber]) -> Iterator[str]:
    """Yield the conditions for *variable*, a structure or an array of structures, to be valid."""
    for number in fixed_numbers:
        for operator, alternatives in number.limits:
            any_of = [f'({variable}["{number.name}"] {operator} {limit})' for limit in alternatives]
            yield any_of[0] if len(any_of) == 1 else f"({' | '.join(any_of)})"
