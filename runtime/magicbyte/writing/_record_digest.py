"""A digest of records that does not depend on their batches: two logs of the same records have the same digest."""

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.tables.arrays import to_numpy


class RecordDigest:
    """Digests records that come in Arrow batches. How they are divided into batches makes no difference."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns = columns
        self.num_records = 0
        self._hashes: dict[str, Any] = {}

    def add(self, rows: pa.RecordBatch) -> None:
        """Add the records *rows*, in order."""
        if not rows.num_rows:
            return
        self.num_records += rows.num_rows
        for name in self.columns:
            self._add_array(name, rows.column(name))

    def hexdigest(self) -> str:
        """Return the digest of all records: SHA-256, as 64 hexadecimal digits."""
        total = hashlib.sha256(self.num_records.to_bytes(8, "little"))
        for path, column_hash in sorted(self._hashes.items()):
            total.update(path.encode())
            total.update(column_hash.digest())
        return total.hexdigest()

    def _add_array(self, path: str, array: pa.Array) -> None:
        """Add *array*: its lengths, or numbers, and the contents one after the other."""
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if pa.types.is_list(array.type):
            # Formats without headers have null, and others an empty list.
            self._update(f"{path}.lengths", to_numpy(pc.list_value_length(array).fill_null(0)))
            self._add_array(f"{path}.items", array.flatten())
        elif pa.types.is_struct(array.type):
            for number, field in enumerate(array.type):
                self._add_array(f"{path}.{field.name}", array.flatten()[number])
        elif pa.types.is_binary(array.type) or pa.types.is_string(array.type):
            self._update(f"{path}.lengths", to_numpy(pc.binary_length(array).fill_null(-1)))
            self._update(f"{path}.bytes", _contents(array))
        else:
            self._update(f"{path}.valid", to_numpy(array.is_valid().cast(pa.int8())))
            self._update(path, to_numpy(array.cast(pa.int64()).fill_null(0)))

    def _update(self, path: str, content: Any) -> None:
        """Add an array of numbers, or bytes, to the digest of *path*."""
        column_hash = self._hashes.get(path)
        if column_hash is None:
            column_hash = self._hashes[path] = hashlib.sha256()
        column_hash.update(content.tobytes() if isinstance(content, np.ndarray) else content)


def _contents(array: pa.Array) -> memoryview:
    """Return the bytes of all values of a binary array, one after the other."""
    if array.null_count:
        array = array.drop_null()  # a null may refer to bytes
    if not len(array):
        return memoryview(b"")
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    return memoryview(data)[int(bounds[0]) : int(bounds[-1])]
