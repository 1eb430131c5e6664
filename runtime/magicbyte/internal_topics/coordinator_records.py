"""Records and transaction markers of a coordinator's topic, in the order of the log, and their decoding."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from magicbyte.findings import Finding
from magicbyte.messages import MessageError, Record, read_record
from magicbyte_kernels.message_schema import MessageSchema, Release

RELEASES: tuple[Release, ...] = ((4, 4), (4, 0))
"""Releases whose schemas decode records: the newest, which knows all older versions, and 4.0, whose records of share
groups later releases do not know any more."""

UNKNOWN_REASONS = ("type", "version")
"""Reasons of a `MessageError` that a later release may have written the record."""


Fields = dict[str, Any]
"""Fields of a message by Kafka's names."""


class CoordinatorRecord(NamedTuple):
    """A record of a coordinator's topic."""

    topic: str
    partition: int
    offset: int
    timestamp: int | None
    """Milliseconds since the Unix epoch."""
    key: bytes | None
    value: bytes | None
    producer_id: int | None = None
    """Producer id if the record is transactional; otherwise None."""
    outcome: str | None = None
    """Outcome of its transaction in the whole log: `committed`, `aborted`, `open` or `undecided`; None if it is not
    known, so that the marker decides."""


class TransactionMarker(NamedTuple):
    """A marker that ends the transaction of a producer in a partition of a coordinator's topic."""

    partition: int
    offset: int
    producer_id: int
    is_commit: bool


def decode_record(
    log_record: CoordinatorRecord, schemas: Sequence[MessageSchema]
) -> Record | Finding:
    """Return the decoded *log_record*; a finding if its bytes are not a record of *schemas*.

    A coordinator skips records of unknown types with a warning (CoordinatorLoaderImpl), and stops loading at others.
    """
    if log_record.key is None:
        return _finding(log_record, "internal-record-invalid", "the key is null")
    errors = []
    for release in RELEASES:
        try:
            return read_record(schemas, log_record.key, log_record.value, release)
        except MessageError as error:
            errors.append(error)
    newest = errors[0]
    code = "internal-record-invalid"
    if newest.reason in UNKNOWN_REASONS and newest.number > 0:
        code = "internal-record-unknown"
    return _finding(log_record, code, newest.finding.message)


def _finding(log_record: CoordinatorRecord, code: str, fault: str) -> Finding:
    return Finding(
        code=code,
        message=f"the record at offset {log_record.offset} cannot be decoded: {fault}",
        topic=log_record.topic,
        partition=log_record.partition,
        base_offset=log_record.offset,
    )
