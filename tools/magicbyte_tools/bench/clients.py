"""aiokafka and kafka-python, whose consumers decode a fetch response to Python objects, not columns."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from magicbyte.engines.entry import read_entry
from magicbyte_tools.bench.checksum import ColumnSums


class _Client:
    module: str
    """Module of the client's `MemoryRecords`, the class that reads the bytes of a fetch."""
    most_bytes: int | None = None
    """Largest number of bytes that are read of a file, in whole log entries; None reads all."""

    def load(self, path: Path, via: str) -> None:
        self.records = importlib.import_module(self.module).MemoryRecords
        self.data = _beginning(path.read_bytes(), self.most_bytes)

    def read(self, mode: str, threads: int) -> int:
        rows = 0
        for _ in self._rows():
            rows += 1
        return rows

    def check(self) -> tuple[int, int]:
        count, sums = 0, ColumnSums()
        for row in self._rows():
            count += 1
            sums.add(
                key_size=len(row.key or b""),
                value_size=len(row.value or b""),
                header_key_size=sum(len(name.encode()) for name, _ in row.headers),
                header_value_size=sum(len(value or b"") for _, value in row.headers),
            )
            sums.last(row.offset, row.timestamp)
        return count, sums.checksum

    def _rows(self) -> Iterator[Any]:
        records = self.records(self.data)
        while records.has_next():
            entry = records.next_batch()
            if not entry.validate_crc():
                raise ValueError("a wrong checksum")
            yield from entry


def _beginning(buffer: bytes, most_bytes: int | None) -> bytes:
    """Return the log entries that end within the first *most_bytes* of *buffer*, at least one entry."""
    if most_bytes is None:
        return buffer
    end = read_entry(buffer, 0).end
    while end < len(buffer) and (entry := read_entry(buffer, end)).end <= most_bytes:
        end = entry.end
    return buffer[:end]


class Aiokafka(_Client):
    """Reader of aiokafka: in C if its wheel contains the extension, as for any user of that wheel."""

    module = "aiokafka.record.memory_records"


class KafkaPython(_Client):
    """Reader of kafka-python, which is so slow that it reads only the first MiB of a file."""

    module = "kafka.record.memory_records"
    most_bytes = 1 << 20
