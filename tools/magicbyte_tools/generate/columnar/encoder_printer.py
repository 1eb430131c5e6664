"""Prints the kernel that encodes rows: columns to payloads.

A row is written in two passes. The size pass computes every number and the bytes of the row, because a
length precedes the bytes that it counts; then the row is compared with the limits; the write pass writes.
"""

import re
from collections.abc import Mapping, Sequence

from magicbyte_tools.generate.columnar.arithmetic import Expression, UnsupportedSpecError, inverse
from magicbyte_tools.generate.columnar.entry_model import (
    BytesNode,
    EntryModel,
    FieldNode,
    LoopNode,
    NumberNode,
    RegionNode,
    RowColumn,
)
from magicbyte_tools.generate.columnar.kernel_layout import KernelLayout
from magicbyte_tools.generate.columnar.source_layout import SourceLayout, value_at, variable_of
from magicbyte_tools.generate.columnar.source_writer import SourceWriter


class EncoderPrinter:
    """Prints the functions `write_header` and `encode` of a format.

    In `encode`, `row` is the index of the row and `p` the address that is written next.
    """

    def __init__(self, layout: KernelLayout) -> None:
        self.layout, self.entry = layout, layout.entry
        self.source = SourceLayout(self.entry)
        self.writer = SourceWriter()

    def text(self) -> str:
        """Return the source of the functions."""
        if not self.entry.is_stream:
            self._header_function()
            self.writer.add("", "")
        self._encode_function()
        return self.writer.text()

    # Header

    def _header_function(self) -> None:
        writer = self.writer
        writer.add("@inlined")
        with writer.block("def write_header(p: int, size: int, num_rows: int, desc: Any) -> None:"):
            writer.add(
                '"""Write the header of an entry of *size* bytes at *p*, whose payload is there."""'
            )
            assert self.entry.rows is not None
            self._header({self.entry.rows.count.source: "num_rows"})

    def _header(self, values: Mapping[str, str]) -> None:
        """Print code that writes the header at p; *values* are the sources of numbers not in the descriptor."""
        writer, entry = self.writer, self.entry
        algorithm, stored, start = entry.checksum
        for position, number in entry.header_numbers:
            if number.var != stored:
                source = self._header_number(number, values)
                writer.add(f"{_put(number)}(p + {position}, {source})")
        for position, number in entry.header_numbers:
            if number.var == stored:
                checksum = f"{algorithm}(p + {start}, p + size)"
                writer.add(f"{_put(number)}(p + {position}, {checksum})")

    def _header_number(self, number_node: NumberNode, values: Mapping[str, str]) -> str:
        """Return the source of a number of the header."""
        if number_node.var in values:
            return values[number_node.var]
        if number_node.var in self.entry.size_expression.needs:
            return _length(self.entry)
        if number_node.constant is not None:
            return str(number_node.constant)
        if not number_node.bits:
            return self._in_descriptor(number_node.var)
        return " | ".join(
            f"{self._in_descriptor(bit)} << {shift}" for bit, shift, _ in number_node.bits
        )

    def _in_descriptor(self, name: str) -> str:
        return f"int(desc[0, {self.layout.number(name)}])"

    # Rows

    def _encode_function(self) -> None:
        writer, source = self.writer, self.source
        writer.add("@called")
        with writer.block(
            "def encode(addresses: Any, first: int, last: int, desc: Any, most: int, is_estimated: int, "
            "to: int, end: int) -> tuple[int, int, int]:"
        ):
            writer.add('"""Write the rows from *first* on at address *to*."""')
            for index, slot in enumerate(source.slots):
                writer.add(f"{slot} = int(addresses[{index}])")
            for name in self._needed_numbers():
                writer.add(f"{name} = {self._in_descriptor(name)}")
            writer.add("p = to", "row = first")
            with writer.block("while row < last:"):
                self._row()
                writer.add("row += 1")
            writer.add("return row, p, DONE")

    def _needed_numbers(self) -> list[str]:
        """Return the numbers of the header that a row depends on."""
        sources = list(self.source.computed.values())
        for node in self.source.rows:
            if isinstance(node, NumberNode) and node.condition is not None:
                sources.append(node.condition.source)
        words = set(re.findall(r"\w+", " ".join(sources)))
        return [name for name in self.layout.header_names if name in words]

    def _row(self) -> None:
        writer, entry = self.writer, self.entry
        header = [str(entry.len_header)] if entry.is_stream else []
        terms = [*header, *self._sizes(self.source.rows, "row")]
        writer.add(f"size = {_sum(terms)}")
        if entry.is_stream:
            self._stop_unless_32_bits("size")
        room = "has_room(p - to, size, most, is_estimated)"
        writer.when(f"row > first and not {room}", "return row, p, DONE")
        writer.when(f"size > end - {self.layout.slack} - p", "return row, p, BUFFER_FULL")
        if entry.is_stream:
            writer.add("begin = p", f"p += {entry.len_header}")
        self._write(self.source.rows)
        if entry.is_stream:
            writer.add("p = begin")
            self._header(self.source.computed)
            writer.add("p += size")

    def _stop_unless_32_bits(self, source: str) -> None:
        self.writer.when(f"not fits_32_bits({source})", "return row, p, UNWRITABLE")

    # Size pass

    def _sizes(self, nodes: Sequence[FieldNode], row_source: str) -> list[str]:
        """Print code that computes the numbers in *nodes*; return the sources of the sizes to add up."""
        lengths: dict[str, str] = {}
        terms: list[str] = []
        for node in nodes:
            if isinstance(node, BytesNode):
                terms.append(self._byte_string_size(node, row_source, lengths))
            elif isinstance(node, LoopNode):
                terms.append(self._list_size(node, row_source, lengths))
            elif isinstance(node, RegionNode):
                region_size = f"{node.var}_size"
                self.writer.add(f"{region_size} = {_sum(self._sizes(node.body, row_source))}")
                self._stop_unless_32_bits(region_size)
                lengths[node.size_expression.source] = region_size
                terms.append(region_size)
        for number in nodes:
            if isinstance(number, NumberNode):
                terms.append(self._number_size(number, row_source, lengths))
        return terms

    def _column(self, bytes_node: BytesNode | LoopNode) -> RowColumn:
        if bytes_node.column is None:
            message = "a field that is no column; an encoder has no bytes for it"
            raise UnsupportedSpecError(bytes_node.spec_path, message)
        return bytes_node.column

    def _range(self, column: RowColumn, row_source: str, start_name: str) -> None:
        """Print code that reads where the value of *column* begins, and its size or count."""
        var = variable_of(column)
        self.writer.add(f"{var}_{start_name} = s4le({var}_offsets + 4 * {row_source})")
        self.writer.add(
            f"{var}_size = s4le({var}_offsets + 4 * {row_source} + 4) - {var}_{start_name}"
        )

    def _byte_string_size(
        self, bytes_node: BytesNode, row_source: str, lengths: dict[str, str]
    ) -> str:
        writer, column = self.writer, self._column(bytes_node)
        var, length = variable_of(column), bytes_node.size_expression.source
        self._range(column, row_source, "begin")
        lengths[length] = f"{var}_size"
        if bytes_node.condition is None:
            return f"{var}_size"
        lengths[length] = f"{length}"
        writer.add(f"{length} = {var}_size")
        is_null = f"not is_valid({var}_valid, {var}_first_bit + {row_source})"
        writer.when(is_null, f"{length} = {self._sentinel(length)}", f"{var}_size = 0")
        return f"{var}_size"

    def _sentinel(self, var: str) -> int:
        """Return the number that is written as the length *var* of an absent byte string."""
        for number in _numbers(self.source.rows):
            if number.var == var and number.sentinel is not None:
                return number.sentinel
        raise UnsupportedSpecError(self.entry.name, f"{var}: a condition without -sentinel")

    def _list_size(self, loop_node: LoopNode, row_source: str, lengths: dict[str, str]) -> str:
        writer, column = self.writer, self._column(loop_node)
        var = variable_of(column)
        self._range(column, row_source, "first")
        is_null = f"not is_valid({var}_valid, {var}_first_bit + {row_source})"
        writer.when(is_null, f"{var}_size = 0")
        lengths[loop_node.count.source] = f"{var}_size"
        writer.add(f"{var}_bytes = 0")
        with writer.block(f"for element in range({var}_first, {var}_first + {var}_size):"):
            writer.add(f"{var}_bytes += {_sum(self._sizes(loop_node.body, 'element'))}")
        return f"{var}_bytes"

    def _number_size(
        self, number_node: NumberNode, row_source: str, lengths: Mapping[str, str]
    ) -> str:
        """Print code that computes a number, unless it is constant; return the source of its size."""
        writer, var = self.writer, number_node.var
        computed = self.source.computed.get(var)
        if var in lengths:
            if lengths[var] != var:
                writer.add(f"{var} = {lengths[var]}")
        elif computed is not None:
            writer.add(f"{var} = wrap({computed})")
            if number_node.reader == "zigzag32":
                self._stop_unless_32_bits(var)
        elif number_node.column is not None:
            writer.add(f"{var} = {value_at(number_node.column, row_source)}")
        elif number_node.constant is not None:
            writer.add(f"{var} = {number_node.constant}")
        else:
            message = "a number that no column, length, formula or `valid` determines"
            raise UnsupportedSpecError(number_node.spec_path, message)
        if number_node.is_varint:
            return f"zigzag_size({var})"
        return _under(number_node.condition, str(number_node.most))

    # Write pass

    def _write(self, nodes: Sequence[FieldNode]) -> None:
        """Print code that writes *nodes*, whose numbers the size pass has computed."""
        writer = self.writer
        for node in nodes:
            if isinstance(node, NumberNode):
                with writer.under(node.condition):
                    if node.is_varint:
                        writer.add(f"p = put_zigzag(p, {node.var})")
                    else:
                        writer.add(f"{_put(node)}(p, {node.var})", f"p += {node.most}")
            elif isinstance(node, RegionNode):
                self._write(node.body)
            elif isinstance(node, BytesNode):
                var = variable_of(self._column(node))
                with writer.under(node.condition):
                    address = f"{var}_bytes + {var}_begin"
                    writer.add(f"copy_within(p, {address}, {var}_size, {var}_end)")
                    writer.add(f"p += {var}_size")
            elif isinstance(node, LoopNode):
                var = variable_of(self._column(node))
                with writer.block(f"for element in range({var}_first, {var}_first + {var}_size):"):
                    self._sizes(node.body, "element")
                    self._write(node.body)


