"""Compares the markers in a part of a log with the transaction indexes of that part.

For a whole log no marker is read: where one is not what its header says, the index of a later
segment lists a transaction that continues after it. A part of a log lacks indexes of other
segments, and the findings that make a whole log's indexes doubtful. So its own markers are read;
where they contradict its indexes, the whole log decides.
"""

from collections.abc import Iterator

import numpy as np

from magicbyte._transactions import outcome_of
from magicbyte.engines.control_records import ControlReader
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Chunk, Entries
from magicbyte.limits import MIB
from magicbyte.reading._index_outcomes import (
    AbortedTransactions,
    HeaderTransactions,
)
from magicbyte.reading._log_pass import EntryBlock, SurveyOptions
from magicbyte.reading.outcomes import OUTCOME_CODES
from magicbyte.storage import File
from magicbyte.tables.arrays import StructuredRows

MAX_READ_BYTES = 4 * MIB
"""Bytes of control batches that are verified together; only a larger batch takes more."""

PART_MARKERS = np.dtype(
    [("producer_id", np.int64), ("first", np.int64), ("offset", np.int64), ("outcome", np.int8)]
)
"""Control batches, each with its first and last offset and the outcome that it states."""

EMPTIED = -1
"""Stands for an outcome where the log cleaner has removed the record, long after the transaction."""

COMMIT, ABORT = OUTCOME_CODES["committed"], OUTCOME_CODES["aborted"]


class UntrustedPartError(Exception):
    """Raised if markers of a part of a log contradict its transaction indexes; the message says which."""


class PartMarkers:
    """The transaction markers of some segments, by the contents of their control batches."""

    def __init__(self, options: SurveyOptions) -> None:
        self._options = options
        self._controls = ControlReader(large=options.engine)
        self._markers: list[StructuredRows] = []

    def add(self, block: EntryBlock) -> None:
        """Read the markers of *block*.

        Raises UntrustedPartError where one is damaged, or neither commits nor aborts.
        """
        entries = block.piece.entries
        is_marker = block.is_control & (entries.column("producer_id") >= 0)
        if not is_marker.any():
            return
        markers = entries.picked(np.flatnonzero(is_marker))
        is_full = markers.column("record_count") > 0
        table = np.zeros(len(markers), PART_MARKERS)
        table["producer_id"] = markers.column("producer_id")
        table["first"] = markers.column("first_offset")
        table["offset"] = markers.column("last_offset")
        table["outcome"] = EMPTIED
        table["outcome"][is_full] = self._outcomes(block, markers.picked(np.flatnonzero(is_full)))
        self._markers.append(table)

    def _outcomes(self, block: EntryBlock, markers: Entries) -> list[int]:
        codes: list[int] = []
        with self._options.open_log(block.segment.file) as file:
            for some in _divided(markers):
                found = list(self._outcomes_in(_joined(file, some)))
                codes += found
                if len(found) < len(some):
                    marker = some[len(found)]
                    raise UntrustedPartError(
                        f"the marker of producer {marker.producer_id} at offset "
                        f"{marker.last_offset} in {block.segment.file.name} is damaged, or neither "
                        "commits nor aborts"
                    )
        return codes

    def _outcomes_in(self, data: bytes) -> Iterator[int]:
        """Yield the outcome of each control batch in *data*, up to one that has none."""
        engine, limits = self._options.engine, self._options.limits
        chunk = Chunk(memoryview(data), 0)
        while len(chunk.data):
            scan = engine.scan(chunk, verify=True, limits=limits)
            numbers = np.arange(len(scan.entries))
            for content in self._controls.read(chunk, scan.entries, numbers, limits=limits):
                outcome = outcome_of(content.control) if content.is_sound else None
                if outcome is None:
                    return
                yield OUTCOME_CODES[outcome]
            if not len(scan.entries):
                return
            chunk = chunk.after(scan.end)

    def check(self, headers: HeaderTransactions, aborted: AbortedTransactions) -> None:
        """Raise UntrustedPartError where a marker contradicts *aborted*, from the indexes.

        Only markers that end data are compared: no index lists an empty transaction.
        """
        markers = np.concatenate([np.zeros(0, PART_MARKERS), *self._markers])
        producers, offsets = markers["producer_id"], markers["offset"]
        firsts: Numbers = headers.markers_at(producers, offsets)["first_offset"]
        stated = np.where(aborted.contain(producers, offsets), ABORT, COMMIT)
        is_wrong = (firsts < markers["first"]) & (stated != markers["outcome"])
        if is_wrong.any():
            wrong = int(np.argmax(is_wrong))
            words = {COMMIT: "committed", ABORT: "aborted"}
            raise UntrustedPartError(
                f"by the indexes a transaction of producer {int(producers[wrong])} was "
                f"{words[int(stated[wrong])]} at offset {int(offsets[wrong])}, where its marker "
                f"says {words.get(int(markers['outcome'][wrong]), 'nothing')}"
            )


def _divided(entries: Entries) -> Iterator[Entries]:
    """Yield consecutive *entries* whose bytes are about MAX_READ_BYTES, at least one."""
    ends = np.cumsum(entries.column("size_bytes"))
    begin = 0
    while begin < len(entries):
        num_before = int(ends[begin - 1]) if begin else 0
        end = int(np.searchsorted(ends, num_before + MAX_READ_BYTES, "right"))
        end = max(end, begin + 1)
        yield entries[begin:end]
        begin = end


def _joined(file: File, entries: Entries) -> bytes:
    """Return the bytes of *entries* of *file*, one after another."""
    positions, sizes = entries.column("position").tolist(), entries.column("size_bytes").tolist()
    return b"".join(map(file.read_at, positions, sizes))
