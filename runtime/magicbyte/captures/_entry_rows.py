"""Rows of records and of batches, from the batches in a Produce request or Fetch response."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.captures._capture_findings import CaptureFindings
from magicbyte.captures._exchanges import FETCHED, CapturedBatches
from magicbyte.engines.protocol import Chunk, Decoded, DecodedEntry, Engine
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.reading.dispositions import (
    DISPOSITION_CODES,
    ClassifiedEntries,
    DeliveryBounds,
    ExaminedEntry,
    classify,
)
from magicbyte.reading.outcomes import Outcomes, Run, outcome_names, outcomes_by_list
from magicbyte.reading.results import Report
from magicbyte.reading.table_rows import entry_row
from magicbyte.tables.arrays import Codes, constant_array, number_array, to_numpy
from magicbyte.tables.binary_views import filter_rows
from magicbyte.tables.schemas import WIRE_COLUMNS
from magicbyte.tables.table_definition import TableDefinition

CHUNK_BYTES = 32 << 20
"""Bytes of payloads, decompressed, that are decoded together."""


@dataclass(frozen=True, slots=True)
class CapturedRun:
    """Decoded batches back to back, and what became of their records."""

    classified: ClassifiedEntries
    record_offsets: pa.Array
    """Offsets of the records; null if the broker's are not known."""
    begin: int
    """Byte of the message at which the batches of the partition begin."""
    message_positions: pa.Array
    """Byte of the message at which the batch of each record begins."""
    outcome_codes: Codes | None
    unsound_entry: ExaminedEntry | None
    """The batch after them, if it is damaged or too large."""


@dataclass(slots=True)
class BatchDecoder:
    """Decodes the batches of messages, and adds findings about them to a report."""

    engine: Engine
    limits: Limits
    report: Report
    findings: CaptureFindings

    def runs(self, sent_batches: CapturedBatches, columns: Sequence[str]) -> Iterator[CapturedRun]:
        """Yield *sent_batches* and their records in runs, with *columns* of the records."""
        wire = tuple(name for name in WIRE_COLUMNS if name in {"offset", "position", *columns})
        outcomes = self._outcomes(sent_batches)
        num_records = 0
        for decoded in self._decoded(sent_batches, wire):
            codes = None if outcomes is None else outcomes.of(decoded.entries, decoded)
            bounds = DeliveryBounds(
                log_start_offset=sent_batches.log_start_offset,
                first=sent_batches.fetch_offset,
                end=None,
                last_stable_offset=None,
            )
            classified = classify(
                decoded.entries, decoded, codes, bounds, is_committed_read=outcomes is not None
            )
            offsets = _offsets(sent_batches, decoded, num_records)
            num_records += decoded.rows.num_rows
            places = decoded.rows.column("position")
            self.report.records.update(classified.num_records(classified.row_codes))
            self.report.bytes.update(classified.num_bytes())
            for result in decoded.results.values():
                for finding in result.counted_findings():
                    self._add(sent_batches, finding)
            yield CapturedRun(
                classified,
                offsets,
                sent_batches.message_position,
                number_array(pa.int64(), to_numpy(places) + sent_batches.message_position),
                codes,
                self._unsound(sent_batches, decoded),
            )

    def _decoded(
        self, sent_batches: CapturedBatches, wire: tuple[str, ...], *, is_first_pass: bool = False
    ) -> Iterator[Decoded]:
        """Yield decoded runs of *sent_batches*; after each an unsound batch is passed over."""
        position = 0
        while position < len(sent_batches.data):
            decoded = self.engine.decode(
                Chunk(sent_batches.data[position:], position),
                wire,
                limits=self.limits,
                max_bytes=CHUNK_BYTES,
            )
            yield decoded
            position += decoded.end
            if decoded.unsound is not None:
                position += decoded.unsound.size_bytes
            elif decoded.stopped_by is not None:
                if not is_first_pass:
                    self._add_rest(sent_batches, position, decoded.stopped_by)
                return

    def _add_rest(self, sent_batches: CapturedBatches, position: int, finding: Finding) -> None:
        """Account for bytes after the last whole batch."""
        num_bytes = len(sent_batches.data) - position
        # A broker cuts off the last batch where the client's limit is, and the client drops it.
        if finding.code == "incomplete-entry" and sent_batches.direction == FETCHED:
            self.report.bytes["tail"] += num_bytes
            return
        self.report.bytes["damaged"] += num_bytes
        self._add(sent_batches, replace(finding, length=num_bytes))

    def _unsound(self, sent_batches: CapturedBatches, decoded: Decoded) -> ExaminedEntry | None:
        """Return the batch after *decoded* that is damaged or too large, with a finding."""
        entry, computed = decoded.unsound, decoded.computed
        if entry is None:
            return None
        if computed is None:
            disposition, finding = "over_limit", entry.over_limit(self.limits)
        else:
            disposition, finding = "damaged", entry.checksum_mismatch(computed)
        self.report.bytes[disposition] += entry.size_bytes
        self._add(sent_batches, finding)
        is_valid = None if computed is None else False
        result = DecodedEntry(base_offset=entry.base_offset, record_count=entry.record_count)
        return ExaminedEntry(entry, disposition, is_valid, result)

    def _outcomes(self, sent_batches: CapturedBatches) -> Outcomes | None:
        """Return the outcomes of transactions, by the list of a read_committed fetch; None without one."""
        if sent_batches.aborted is None:
            return None
        entry_runs: list[Run] = []
        if sent_batches.aborted:
            for decoded in self._decoded(sent_batches, ("offset",), is_first_pass=True):
                results = decoded.all_results()
                controls = [
                    (entry.position, entry.producer_id, result.control)
                    for entry, result in zip(decoded.entries, results, strict=True)
                    if entry.is_control
                ]
                entry_runs.append((decoded.entries, controls))
        return outcomes_by_list(entry_runs, sent_batches.aborted, end=len(sent_batches.data))

    def _add(self, sent_batches: CapturedBatches, finding: Finding) -> None:
        """Add a finding about a batch, with the place of its message."""
        captured = sent_batches.captured
        byte = sent_batches.message_position + (finding.position or 0)
        text = f"{finding.message}; byte {byte} of the message that ends in packet {captured.packet_number}"
        self.findings.add_of_batch(
            replace(finding, message=text, position=captured.packet_position).at(
                sent_batches.topic_partition.topic or sent_batches.topic_partition.topic_id,
                sent_batches.topic_partition.partition,
                self.findings.file_name,
            )
        )


