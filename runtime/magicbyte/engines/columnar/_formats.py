"""Formats of log entries, as kernels describe them, and offsets of messages in wrapper messages."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, overload

import numpy as np

from magicbyte.engines.columnar._buffers import Descriptors
from magicbyte.engines.columnar._control_block import DESCRIPTOR_FIELDS
from magicbyte.engines.columnar._kernel_list import FORMATS, description
from magicbyte.engines.columnar._output import OutputColumns
from magicbyte.engines.entry import BATCH_NAMES, Entry
from magicbyte.engines.entry_columns import NO_VALUE, Entries, Numbers
from magicbyte.tables.arrays import Indices, Mask
from magicbyte_formats.wire import Codec

_entry = partial(tuple.__new__, Entry)


class EntryFormat(ABC):
    """A format of log entries, with its kernels."""

    name: str
    are_messages: bool

    def __init__(self) -> None:
        self.kernels = description(self.name)
        self._at = self.kernels.NAMES
        fields = [self._at.get(name, -1) for name in DESCRIPTOR_FIELDS]
        self.fields: Numbers = np.array(fields, np.int64)
        """Indices of DESCRIPTOR_FIELDS in a descriptor."""

    @abstractmethod
    def column(self, desc: Descriptors, name: str, origin: int) -> Numbers:
        """Return the field *name* of Entry, or `first_offset`, of each descriptor.

        NO_VALUE stands for None. Positions in descriptors are relative to *origin*.
        """

    def is_none(self, desc: Descriptors, name: str) -> Mask | None:
        """Return a mask of the entries whose field *name* is None; None if that never happens."""
        return None

    @abstractmethod
    def is_unusual(self, desc: Descriptors) -> Mask:
        """Return a mask of the entries whose headers show that the reference engine has to decode them."""

    @abstractmethod
    def max_rows(self, desc: Descriptors) -> int:
        """Return the most rows that a kernel can make of decompressed entries."""

    def finish_wrappers(self, desc: Descriptors, output: OutputColumns) -> tuple[Numbers, Mask]:
        """Make the offsets and times of the messages in wrappers absolute.

        *desc* are the entries of all rows of *output*. Returns the offset of each entry's first row,
        and the wrappers that the reference engine has to decode, because their offsets contradict each other.
        """
        raise NotImplementedError("record batches are no wrappers")


BATCH_FIELDS = BATCH_NAMES | {"size_bytes": "size"}
MESSAGE_FIELDS = {
    "size_bytes": "size",
    "first_offset": "offset",
    "last_offset": "offset",
    "max_timestamp": "timestamp",
    "base_offset": "offset",
}
"""Descriptor fields by their name in Entry, where the names differ."""

MESSAGE_CONSTANTS = {
    "base_timestamp": -1,
    "has_delete_horizon": False,
    "producer_id": -1,
    "producer_epoch": -1,
    "base_sequence": -1,
    "leader_epoch": -1,
    "is_transactional": False,
    "is_control": False,
}
"""Fields of Entry that no message has, with the value that stands for that."""

FLAGS = ("has_delete_horizon", "is_transactional", "is_control")


def _entries_of(form: EntryFormat, desc: Descriptors, origin: int) -> list[Entry]:
    """Return the entries that *desc* describes, of a buffer whose first byte is *origin* of the file."""
    if not len(desc):
        return []
    columns = [_values(form, desc, name, origin) for name in Entry._fields]
    return list(map(_entry, zip(*columns, strict=True)))


def _values(form: EntryFormat, desc: Descriptors, name: str, origin: int) -> list[Any]:
    column = form.column(desc, name, origin)
    if name in FLAGS:
        return [bool(number) for number in column.tolist()]
    is_none = form.is_none(desc, name)
    if is_none is None:
        numbers: list[Any] = column.tolist()
        return numbers
    return [None if none else value for none, value in zip(is_none, column.tolist(), strict=True)]


@dataclass(eq=False)
class DescriptorEntries(Entries):
    """Entries of one format, each a row of *desc*, whose positions are relative to *origin*."""

    format: EntryFormat
    desc: Descriptors
    origin: int

    def __len__(self) -> int:
        return len(self.desc)

    @overload
    def __getitem__(self, at: int) -> Entry: ...
    @overload
    def __getitem__(self, at: slice) -> "DescriptorEntries": ...
    def __getitem__(self, at: int | slice) -> "Entry | DescriptorEntries":
        if isinstance(at, slice):
            return DescriptorEntries(self.format, self.desc[at], self.origin)
        number = range(len(self))[at]
        return _entries_of(self.format, self.desc[number : number + 1], self.origin)[0]

    def __iter__(self) -> Iterator[Entry]:
        return iter(_entries_of(self.format, self.desc, self.origin))

    @property
    def are_messages(self) -> bool:
        return self.format.are_messages

    def picked(self, numbers: Indices) -> "DescriptorEntries":
        return DescriptorEntries(self.format, self.desc[numbers], self.origin)

    def moved(self, positions: Numbers) -> "DescriptorEntries":
        desc = self.desc.copy()
        desc[:, self.format.kernels.NAMES["position"]] = positions
        return DescriptorEntries(self.format, desc, 0)

    def followed_by(self, following: Sequence[Entries]) -> Entries:
        tables, origins = [self.desc], [self.origin]
        for entries in following:
            if not isinstance(entries, DescriptorEntries) or entries.format is not self.format:
                return super().followed_by(following)
            tables.append(entries.desc)
            origins.append(entries.origin)
        desc = np.concatenate(tables)
        shifts = np.repeat(np.array(origins, np.int64), [len(table) for table in tables])
        desc[:, self.format.kernels.NAMES["position"]] += shifts
        return DescriptorEntries(self.format, desc, 0)

    def column(self, name: str) -> Numbers:
        return self.format.column(self.desc, name, self.origin)


class RecordBatchFormat(EntryFormat):
    """Format v2: record batches."""

    name = FORMATS[2]
    are_messages = False

    def __init__(self) -> None:
        super().__init__()
        self._stored = self._at | {name: self._at[of] for name, of in BATCH_FIELDS.items()}
        """Indices of the fields of Entry that descriptors hold unchanged."""
        del self._stored["position"]

    def column(self, desc: Descriptors, name: str, origin: int) -> Numbers:
        at = self._stored.get(name)  # the frequent case, first
        if at is not None:
            return desc[:, at]
        if name == "position":
            return desc[:, self._at["position"]] + origin
        if name == "last_offset":
            return desc[:, self._at["base_offset"]] + desc[:, self._at["last_offset_delta"]]
        raise KeyError(name)

    def is_unusual(self, desc: Descriptors) -> Mask:
        # Kafka's reader ignores bytes in a batch without records; the reference engine reports them.
        has_bytes: Mask = desc[:, self._at["end"]] > desc[:, self._at["start"]]
        is_empty: Mask = desc[:, self._at["num_records"]] == 0
        # A kernel looks at the codec only where there are records.
        is_unknown: Mask = desc[:, self._at["codec"]] > Codec.ZSTD
        return is_empty & (has_bytes | is_unknown)

    def max_rows(self, desc: Descriptors) -> int:
        counts = desc[:, self._at["num_records"]]
        sizes = desc[:, self._at["end"]] - desc[:, self._at["start"]]
        # A kernel refuses a count that the bytes cannot hold.
        return int(np.minimum(counts, sizes // self.kernels.LEAST_ROW).sum())


class MessageFormat(EntryFormat):
    """Formats v0 and v1: messages, and wrapper messages around compressed ones."""

    name = FORMATS[1]
    are_messages = True

    def __init__(self) -> None:
        super().__init__()
        self._columns = {column.name: column for column in self.kernels.TABLE.columns}
        stored = "size_bytes", "first_offset", "last_offset", "magic", "codec", "crc"
        self._stored = {name: self._at[MESSAGE_FIELDS.get(name, name)] for name in stored}
        """Indices of the fields of Entry that descriptors hold unchanged."""

    def column(self, desc: Descriptors, name: str, origin: int) -> Numbers:
        stored = self._stored.get(name)  # the frequent case, first
        if stored is not None:
            return desc[:, stored]

        def number(of: str) -> Numbers:
            return desc[:, self._at[of]]

        match name:
            case "position":
                return number("position") + origin
            case "record_count":
                values = np.ones(len(desc), np.int64)
            case _ if name in MESSAGE_CONSTANTS:
                values = np.full(len(desc), MESSAGE_CONSTANTS[name], np.int64)
            case _:
                values = number(MESSAGE_FIELDS.get(name, name))
        is_none = self.is_none(desc, name)
        return values if is_none is None else np.where(is_none, NO_VALUE, values)

    def is_none(self, desc: Descriptors, name: str) -> Mask | None:
        is_none: Mask | None = None
        match name:
            case "base_offset" | "record_count":
                is_none = desc[:, self._at["codec"]] != 0
            case "timestamp_type" | "max_timestamp":
                is_none = desc[:, self._at["magic"]] == 0
            case "base_timestamp":
                is_none = np.ones(len(desc), np.bool_)
        return is_none

    def is_unusual(self, desc: Descriptors) -> Mask:
        # KIP-110: zstd is not allowed before v2.
        codecs = desc[:, self._at["codec"]]
        is_unusual: Mask = codecs >= Codec.ZSTD
        return is_unusual

    def max_rows(self, desc: Descriptors) -> int:
        sizes = desc[:, self._at["end"]] - desc[:, self._at["start"]]
        is_nested = desc[:, self._at["nested"]] != 0
        most = np.where(is_nested, sizes // self.kernels.LEAST_ROW, 1)
        return int(most.sum())

    def finish_wrappers(self, desc: Descriptors, output: OutputColumns) -> tuple[Numbers, Mask]:
        def of(name: str) -> Numbers:
            return desc[:, self._at[name]]

        offsets, counts = output.numbers(self._columns["offset"]), of("rows")
        ends = np.cumsum(counts)
        stated, inner = of("offset"), offsets[np.maximum(ends - 1, 0)]
        is_relative = (of("magic") == 1) & (stated != 0)
        is_refused = is_relative & (stated < inner)
        # Sums wrap around at 64 bits, as in Java.
        base = np.where(is_relative & ~is_refused, stated - inner, 0)
        offsets += np.repeat(base, counts)
        is_append_time = (of("magic") == 1) & (of("timestamp_type") == 1)
        if is_append_time.any():
            is_stamped = np.repeat(is_append_time, counts)
            stamps = np.repeat(of("timestamp"), counts)
            column = self._columns["timestamp"]
            written = output.numbers(column)
            before = np.count_nonzero(written == column.sentinel)
            written[is_stamped] = stamps[is_stamped]
            nulls = np.count_nonzero(written == column.sentinel)
            output.state[column.slots["nulls"]] += nulls - before
        return offsets[np.minimum(ends - counts, len(offsets) - 1)], is_refused


@cache
def format_of(magic: int) -> EntryFormat:
    """Return the format of entries of *magic*."""
    return RecordBatchFormat() if magic == 2 else MessageFormat()
