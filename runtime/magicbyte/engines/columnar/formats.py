"""What the kernels' descriptors mean: entries, what is for the reference engine, and wrappers."""

from functools import cache, partial
from typing import Any, Protocol

import numpy as np

from magicbyte.engines.columnar.control_block import PLACES
from magicbyte.engines.columnar.kernel_loader import FORMATS, described
from magicbyte.engines.columnar.output import Output
from magicbyte.engines.columnar.thread_buffers import Numbers as Descriptors
from magicbyte.engines.entry import BATCH_NAMES, Entry
from magicbyte.engines.entry_columns import NO_VALUE, Numbers
from magicbyte.tables.arrays import Mask
from magicbyte_formats.wire import Codec
from magicbyte_kernels.kernel_interface import Description

_entry = partial(tuple.__new__, Entry)

Places = np.ndarray[tuple[int], np.dtype[np.int64]]


class Format(Protocol):
    """One of the formats of entries, with its kernels."""

    name: str
    kernels: Description
    places: Places
    """Those of PLACES in a descriptor."""

    def column(self, desc: Descriptors, name: str, origin: int) -> Numbers:
        """Return the field *name* of the described entries, or their `first_offset`.

        Positions count from *origin*; NO_VALUE stands for None.
        """

    def untold(self, desc: Descriptors, name: str) -> Mask | None:
        """Return where the field *name* is None; None where it never is."""

    def is_unusual(self, desc: Descriptors) -> Mask:
        """Return which of the described entries are for the reference engine, if no more is known."""

    def most_rows(self, desc: Descriptors) -> int:
        """Return the most rows that a kernel can make of the described, plain entries."""

    def finish(self, desc: Descriptors, output: Output, first: int) -> tuple[Numbers, Mask]:
        """Put right the rows from *first* on, of the described entries, which hold others.

        Returns the offset of each one's first row, and which are for the reference engine after all.
        """


OF_BATCHES = BATCH_NAMES | {"size_bytes": "size"}
OF_MESSAGES = {
    "size_bytes": "size",
    "first_offset": "offset",
    "last_offset": "offset",
    "max_timestamp": "timestamp",
    "base_offset": "offset",
}
"""What descriptors call a field of Entry, where that is something else."""

NOT_IN_MESSAGES = {
    "base_timestamp": -1,
    "has_delete_horizon": False,
    "producer_id": -1,
    "producer_epoch": -1,
    "base_sequence": -1,
    "leader_epoch": -1,
    "is_transactional": False,
    "is_control": False,
}
FLAGS = ("has_delete_horizon", "is_transactional", "is_control")


def entries(chosen: Format, desc: Descriptors, origin: int) -> list[Entry]:
    """Return the headers that *desc* describes, of a buffer that begins at *origin*."""
    if not len(desc):
        return []
    columns = [_values(chosen, desc, name, origin) for name in Entry._fields]
    return list(map(_entry, zip(*columns, strict=True)))


def _values(chosen: Format, desc: Descriptors, name: str, origin: int) -> list[Any]:
    column = chosen.column(desc, name, origin)
    if name in FLAGS:
        return [bool(number) for number in column.tolist()]
    untold = chosen.untold(desc, name)
    if untold is None:
        numbers: list[Any] = column.tolist()
        return numbers
    return [None if no else value for no, value in zip(untold, column.tolist(), strict=True)]


