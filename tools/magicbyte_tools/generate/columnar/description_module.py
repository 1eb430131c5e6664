"""Prints the module that describes a format's kernels."""

from collections.abc import Sequence

from magicbyte_tools.generate.columnar.entry_model import EntryModel, RowColumn, RowTable
from magicbyte_tools.generate.columnar.kernel_layout import KernelLayout
from magicbyte_tools.generate.columnar.source_layout import ReadColumn, SourceLayout
from magicbyte_tools.generate.columnar.source_writer import SourceWriter

IMPORTED_NAMES = ("EntryColumn", "KernelColumn", "KernelTable", "SourceColumn")


def description(entry_model: EntryModel) -> str:
    """Return the module that describes a format's kernels, so that callers need not import Numba."""
    layout, writer = KernelLayout(entry_model), SourceWriter()
    writer.add(
        f'"""Kernels of {entry_model.name}: their descriptors, state and columns."""',
        "",
        "from magicbyte_kernels.kernel_interface import (",
        *(f"    {name}," for name in IMPORTED_NAMES),
        ")",
        "",
    )
    with writer.block("NAMES = {"):
        writer.add(*(f'"{name}": {index},' for index, name in enumerate(layout.names)))
    writer.add("}")
    writer.add(f"WIDTH = {len(layout.names)}", f"STATE = {len(layout.slots)}")
    writer.add(f"MODES = {tuple(map(layout.slots.index, layout.mode_names))}")
    writer.add(f"SLACK = {layout.slack}")
    writer.add(f"LEAST_ROW = {entry_model.least_row}", f"IS_STREAM = {entry_model.is_stream}")
    writer.add(f"CODECS = {_words(entry_model.codec_names)}")
    writer.add(f"TABLE = {_table(entry_model.table, layout)}")
    with writer.block("ENTRY_COLUMNS = ("):
        optional_names = {number.var for number in layout.optional_fields}
        for column in entry_model.entry_columns:
            is_computed = column in layout.computed_columns
            name = f"row_{column.name}" if is_computed else column.value.source
            is_nullable = column.condition is not None or name in optional_names
            writer.add(
                f'EntryColumn("{column.name}", "{column.type}", {layout.number(name)}, '
                f"{column.sentinel}, {is_nullable}, {_words(column.value.enum)}),"
            )
    writer.add(")")
    source_layout = SourceLayout(entry_model)
    with writer.block("SOURCE = ("):
        writer.add(
            *(f"{_source_column(column, source_layout)}," for column in source_layout.columns)
        )
    writer.add(")", f"SOURCE_SLOTS = {len(source_layout.slots)}", "")
    return writer.text()


def _source_column(read_column: ReadColumn, source_layout: SourceLayout) -> str:
    column = read_column.column
    slots = ", ".join(
        f'"{buffer}": {source_layout.slots.index(read_column.slot(buffer))}'
        for buffer in read_column.buffers
    )
    struct_columns = "".join(
        f"{_source_column(member, source_layout)}, " for member in read_column.struct_columns
    )
    return (
        f'SourceColumn("{column.name}", "{column.type}", {column.sentinel}, {{{slots}}}, '
        f"({struct_columns.rstrip()}))"
    )


def _table(table: RowTable, layout: KernelLayout, depth: int = 0) -> str:
    pad = "    " * (depth + 1)
    columns = "".join(f"{pad}    {_column(one, layout, depth + 1)},\n" for one in table.columns)
    rows, capacity = (layout.slots.index(f"{table.name}_{key}") for key in ("rows", "capacity"))
    end = "    " * depth
    return f"KernelTable(\n{pad}(\n{columns}{pad}),\n{pad}{rows},\n{pad}{capacity},\n{end})"


def _column(column: RowColumn, layout: KernelLayout, depth: int) -> str:
    width = 0 if column.is_bytes or column.struct_table is not None else column.width
    slots = ", ".join(
        f'"{buffer}": {layout.slots.index(f"{column.var}_{buffer}")}' for buffer in column.buffers
    )
    inner = column.struct_table
    members = "None" if inner is None else _table(inner, layout, depth + 1)
    return (
        f'KernelColumn("{column.name}", "{column.type}", {width}, {column.sentinel}, '
        f"{column.is_nullable}, {{{slots}}}, {members})"
    )


def _words(words: Sequence[tuple[int, str]]) -> str:
    return "{" + ", ".join(f'{number}: "{word}"' for number, word in words) + "}"
