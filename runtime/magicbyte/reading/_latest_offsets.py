"""The offset of the last record of each key, in limited memory: more keys are spilled to temporary files.

Rows are spilled to buckets by the hash of the key. All rows of a key are in one bucket, so the last offsets of a
bucket are found without the others. They are then divided by ranges of offsets. One range is in memory
while the records are read again in the order of offsets.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from magicbyte.engines.entry_columns import Numbers
from magicbyte.errors import InputError
from magicbyte.limits import MIB
from magicbyte.reading.last_offsets import LastOffsets, Words, are_in, hashes_of
from magicbyte.tables.arrays import Mask

DEFAULT_MEMORY_BYTES = 256 * MIB

BYTES_PER_KEY = 150
"""Memory that a key takes in `LastOffsets` while keys are entered."""

NUM_BUCKETS = 64
"""Buckets of a spill. Memory grows with the number of keys again if there are more than 64 times as many as fit."""

BUCKET_SHIFT = np.uint64(58)
"""The upper six bits of a hash are the number of its bucket."""

SPILLED_ROW = np.dtype([("key", np.uint64, 2), ("offset", np.int64)])

ROWS_AT_A_TIME = 1 << 18


class LatestOffsets:
    """The offset of the last record of each key of a partition; a context manager.

    Keys are entered with `put`; then `contain` tells whether an offset is the last one of a key.
    """

    def __init__(self, memory_bytes: int = DEFAULT_MEMORY_BYTES) -> None:
        self._max_keys = max(memory_bytes // BYTES_PER_KEY, 1)
        self._offsets_per_range = max(memory_bytes // 32, 1)
        """Offsets that a range spans: a range takes a quarter of the memory at most."""
        self._in_memory = LastOffsets()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._range_number = -1
        self._ordered: Numbers | None = None
        """Last offsets of the range that is in memory, sorted; of all keys if none were spilled."""

    def __enter__(self) -> "LatestOffsets":
        return self

    def __exit__(self, *error: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def put(self, key_column: pa.Array, offsets: Numbers) -> None:
        """Enter *offsets*, which increase, for *key_column*, which has no nulls."""
        self._in_memory.put(key_column, offsets)
        if self._in_memory.num_rows <= self._max_keys:
            return
        if self._folder is not None or len(self._in_memory) > self._max_keys // 2:
            with _space_in_temporary_folder():
                self._spill()

    def contain(self, offsets: Numbers) -> Mask:
        """Return which of *offsets* are the last one of a key. No key can be entered after the first call."""
        if self._folder is None:
            if self._ordered is None:
                self._ordered = self._in_memory.offsets()
            return are_in(offsets, self._ordered)
        if self._ordered is None:
            with _space_in_temporary_folder():
                self._spill()
                self._divide_by_offset()
            self._ordered = np.zeros(0, np.int64)
        mask: Mask = np.zeros(len(offsets), np.bool_)
        numbers = offsets // self._offsets_per_range
        for number in np.unique(numbers).tolist():
            of_range = np.flatnonzero(numbers == number)
            mask[of_range] = are_in(offsets[of_range], self._range(number))
        return mask

    def _spill(self) -> None:
        """Move all rows in memory to the files of their buckets."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="magicbyte-latest-")
        key_words, offsets = self._in_memory.rows()
        self._in_memory = LastOffsets()
        buckets = (hashes_of(key_words) >> BUCKET_SHIFT).astype(np.int64)
        spilled = np.empty(len(key_words), SPILLED_ROW)
        spilled["key"], spilled["offset"] = key_words, offsets
        for bucket, rows in _divided(spilled, buckets):
            self._append(f"bucket-{bucket}", rows)

    def _divide_by_offset(self) -> None:
        """Write the last offsets of each bucket to the files of their ranges, and delete the bucket."""
        for bucket in range(NUM_BUCKETS):
            path = self._path(f"bucket-{bucket}")
            if not path.exists():
                continue
            last_offsets = LastOffsets()
            with path.open("rb") as file:
                while data := file.read(ROWS_AT_A_TIME * SPILLED_ROW.itemsize):
                    spilled = np.frombuffer(data, SPILLED_ROW)
                    key_words: Words = np.ascontiguousarray(spilled["key"])
                    last_offsets.put_words(key_words, spilled["offset"])
            path.unlink()
            ordered = last_offsets.offsets()
            for number, offsets in _divided(ordered, ordered // self._offsets_per_range):
                self._append(f"range-{number}", offsets)

    def _range(self, number: int) -> Numbers:
        """Return the last offsets in the range *number*, sorted."""
        if number != self._range_number or self._ordered is None:
            path = self._path(f"range-{number}")
            stored = np.fromfile(path, np.int64) if path.exists() else np.zeros(0, np.int64)
            self._range_number, self._ordered = number, np.sort(stored)
        return self._ordered

    def _append(self, name: str, rows: np.ndarray[tuple[int], np.dtype[np.generic]]) -> None:
        with self._path(name).open("ab") as file:
            file.write(rows.tobytes())

    def _path(self, name: str) -> Path:
        assert self._folder is not None
        return Path(self._folder.name, name)


def _divided(
    rows: np.ndarray[tuple[int], np.dtype[np.generic]], numbers: Numbers
) -> Iterator[tuple[int, np.ndarray[tuple[int], np.dtype[np.generic]]]]:
    """Yield each of *numbers* with the *rows* that have it, in their own order."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    bounds = [0, *(np.flatnonzero(np.diff(ordered)) + 1), len(ordered)]
    for begin, end in pairwise(bounds):
        if begin < end:  # not where there are no rows at all
            yield int(ordered[begin]), rows[order[begin:end]]


@contextmanager
def _space_in_temporary_folder() -> Iterator[None]:
    """Turn an error of the temporary folder into an InputError that says what to do."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"keys do not fit into the limit of memory, and cannot be spilled: {os.strerror(error.errno or 0)}",
            "room in the temporary folder, another one by TMPDIR, or a higher limit of memory",
            path=tempfile.gettempdir(),
        ) from error