class RecordBatches:
    """Format v2."""

    name = FORMATS[2]

    def __init__(self) -> None:
        self.kernels = described(self.name)
        self._at = self.kernels.NAMES
        self.places = _places(self.kernels)
        self._plain = self._at | {name: self._at[of] for name, of in OF_BATCHES.items()}
        """Where a descriptor has fields of Entry as they are."""
        del self._plain["position"]

    def column(self, desc: Descriptors, name: str, origin: int) -> Numbers:
        at = self._plain.get(name)  # often asked for, of few entries
        if at is not None:
            return desc[:, at]
        if name == "position":
            return desc[:, self._at["position"]] + origin
        if name == "last_offset":
            return desc[:, self._at["base_offset"]] + desc[:, self._at["last_offset_delta"]]
        raise KeyError(name)

    def untold(self, desc: Descriptors, name: str) -> Mask | None:
        return None

    def is_unusual(self, desc: Descriptors) -> Mask:
        is_control: Mask = desc[:, self._at["is_control"]] != 0
        # Nobody looks at the section of a batch without records; that there is one is noted.
        has_bytes: Mask = desc[:, self._at["end"]] > desc[:, self._at["start"]]
        is_empty: Mask = desc[:, self._at["num_records"]] == 0
        return is_control | is_empty & has_bytes

    def most_rows(self, desc: Descriptors) -> int:
        counts = desc[:, self._at["num_records"]]
        sizes = desc[:, self._at["end"]] - desc[:, self._at["start"]]
        # No kernel takes a count that the bytes cannot hold.
        return int(np.minimum(counts, sizes // self.kernels.LEAST_ROW).sum())

    def finish(self, desc: Descriptors, output: Output, first: int) -> tuple[Numbers, Mask]:
        raise NotImplementedError("a record batch holds records alone")


class Messages:
    """Formats v0 and v1: messages, and wrappers around compressed ones."""

    name = FORMATS[1]

    def __init__(self) -> None:
        self.kernels = described(self.name)
        self._at = self.kernels.NAMES
        self.places = _places(self.kernels)
        self._columns = {column.name: column for column in self.kernels.TABLE.columns}

    def column(self, desc: Descriptors, name: str, origin: int) -> Numbers:
        def number(of: str) -> Numbers:
            return desc[:, self._at[of]]

        match name:
            case "position":
                return number("position") + origin
            case "record_count":
                values = np.ones(len(desc), np.int64)
            case _ if name in NOT_IN_MESSAGES:
                values = np.full(len(desc), NOT_IN_MESSAGES[name], np.int64)
            case _:
                values = number(OF_MESSAGES.get(name, name))
        untold = self.untold(desc, name)
        return values if untold is None else np.where(untold, NO_VALUE, values)

    def untold(self, desc: Descriptors, name: str) -> Mask | None:
        untold: Mask | None = None
        match name:
            case "base_offset" | "record_count":
                untold = desc[:, self._at["codec"]] != 0
            case "timestamp_type" | "max_timestamp":
                untold = desc[:, self._at["magic"]] == 0
            case "base_timestamp":
                untold = np.ones(len(desc), np.bool_)
        return untold

    def is_unusual(self, desc: Descriptors) -> Mask:
        # KIP-110: what is not allowed is not decompressed.
        codecs = desc[:, self._at["codec"]]
        is_unusual: Mask = codecs >= Codec.ZSTD
        return is_unusual

    def most_rows(self, desc: Descriptors) -> int:
        sizes = desc[:, self._at["end"]] - desc[:, self._at["start"]]
        is_nested = desc[:, self._at["nested"]] != 0
        most = np.where(is_nested, sizes // self.kernels.LEAST_ROW, 1)
        return int(most.sum())

    def finish(self, desc: Descriptors, output: Output, first: int) -> tuple[Numbers, Mask]:
        def of(name: str) -> Numbers:
            return desc[:, self._at[name]]

        offsets, counts = output.numbers(self._columns["offset"])[first:], of("rows")
        ends = np.cumsum(counts)
        stated, inner = of("offset"), offsets[np.maximum(ends - 1, 0)]
        is_relative = (of("magic") == 1) & (stated != 0)
        is_refused = is_relative & (stated < inner)
        # What does not fit into 64 bits goes round, as it does in Java.
        base = np.where(is_relative & ~is_refused, stated - inner, 0)
        offsets += np.repeat(base, counts)
        is_append_time = (of("magic") == 1) & (of("timestamp_type") == 1)
        if is_append_time.any():
            is_stamped = np.repeat(is_append_time, counts)
            stamps = np.repeat(of("timestamp"), counts)
            column = self._columns["timestamp"]
            written = output.numbers(column)[first:]
            before = np.count_nonzero(written == column.sentinel)
            written[is_stamped] = stamps[is_stamped]
            nulls = np.count_nonzero(written == column.sentinel)
            output.state[column.slots["nulls"]] += nulls - before
        return offsets[np.minimum(ends - counts, len(offsets) - 1)], is_refused


def _places(of: Description) -> Places:
    return np.array([of.NAMES.get(name, -1) for name in PLACES])


@cache
def format_of(magic: int) -> Format:
    """Return the format of entries of *magic*."""
    return RecordBatches() if magic == 2 else Messages()
