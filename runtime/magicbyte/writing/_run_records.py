"""Decode the records of log entries that are to be encoded again."""

from collections.abc import Iterator

import pyarrow as pa

from magicbyte.engines.protocol import Chunk, Engine
from magicbyte.errors import error_of
from magicbyte.limits import Limits
from magicbyte.reading.entry_runs import SourceRun

ENCODED_COLUMNS = ("key", "value", "headers", "offset", "timestamp")
"""Columns of a record that an encoder writes."""


def decoded_runs(
    source_run: SourceRun,
    engine: Engine,
    limits: Limits,
    columns: tuple[str, ...] = ENCODED_COLUMNS,
) -> Iterator[SourceRun]:
    """Yield the entries of *source_run* with wire *columns* of their records.

    Raises FormatError or LimitError for a payload that cannot be decoded.
    """
    chunk, first = Chunk(source_run.data, int(source_run.entries.column("position")[0])), 0
    while first < len(source_run.entries):
        decoded = engine.decode(chunk, columns, limits=limits, verify=False)
        count = len(decoded.entries)
        for number, result in sorted(decoded.results.items()):
            if not result.is_sound:
                finding = next(each for each in result.findings if each.severity == "error")
                raise error_of(
                    finding.at(None, None, source_run.file.name, source_run.file.replica)
                )
            assert number < count
        assert count, "sound entries are whole"
        yield source_run.part(first, first + count).with_records(decoded)
        chunk, first = chunk.after(decoded.end), first + count
        del decoded


def rows_of(source_run: SourceRun) -> pa.RecordBatch:
    """Return the records of a decoded source_run."""
    assert source_run.decoded is not None
    return source_run.decoded.rows
