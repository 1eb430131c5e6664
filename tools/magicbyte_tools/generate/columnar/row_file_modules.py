"""Prints the module of a file of rows: bytes to columns, by NumPy alone.

Such a file needs no kernel. The place of every number is known in advance, so that to say what a
row is made of is to have all columns, in one go and without an object per row; a kernel of Numba
would do the same, and have to be compiled first. These files are read by either engine, and where
there is no Numba, so nobody waits for a compiler to see a handful of rows.
"""

from collections.abc import Iterator, Sequence
from textwrap import fill

from magicbyte_tools.generate.columnar.row_file_model import File, Number


def module(file: File) -> str:
    """Return the module of *file*'s rows."""
    ends = ["is incomplete"]
    ends += ["has a number that `valid` forbids"] if any(n.limits for n in file.row) else []
    ends += ["is all zeros"] if file.ends_at_zeros else []
    about = f"The rows end before the first one that {' or '.join(ends)}"
    about += "" if file.count is None else ", and after the stated count"
    return "\n".join(
        [
            f'"""Rows of {file.name}: bytes to columns, by NumPy alone."""',
            "",
            "import numpy as np",
            "",
            f'TABLE = "{file.table}"',
            *_type("HEADER", file.header),
            *_type("ROW", file.row),
            "",
            "",
            "def rows(data: bytes) -> np.ndarray[tuple[int], np.dtype[np.void]]:",
            '    """Return the rows of *data*, a whole file: an array with a field per number of a row.',
            "",
            f"    {about}.",
            "    Numbers are returned as stored. Nothing is copied.",
            '    """',
            *(f"    {line}" for line in _body(file)),
            "",
        ]
    )


def _type(name: str, numbers: Sequence[Number]) -> Iterator[str]:
    """Yield the NumPy type of a structure, and a docstring with the meaning of its numbers."""
    if not numbers:
        yield f"{name} = np.dtype([])"
        yield '"""Empty."""'
        return
    yield f"{name} = np.dtype("
    yield "    ["
    yield from (f'        ("{number.name}", "{number.type}"),' for number in numbers)
    yield "    ]"
    yield ")"
    sentences = [fill(f"`{number.name}`: {number.doc}", 96) for number in numbers]
    yield from ('"""' + "\n".join(sentences) + '\n"""').splitlines()


def _body(file: File) -> Iterator[str]:
    start = sum(number.width for number in file.header)
    width = sum(number.width for number in file.row)
    if file.header:
        yield f"if len(data) < {start}:"
        yield "    return np.empty(0, ROW)"
        yield "header = np.frombuffer(data, HEADER, 1)[0]"
        conditions = list(_conditions("header", file.header))
        if conditions:
            yield f"if not ({' & '.join(conditions)}):"
            yield "    return np.empty(0, ROW)"
    count = f"(len(data) - {start}) // {width}" if start else f"len(data) // {width}"
    if file.count is not None:
        count = f"max(0, min({file.count.source}, {count}))"
    yield f"count = {count}"
    yield f"found = np.frombuffer(data, ROW, count, {start})"
    conditions = list(_conditions("found", file.row))
    if file.ends_at_zeros:
        conditions.append(f"found.view(np.uint8).reshape(count, {width}).any(axis=1)")
    if conditions:
        yield f"is_row = {' & '.join(conditions)}"
        yield "return found if is_row.all() else found[: is_row.argmin()]"
    else:
        yield "return found"


def _conditions(variable: str, numbers: Sequence[Number]) -> Iterator[str]:
    """Yield what must hold of the *numbers* of *variable*, be it one of them or a column."""
    for number in numbers:
        for operator, values in number.limits:
            any_of = [f'({variable}["{number.name}"] {operator} {value})' for value in values]
            yield any_of[0] if len(any_of) == 1 else f"({' | '.join(any_of)})"
