"""Prints the kernels of a format: headers to descriptors, payloads to columns.

A kernel only ever succeeds. At the first thing that it does not take it stops and says at which
entry, and someone else says what is wrong with it. So there is one path, and no error in it:
behind the bytes of every entry there are `SLACK` that can be read, a run of numbers is read
without looking at its end, and is judged when it has been read.
"""

import ast
import re
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from magicbyte_kernels.kernel_interface import DESCRIPTOR_FIELDS
from magicbyte_tools.generate.columnar.arithmetic import Expression
from magicbyte_tools.generate.columnar.entry_model import (
    Bytes,
    Column,
    Entry,
    Loop,
    Node,
    Number,
    Region,
    Table,
    least,
)
from magicbyte_tools.generate.columnar.unsupported import Unsupported

DESCRIPTOR = DESCRIPTOR_FIELDS

LEN_COPY = 64
"""Bytes that a short copy may read and write beyond its end."""

INTERFACE = "magicbyte_kernels.kernel_interface"
IMPORTED = (
    "magicbyte_kernels.checksums",
    "magicbyte_kernels.entry_kernels",
    INTERFACE,
    "magicbyte_kernels.primitives",
)
"""Modules that generated kernels import names from."""


def description(entry: Entry) -> str:
    """Return the module that describes a format's kernels, so that callers need not import Numba."""
    return "\n".join(
        [
            f'"""Kernels of {entry.name}: their descriptors, state and columns."""',
            "",
            f"from {INTERFACE} import EntryColumn, KernelColumn, KernelTable",
            "",
            _Printer(entry).constants(),
            "",
        ]
    )


def module(entry: Entry) -> str:
    """Return the module of a format's kernels."""
    functions = "\n\n\n".join(_Printer(entry).parts())
    names = set(re.findall(r"\w+", functions))
    return "\n".join(
        [
            f'"""Kernels of {entry.name}: bytes to columns, without a Python object per record."""',
            "",
            "from collections.abc import Callable",
            "from functools import cache",
            "from typing import Any",
            "",
            *(line for module in IMPORTED for line in _imported(module, names)),
            "",
            "",
            functions,
            "",
        ]
    )


def _imported(module: str, names: Set[str]) -> list[str]:
    """Return the import of those of *names* that *module* defines."""
    used = sorted(names & _public(module))
    return [f"from {module} import (", *(f"    {name}," for name in used), ")"] if used else []


@cache
def _public(module: str) -> frozenset[str]:
    """Return the public names that *module* defines. It is parsed, since importing takes Numba."""
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None
    names: set[str] = set()
    statements: list[ast.stmt] = ast.parse(Path(spec.origin).read_text("utf-8")).body
    for statement in statements:
        if isinstance(statement, ast.If):
            statements += [*statement.body, *statement.orelse]
        elif isinstance(statement, ast.FunctionDef):
            names.add(statement.name)
        elif isinstance(statement, ast.Assign):
            stored = (node for target in statement.targets for node in ast.walk(target))
            names.update(node.id for node in stored if isinstance(node, ast.Name))
    return frozenset(name for name in names if not name.startswith("_"))


