"""Prints the kernel that decodes rows: payloads to column buffers."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from magicbyte_kernels.kernel_interface import DESCRIPTOR_FIELDS
from magicbyte_tools.generate.columnar.entry_model import (
    BytesNode,
    FieldNode,
    LoopNode,
    NumberNode,
    RegionNode,
    RowColumn,
    RowTable,
    condition_needs,
    least,
    needed_variables,
    only_list,
)
from magicbyte_tools.generate.columnar.header_printer import header_checks, print_header
from magicbyte_tools.generate.columnar.kernel_layout import KernelLayout, mode_name
from magicbyte_tools.generate.columnar.source_writer import SourceWriter


class DecoderPrinter:
    """Prints the decode kernels of a format: `decode` for any columns, and `decoder` for given ones.

    Both call `decode_rows`. In it, `n` is the index of the entry, `p` the address that is read next.
    """

    def __init__(self, layout: KernelLayout) -> None:
        self.layout, self.entry = layout, layout.entry
        self.writer = SourceWriter()
        self.needed = needed_variables(self.entry.body)
        """Variables that later fields or columns need."""
        if self.entry.is_stream:
            self.needed.add(self.entry.codec.source)
        for _, value in self.entry.derived:
            self.needed |= value.needs
        rows = self.entry.rows
        self.tracked_list = None if rows is None else only_list(rows.body)
        """The list in a row whose elements a stop counts."""
        self.element = "0", "0"
        """Number of elements of that list before the next one, and where that begins."""

    def text(self) -> str:
        """Return the source of the functions `decode_rows`, `decode` and `decoder`."""
        writer, layout = self.writer, self.layout
        # Without int(), Numba would compile `decode_rows` once more for each choice of constants.
        names = ", ".join(f"int({name})" for name in layout.mode_names)
        typed_names = ", ".join(f"{name}: int" for name in layout.mode_names)
        arguments, returned = "desc: Any, first: int, last: int, state: Any", ") -> int:"
        writer.add("@inlined")
        with writer.block(f"def decode_rows({arguments}, {typed_names}{returned}"):
            writer.add(
                '"""Fill the columns that the modes request from the entries [first, last)."""'
            )
            self._load_state()
            with writer.block("for n in range(first, last):"):
                self._entry()
            writer.add("return last")
        writer.add("", "")
        call = "return decode_rows(desc, first, last, state, "
        with writer.block(f"def decode({arguments}{returned}"):
            writer.add('"""Fill the columns that the modes in the state request."""')
            modes = ", ".join(f"int({layout.slot(name)})" for name in layout.mode_names)
            writer.add(f"{call}{modes})")
        writer.add("", "", "@cache")
        with writer.block(f"def decoder({typed_names}) -> Callable[[Any, int, int, Any], int]:"):
            writer.add(
                '"""Return the kernel for these modes alone; it does not read them from the state."""'
            )
            writer.add("")
            with writer.block(f"def decode({arguments}{returned}"):
                writer.add(f"{call}{names})")
            writer.add("", "return decode")
        return writer.text()

    # Conditions

    def _mode_of(self, column: RowColumn) -> str:
        """Return the parameter with the mode of *column*, or of the list column around it."""
        for outer in self.entry.table.columns:
            if column is outer or (outer.struct_table and column in outer.struct_table.columns):
                return mode_name(outer)
        raise AssertionError(column.name)

    def _can_be_viewed(self, column: RowColumn) -> bool:
        return column.type == "binary" and column in self.entry.table.columns

    def _is_copied(self, column: RowColumn) -> str:
        return self._mode_of(column) + (" == COPIED" if self._can_be_viewed(column) else "")

    def _if_requested(self, column: RowColumn) -> AbstractContextManager[None]:
        return self.writer.block(f"if {self._mode_of(column)}:")

    def _if_copied(self, column: RowColumn) -> AbstractContextManager[None]:
        return self.writer.block(f"if {self._is_copied(column)}:")

    def _stop(self, condition: str) -> None:
        """Print a stop at this entry, which the kernel does not support, under *condition*."""
        element, start = self.element
        if start != "0":
            start = f"{start} - payload_start"
        row = f"{self.entry.table.name}_rows - rows_before"
        stop = f"stop_at(state, {row}, row_start - payload_start, {element}, {start})"
        self.writer.when(condition, stop, "return n")

    def _stop_if_full(self, condition: str) -> None:
        self.writer.when(condition, "state[STOP_REASON] = BUFFER_FULL", "return n")

    # State

    def _load_state(self) -> None:
        writer, slot = self.writer, self.layout.slot
        writer.add("state[STOP_REASON] = 0", "is_lenient = int(state[IS_LENIENT])")
        for table in self.layout.tables:
            for key in ("rows", "capacity"):
                writer.add(f"{table.name}_{key} = int({slot(f'{table.name}_{key}')})")
            for column in table.columns:
                for buffer in column.buffers:
                    if buffer != "not_ascii":
                        var = f"{column.var}_{buffer}"
                        writer.add(f"{var} = int({slot(var)})")

    def _store_state(self) -> None:
        """Print code that records the rows of an entry that was decoded completely."""
        writer, slot = self.writer, self.layout.slot
        for table in self.layout.tables:
            writer.add(f"{slot(f'{table.name}_rows')} = {table.name}_rows")
            for column in table.columns:
                if column.is_bytes or column.struct_table is not None:
                    with self._if_copied(column):
                        inner = column.struct_table
                        end = f"{inner.name}_rows" if inner else f"{column.var}_used"
                        writer.add(f"put4({column.var}_offsets + 4 * {table.name}_rows, {end})")
                        if column.is_bytes:
                            writer.add(f"{slot(f'{column.var}_used')} = {column.var}_used")
                if "nulls" in column.buffers:
                    with self._if_requested(column):
                        writer.add(f"{slot(f'{column.var}_nulls')} = {column.var}_nulls")

    # Entries

    def _entry(self) -> None:
        writer, layout, entry = self.writer, self.layout, self.entry
        writer.add(f"p = int({layout.at('start')})", f"p_end = int({layout.at('end')})")
        writer.add("payload_start = row_start = p")
        for table in layout.tables:
            for column in table.columns:
                if column.is_bytes:
                    left = f"{column.var}_capacity - {column.var}_used"
                    self._stop_if_full(f"{self._is_copied(column)} and p_end - p > {left}")
        rows = f"{entry.table.name}_rows"
        writer.add(f"rows_before = {rows}")
        if entry.is_stream:
            self._stream()
        else:
            for name in layout.names[len(DESCRIPTOR_FIELDS) :]:
                if name in self.needed:
                    writer.add(f"{name} = int({layout.at(name)})")
            self._fields(entry.body, "p_end", None)
            self._stop("p != p_end")
        writer.add(f"{layout.at('rows')} = {rows} - rows_before")
        self._store_state()

    def _stream(self) -> None:
        """Print the loop over consecutive entries, or over those that a compressed entry contains."""
        writer, layout, entry = self.writer, self.layout, self.entry
        table, (algorithm, stored, start) = entry.table, entry.checksum
        same_as_outer: set[str] = set()
        for node in entry.body:
            same_as_outer |= condition_needs(node) & set(layout.names)
        with writer.block("while p < p_end:"):
            writer.add("row_start = p")
            self._stop_if_full(f"{table.name}_rows >= {table.name}_capacity")
            self._stop(f"p_end - p < {entry.least_size}")
            frame_names = {stored, *entry.size_expression.needs}
            print_header(writer, entry, self.needed | same_as_outer | frame_names)
            for check in header_checks(entry):
                self._stop(f"not ({check})")
            writer.add(f"size = {entry.size_expression.source}")
            self._stop(f"size < {entry.least_size} or size > p_end - p")
            is_wrong = f"{algorithm}(p + {start}, p + size) != {stored}"
            uncompressed = next(number for number, name in entry.codec_names if name == "none")
            with writer.block(f"if {layout.at('nested')}:"):
                self._stop(f"{entry.codec.source} != {uncompressed}")
                for name in sorted(same_as_outer):
                    self._stop(f"{name} != {layout.at(name)}")
                self._stop(is_wrong)
            writer.add("end = p + size", f"p += {entry.len_header}")
            self._fields(entry.body, "end", table)
            self._stop("p != end")
            for column, value in entry.derived:
                self._store(column, value.wrapped_source, table)
            writer.add(f"{table.name}_rows += 1")
        self._stop(f"{table.name}_rows == rows_before")

    # Fields

    def _fields(self, nodes: Sequence[FieldNode], end: str, table: RowTable | None) -> None:
        """Print code that reads *nodes*, up to the address *end* at most, for a row of *table*."""
        numbers_in_sequence: list[NumberNode] = []
        for node in nodes:
            if isinstance(node, NumberNode):
                numbers_in_sequence.append(node)
                continue
            self._numbers(numbers_in_sequence, end, table)
            numbers_in_sequence = []
            if isinstance(node, RegionNode):
                region_end = f"{node.var}_end"
                self.writer.add(f"size = {node.size_expression.source}")
                self._stop(f"size < 0 or size > {end} - p")
                self.writer.add(f"{region_end} = p + size")
                self._fields(node.body, region_end, table)
                self._stop(f"p != {region_end}")
            elif isinstance(node, BytesNode):
                self._byte_string(node, end, table)
            elif isinstance(node, LoopNode):
                self._loop(node, end, table)
        self._numbers(numbers_in_sequence, end, table)

    def _numbers(self, nodes: Sequence[NumberNode], end: str, table: RowTable | None) -> None:
        """Print code that reads consecutive numbers; their end is checked after the last one."""
        if not nodes:
            return
        writer, skipped = self.writer, 0
        for number in nodes:
            position = f"p + {skipped}" if skipped else "p"
            has_checks = number.checks or number.sentinel is not None
            is_used = number.var in self.needed or has_checks or number.column is not None
            if number.condition is not None:
                if skipped:
                    writer.add(f"p += {skipped}")
                    skipped = 0
                absent = 0 if number.column is None else number.column.sentinel
                writer.add(f"{number.var} = {absent}")
                reading = f"{number.var} = {number.reader}(p)", f"p += {number.most}"
                writer.when(number.condition.source, *reading)
            elif number.is_varint:
                writer.add(f"{number.var if is_used else '_'}, p = {number.reader}({position})")
                skipped = 0
                self._stop("p == 0")
            else:
                if is_used:
                    writer.add(f"{number.var} = {number.reader}({position})")
                skipped += number.most
            for check in number.checks:
                self._stop(f"not ({check})")
            if number.sentinel is not None and table is self.entry.table:
                self._negative(number)
        if skipped:
            writer.add(f"p += {skipped}")
        self._stop(f"p > {end}")
        for number in nodes:
            if number.column is not None and table is not None:
                self._store(number.column, number.var, table)

    def _negative(self, number_node: NumberNode) -> None:
        """Print code for a length below its sentinel: a finding about the row, which only counts it."""
        with self.writer.block(f"if {number_node.var} < {number_node.sentinel}:"):
            self._stop("not is_lenient")
            row = f"{self.entry.table.name}_rows - rows_before"
            self.writer.add(f"count_negative(state, {row}, row_start - payload_start)")

    def _store(self, column: RowColumn, source: str, table: RowTable) -> None:
        """Print code that writes a number to its column."""
        writer = self.writer
        with self._if_requested(column):
            address = f"{column.var}_data + {column.width} * {table.name}_rows"
            if column.sentinel is None:
                writer.add(f"put{column.width}({address}, {source})")
                return
            writer.add(f"{column.var} = {source}", f"put{column.width}({address}, {column.var})")
            writer.when(f"{column.var} == {column.sentinel}", f"{column.var}_nulls += 1")

    def _view(self, column: RowColumn, row: str, size_source: str) -> None:
        address = f"{column.var}_offsets + LEN_VIEW * {row}"
        view = f"view({address}, p, {size_source}, p - {column.var}_bytes)"
        self.writer.when(f"{self._mode_of(column)} == VIEWED", view)

    def _byte_string(self, bytes_node: BytesNode, end: str, table: RowTable | None) -> None:
        writer, column = self.writer, bytes_node.column
        row = f"{table.name}_rows" if table is not None else ""
        if column is not None:
            with self._if_copied(column):
                writer.add(f"put4({column.var}_offsets + 4 * {row}, {column.var}_used)")
        with writer.under(bytes_node.condition):
            writer.add(f"size = {bytes_node.size_expression.source}")
            self._stop(f"size < 0 or size > {end} - p")
            if column is not None:
                self._store_bytes(column, row)
            writer.add("p += size")
        if bytes_node.condition is not None and column is not None:
            with writer.block(f"elif {self._mode_of(column)}:"):
                writer.add(f"put1({column.var}_valid + {row}, 0)", f"{column.var}_nulls += 1")
                if self._can_be_viewed(column):
                    self._view(column, row, "0")

    def _store_bytes(self, column: RowColumn, row: str) -> None:
        writer = self.writer
        with self._if_requested(column):
            if column.is_nullable:
                writer.add(f"put1({column.var}_valid + {row}, 1)")
            if column.type == "string":
                not_ascii = self.layout.slot(f"{column.var}_not_ascii")
                writer.when("not is_ascii(p, size)", f"{not_ascii} = 1")
            unless_viewed: AbstractContextManager[None] = nullcontext()
            if self._can_be_viewed(column):
                self._view(column, row, "size")
                unless_viewed = writer.block("else:")
            with unless_viewed:
                writer.add(f"copy({column.var}_bytes + {column.var}_used, p, size)")
                writer.add(f"{column.var}_used += size")

    def _loop(self, loop_node: LoopNode, end: str, table: RowTable | None) -> None:
        writer, column = self.writer, loop_node.column
        inner = loop_node.table or (column.struct_table if column is not None else None)
        count, fewest = loop_node.count.source, max(1, least(loop_node.body))
        self._stop(f"{count} < 0")
        # Elements are read as far as the bytes may reach, so that a wrong count is found at its place.
        most = f"{loop_node.var}_most"
        writer.add(f"{most} = min({count}, ({end} - p) // {fewest})")
        if column is not None and table is not None and inner is not None:
            with self._if_requested(column):
                writer.add(f"put4({column.var}_offsets + 4 * {table.name}_rows, {inner.name}_rows)")
                self._stop_if_full(f"{most} > {inner.name}_capacity - {inner.name}_rows")
        elif inner is not None:
            self._stop_if_full(f"{most} > {inner.name}_capacity - {inner.name}_rows")
        is_tracked = loop_node is self.tracked_list
        with writer.block(f"for {'element' if is_tracked else '_'} in range({most}):"):
            if loop_node.table is not None:
                writer.add("row_start = p")
            if is_tracked:
                writer.add("element_start = p")
                self.element = "element", "element_start"
            self._fields(loop_node.body, end, inner)
            for derived_column, value in loop_node.derived:
                assert inner is not None
                self._store(derived_column, value.wrapped_source, inner)
            if inner is not None:
                writer.add(f"{inner.name}_rows += 1")
        if loop_node.table is not None:
            writer.add("row_start = p")
            self.element = "0", "0"
        if is_tracked:
            writer.add("element_start = p")
            self.element = most, "element_start"
        self._stop(f"{most} < {count}")
