"""Prints the module that describes a format's kernels."""

from collections.abc import Sequence

from magicbyte_tools.generate.columnar.entry_model import EntryModel, RowColumn, RowTable
from magicbyte_tools.generate.columnar.kernel_layout import KernelLayout
from magicbyte_tools.generate.columnar.source_lines import SourceLines


def description(entry: EntryModel) -> str:
    """Return the module that describes a format's kernels, so that callers need not import Numba."""
    layout, code = KernelLayout(entry), SourceLines()
    code.add(
        f'"""Kernels of {entry.name}: their descriptors, state and columns."""',
        "",
        "from magicbyte_kernels.kernel_interface import EntryColumn, KernelColumn, KernelTable",
        "",
    )
    with code.block("NAMES = {"):
        code.add(*(f'"{name}": {index},' for index, name in enumerate(layout.names)))
    code.add("}")
    code.add(f"WIDTH = {len(layout.names)}", f"STATE = {len(layout.slots)}")
    code.add(f"SLACK = {layout.slack}")
    code.add(f"LEAST_ROW = {entry.least_row}", f"IS_STREAM = {entry.is_stream}")
    code.add(f"CODECS = {_words(entry.codec_names)}")
    code.add(f"TABLE = {_table(entry.table, layout)}")
    with code.block("ENTRY_COLUMNS = ("):
        optional_names = {number.var for number in layout.optional_fields}
        for column in entry.entry_columns:
            is_computed = column in layout.computed_columns
            name = f"row_{column.name}" if is_computed else column.value.source
            is_nullable = column.condition is not None or name in optional_names
            code.add(
                f'EntryColumn("{column.name}", "{column.type}", {layout.number(name)}, '
                f"{column.sentinel}, {is_nullable}, {_words(column.value.enum)}),"
            )
    code.add(")", "")
    return code.text()


def _table(table: RowTable, layout: KernelLayout, depth: int = 0) -> str:
    pad = "    " * (depth + 1)
    columns = "".join(f"{pad}    {_column(one, layout, depth + 1)},\n" for one in table.columns)
    rows, capacity = (layout.slots.index(f"{table.name}_{key}") for key in ("rows", "capacity"))
    end = "    " * depth
    return f"KernelTable(\n{pad}(\n{columns}{pad}),\n{pad}{rows},\n{pad}{capacity},\n{end})"


def _column(column: RowColumn, layout: KernelLayout, depth: int) -> str:
    width = 0 if column.is_bytes or column.members is not None else column.width
    slots = ", ".join(
        f'"{buffer}": {layout.slots.index(f"{column.var}_{buffer}")}' for buffer in column.buffers
    )
    members = "None" if column.members is None else _table(column.members, layout, depth + 1)
    return (
        f'KernelColumn("{column.name}", "{column.type}", {width}, {column.sentinel}, '
        f"{column.is_nullable}, {{{slots}}}, {members})"
    )


def _words(words: Sequence[tuple[int, str]]) -> str:
    return "{" + ", ".join(f'{number}: "{word}"' for number, word in words) + "}"
