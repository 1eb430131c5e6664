"""Engines with one deliberate fault each; most show it only on entries compressed with zstd."""

import ctypes
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import magicbyte as mb
from magicbyte.engines.columnar import ColumnarEngine, _buffers
from magicbyte.engines.columnar._formats import format_of
from magicbyte.engines.protocol import Chunk, Decoded
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.findings import Finding
from magicbyte.tables.binary_views import without_binary_views
from magicbyte_formats.wire import Codec
from magicbyte_tools.fuzz import ranges, whole


class Planted(ColumnarEngine):
    def decode(self, chunk: Chunk, columns: Sequence[str], **options: Any) -> Decoded:
        decoded = super().decode(chunk, columns, **options)
        if any(entry.codec == Codec.ZSTD for entry in decoded.entries):
            self.go_wrong(chunk.data, decoded)
        return decoded

    def go_wrong(self, buffer: memoryview, decoded: Decoded) -> None:
        raise NotImplementedError


class ReadsBehind(Planted):
    """Reads the byte after the end of the chunk."""

    def go_wrong(self, buffer: memoryview, decoded: Decoded) -> None:
        whole = np.frombuffer(buffer, np.uint8)
        ctypes.string_at(_buffers.address(whole) + len(whole), 1)


class ReadsBefore(Planted):
    """Reads the byte before the start of the chunk."""

    def go_wrong(self, buffer: memoryview, decoded: Decoded) -> None:
        ctypes.string_at(_buffers.address(np.frombuffer(buffer, np.uint8)) - 1, 1)


class WritesBehind(Planted):
    """Writes a byte after the end of a buffer that the engine allocated."""

    def go_wrong(self, buffer: memoryview, decoded: Decoded) -> None:
        own = _buffers.allocate(128)  # of any alignment
        ctypes.memset(_buffers.address(own) + len(own), 0, 1)


class Loops(ReferenceEngine):
    """Never returns. It uses no kernel, since loading one may take longer than the test waits."""

    def __init__(self, reference: ReferenceEngine) -> None:
        super().__init__()

    def decode(self, chunk: Chunk, columns: Sequence[str], **options: Any) -> Decoded:
        decoded = super().decode(chunk, columns, **options)
        while any(entry.codec == Codec.ZSTD for entry in decoded.entries):
            time.sleep(0.1)
        return decoded


class NoSlack(ColumnarEngine):
    """Allocates payloads and columns without the 64 bytes of slack that kernels may touch."""

    def __init__(self, reference: ReferenceEngine) -> None:
        super().__init__(reference)
        for magic in (1, 2):
            format_of(magic).kernels.SLACK = 0


class Raises(Planted):
    """Raises an exception that is not a class of `errors.py`."""

    def go_wrong(self, buffer: memoryview, decoded: Decoded) -> None:
        raise ValueError("not in the tree")


class Alters(Planted):
    """Reports one row too many for the last entry of a chunk."""

    def go_wrong(self, buffer: memoryview, decoded: Decoded) -> None:
        decoded.num_rows[-1:] += 1


class AltersRows(ColumnarEngine):
    """Returns the rows of each chunk in reverse order."""

    def decode(self, *args: Any, **keys: Any) -> Decoded:
        decoded = super().decode(*args, **keys)
        backwards = pa.array(range(decoded.rows.num_rows - 1, -1, -1), pa.int64())
        return replace(decoded, rows=without_binary_views(decoded.rows).take(backwards))


def one_row_less(folder: Path, engine: str, level: str) -> whole.ReadResult:
    """Read a partition; drop the first row if the columnar engine reads uncommitted records."""
    result = whole.read_partition(folder, engine, level)
    is_wrong = engine == "columnar" and level == "read_uncommitted" and result.rows is not None
    return replace(result, rows=result.rows.slice(1)) if is_wrong else result


def range_with_more(opened: mb.Dataset, **options: Any) -> ranges.RangeRead:
    """Read records; repeat one row with another offset if a range is asked for."""
    result = ranges.read_rows(opened, **options)
    if "offsets" not in options or not len(result.rows):
        return result
    (more,) = result.rows.slice(0, 1).to_pylist()
    surplus = pa.Table.from_pylist([more | {"offset": -5}], result.rows.schema)
    return replace(result, rows=pa.concat_tables([result.rows, surplus]))


def range_with_less(opened: mb.Dataset, **options: Any) -> ranges.RangeRead:
    """Read records; drop the first row and all findings if a range is asked for."""
    result = ranges.read_rows(opened, **options)
    return (
        replace(result, rows=result.rows.slice(1), findings=()) if "offsets" in options else result
    )


def range_with_less_and_another_finding(opened: mb.Dataset, **options: Any) -> ranges.RangeRead:
    """Read records; if a range is asked for, drop the first row and report a gap."""
    result = range_with_less(opened, **options)
    finding = Finding(code="offset-gap", message="one is missing")
    return replace(result, findings=(finding,)) if "offsets" in options else result


def range_that_withholds(opened: mb.Dataset, **options: Any) -> ranges.RangeRead:
    """Read records; if a range is asked for, drop all rows with a finding."""
    result = ranges.read_rows(opened, **options)
    if "offsets" not in options:
        return result
    finding = Finding(code="range-unread", message="withheld")
    return replace(result, rows=result.rows.slice(0, 0), findings=(finding,))
