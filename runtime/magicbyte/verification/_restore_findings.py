"""Findings about properties of a partition folder with which another cluster does not take it."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime

from magicbyte.findings import Finding
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading.survey import Survey
from magicbyte.verification._restore_facts import MAX_PRODUCER_IDS, RestoreFacts

MS_PER_DAY = 86_400_000


def internal_topic(log: PartitionLog) -> Finding:
    """Return the finding that *log* belongs to an internal topic."""
    return log.finding(
        "restore-internal-topic", f"{log.topic} is an internal topic of the cluster that wrote it"
    )


def epoch_findings(log: PartitionLog, facts: RestoreFacts) -> Iterator[Finding]:
    """Yield findings about leader epochs that followers refuse."""
    if facts.above_epoch.count:
        above = facts.above_epoch
        yield log.finding(
            "restore-leader-epoch",
            f"{_batches(above.count)} a leader epoch of up to {facts.max_epoch}, the first at offset "
            f"{above.offset}; a new topic has {facts.leader_epoch}",
            file=above.file,
            position=above.position,
            base_offset=above.offset,
            field="leader_epoch",
            found=str(facts.max_epoch),
            expected=str(facts.leader_epoch),
        )
    if facts.without_epoch.count:
        without = facts.without_epoch
        yield log.finding(
            "restore-without-leader-epoch",
            f"{_batches(without.count)} the leader epoch -1, the first at offset {without.offset}",
            file=without.file,
            position=without.position,
            base_offset=without.offset,
            field="leader_epoch",
            found="-1",
            expected=str(facts.leader_epoch),
        )


def producer_findings(
    survey: Survey, facts: RestoreFacts, *, is_same_cluster: bool
) -> Iterator[Finding]:
    """Yield findings about producers and transactions that the cluster does not know."""
    log, batches = survey.log, facts.of_producers
    if batches.count and not is_same_cluster:
        ids = facts.producer_ids
        more = " or more" if len(ids) == MAX_PRODUCER_IDS else ""
        producers = (
            f"producer id {min(ids)}"
            if len(ids) == 1
            else f"{len(ids):,}{more} producer ids from {min(ids)} to {max(ids)}"
        )
        yield log.finding(
            "restore-producer-ids",
            f"{_batches(batches.count)} {producers}, the first at offset {batches.offset}",
            file=batches.file,
            position=batches.position,
            base_offset=batches.offset,
            field="producer_id",
            found=str(min(ids)),
            expected=f"-1, or {1 << 62} and above",
        )
    for transaction in survey.transactions.with_outcome("open"):
        yield log.finding(
            "restore-open-transaction",
            f"the transaction of producer {transaction.producer_id} from offset "
            f"{transaction.first_offset} has not ended",
            base_offset=transaction.first_offset,
            found=str(transaction.producer_id),
        )
    kinds = {file.kind for file in log.files if file.live}
    if batches.count and "index" in kinds and "snapshot" not in kinds:
        yield log.finding(
            "restore-without-snapshots",
            "there are offset indexes, but no producer snapshot: the broker would know none of the "
            "partition's producers and open transactions",
        )


def file_findings(log: PartitionLog, known_topic_id: str | None) -> Iterator[Finding]:
    """Yield findings about files of the folder; *known_topic_id* is the topic's id in the cluster."""
    if log.topic_id is not None and log.topic_id != known_topic_id:
        expected = "no such file" if known_topic_id is None else f"topic id {known_topic_id}"
        yield log.finding(
            "restore-topic-id",
            f"topic id {log.topic_id}, expected {expected}",
            file="partition.metadata",
            field="topic_id",
            found=log.topic_id,
            expected=expected,
        )
    start, first = log.log_start_checkpoint, log.logs[0].base_offset if log.logs else None
    if start is not None and first is not None and start > first:
        yield log.finding(
            "restore-log-start",
            f"the log start offset is {start}, and the first segment begins at {first}",
            file=log.logs[0].name,
            found=str(first),
            expected=str(start),
        )


def size_findings(log: PartitionLog, facts: RestoreFacts) -> Iterator[Finding]:
    """Yield a finding about batches that are larger than the topic allows."""
    large = facts.too_large
    if large.count:
        yield log.finding(
            "restore-large-batch",
            f"{_batches(large.count)} more than {facts.max_message_bytes} bytes, the largest "
            f"{large.size_bytes}, the first at offset {large.offset}",
            file=large.file,
            position=large.position,
            base_offset=large.offset,
            field="max.message.bytes",
            found=str(large.size_bytes),
            expected=f"at most {facts.max_message_bytes}",
        )


def retention_findings(
    survey: Survey, facts: RestoreFacts, *, retention_ms: int, now_ms: int
) -> Iterator[Finding]:
    """Yield a finding about the segments that retention deletes; a negative *retention_ms* deletes none."""
    log = survey.log
    latest_times: list[int] = []
    for file in log.logs if retention_ms >= 0 else ():
        latest = facts.max_timestamps.get(file.name, _modified_ms(file))
        # Retention deletes from the first segment on, up to one that is young enough.
        if latest is None or now_ms - latest <= retention_ms:
            break
        latest_times.append(latest)
    num_expired = len(latest_times)
    if not num_expired or survey.log_end_offset == log.logs[0].base_offset:
        return
    bases = [file.base_offset for file in log.logs]
    end = bases[num_expired] if num_expired < len(bases) else survey.log_end_offset
    segments = "1 segment has" if num_expired == 1 else f"{num_expired} segments have"
    yield log.finding(
        "restore-retention",
        f"{segments} no record after {_time(max(latest_times))}: with retention.ms={retention_ms} "
        f"({retention_ms / MS_PER_DAY:g} days) the broker deletes offsets {bases[0]} to {(end or 0) - 1}",
        file=log.logs[0].name,
        field="retention.ms",
        found=str(retention_ms),
        expected="-1",
    )


def _modified_ms(file: LogFile) -> int | None:
    """Return the modification time, by which a broker judges a segment without timestamps; None in a store."""
    if file.store is not None:
        return None
    try:
        return int(os.stat(file.path).st_mtime * 1000)
    except OSError:
        return None


def _time(milliseconds: int) -> str:
    try:
        time = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return f"timestamp {milliseconds}"
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _batches(count: int) -> str:
    return "1 batch has" if count == 1 else f"{count:,} batches have"
