"""Compare a rewritten partition with its source: bounds, outcomes of transactions, and all records."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.errors import FormatError
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.read_options import ReadOptions
from magicbyte.writing._record_digest import RecordDigest

RECORD_COLUMNS = (
    *("offset", "timestamp", "timestamp_type", "key", "value", "headers", "outcome"),
    *("producer_id", "producer_epoch", "sequence", "is_transactional"),
)
"""Columns of a record that a rewritten log has unchanged, unless its command says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRecords:
    """The records of a partition that are compared, and their columns."""

    columns: tuple[str, ...] = RECORD_COLUMNS
    dispositions: tuple[str, ...] = ("delivered", "control", "below_log_start")
    """Dispositions in a read with `read_uncommitted`: by default all that a sound log has."""
    isolation_level: str = "read_uncommitted"
    transform: Callable[[pa.RecordBatch], pa.RecordBatch] | None = None
    """Makes the records that the output must have from the records of the source; None: they are the same."""
    ends_open_transactions: bool = False
    """True if the output aborts the transactions that are open in the source."""

    def digest_of(self, dataset: Dataset) -> RecordDigest:
        """Return the digest of these records of *dataset*."""
        digest = RecordDigest(self.columns)
        for rows in dataset.records(self.columns, dispositions=self.dispositions):
            if self.transform is not None:
                rows = self.transform(rows)
            if self.ends_open_transactions:
                rows = _with_ended_transactions(rows)
            digest.add(rows)
        return digest


def _with_ended_transactions(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return *rows* with the outcome `aborted` instead of `open`."""
    number = rows.schema.get_field_index("outcome")
    outcomes = rows.column(number)
    is_open = pc.equal(outcomes, pa.scalar("open", outcomes.type)).fill_null(False)
    ended = pc.if_else(is_open, pa.scalar("aborted", outcomes.type), outcomes)
    return rows.set_column(number, rows.schema.field(number), ended)


ALL_RECORDS = ComparedRecords()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFacts:
    """Facts about a partition that do not depend on how its records are divided into batches."""

    num_records: int
    records_digest: str
    log_start_offset: int | None
    log_end_offset: int | None
    last_stable_offset: int | None

    def as_row(self) -> dict[str, Any]:
        """Return the facts as a dict of JSON values."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def facts_of(
    log: PartitionLog, options: ReadOptions, compared: ComparedRecords = ALL_RECORDS
) -> LogFacts:
    """Read all records of *log*, and return the facts about it and about the *compared* ones."""
    options = replace(options, isolation_level=compared.isolation_level, threads=1)
    dataset = Dataset([log], options)
    digest = compared.digest_of(dataset)
    bounds = dataset.partitions(("log_start_offset", "log_end_offset", "last_stable_offset"))
    (row,) = bounds.to_pylist()
    return LogFacts(num_records=digest.num_records, records_digest=digest.hexdigest(), **row)


ALL_FACTS = tuple(field.name for field in fields(LogFacts))


def check_equal(
    expected_facts: LogFacts,
    found_facts: LogFacts,
    log: PartitionLog,
    names: tuple[str, ...] = ALL_FACTS,
) -> None:
    """Raise FormatError (`output-differs`) if the output of *log* differs from its source in the facts *names*."""
    for name in names:
        expected, found = getattr(expected_facts, name), getattr(found_facts, name)
        if found != expected:
            raise FormatError(
                Finding(
                    code="output-differs",
                    message=f"the output has {name} {found}, its source {expected}; the output was dropped. This is a "
                    "fault of magicbyte: please report it",
                    topic=log.topic,
                    partition=log.partition,
                    field=name,
                    found=str(found),
                    expected=str(expected),
                )
            )