def _numbers(nodes: Sequence[FieldNode]) -> list[NumberNode]:
    """Return all numbers in *nodes*, at any depth."""
    number_nodes: list[NumberNode] = []
    for node in nodes:
        if isinstance(node, NumberNode):
            number_nodes.append(node)
        elif isinstance(node, (RegionNode, LoopNode)):
            number_nodes += _numbers(node.body)
    return number_nodes


def _length(entry_model: EntryModel) -> str:
    """Return the source of the number that states the size of an entry."""
    (number,) = entry_model.size_expression.needs
    source = inverse(entry_model.size_expression, number, "size")
    assert source is not None
    return source


def _put(number_node: NumberNode) -> str:
    """Return the name of the primitive that writes a number of fixed width."""
    order = number_node.reader.lstrip("su0123456789")
    return f"put{number_node.most}{order if order == 'be' else ''}"


def _sum(terms: Sequence[str]) -> str:
    """Return the source of the sum of *terms*; numbers among them are added up here."""
    total = sum(int(size) for size in terms if size.isdigit())
    others = [size for size in terms if not size.isdigit()]
    return " + ".join(([str(total)] if total or not others else []) + others)


def _under(condition: Expression | None, size: str) -> str:
    return size if condition is None else f"({size} if {condition.source} else 0)"