class _Lines:
    """Lines of Python in the making."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0

    def add(self, *lines: str) -> None:
        for line in lines:
            self.lines.append("    " * self.depth + line if line else "")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.add(head)
        self.depth += 1
        yield
        self.depth -= 1

    def text(self) -> str:
        return "\n".join(self.lines)


class _Printer:
    """What all functions of one file share: the descriptor and the slots of the state."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.bits = [(n, *bit) for n in entry.variables for bit in n.bits]
        self.early = [n for n in entry.body[:1] if isinstance(n, Number) and n.cond is not None]
        """A number with a condition whose place is fixed all the same."""
        self.names = [*DESCRIPTOR, *(n.var for n in entry.variables)]
        self.names += [name for _, name, _, _ in self.bits]
        self.names += [n.var for n in self.early]
        self.computed = [
            column
            for column in entry.entry_columns
            if column.condition is not None or not column.value.is_name
        ]
        self.names += [f"row_{column.name}" for column in self.computed]
        self.slots = ["why", "source"]
        self.tables: list[Table] = []
        self._add_table(entry.table)
        self.most_run = LEN_COPY
        if not entry.codec.is_name:
            raise Unsupported(f"{entry.name}.ksy:", "the codec is no field of the header")

    def _add_table(self, table: Table) -> None:
        self.tables.append(table)
        self.slots += [f"{table.name}_rows", f"{table.name}_room"]
        for column in table.columns:
            self.slots += [f"{column.var}_{slot}" for slot in _slots(column)]
            if column.members is not None:
                self._add_table(column.members)

    def parts(self) -> Iterator[str]:
        """Yield the functions."""
        yield self._frame()
        algorithm, stored, start = self.entry.checksum
        yield "\n".join(
            [
                f"is_sound = checksum_test({algorithm}, {start}, {self._number(stored)})",
                "scan = scan_kernel(frame, is_sound)",
                "describe = describe_kernel(frame)",
                "verify = verify_kernel(is_sound)",
            ]
        )
        yield self._sections()
        yield _Decode(self).text()

    def _number(self, name: str) -> int:
        return self.names.index(name)

    def at(self, name: str, row: str = "n") -> str:
        return f"desc[{row}, {self._number(name)}]"

    def slot(self, name: str) -> str:
        return f"state[{self.slots.index(name)}]"

    # What a module says of itself

    def constants(self) -> str:
        _Decode(self).text()  # measures the longest run
        out = _Lines()
        with out.block("NAMES = {"):
            out.add(*(f'"{name}": {number},' for number, name in enumerate(self.names)))
        out.add("}")
        slack = -(-max(self.most_run, LEN_COPY) // 32) * 32
        out.add(f"WIDTH = {len(self.names)}", f"STATE = {len(self.slots)}", f"SLACK = {slack}")
        out.add(f"LEAST_ROW = {self.least_row}", f"IS_STREAM = {self.entry.is_stream}")
        out.add(f"CODECS = {_words(self.entry.codecs)}")
        out.add(f"TABLE = {self._table(self.entry.table)}")
        with out.block("ENTRY_COLUMNS = ("):
            for column in self.entry.entry_columns:
                name = f"row_{column.name}" if column in self.computed else column.value.source
                is_nullable = column.condition is not None or name in {n.var for n in self.early}
                out.add(
                    f'EntryColumn("{column.name}", "{column.type}", {self._number(name)}, '
                    f"{column.sentinel}, {is_nullable}, {_words(column.value.enum)}),"
                )
        out.add(")")
        return out.text()

    def _table(self, table: Table, depth: int = 0) -> str:
        pad = "    " * (depth + 1)
        columns = "".join(f"{pad}    {self._column(c, depth + 1)},\n" for c in table.columns)
        rows, room = (self.slots.index(f"{table.name}_{what}") for what in ("rows", "room"))
        end = "    " * depth
        return f"KernelTable(\n{pad}(\n{columns}{pad}),\n{pad}{rows},\n{pad}{room},\n{end})"

    def _column(self, column: Column, depth: int) -> str:
        width = 0 if column.is_bytes or column.members is not None else column.width
        slots = ", ".join(
            f'"{slot}": {self.slots.index(f"{column.var}_{slot}")}' for slot in _slots(column)
        )
        members = "None" if column.members is None else self._table(column.members, depth + 1)
        return (
            f'KernelColumn("{column.name}", "{column.type}", {width}, {column.sentinel}, '
            f"{column.is_nullable}, {{{slots}}}, {members})"
        )

    @property
    def least_row(self) -> int:
        rows = self.entry.rows
        return self.least_entry if rows is None else max(1, least(rows.body))

    @property
    def least_entry(self) -> int:
        return self.entry.len_header + (least(self.entry.body) if self.entry.is_stream else 0)

    # Headers

    def read_header(self, out: _Lines, names: set[str] | None = None) -> None:
        """Print what reads the numbers of the header at p; of *names* alone, if given."""
        for at, number in self.entry.header:
            bits = [bit for bit in number.bits if names is None or bit[0] in names]
            if names is None or number.var in names or bits or number.conditions:
                out.add(f"{number.var} = {number.reader}(p + {at})")
            for name, shift, mask in bits:
                out.add(f"{name} = {number.var} >> {shift} & {mask:#x}")

    def header_conditions(self) -> list[str]:
        return [each for number in self.entry.variables for each in number.conditions]

    def _frame(self) -> str:
        entry, out = self.entry, _Lines()
        out.add("@inlined")
        with out.block("def frame(p: int, room: int, desc: Any, n: int) -> int:"):
            out.add(
                '"""Describe the entry at *p* and return its bytes; 0 where it is not whole."""'
            )
            with out.block(f"if room < {self.least_entry}:"):
                out.add("return 0")
            self.read_header(out)
            for condition in self.header_conditions():
                with out.block(f"if not ({condition}):"):
                    out.add("return 0")
            out.add(f"size = {entry.size.source}")
            with out.block(f"if size < {self.least_entry} or size > room:"):
                out.add("return 0")
            for number in self.early:
                assert number.cond is not None
                out.add(f"{number.var} = ABSENT")
                with out.block(f"if {number.cond.source}:"):
                    with out.block(f"if size < {self.least_entry + number.most}:"):
                        out.add("return 0")
                    out.add(f"{number.var} = {number.reader}(p + {entry.len_header})")
            skipped = 0 if entry.is_stream else entry.len_header
            start = f"p + {skipped}" if skipped else "p"
            values = {"size": "size", "start": start, "end": "p + size", "rows": "0", "nested": "0"}
            values |= {name: name for name in self.names[len(DESCRIPTOR) :]}
            for column in self.computed:
                values[f"row_{column.name}"] = _wrapped(column.value)
                if column.condition is not None:
                    source = f"{_wrapped(column.value)} if {column.condition.source} else ABSENT"
                    values[f"row_{column.name}"] = source
            out.add(*(f"{self.at(name)} = {value}" for name, value in values.items()))
            out.add("return size")
        return out.text()

    def _sections(self) -> str:
        out = _Lines()
        with out.block("def sections(desc: Any, chosen: Any) -> None:"):
            out.add('"""Narrow the *chosen* entries to their compressed bytes."""')
            if not self.entry.is_stream:
                out.add("return")
                return out.text()
            with out.block("for n in chosen:"):
                out.add(f"p = int({self.at('start')})", f"end = int({self.at('end')})")
                self._narrow(out)
        return out.text()

    def _narrow(self, out: _Lines) -> None:
        size = self.at("size")
        for name in sorted(_needs(self.entry.body)):
            if name in self.names:
                out.add(f"{name} = int({self.at(name)})")
        out.add(f"p += {self.entry.len_header}", "begin = 0", f"{size} = 0")
        for node in self.entry.body:
            if isinstance(node, Number):
                with _maybe(out, node.cond):
                    out.add(f"{node.var} = {node.reader}(p)", f"p += {node.most}")
                for condition in node.conditions:
                    with out.block(f"if not ({condition}):"):
                        out.add("continue")
            elif isinstance(node, Bytes):
                with _maybe(out, node.cond):
                    with out.block(f"if {node.size.source} < 0 or {node.size.source} > end - p:"):
                        out.add("continue")
                    if node.is_compressed:
                        out.add("begin = p")
                    out.add(f"p += {node.size.source}")
                with out.block("if p > end:"):
                    out.add("continue")
            else:
                raise Unsupported(node.place, "a structure before the compressed bytes")
        with out.block("if begin != 0 and p == end:"):
            out.add(f"{self.at('start')} = begin", f"{size} = p - begin")


class _Decode:
    """Prints the kernel that fills columns."""

    def __init__(self, printer: _Printer) -> None:
        self.printer, self.entry = printer, printer.entry
        self.out = _Lines()
        self.needed = self._needed()

    def _needed(self) -> set[str]:
        """Return the variables that anything hangs on."""
        found = _needs(self.entry.body)
        if self.entry.is_stream:
            found.add(self.entry.codec.source)
        for _, value in self.entry.derived:
            found |= value.needs
        return found

    def text(self) -> str:
        out, columns = self.out, self.entry.table.columns
        wants = ", ".join(f"want_{column.name}: int" for column in columns)
        out.add("@cache")
        with out.block(f"def decoder({wants}) -> Callable[[Any, int, int, Any], int]:"):
            out.add('"""Return the kernel that fills the wanted columns."""', "")
            with out.block("def decode(desc: Any, first: int, last: int, state: Any) -> int:"):
                self._load()
                with out.block("for n in range(first, last):"):
                    self._entry()
                out.add("return last")
            out.add("", "return decode")
        return out.text()

    @contextmanager
    def wanted(self, column: Column) -> Iterator[None]:
        with self.out.block(f"if {self._want(column)}:"):
            yield

    @contextmanager
    def copied(self, column: Column) -> Iterator[None]:
        """Put what is printed under the condition that bytes of *column* are wanted, and copied."""
        with self.out.block(f"if {self._is_copied(column)}:"):
            yield

    def _is_copied(self, column: Column) -> str:
        return self._want(column) + (" == COPIED" if self._can_be_viewed(column) else "")

    def _can_be_viewed(self, column: Column) -> bool:
        return column.type == "binary" and column in self.entry.table.columns

    def _view(self, column: Column, row: str, size: str) -> None:
        with self.out.block(f"if {self._want(column)} == VIEWED:"):
            to = f"{column.var}_offsets + LEN_VIEW * {row}"
            self.out.add(f"view({to}, p, {size}, p - {column.var}_bytes)")

    @contextmanager
    def _unless_viewed(self, column: Column, row: str, size: str) -> Iterator[None]:
        """Print a view where those are wanted, and else what is printed in here."""
        if not self._can_be_viewed(column):
            yield
            return
        self._view(column, row, size)
        with self.out.block("else:"):
            yield

    def _want(self, column: Column) -> str:
        for outer in self.entry.table.columns:
            if column is outer or (outer.members and column in outer.members.columns):
                return f"want_{outer.name}"
        raise AssertionError(column.name)

    def stop(self, condition: str) -> None:
        """Print that the kernel stops here where *condition* holds."""
        with self.out.block(f"if {condition}:"):
            self.out.add("return n")

    def no_room(self, condition: str) -> None:
        with self.out.block(f"if {condition}:"):
            self.out.add("state[WHY] = FULL", "return n")

    def _unsound(self, condition: str) -> None:
        with self.out.block(f"if {condition}:"):
            self.out.add("state[WHY] = UNSOUND", "return n")

    # Around an entry

    def _load(self) -> None:
        out, slot = self.out, self.printer.slot
        out.add("state[WHY] = 0", "source = int(state[SOURCE])")
        for table in self.printer.tables:
            for what in ("rows", "room"):
                out.add(f"{table.name}_{what} = int({slot(f'{table.name}_{what}')})")
            for column in table.columns:
                for what in _slots(column):
                    if what != "not_ascii":
                        out.add(f"{column.var}_{what} = int({slot(f'{column.var}_{what}')})")

    def _commit(self) -> None:
        out, slot = self.out, self.printer.slot
        for table in self.printer.tables:
            out.add(f"{slot(f'{table.name}_rows')} = {table.name}_rows")
            for column in table.columns:
                if column.is_bytes or column.members is not None:
                    with self.copied(column):
                        end = (
                            f"{column.members.name}_rows"
                            if column.members
                            else f"{column.var}_used"
                        )
                        out.add(f"put4({column.var}_offsets + 4 * {table.name}_rows, {end})")
                        if column.is_bytes:
                            out.add(f"{slot(f'{column.var}_used')} = {column.var}_used")
                if "nulls" in _slots(column):
                    with self.wanted(column):
                        out.add(f"{slot(f'{column.var}_nulls')} = {column.var}_nulls")

    def _entry(self) -> None:
        out, printer, entry = self.out, self.printer, self.entry
        out.add(f"p = int({printer.at('start')})", f"p_end = int({printer.at('end')})")
        if not entry.is_stream:
            whole = f"source + int({printer.at('position')})"
            self._unsound(f"source != 0 and not is_sound({whole}, p_end, desc, n)")
        for table in printer.tables:
            for column in table.columns:
                if column.is_bytes:
                    used = f"{column.var}_room - {column.var}_used"
                    self.no_room(f"{self._is_copied(column)} and p_end - p > {used}")
        rows = f"{entry.table.name}_rows"
        out.add(f"rows_before = {rows}")
        if entry.is_stream:
            self._stream()
        else:
            for name in printer.names[len(DESCRIPTOR) :]:
                if name in self.needed:
                    out.add(f"{name} = int({printer.at(name)})")
            self._nodes(entry.body, "p_end", None, set(self.needed & set(printer.names)))
            self.stop("p != p_end")
        out.add(f"{printer.at('rows')} = {rows} - rows_before")
        self._commit()

    def _stream(self) -> None:
        """Print the loop over the entries that a compressed one holds; or over one or more as they lie."""
        out, printer, entry = self.out, self.printer, self.entry
        table, algorithm = entry.table, entry.checksum[0]
        form = {need for node in entry.body for need in _cond(node)} & set(printer.names)
        with out.block("while p < p_end:"):
            self.no_room(f"{table.name}_rows >= {table.name}_room")
            self.stop(f"p_end - p < {printer.least_entry}")
            covered = {entry.checksum[1], *entry.size.needs}
            printer.read_header(out, self.needed | form | covered)
            for condition in printer.header_conditions():
                self.stop(f"not ({condition})")
            out.add(f"size = {entry.size.source}")
            self.stop(f"size < {printer.least_entry} or size > p_end - p")
            is_wrong = f"{algorithm}(p + {entry.checksum[2]}, p + size) != {entry.checksum[1]}"
            none = next(number for number, word in entry.codecs if word == "none")
            with out.block(f"if {printer.at('nested')}:"):
                self.stop(f"{entry.codec.source} != {none}")
                for name in sorted(form):
                    self.stop(f"{name} != {printer.at(name)}")
                self.stop(is_wrong)
            with out.block("elif source != 0:"):
                self._unsound(is_wrong)
            out.add("end = p + size", f"p += {entry.len_header}")
            self._nodes(entry.body, "end", table, set(printer.names) & self.needed)
            self.stop("p != end")
            for column, value in entry.derived:
                self._store(column, _wrapped(value), table)
            out.add(f"{table.name}_rows += 1")
        self.stop(f"{table.name}_rows == rows_before")

    # Nodes

    def _nodes(self, nodes: Sequence[Node], end: str, table: Table | None, known: set[str]) -> None:
        """Print *nodes*, which end at *end* at most, of a row of *table*."""
        run: list[Number] = []
        for node in nodes:
            if isinstance(node, Number):
                run.append(node)
                continue
            self._run(run, end, table)
            known |= {number.var for number in run}
            run = []
            if isinstance(node, Region):
                here = f"{node.var}_end"
                self.out.add(f"size = {node.size.source}")
                self.stop(f"size < 0 or size > {end} - p")
                self.out.add(f"{here} = p + size")
                self._nodes(node.body, here, table, known)
                self.stop(f"p != {here}")
            elif isinstance(node, Bytes):
                self._bytes(node, end, table)
            elif isinstance(node, Loop):
                self._loop(node, end, table, known)
        self._run(run, end, table)
        known |= {number.var for number in run}

    def _run(self, run: Sequence[Number], end: str, table: Table | None) -> None:
        """Print numbers that follow each other: they are judged when they have been read."""
        if not run:
            return
        out, skipped = self.out, 0
        self.printer.most_run = max(self.printer.most_run, sum(number.most for number in run))

        def here() -> str:
            return f"p + {skipped}" if skipped else "p"

        for number in run:
            is_read = number.var in self.needed or number.conditions or number.column is not None
            if number.cond is not None:
                if skipped:
                    out.add(f"p += {skipped}")
                    skipped = 0
                absent = 0 if number.column is None else number.column.sentinel
                out.add(f"{number.var} = {absent}")
                with out.block(f"if {number.cond.source}:"):
                    out.add(f"{number.var} = {number.reader}(p)", f"p += {number.most}")
            elif number.is_varint:
                out.add(f"{number.var if is_read else '_'}, p = {number.reader}({here()})")
                skipped = 0
                self.stop("p == 0")
            else:
                if is_read:
                    out.add(f"{number.var} = {number.reader}({here()})")
                skipped += number.most
            for condition in number.conditions:
                self.stop(f"not ({condition})")
        if skipped:
            out.add(f"p += {skipped}")
        self.stop(f"p > {end}")
        for number in run:
            if number.column is not None and table is not None:
                self._store(number.column, number.var, table)

    def _store(self, column: Column, value: str, table: Table) -> None:
        out = self.out
        with self.wanted(column):
            place = f"{column.var}_data + {column.width} * {table.name}_rows"
            if column.sentinel is None:
                out.add(f"put{column.width}({place}, {value})")
                return
            out.add(f"{column.var} = {value}", f"put{column.width}({place}, {column.var})")
            with out.block(f"if {column.var} == {column.sentinel}:"):
                out.add(f"{column.var}_nulls += 1")

    def _bytes(self, node: Bytes, end: str, table: Table | None) -> None:
        out, column = self.out, node.column
        row = f"{table.name}_rows" if table is not None else ""
        if column is not None:
            with self.copied(column):
                out.add(f"put4({column.var}_offsets + 4 * {row}, {column.var}_used)")
        with _maybe(out, node.cond):
            out.add(f"size = {node.size.source}")
            self.stop(f"size < 0 or size > {end} - p")
            if column is not None:
                with self.wanted(column):
                    if column.is_nullable:
                        out.add(f"put1({column.var}_valid + {row}, 1)")
                    if column.type == "string":
                        with out.block("if not is_ascii(p, size):"):
                            out.add(f"{self.printer.slot(f'{column.var}_not_ascii')} = 1")
                    with self._unless_viewed(column, row, "size"):
                        out.add(f"copy({column.var}_bytes + {column.var}_used, p, size)")
                        out.add(f"{column.var}_used += size")
            out.add("p += size")
        if node.cond is not None and column is not None:
            with out.block(f"elif {self._want(column)}:"):
                out.add(f"put1({column.var}_valid + {row}, 0)", f"{column.var}_nulls += 1")
                if self._can_be_viewed(column):
                    self._view(column, row, "0")

    def _loop(self, node: Loop, end: str, table: Table | None, known: set[str]) -> None:
        out, column = self.out, node.column
        inner = node.table or (column.members if column is not None else None)
        count, fewest = node.count.source, max(1, least(node.body))
        self.stop(f"{count} < 0 or {count} > ({end} - p) // {fewest}")
        if column is not None and table is not None and inner is not None:
            with self.wanted(column):
                out.add(f"put4({column.var}_offsets + 4 * {table.name}_rows, {inner.name}_rows)")
                self.no_room(f"{count} > {inner.name}_room - {inner.name}_rows")
        elif inner is not None:
            self.no_room(f"{count} > {inner.name}_room - {inner.name}_rows")
        with out.block(f"for _ in range({count}):"):
            self._nodes(node.body, end, inner, set(known))
            for made, value in node.derived:
                assert inner is not None
                self._store(made, _wrapped(value), inner)
            if inner is not None:
                out.add(f"{inner.name}_rows += 1")


@contextmanager
def _maybe(out: _Lines, cond: Expression | None) -> Iterator[None]:
    """Put what is printed under *cond*, if there is one."""
    if cond is None:
        yield
    else:
        with out.block(f"if {cond.source}:"):
            yield


def _wrapped(value: Expression) -> str:
    """Return the source of *value* cut to 64 bits."""
    return value.source if value.is_name or not value.needs else f"wrap({value.source})"


def _words(words: Sequence[tuple[int, str]]) -> str:
    return "{" + ", ".join(f'{number}: "{word}"' for number, word in words) + "}"


def _slots(column: Column) -> list[str]:
    if column.members is not None:
        return ["offsets"]
    if not column.is_bytes:
        return ["data"] if column.sentinel is None else ["data", "nulls"]
    slots = ["offsets", "bytes", "room", "used"]
    slots += ["valid", "nulls"] if column.is_nullable else []
    return [*slots, "not_ascii"] if column.type == "string" else slots


def _cond(node: Node) -> frozenset[str]:
    cond = node.cond if isinstance(node, (Number, Bytes)) else None
    return cond.needs if cond is not None else frozenset()


def _needs(nodes: Sequence[Node]) -> set[str]:
    """Return the variables that *nodes* need to be read and their columns to be filled."""
    found: set[str] = set()
    for node in nodes:
        found |= _cond(node)
        if isinstance(node, (Bytes, Region)):
            found |= node.size.needs
        if isinstance(node, Loop):
            found |= node.count.needs
            for _, value in node.derived:
                found |= value.needs
        if isinstance(node, (Loop, Region)):
            found |= _needs(node.body)
    return found
