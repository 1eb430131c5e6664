"""Checks the headers of batches against their records: offsets, the max timestamp, reserved bits.

No reader of Kafka compares them. A broker does when a producer sends a batch (LogValidator), and not
when it fetches one from a leader, or recovers its log.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Entries
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading.dispositions import ClassifiedEntries
from magicbyte.reading.survey import SegmentSurvey
from magicbyte.tables.arrays import Mask, null_mask, to_numpy
from magicbyte_formats.wire import TimestampType

COLUMNS = ("timestamp",)
"""Columns of records that are compared, besides the offset."""

NO_TIMESTAMP = -1


@dataclass(slots=True)
class _Fault:
    """The first finding of a code in a segment, and how many entries have the fault."""

    finding: Finding
    count: int = 0


class RecordCheck:
    """Compares the headers of a partition's batches with their records, in order."""

    def __init__(self, log: PartitionLog) -> None:
        self._log = log
        self._faults: dict[tuple[str, str], _Fault] = {}
        """Faults by code and file name."""

    def add(self, segment: LogFile, judged: ClassifiedEntries) -> None:
        """Check the next entries of the log, in *segment*, with the offsets and times of their records."""
        entries, num_rows = judged.entries, judged.decoded.num_rows
        reserved = entries.column("reserved")
        for index in np.flatnonzero(reserved).tolist():
            bits = int(reserved[index])
            self._add(
                segment, "reserved-bits", entries, index, "attributes.reserved", bits, 0,
                f"reserved attribute bits are set: {bits:#x}",
            )  # fmt: skip
        is_batch = (num_rows > 0) & (entries.column("magic") == 2)
        indices = np.flatnonzero(is_batch)
        if not len(indices):
            return
        counts, is_row = num_rows[indices], np.repeat(is_batch, num_rows)
        starts = np.cumsum(counts) - counts
        rows = judged.decoded.rows
        offsets = to_numpy(rows.column("offset"))[is_row]
        self._check_offsets(segment, entries, indices, offsets, starts)
        column = rows.column("timestamp")
        times = np.where(null_mask(column), NO_TIMESTAMP, to_numpy(column.view("int64")))[is_row]
        self._check_times(segment, entries, indices, np.maximum.reduceat(times, starts))

    def _check_offsets(
        self,
        segment: LogFile,
        entries: Entries,
        indices: Numbers,
        offsets: Numbers,
        starts: Numbers,
    ) -> None:
        """Check that the *offsets* of records increase within the range that their batch states."""
        lowest, highest = np.minimum.reduceat(offsets, starts), np.maximum.reduceat(offsets, starts)
        firsts, lasts = (entries.column(name)[indices] for name in ("base_offset", "last_offset"))
        is_back = np.append(False, offsets[1:] <= offsets[:-1])
        is_back[starts] = False
        are_unordered = np.logical_or.reduceat(is_back, starts)
        are_above = highest > lasts
        for at in np.flatnonzero(are_above | are_unordered | (lowest < firsts)).tolist():
            first, last, top = int(firsts[at]), int(lasts[at]), int(highest[at])
            field, found, expected = "offset_delta", int(lowest[at]) - first, "increasing from 0"
            message = f"the offsets of the records do not increase from {first} to {last}"
            if are_above[at]:
                field, found, expected = "last_offset_delta", last - first, str(top - first)
                message = f"the header ends at offset {last}, its records at {top}"
            index = int(indices[at])
            code = "record-offset-mismatch"
            self._add(segment, code, entries, index, field, found, expected, message)

    def _check_times(
        self, segment: LogFile, entries: Entries, indices: Numbers, highest: Numbers
    ) -> None:
        """Check that the stored max timestamps are the *highest* of the records.

        Compaction removes records, and may keep the max timestamp. With LogAppendTime the header
        has the time of all records.
        """
        stored, firsts, lasts, counts, types = (
            entries.column(name)[indices]
            for name in (
                "max_timestamp",
                "base_offset",
                "last_offset",
                "record_count",
                "timestamp_type",
            )
        )
        expected = np.maximum(highest, NO_TIMESTAMP)
        is_whole = counts > lasts - firsts
        is_wrong: Mask = (stored < expected) | (is_whole & (stored > expected))
        is_wrong &= types == TimestampType.CREATE_TIME
        for at in np.flatnonzero(is_wrong).tolist():
            found, wanted = int(stored[at]), int(expected[at])
            self._add(
                segment, "max-timestamp-mismatch", entries, int(indices[at]), "max_timestamp",
                found, wanted, f"the max timestamp is {found}, the latest record has {wanted}",
            )  # fmt: skip

    def _add(
        self,
        segment: LogFile,
        code: str,
        entries: Entries,
        index: int,
        field: str,
        found: object,
        expected: object,
        message: str,
    ) -> None:
        """Report the entry with *index*; of further ones in the segment only the number is kept."""
        fault = self._faults.get((code, segment.name))
        if fault is None:
            finding = entries[index].finding(
                code, message, field=field, found=found, expected=expected
            )
            names = self._log.topic, self._log.partition, segment.name
            fault = self._faults[code, segment.name] = _Fault(finding.at(*names))
        fault.count += 1

    def finish(self, segments: Sequence[SegmentSurvey]) -> list[Finding]:
        """Return the first fault of each code in each segment, in order of the log."""
        names = {segment.file.name: number for number, segment in enumerate(segments)}
        faults = sorted(
            self._faults.values(),
            key=lambda fault: (names[fault.finding.file or ""], fault.finding.position or 0),
        )
        return [
            replace(
                fault.finding,
                message=f"{fault.finding.message}; {fault.count - 1} more in this segment",
            )
            if fault.count > 1
            else fault.finding
            for fault in faults
        ]
