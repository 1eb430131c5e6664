"""Count what a partition would lose in an older format."""

from collections import Counter

import pyarrow.compute as pc

from magicbyte.engines.factory import engine
from magicbyte.reading.entry_runs import PartitionReader, SourceRun
from magicbyte.tables.schemas import OUTCOMES
from magicbyte.writing._run_records import decoded_runs, rows_of

COMMITTED = OUTCOMES.index("committed")


def conversion_losses(partition_reader: PartitionReader, magic: int) -> Counter[str]:
    """Return how many records would lose something in format *magic*, 0 or 1, by the name of the loss.

    Records of aborted and open transactions would lose their state, and become visible to all consumers. So they are
    left out, as Kafka's down-conversion does not (RecordsUtil.downConvert).
    """
    losses: Counter[str] = Counter()
    decoder = engine("auto")
    end_offset = last_offset = 0
    for part in partition_reader.parts(with_outcomes=True):
        if not isinstance(part, SourceRun):
            continue
        end_offset = int(part.entries.column("last_offset")[-1]) + 1
        for source_run in decoded_runs(
            part, decoder, partition_reader.limits, ("headers", "timestamp", "offset")
        ):
            last_offset = max(last_offset, _count(source_run, magic, losses))
    if last_offset + 1 < end_offset:
        # The offsets of markers and empty batches at the end of the log are free again.
        losses["offsets-at-log-end"] = end_offset - last_offset - 1
    return losses


def _count(source_run: SourceRun, magic: int, losses: Counter[str]) -> int:
    """Add the losses in a decoded *source_run*; return the last offset that stays."""
    assert source_run.decoded is not None
    rows, first, last_offset = rows_of(source_run), 0, -1
    counts = source_run.decoded.num_rows.tolist()
    for number, (entry, count) in enumerate(zip(source_run.entries, counts, strict=True)):
        entry_rows = rows.slice(first, count)
        first += count
        if entry.magic == 2 and (entry.is_control or not count):
            continue
        outcome = None if source_run.outcomes is None else int(source_run.outcomes[number])
        if entry.is_transactional and outcome != COMMITTED:
            losses["aborted-left-out"] += count
            continue
        last_offset = entry_rows.column("offset")[count - 1].as_py()
        if entry.is_transactional:
            losses["transactions"] += count
        if entry.producer_id >= 0:
            losses["producer-ids"] += count
        if entry.magic == 2:
            has_headers = pc.greater(pc.list_value_length(entry_rows.column("headers")), 0)
            losses["headers"] += pc.sum(has_headers).as_py() or 0
        if magic == 0 and entry.magic > 0:
            losses["timestamps"] += count - entry_rows.column("timestamp").null_count
    return int(last_offset)