def _offsets(sent_batches: CapturedBatches, decoded: Decoded, num_before: int) -> pa.Array:
    """Return the offsets of the records: those that the broker gave, if they were produced."""
    column = decoded.rows.column("offset")
    if sent_batches.direction == FETCHED:
        return column
    if sent_batches.base_offset is None:
        return pa.nulls(len(column), pa.int64())
    if decoded.entries.are_messages:  # v0 and v1 are numbered in their order
        first = sent_batches.base_offset + num_before
        return number_array(pa.int64(), np.arange(first, first + len(column), dtype=np.int64))
    return number_array(pa.int64(), to_numpy(column) + sent_batches.base_offset)


def record_rows(
    batch_run: CapturedRun,
    table: TableDefinition,
    columns: Sequence[str],
    dispositions: Sequence[str],
    constants: Mapping[str, Any],
) -> pa.RecordBatch | None:
    """Return the records of *batch_run* that have one of *dispositions*; None if there are none.

    *constants* has the values of the columns that are the same for all of them.
    """
    decoded = batch_run.classified.decoded
    wanted = np.isin(
        batch_run.classified.row_codes, [DISPOSITION_CODES[name] for name in dispositions]
    )
    if not wanted.any():
        return None
    arrays = []
    for name in columns:
        if name in ("offset", "message_position"):
            arrays.append(
                batch_run.record_offsets if name == "offset" else batch_run.message_positions
            )
        elif name == "disposition":
            arrays.append(batch_run.classified.row_dispositions())
        elif name == "outcome" and batch_run.outcome_codes is not None:
            arrays.append(outcome_names(np.repeat(batch_run.outcome_codes, decoded.num_rows)))
        elif name in constants:
            value = constants[name]
            arrays.append(constant_array(table.fields[name].type, value, decoded.rows.num_rows))
        else:
            arrays.append(decoded.rows.column(name))
    rows = pa.RecordBatch.from_arrays(arrays, schema=table.schema(tuple(columns)))
    return rows if wanted.all() else filter_rows(rows, wanted)


def batch_dicts(batch_run: CapturedRun, constants: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row for each batch or message of *batch_run*, and the unsound one after them."""
    unsound = () if batch_run.unsound_entry is None else (batch_run.unsound_entry,)
    for examined in (*batch_run.classified, *unsound):
        place = batch_run.begin + examined.entry.position
        yield entry_row(examined) | constants | {"message_position": place}
