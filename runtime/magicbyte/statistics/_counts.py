"""Counts of the files and log entries in a segment, a partition, a topic, or all logs."""

from dataclasses import asdict, astuple, dataclass, field, fields
from typing import Any, Self

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Entries
from magicbyte.reading.dispositions import DISPOSITION_CODES, ClassifiedEntries
from magicbyte.statistics._dirty_bytes import DirtyBytes, sum_of
from magicbyte.statistics._format_sizes import SizesByFormat
from magicbyte.statistics._payload_sizes import PayloadSums, times_of
from magicbyte.statistics._retention import LatestEntry, Retention, later, longest
from magicbyte.statistics.power_histogram import PowerHistogram
from magicbyte.tables.arrays import Mask, distinct, null_mask, to_numpy
from magicbyte.tables.schemas import LOST
from magicbyte_formats.wire import TimestampType

MAX_PRODUCERS = 1000
"""Limit of distinct producer ids: further ids are not counted, so that memory is bounded."""

UNDECODED = tuple(DISPOSITION_CODES[name] for name in LOST)
"""Dispositions of entries whose headers and records are not counted."""


@dataclass(slots=True)
class Counts:
    """Counts of files and of the log entries in them; attributes have the names of columns."""

    has_payloads: bool
    """False if only headers are read: columns that need the payload are then null."""
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
    contents: SizesByFormat = field(default_factory=SizesByFormat)
    entry_bytes: PowerHistogram = field(default_factory=PowerHistogram)
    entry_records: PowerHistogram = field(default_factory=PowerHistogram)
    payloads: PayloadSums = field(default_factory=PayloadSums)
    producers: set[int] = field(default_factory=set)
    latest: LatestEntry | None = None
    held: Retention | None = None
    """The longest retention among the segments."""
    dirty: DirtyBytes | None = None
    """Bytes that the log cleaner has not cleaned; None if nothing is compacted."""

    @property
    def file_bytes(self) -> int:
        """Bytes of all files."""
        return self.log_bytes + self.index_bytes + self.other_bytes + self.unused_bytes

    def count(self, file: str, judged: ClassifiedEntries) -> None:
        """Count the entries and records of *judged*, which are in *file*."""
        entries, decoded = judged.entries, judged.decoded
        is_sound = ~np.isin(judged.entry_codes, UNDECODED)
        is_data = is_sound & (entries.column("is_control") == 0)
        self._count(entries, is_sound, is_data, decoded.num_rows, decoded.decompressed)
        self.payloads.count(decoded.rows, np.repeat(is_data, decoded.num_rows))
        if (at := self._latest(entries, is_sound)) is None:
            return
        time = int(entries.column("max_timestamp")[at])
        first = int(decoded.num_rows[:at].sum())
        rows = decoded.rows.slice(first, int(decoded.num_rows[at]))
        is_it = (times_of(rows) == time) & ~null_mask(rows.column("timestamp"))
        offset = int(entries.column("last_offset")[at])
        if is_it.any():
            offset = int(to_numpy(rows.column("offset"))[is_it.argmax()])
        self.latest = LatestEntry(time, file, int(entries.column("position")[at]), offset)

    def count_headers(self, file: str, entries: Entries) -> None:
        """Count *entries*, which are in *file*, by their headers alone."""
        is_all = np.ones(len(entries), np.bool_)
        is_data = entries.column("is_control") == 0
        # The count is not covered by a verified checksum, and a wrapper message has none.
        num_records = np.maximum(entries.column("record_count"), 0)
        self._count(entries, is_all, is_data, num_records, None)
        if (at := self._latest(entries, is_all)) is not None:
            time, position, offset = (
                int(entries.column(name)[at])
                for name in ("max_timestamp", "position", "last_offset")
            )
            self.latest = LatestEntry(time, file, position, offset)

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
        self.contents.count(
            magics[is_data],
            codecs[is_data],
            sizes=sizes[is_data],
            num_records=num_records[is_data],
            decompressed=None if decompressed is None else decompressed[is_data],
        )
        self.entry_bytes.count(sizes[is_data])
        is_counted = (
            is_data if decompressed is not None else is_data & ((magics == 2) | (codecs == 0))
        )
        self.entry_records.count(num_records[is_counted])
        is_transactional, types = (
            entries.column(name)[is_data] for name in ("is_transactional", "timestamp_type")
        )
        self.transactional_count += int(np.count_nonzero(is_transactional))
        self.append_time_count += int(np.count_nonzero(types == TimestampType.LOG_APPEND_TIME))
        known = producers[is_data & (producers >= 0)]
        self.idempotent_count += len(known)
        self._add_producers(set(distinct(known)[0]))

    def _latest(self, entries: Entries, is_counted: Mask) -> int | None:
        """Return the index of the entry with the largest time, if that is above all so far."""
        times = np.where(is_counted, entries.column("max_timestamp"), -1)
        at = int(times.argmax()) if len(times) else 0
        known = -1 if self.latest is None else self.latest.timestamp
        return at if len(times) and times[at] > known else None

    def _add_producers(self, producers: set[int]) -> None:
        free = MAX_PRODUCERS - len(self.producers)
        self.producers.update(sorted(producers - self.producers)[:free])

    def add(self, other: Self) -> None:
        """Add the counts of *other*."""
        for name in (counter.name for counter in fields(self) if counter.type is int):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("contents", "entry_bytes", "entry_records", "payloads"):
            getattr(self, name).add(getattr(other, name))
        self._add_producers(other.producers)
        self.latest = later(self.latest, other.latest)
        self.held = longest(self.held, other.held)
        self.dirty = sum_of(self.dirty, other.dirty)

    def row(self) -> dict[str, Any]:
        """Return a row of the table of statistics, without the columns that name the group."""
        total, held = self.contents.total, self.held
        row: dict[str, Any] = {
            counter.name: getattr(self, counter.name)
            for counter in fields(self)
            if counter.type is int
        }
        row |= {
            "entry_count": total.entry_count,
            "stored_bytes": total.stored_bytes,
            "record_count": total.record_count,
            "contents": self.contents.rows(),
            "plain_bytes": total.plain_bytes,
            "least_entry_bytes": self.entry_bytes.least,
            "largest_entry_bytes": self.entry_bytes.largest,
            "entry_bytes": self.entry_bytes.rows(),
            "least_entry_records": self.entry_records.least,
            "largest_entry_records": self.entry_records.largest,
            "entry_records": self.entry_records.rows(),
            "producer_count": len(self.producers),
            **_latest_columns("largest_timestamp", self.latest),
            "held_ms": None if held is None else held.ms,
            "held_bytes": None if held is None else held.bytes,
        }
        by = _latest_columns("held_by", None if held is None else held.by)
        row |= by | {"held_by_timestamp": by.pop("held_by")}
        row |= {
            "first_dirty_offset": None if self.dirty is None else self.dirty.first_offset,
            "dirty_bytes": None if self.dirty is None else self.dirty.dirty,
            "dirty_ratio": None if self.dirty is None else self.dirty.ratio,
        }
        return row | self._of_payloads(total.plain_bytes)

    def _of_payloads(self, plain_bytes: int | None) -> dict[str, int | None]:
        row: dict[str, int | None] = asdict(self.payloads)
        if plain_bytes is not None:
            sums = self.payloads
            plain_bytes -= sums.key_bytes + sums.value_bytes + sums.header_bytes
        row["overhead_bytes"] = plain_bytes
        return row if self.has_payloads else dict.fromkeys(row)


def _latest_columns(name: str, latest: LatestEntry | None) -> dict[str, Any]:
    """Return time, file, position and offset of *latest* in columns that begin with *name*."""
    names = (name, f"{name}_file", f"{name}_position", f"{name}_offset")
    return (
        dict.fromkeys(names) if latest is None else dict(zip(names, astuple(latest), strict=True))
    )
