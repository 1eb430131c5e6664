"""All that is counted of a segment, of a partition, of a topic, of everything."""

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Entries
from magicbyte.reading.dispositions import CODES, Judged
from magicbyte.statistics.classes import Classes
from magicbyte.statistics.contents import Contents
from magicbyte.statistics.payload_sizes import Payloads, times_of
from magicbyte.statistics.retention import Held, Largest, later, longest
from magicbyte.tables.arrays import Mask, distinct, null_mask, to_numpy
from magicbyte_formats.wire import TimestampType

MOST_PRODUCERS = 1000
"""Different producer ids that are told apart: what is kept must not grow with the log."""

UNREAD = tuple(CODES[name] for name in ("damaged", "over_limit"))
"""Dispositions of entries of which nothing is believed."""


@dataclass(slots=True)
class Counts:
    """What some files and the entries in them come to; names are those of the columns."""

    has_payloads: bool
    """Whether payloads are read; else what only they tell is null."""
    partition_count: int = 0
    segment_count: int = 0
    log_bytes: int = 0
    index_bytes: int = 0
    other_bytes: int = 0
    unused_bytes: int = 0
    damaged_bytes: int = 0
    tail_bytes: int = 0
    control_count: int = 0
    control_bytes: int = 0
    idempotent_count: int = 0
    transactional_count: int = 0
    append_time_count: int = 0
    contents: Contents = field(default_factory=Contents)
    entry_bytes: Classes = field(default_factory=Classes)
    entry_records: Classes = field(default_factory=Classes)
    payloads: Payloads = field(default_factory=Payloads)
    producers: set[int] = field(default_factory=set)
    largest: Largest | None = None
    held: Held | None = None
    """Of a segment itself; of others, the one that is held longest."""

    @property
    def file_bytes(self) -> int:
        """Bytes of all files."""
        return self.log_bytes + self.index_bytes + self.other_bytes + self.unused_bytes

    def count(self, file: str, judged: Judged) -> None:
        """Count the entries and records of *judged*, which lie in *file*."""
        entries, decoded = judged.entries, judged.decoded
        is_sound = ~np.isin(judged.of_entries, UNREAD)
        is_data = is_sound & (entries.column("is_control") == 0)
        self._count(entries, is_sound, is_data, decoded.num_rows, decoded.decompressed)
        self.payloads.take(decoded.rows, np.repeat(is_data, decoded.num_rows))
        if (at := self._latest(entries, is_sound)) is None:
            return
        time = int(entries.column("max_timestamp")[at])
        first = int(decoded.num_rows[:at].sum())
        rows = decoded.rows.slice(first, int(decoded.num_rows[at]))
        is_it = (times_of(rows) == time) & ~null_mask(rows.column("timestamp"))
        offset = int(entries.column("last_offset")[at])
        if is_it.any():
            offset = int(to_numpy(rows.column("offset"))[is_it.argmax()])
        self.largest = Largest(time, file, int(entries.column("position")[at]), offset)

    def count_headers(self, file: str, entries: Entries) -> None:
        """Count *entries*, which lie in *file*, by their headers alone."""
        is_all = np.ones(len(entries), np.bool_)
        is_data = entries.column("is_control") == 0
        # No checksum vouches for a count, and a wrapper has none.
        num_records = np.maximum(entries.column("record_count"), 0)
        self._count(entries, is_all, is_data, num_records, None)
        if (at := self._latest(entries, is_all)) is not None:
            time, position, offset = (
                int(entries.column(name)[at])
                for name in ("max_timestamp", "position", "last_offset")
            )
            self.largest = Largest(time, file, position, offset)

    def _count(
        self,
        entries: Entries,
        is_sound: Mask,
        is_data: Mask,
        num_records: Numbers,
        decompressed: Numbers | None,
    ) -> None:
        sizes, codecs, magics, producers = (
            entries.column(name) for name in ("size_bytes", "codec", "magic", "producer_id")
        )
        is_control = is_sound & ~is_data
        self.control_count += int(np.count_nonzero(is_control))
        self.control_bytes += int(sizes[is_control].sum())
        self.contents.take(
            magics[is_data],
            codecs[is_data],
            sizes=sizes[is_data],
            num_records=num_records[is_data],
            decompressed=None if decompressed is None else decompressed[is_data],
        )
        self.entry_bytes.take(sizes[is_data])
        is_counted = (
            is_data if decompressed is not None else is_data & ((magics == 2) | (codecs == 0))
        )
        self.entry_records.take(num_records[is_counted])
        is_transactional, types = (
            entries.column(name)[is_data] for name in ("is_transactional", "timestamp_type")
        )
        self.transactional_count += int(np.count_nonzero(is_transactional))
        self.append_time_count += int(np.count_nonzero(types == TimestampType.LOG_APPEND_TIME))
        known = producers[is_data & (producers >= 0)]
        self.idempotent_count += len(known)
        self._learn(set(distinct(known)[0]))

    def _latest(self, entries: Entries, is_it: Mask) -> int | None:
        """Return the number of the first of *entries* with a time above those so far, and the largest."""
        times = np.where(is_it, entries.column("max_timestamp"), -1)
        at = int(times.argmax()) if len(times) else 0
        known = -1 if self.largest is None else self.largest.timestamp
        return at if len(times) and times[at] > known else None

    def _learn(self, producers: set[int]) -> None:
        room = MOST_PRODUCERS - len(self.producers)
        self.producers.update(sorted(producers - self.producers)[:room])

    def add(self, other: "Counts") -> None:
        """Count all that *other* has counted."""
        for name in (one.name for one in fields(self) if one.type is int):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("contents", "entry_bytes", "entry_records", "payloads"):
            getattr(self, name).add(getattr(other, name))
        self._learn(other.producers)
        self.largest = later(self.largest, other.largest)
        self.held = longest(self.held, other.held)

    def row(self) -> dict[str, Any]:
        """Return the columns that are counts."""
        whole, held = self.contents.together, self.held
        row: dict[str, Any] = {
            one.name: getattr(self, one.name) for one in fields(self) if one.type is int
        }
        row |= {
            "entry_count": whole.entry_count,
            "stored_bytes": whole.stored_bytes,
            "record_count": whole.record_count,
            "contents": self.contents.rows(),
            "plain_bytes": whole.plain_bytes,
            "least_entry_bytes": self.entry_bytes.least,
            "largest_entry_bytes": self.entry_bytes.largest,
            "entry_bytes": self.entry_bytes.rows(),
            "least_entry_records": self.entry_records.least,
            "largest_entry_records": self.entry_records.largest,
            "entry_records": self.entry_records.rows(),
            "producer_count": len(self.producers),
            **_largest("largest_timestamp", self.largest),
            "held_ms": None if held is None else held.ms,
            "held_bytes": None if held is None else held.bytes,
        }
        by = _largest("held_by", None if held is None else held.by)
        row |= by | {"held_by_timestamp": by.pop("held_by")}
        return row | self._of_payloads(whole.plain_bytes)

    def _of_payloads(self, plain_bytes: int | None) -> dict[str, int | None]:
        of = self.payloads
        sizes = of.key_bytes, of.value_bytes, of.header_bytes
        row = {
            **dict(zip(("key_bytes", "value_bytes", "header_bytes"), sizes, strict=True)),
            "overhead_bytes": None if plain_bytes is None else plain_bytes - sum(sizes),
            "null_key_count": of.null_keys,
            "tombstone_count": of.tombstones,
            "first_timestamp": of.first_time,
            "last_timestamp": of.last_time,
        }
        return row if self.has_payloads else dict.fromkeys(row)


def _largest(name: str, of: Largest | None) -> dict[str, Any]:
    """Return the columns of *of*, whose time is called *name*."""
    return {
        name: None if of is None else of.timestamp,
        f"{name}_file": None if of is None else of.file,
        f"{name}_position": None if of is None else of.position,
        f"{name}_offset": None if of is None else of.offset,
    }
