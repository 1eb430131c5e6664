"""What the kernels' descriptors mean: entries, what is for the reference engine, and wrappers."""

from functools import cache, partial
from typing import Any, Protocol

import numpy as np

from magicbyte.engines.columnar.compiled import kernels
from magicbyte.engines.columnar.output import Output
from magicbyte.engines.columnar.scratch import Numbers
from magicbyte.engines.entry import Entry, wrap64
from magicbyte_formats.columnar import Kernels
from magicbyte_formats.wire import Codec

_entry = partial(tuple.__new__, Entry)

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]


class Format(Protocol):
    """One of the formats of entries, with its kernels."""

    kernels: Kernels

    def entries(self, desc: Numbers, origin: int) -> list[Entry]:
        """Return the headers that *desc* describes, of a buffer that begins at *origin*."""

    def is_unusual(self, desc: Numbers) -> Mask:
        """Return which of the described entries are for the reference engine, whatever they hold."""

    def most_rows(self, desc: Numbers) -> int:
        """Return the most rows that a kernel can make of the described, plain entries."""

    def finish(self, entry: Entry, output: Output, first: int, end: int) -> int | None:
        """Put right the rows of an entry that holds others, and return its base offset.

        None says that it is for the reference engine after all.
        """

    always: tuple[str, ...]
    """The columns that *finish* needs."""


class RecordBatches:
    """Format v2."""

    always: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.kernels = kernels("kafka_record_batch")
        self._at = self.kernels.NAMES

    def entries(self, desc: Numbers, origin: int) -> list[Entry]:
        def column(name: str) -> Any:
            return desc[:, self._at[name]]

        def flags(name: str) -> list[bool]:
            made: list[bool] = column(name).astype(np.bool_).tolist()
            return made

        count = len(desc)
        columns = (
            (column("position") + origin).tolist(),
            column("size").tolist(),
            [2] * count,
            column("base_offset").tolist(),
            (column("base_offset") + column("last_offset_delta")).tolist(),
            column("crc").tolist(),
            column("codec").tolist(),
            column("timestamp_type").tolist(),
            column("base_timestamp").tolist(),
            column("max_timestamp").tolist(),
            flags("has_delete_horizon"),
            column("producer_id").tolist(),
            column("producer_epoch").tolist(),
            column("base_sequence").tolist(),
            column("partition_leader_epoch").tolist(),
            column("num_records").tolist(),
            flags("is_transactional"),
            flags("is_control"),
        )
        return list(map(_entry, zip(*columns, strict=True)))

    def is_unusual(self, desc: Numbers) -> Mask:
        is_control: Mask = desc[:, self._at["is_control"]] != 0
        # Nobody looks at the section of a batch without records; that there is one is noted.
        has_bytes: Mask = desc[:, self._at["end"]] > desc[:, self._at["start"]]
        is_empty: Mask = desc[:, self._at["num_records"]] == 0
        return is_control | is_empty & has_bytes

    def most_rows(self, desc: Numbers) -> int:
        counts = desc[:, self._at["num_records"]]
        sizes = desc[:, self._at["end"]] - desc[:, self._at["start"]]
        # No kernel takes a count that the bytes cannot hold.
        return int(np.minimum(counts, sizes // self.kernels.LEAST_ROW).sum())

    def finish(self, entry: Entry, output: Output, first: int, end: int) -> int | None:
        return entry.base_offset


class Messages:
    """Formats v0 and v1: messages, and wrappers around compressed ones."""

    always: tuple[str, ...] = ("offset", "timestamp")

    def __init__(self) -> None:
        self.kernels = kernels("kafka_message")
        self._at = self.kernels.NAMES
        self._columns = {column.name: column for column in self.kernels.TABLE.columns}

    def entries(self, desc: Numbers, origin: int) -> list[Entry]:
        def column(name: str) -> Any:
            return desc[:, self._at[name]]

        count = len(desc)
        offsets, codecs = column("offset").tolist(), column("codec").tolist()
        magics, times = column("magic").tolist(), column("timestamp").tolist()
        none, minus, false = [None] * count, [-1] * count, [False] * count
        types = column("timestamp_type").tolist()
        columns = (
            (column("position") + origin).tolist(),
            column("size").tolist(),
            magics,
            [o if codec == 0 else None for o, codec in zip(offsets, codecs, strict=True)],
            offsets,
            column("crc").tolist(),
            codecs,
            [kind if magic else None for kind, magic in zip(types, magics, strict=True)],
            none,
            [time if magic else None for time, magic in zip(times, magics, strict=True)],
            false,
            minus,
            minus,
            minus,
            minus,
            [1 if codec == 0 else None for codec in codecs],
            false,
            false,
        )
        return list(map(_entry, zip(*columns, strict=True)))

    def is_unusual(self, desc: Numbers) -> Mask:
        # KIP-110: what is not allowed is not decompressed.
        codecs = desc[:, self._at["codec"]]
        is_unusual: Mask = codecs >= Codec.ZSTD
        return is_unusual

    def most_rows(self, desc: Numbers) -> int:
        sizes = desc[:, self._at["end"]] - desc[:, self._at["start"]]
        is_nested = desc[:, self._at["nested"]] != 0
        most = np.where(is_nested, sizes // self.kernels.LEAST_ROW, 1)
        return int(most.sum())

    def finish(self, entry: Entry, output: Output, first: int, end: int) -> int | None:
        offsets = output.numbers(self._columns["offset"])[first:end]
        if entry.magic == 1 and entry.last_offset != 0:
            base = entry.last_offset - int(offsets[-1])
            if base < 0:
                return None
            offsets += np.int64(wrap64(base))
        if entry.is_append_time:
            output.numbers(self._columns["timestamp"])[first:end] = entry.max_timestamp
        return int(offsets[0])


@cache
def format_of(magic: int) -> Format:
    """Return the format of entries of *magic*. Raises ImportError where Numba cannot run."""
    return RecordBatches() if magic == 2 else Messages()
