"""Cut a log entry at an offset: encode it again with a part of its records."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa

from magicbyte.engines.encoding import BatchFields
from magicbyte.engines.entry import SEQUENCES, Entry
from magicbyte.engines.factory import encoder, engine
from magicbyte.engines.protocol import Chunk
from magicbyte.errors import error_of
from magicbyte.limits import DEFAULT_LIMITS, Limits
from magicbyte.tables.arrays import to_numpy
from magicbyte.writing._run_records import ENCODED_COLUMNS


def entry_from(
    data: memoryview, first_offset: int, changes: Counter[str], limits: Limits = DEFAULT_LIMITS
) -> bytes | None:
    """Return the entry *data* without the records below *first_offset*; None if it has none there.

    A batch then begins at that offset, and its base sequence is the one of its record there.
    """
    entry, rows = _decoded(data, limits)
    offsets = to_numpy(rows.column("offset"))
    count = int(np.searchsorted(offsets, first_offset))
    begins_below = entry.first_offset < first_offset if entry.magic == 2 else count > 0
    if not begins_below:
        return None
    changes["cut"] += 1
    fields = fields_of(entry)
    sequence = fields.base_sequence
    if sequence >= 0:
        sequence = (sequence + first_offset - entry.first_offset) % SEQUENCES
    return _encoded(entry, rows.slice(count), first_offset, entry.last_offset, sequence)


def entry_up_to(
    data: memoryview, end_offset: int, changes: Counter[str], limits: Limits = DEFAULT_LIMITS
) -> bytes | None:
    """Return the entry *data* without the records from *end_offset* on; None if it has none there.

    A message without a record is no message, and has no bytes.
    """
    entry, rows = _decoded(data, limits)
    if entry.last_offset < end_offset:
        return None
    changes["cut"] += 1
    count = int(np.searchsorted(to_numpy(rows.column("offset")), end_offset))
    if not count and entry.magic < 2:
        return b""
    return _encoded(
        entry, rows.slice(0, count), entry.first_offset, end_offset - 1, entry.base_sequence
    )


def _decoded(data: memoryview, limits: Limits) -> tuple[Entry, pa.RecordBatch]:
    decoded = engine("reference").decode(
        Chunk(data, 0), ENCODED_COLUMNS, limits=limits, verify=False
    )
    for result in decoded.results.values():
        for finding in result.findings:
            if finding.severity == "error":
                raise error_of(finding)
    return decoded.entries[0], decoded.rows


def fields_of(entry: Entry) -> BatchFields:
    """Return the header fields of a batch with other records, but else like *entry*."""
    return BatchFields(
        leader_epoch=max(entry.leader_epoch, 0),
        codec=entry.codec,
        timestamp_type=int(entry.is_append_time),
        max_timestamp=entry.max_timestamp if entry.is_append_time else None,
        is_transactional=entry.is_transactional,
        is_control=entry.is_control,
        has_delete_horizon=entry.has_delete_horizon,
        base_timestamp=entry.base_timestamp if entry.has_delete_horizon else None,
        producer_id=entry.producer_id,
        producer_epoch=entry.producer_epoch,
        base_sequence=entry.base_sequence,
    )


def _encoded(
    entry: Entry, rows: pa.RecordBatch, first_offset: int, last_offset: int, sequence: int
) -> bytes:
    if entry.magic < 2:
        return encoder().messages(
            entry.magic, rows, codec=entry.codec, timestamp_type=int(entry.is_append_time)
        )
    fields = replace(
        fields_of(entry),
        base_offset=first_offset,
        last_offset_delta=last_offset - first_offset,
        base_sequence=sequence,
    )
    return encoder().batch(fields, rows)
