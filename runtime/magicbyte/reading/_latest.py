"""The last record of each key: one pass finds their offsets, a second one returns the records."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from magicbyte.findings import Finding
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._latest_offsets import DEFAULT_MEMORY_BYTES, LatestOffsets
from magicbyte.reading._one_pass import after_findings, record_rows
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import NO_RANGE, OffsetRange
from magicbyte.reading.results import Report, Rows
from magicbyte.tables.arrays import null_mask, to_numpy
from magicbyte.tables.binary_views import filter_rows
from magicbyte.tables.schemas import RECORDS

DELIVERED = ("delivered",)


def latest_rows(
    planner: Planner,
    logs: Sequence[PartitionLog],
    names: tuple[str, ...],
    end_at: OffsetRange = NO_RANGE,
    unreadable: Sequence[Finding] = (),
    *,
    tombstones: bool = False,
    memory_bytes: int = DEFAULT_MEMORY_BYTES,
) -> Rows:
    """Return the columns *names* of the last delivered record of each key of each of *logs*.

    Args:
        end_at: Offset and time in milliseconds before which the read ends; None where the planner's options decide.
        unreadable: Findings with which the report begins.
        tombstones: Return the last record of a key even if it is a tombstone.
        memory_bytes: Memory for keys; more keys are spilled to temporary files.
    """
    options = planner.options.ending_at(*end_at)
    if options != planner.options:
        planner = replace(planner, options=options)

    def read(report: Report) -> Iterator[pa.RecordBatch]:
        for log in logs:
            with LatestOffsets(memory_bytes) as latest_offsets:
                for batch in record_rows(planner, [log], ("offset", "key"), DELIVERED):
                    rows = np.flatnonzero(~null_mask(batch.column("key")))
                    offsets = to_numpy(batch.column("offset"))[rows]
                    latest_offsets.put(batch.column("key").take(pa.array(rows)), offsets)
                    del batch  # frees the rows before more are read
                needed = tuple(dict.fromkeys((*names, "offset", "key", "value")))
                for batch in record_rows(planner, [log], needed, DELIVERED).read_into(report):
                    is_last = latest_offsets.contain(to_numpy(batch.column("offset")))
                    is_last &= ~null_mask(batch.column("key"))
                    if not tombstones:
                        is_last &= ~null_mask(batch.column("value"))
                    if is_last.any():
                        yield filter_rows(batch.select(names), is_last)
                    del batch  # frees the rows before more are read

    return Rows(RECORDS.schema(names), after_findings(unreadable, read))
