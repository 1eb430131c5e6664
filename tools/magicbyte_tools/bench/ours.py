"""Contender for magicbyte's engines: reads a segment to Arrow batches, checksums verified."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

import magicbyte as mb
from magicbyte.engines.entry import read_entry
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk, Decoded, Engine
from magicbyte.limits import MIB, Limits
from magicbyte.reading._walk import HeaderWalk, SoundEntries, max_batch_bytes
from magicbyte.reading.offset_bounds import Bounds
from magicbyte.storage import File, open_file
from magicbyte_tools.bench.checksum import ColumnSums

OF_RECORDS = ("offset", "timestamp", "key", "value", "headers")
COLUMNS = {
    "columns": OF_RECORDS,
    "kept": OF_RECORDS,
    "views": OF_RECORDS,
    "offsets": ("offset", "timestamp"),
}
"""Columns by mode. `columns` has the fields of Kafka's own record class, `views` the same with keys and
values as views, `offsets` the least that a search needs. The reader drops each Arrow batch before the
next one is decoded, except in `kept`, which holds two at a time."""

ON_DAMAGE = {"open": "fail", "skip": "skip"}
"""`on_damage` of `mb.open`, by the VIA of bench.serve."""

CHUNK = 4 * MIB
"""Bytes per read from a file."""

LIMITS = Limits()


class DamagedFileError(Exception):
    """A generated segment file has an entry that is not sound."""


class LoadedFile:
    """A file whose bytes are in memory, like a fetch response; `read_at` returns views and copies nothing."""

    def __init__(self, data: bytes) -> None:
        self.data = memoryview(data)
        self.size_bytes = len(data)

    def read_at(self, position: int, length: int) -> memoryview:
        return self.data[position : position + length]


class Ours:
    def __init__(self, name: str) -> None:
        self.name = name

    def load(self, path: Path, via: str) -> None:
        self.path, self.via = path, via
        self.file = LoadedFile(path.read_bytes()) if via == "memory" else None
        self.parts: dict[int, list[tuple[int, int]]] = {}

    def read(self, mode: str, threads: int) -> int:
        if mode == "headers":
            return self._headers()
        if threads > 1:
            return self._in_threads(COLUMNS[mode], threads)
        batches = self._batches(COLUMNS[mode], views=mode == "views")
        return _num_rows(batches, is_kept=mode == "kept")

    def check(self) -> tuple[int, int]:
        count, sums = 0, ColumnSums()
        for rows in self._batches(COLUMNS["columns"]):
            count += rows.num_rows
            headers = rows.column("headers").flatten()
            sums.add(
                key_size=_num_bytes(rows.column("key")),
                value_size=_num_bytes(rows.column("value")),
                header_key_size=_num_bytes(headers.field("key")),
                header_value_size=_num_bytes(headers.field("value")),
            )
            last = rows.slice(rows.num_rows - 1)
            sums.last(
                last.column("offset")[0].as_py(),
                last.column("timestamp").cast(pa.int64())[0].as_py(),
            )
        return count, sums.checksum

    def _batches(
        self, columns: tuple[str, ...], *, views: bool = False
    ) -> Iterator[pa.RecordBatch]:
        own = engine(self.name, views=views)
        if self.via in ON_DAMAGE:
            log = mb.open(self.path, engine=self.name, on_damage=ON_DAMAGE[self.via])
            yield from log.records(columns=columns).to_reader()
        elif self.file is not None:
            yield from read(own, self.file, columns, 0, self.file.size_bytes)
        else:
            with open_file(str(self.path)) as file:
                yield from read(own, file, columns, 0, file.size_bytes)

    def _headers(self) -> int:
        """Return the number of log entries in the file; only their headers are read."""
        with open_file(str(self.path)) as file:
            anywhere = Bounds(floor=None, ceiling=None)
            own = engine(self.name)
            walk = HeaderWalk(file, engine=own, limits=LIMITS, bounds=anywhere)
            return sum(len(piece.entries) for piece in walk if isinstance(piece, SoundEntries))

    def _in_threads(self, columns: tuple[str, ...], threads: int) -> int:
        """Return the number of rows that *threads* threads decode, each from its own part of the file."""
        file = self.file
        if file is None:
            raise ValueError("threads read from memory")

        def count(byte_range: tuple[int, int]) -> int:
            return _num_rows(read(engine(self.name), file, columns, *byte_range))

        with ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(count, self._parts(file, threads)))

    def _parts(self, file: LoadedFile, count: int) -> list[tuple[int, int]]:
        """Return *count* byte ranges of the file, of whole log entries and about equal size."""
        if count not in self.parts:
            size, ends = file.size_bytes, [0]
            position = 0
            while position < size:
                position = read_entry(file.data, position).end
                if position >= size * len(ends) // count:
                    ends.append(position)
            self.parts[count] = list(pairwise(ends))
        return self.parts[count]


def read(
    engine: Engine, file: File | LoadedFile, columns: Sequence[str], begin: int, end: int
) -> Iterator[pa.RecordBatch]:
    """Yield *columns* of all records of the entries in [begin, end) of *file*.

    Raises DamagedFileError if an entry, its checksum or a record is not sound.
    """
    chunk_bytes = end - begin if isinstance(file, LoadedFile) else CHUNK
    max_bytes, length = max_batch_bytes(columns), chunk_bytes
    chunk = Chunk(memoryview(b""), begin)
    while (position := chunk.position) < end:
        if not chunk.data or length > chunk_bytes:
            chunk = Chunk(memoryview(b""), position)  # free it before the next one is read
            chunk = Chunk(memoryview(file.read_at(position, min(length, end - position))), position)
        decoded = engine.decode(chunk, columns, limits=LIMITS, max_bytes=max_bytes)
        _check(decoded)
        rest = decoded.stopped_by
        if rest is not None and not decoded.entries:
            if len(chunk.data) == end - position or rest.code != "incomplete-entry":
                raise DamagedFileError(f"byte {position}: {rest.message}")
            length = 2 * max(length, len(chunk.data))  # an entry that is larger
            continue
        yield decoded.rows
        length, chunk = chunk_bytes, chunk.after(decoded.end)
        if rest is not None:
            chunk = Chunk(memoryview(b""), chunk.position)
        del decoded


def _num_rows(batches: Iterator[pa.RecordBatch], *, is_kept: bool = False) -> int:
    count = 0
    for rows in batches:
        count += rows.num_rows
        if not is_kept:
            del rows  # so that its memory is reused for the next Arrow batch
    return count


def _check(decoded: Decoded) -> None:
    for number, result in decoded.results.items():
        if not result.is_sound:
            position = decoded.entries[number].position
            raise DamagedFileError(f"byte {position}: {result.findings[0].message}")
    if decoded.unsound is not None:
        raise DamagedFileError(f"a wrong checksum after {len(decoded.entries)} entries")


def _num_bytes(column: pa.Array) -> int:
    total: int = pc.sum(pc.binary_length(column)).as_py() or 0
    return total
