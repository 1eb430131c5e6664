"""Findings and outcomes of transactions for the bytes that a page of `magicbyte view` contains."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import pyarrow.compute as pc

import magicbyte as mb
from magicbyte import Companion, Dataset, Finding, InputError, Limits, companion
from magicbyte.companion_tables import kind_of
from magicbyte.logdir.file_names import parse_folder
from magicbyte.storage import StorageOptions
from magicbyte_cli._view_window import Window

Row = dict[str, Any]

HEADER_COLUMNS = ("file", "position", "size_bytes", "base_offset", "last_offset")

BATCH_COLUMNS = (
    *("file", "position", "base_offset", "last_offset", "producer_id"),
    *("is_transactional", "is_control", "disposition"),
)

FINDING_FIELDS = tuple(each.name for each in fields(Finding))


@dataclass(frozen=True, slots=True)
class FileEvidence:
    """Findings about a file, and outcomes of the transactions of its batches, by position."""

    findings: tuple[Finding, ...] | None = None
    """None where the runtime has no reader of such files; the page then shows its own findings."""
    outcome_by_position: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LogReader:
    """Opens a segment, alone or with the partition around it."""

    path: str
    limits: Limits
    storage_option: StorageOptions

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    def open(
        self, path: str, offset_range: tuple[int | None, int | None] = (None, None)
    ) -> Dataset:
        return mb.open(
            path,
            offsets=offset_range,
            on_damage="skip",
            include_internal=True,
            limits=self.limits,
            storage_options=self.storage_option,
        )

    def headers(self) -> Iterator[Any]:
        """Yield the headers of all entries of the file as Arrow batches; none if it has no sound entry."""
        try:
            dataset = self.open(self.path)
        except InputError:
            return
        yield from dataset.batches(HEADER_COLUMNS, quick=True)

    def datasets(self, window: Window) -> Iterator[Dataset]:
        """Yield what tells about *window*: the partition, where the markers may be; the file alone."""
        folder = self.path.rpartition("/")[0]
        if parse_folder(folder.rpartition("/")[2]) is not None:
            yield self.open(folder, window.offset_range)
        yield self.open(self.path, window.offset_range)


def log_evidence(log_reader: LogReader, window: Window) -> FileEvidence:
    """Return the evidence about *window* of a segment or snapshot, as a read of the partition finds it."""
    for dataset in _opened(log_reader, window):
        batch_rows = list(_batch_rows(dataset, log_reader.name, window))
        findings = tuple(_findings(dataset.problems().to_pylist(), log_reader.name))
        if batch_rows or findings:
            transactions = dataset.transactions().to_pylist()
            return FileEvidence(findings, dict(_outcomes(batch_rows, transactions)))
    return FileEvidence()


def _opened(log_reader: LogReader, window: Window) -> Iterator[Dataset]:
    try:
        yield from log_reader.datasets(window)
    except InputError:
        return


def _batch_rows(dataset: Dataset, name: str, window: Window) -> Iterator[Row]:
    """Yield the rows of the batches of the file *name* that begin in *window*."""
    for rows in dataset.batches(BATCH_COLUMNS):
        is_in_window = pc.and_kleene(
            pc.equal(rows.column("file"), name),
            pc.and_kleene(
                pc.greater_equal(rows.column("position"), window.start),
                pc.less(rows.column("position"), window.end),
            ),
        )
        yield from rows.filter(is_in_window).to_pylist()


def _findings(rows: Iterable[Row], name: str) -> Iterator[Finding]:
    for row in rows:
        if row["file"] == name:
            yield Finding(**{key: row[key] for key in FINDING_FIELDS})


def _outcomes(batch_rows: Sequence[Row], transactions: Sequence[Row]) -> Iterator[tuple[int, str]]:
    """Yield position and outcome of each transactional batch."""
    for row in batch_rows:
        if row["is_control"] and row["is_transactional"]:
            yield row["position"], "marker"
        elif row["is_transactional"]:
            outcome = _outcome(row, transactions)
            if outcome is not None:
                yield row["position"], outcome


def _outcome(batch_row: Row, transactions: Sequence[Row]) -> str | None:
    """Return the outcome of the transaction that *batch_row* belongs to; None if it is not known."""
    for row in transactions:
        is_in = row["first_offset"] <= batch_row["last_offset"] and (
            batch_row["base_offset"] <= row["last_offset"]
        )
        if row["producer_id"] == batch_row["producer_id"] and is_in:
            return str(row["outcome"])
    return {"aborted": "aborted", "delivered": "committed", "withheld": "undecided"}.get(
        batch_row["disposition"]
    )


def companion_evidence(path: str, storage_option: StorageOptions) -> FileEvidence:
    """Return the findings about a companion or checkpoint file, whose name tells its kind."""
    if kind_of(path) is None:
        return FileEvidence()
    try:
        companion_file: Companion = companion(path, storage_options=storage_option)
    except InputError:
        return FileEvidence()
    return FileEvidence(companion_file.findings)
