"""Prints the module of a format's kernels: headers to descriptors, payloads to columns, and back.

A kernel reports no errors. At the first entry that it does not support it stops and returns the
index of that entry, and stores which record and element it has stopped at; the caller then lets the
reference engine find the fault there. So a kernel has one path: every buffer has `SLACK` readable bytes
after its end, a run of numbers is read without a bounds check, and its end is checked afterwards.
"""

import ast
import re
from collections.abc import Iterator, Set
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from magicbyte_kernels.kernel_interface import DESCRIPTOR_FIELDS
from magicbyte_tools.generate.columnar.arithmetic import UnsupportedSpecError
from magicbyte_tools.generate.columnar.decoder_printer import DecoderPrinter
from magicbyte_tools.generate.columnar.encoder_printer import EncoderPrinter
from magicbyte_tools.generate.columnar.entry_model import (
    BytesNode,
    EntryModel,
    FieldNode,
    NumberNode,
    needed_variables,
)
from magicbyte_tools.generate.columnar.header_printer import header_checks, print_header
from magicbyte_tools.generate.columnar.kernel_layout import KernelLayout
from magicbyte_tools.generate.columnar.source_writer import SourceWriter

IMPORTED_MODULES = (
    "magicbyte_kernels.checksums",
    "magicbyte_kernels.encode_kernels",
    "magicbyte_kernels.entry_kernels",
    "magicbyte_kernels.kernel_interface",
    "magicbyte_kernels.primitives",
)


def kernel_module(entry_model: EntryModel) -> str:
    """Return the text of the module of a format's kernels."""
    functions = "\n\n\n".join(_functions(entry_model))
    words = set(re.findall(r"\w+", functions))
    return "\n".join(
        [
            f'"""Kernels of {entry_model.name}: bytes to columns and back, without a Python object per record."""',
            "",
            "from collections.abc import Callable",
            "from functools import cache",
            "from typing import Any",
            "",
            *(line for module in IMPORTED_MODULES for line in _imports(module, words)),
            "",
            "",
            functions,
            "",
        ]
    )


def _imports(module: str, identifiers: Set[str]) -> list[str]:
    """Return the import of the names in *identifiers* that *module* defines."""
    names = sorted(identifiers & _public_names(module))
    return [f"from {module} import (", *(f"    {name}," for name in names), ")"] if names else []


@cache
def _public_names(module: str) -> frozenset[str]:
    """Return the public names that *module* defines. It is parsed: importing it would take Numba."""
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None
    public_names: set[str] = set()
    statements: list[ast.stmt] = ast.parse(Path(spec.origin).read_text("utf-8")).body
    for statement in statements:
        if isinstance(statement, ast.If):
            statements += [*statement.body, *statement.orelse]
        elif isinstance(statement, ast.FunctionDef):
            public_names.add(statement.name)
        elif isinstance(statement, ast.Assign):
            nodes = (node for target in statement.targets for node in ast.walk(target))
            public_names.update(node.id for node in nodes if isinstance(node, ast.Name))
    return frozenset(name for name in public_names if not name.startswith("_"))


def _functions(entry_model: EntryModel) -> Iterator[str]:
    layout = KernelLayout(entry_model)
    yield _frame(layout)
    algorithm, stored, start = entry_model.checksum
    test = f"is_sound = checksum_test({algorithm}, {start}, {layout.number(stored)})"
    yield f"{test}\nscan = scan_kernel(frame, is_sound)\nverify = verify_kernel(is_sound)"
    yield _sections(layout)
    yield DecoderPrinter(layout).text()
    yield EncoderPrinter(layout).text()


def _frame(layout: KernelLayout) -> str:
    """Return the source of the function that fills a descriptor from a header."""
    entry_model, writer = layout.entry, SourceWriter()
    writer.add("@inlined")
    with writer.block("def frame(p: int, available: int, desc: Any, n: int) -> int:"):
        writer.add(
            '"""Fill descriptor *n* from the entry at *p*; return its size, or 0 for no entry."""'
        )
        writer.when(f"available < {entry_model.least_size}", "return 0")
        print_header(writer, entry_model)
        for check in header_checks(entry_model):
            writer.when(f"not ({check})", "return 0")
        writer.add(f"size = {entry_model.size_expression.source}")
        writer.when(f"size < {entry_model.least_size} or size > available", "return 0")
        for number in layout.optional_fields:
            assert number.condition is not None
            writer.add(f"{number.var} = ABSENT")
            with writer.block(f"if {number.condition.source}:"):
                writer.when(f"size < {entry_model.least_size + number.most}", "return 0")
                writer.add(f"{number.var} = {number.reader}(p + {entry_model.len_header})")
        writer.add(*(f"{layout.at(name)} = {source}" for name, source in _values(layout).items()))
        writer.add("return size")
    return writer.text()


def _values(layout: KernelLayout) -> dict[str, str]:
    """Return the source of each number of a descriptor except its position."""
    entry_model = layout.entry
    skipped = 0 if entry_model.is_stream else entry_model.len_header
    values = dict.fromkeys(DESCRIPTOR_FIELDS[1:], "0")
    values |= {"size": "size", "start": f"p + {skipped}" if skipped else "p", "end": "p + size"}
    values |= {name: name for name in layout.header_names}
    for column in layout.computed_columns:
        source = column.value.wrapped_source
        if column.condition is not None:
            source = f"{source} if {column.condition.source} else ABSENT"
        values[f"row_{column.name}"] = source
    return values


def _sections(layout: KernelLayout) -> str:
    """Return the source of the kernel that narrows entries to their compressed bytes."""
    entry_model, writer = layout.entry, SourceWriter()
    with writer.block("def sections(desc: Any, entries: Any) -> None:"):
        if not entry_model.is_stream:
            writer.add('"""Do nothing: the compressed bytes of an entry are its payload."""')
            return writer.text()
        writer.add('"""Narrow *entries* to their compressed bytes."""')
        with writer.block("for n in entries:"):
            writer.add(f"p = int({layout.at('start')})", f"end = int({layout.at('end')})")
            for name in sorted(needed_variables(entry_model.body) & set(layout.names)):
                writer.add(f"{name} = int({layout.at(name)})")
            writer.add(f"p += {entry_model.len_header}", "begin = 0", f"{layout.at('size')} = 0")
            for node in entry_model.body:
                _skip_field(writer, node)
            narrowed = f"{layout.at('start')} = begin", f"{layout.at('size')} = p - begin"
            writer.when("begin != 0 and p == end", *narrowed)
    return writer.text()


def _skip_field(writer: SourceWriter, field_node: FieldNode) -> None:
    """Print code that advances past *field_node*, and records where the compressed bytes begin."""
    if isinstance(field_node, NumberNode):
        with writer.under(field_node.condition):
            writer.add(f"{field_node.var} = {field_node.reader}(p)", f"p += {field_node.most}")
        for check in field_node.writer_checks:
            writer.when(f"not ({check})", "continue")
    elif isinstance(field_node, BytesNode):
        size = field_node.size_expression.source
        with writer.under(field_node.condition):
            writer.when(f"{size} < 0 or {size} > end - p", "continue")
            if field_node.is_compressed:
                writer.add("begin = p")
            writer.add(f"p += {size}")
        writer.when("p > end", "continue")
    else:
        raise UnsupportedSpecError(field_node.spec_path, "a structure before the compressed bytes")
