"""Values that engines return, and the interface of an engine.

Engines decode bytes to log entries and columns, and know nothing of log directories or transactions. All
engines return the same rows, findings and positions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import pyarrow as pa

from magicbyte.engines.entry import Entry
from magicbyte.engines.entry_columns import Entries, Numbers
from magicbyte.engines.header_scan import BatchHeaders
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.storage import File

__all__ = [
    "BatchHeaders",
    "Chunk",
    "Control",
    "Decoded",
    "DecodedEntry",
    "Engine",
    "Entries",
    "Entry",
    "Scan",
]


class Chunk(NamedTuple):
    """Bytes of a file that are scanned or decoded together."""

    data: memoryview
    position: int
    """Position in the file of the first byte."""

    def after(self, num_bytes: int) -> "Chunk":
        """Return the chunk without its first *num_bytes*."""
        return Chunk(self.data[num_bytes:], self.position + num_bytes)

    def bytes_of(self, entry: Entry) -> memoryview:
        """Return the bytes of an entry of the chunk."""
        begin = entry.position - self.position
        return self.data[begin : begin + entry.size_bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """Sound entries back to back from the beginning of a chunk."""

    entries: Entries
    end: int
    """Bytes of the chunk up to the end of the last entry."""
    unsound: Entry | None = None
    """The whole entry at *end*, if it is over the limit or its checksum is wrong."""
    computed: int | None = None
    """The checksum of its bytes, if that was verified and is wrong."""
    stopped_by: Finding | None = None
    """The finding about the bytes at *end*, if they are no entry; `incomplete-entry` if the buffer ends inside one."""


@dataclass(frozen=True, slots=True)
class Control:
    """The first record of a control batch."""

    type: int
    coordinator_epoch: int | None


@dataclass(slots=True)
class DecodedEntry:
    """Result of decoding the payload of an entry."""

    num_rows: int = 0
    """Rows in the Arrow batch; 0 if a finding is an error."""
    base_offset: int | None = None
    record_count: int | None = None
    control: Control | None = None
    findings: tuple[Finding, ...] = ()
    """The first finding of each code."""
    repeated: dict[str, int] | None = None
    """Further findings by code, where there were any: a fault of one record may be in every record."""
    decompressed: int = field(default=0, compare=False)
    """Bytes of its payload, if the reference engine has decompressed it; for all entries see
    `Decoded.decompressed`."""

    valid_records: int = field(default=0, compare=False)
    """Records before the first fault, if the reference engine has decoded the batch or its fault."""

    def add(self, finding: Finding, times: int = 1) -> None:
        """Add *finding*; if there is one of the same code already, only count it."""
        if not any(known.code == finding.code for known in self.findings):
            self.findings += (finding,)
            times -= 1
        if times:
            self.repeated = self.repeated or {}
            self.repeated[finding.code] = self.repeats(finding.code) + times

    def repeats(self, code: str) -> int:
        """Return how many further findings of *code* there were."""
        return (self.repeated or {}).get(code, 0)

    def counted_findings(self) -> list[Finding]:
        """Return the findings; the message of each says how many more of its code there were."""
        return [
            replace(finding, message=f"{finding.message}; {count} more in this entry")
            if (count := self.repeats(finding.code))
            else finding
            for finding in self.findings
        ]

    @property
    def is_sound(self) -> bool:
        """True if the rows of the entry may be delivered."""
        return not any(finding.severity == "error" for finding in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded(Scan):
    """The result of a scan, with the records of its entries."""

    rows: pa.RecordBatch
    """The records of all entries, in order."""
    num_rows: Numbers
    """Rows of each entry."""
    decompressed: Numbers
    """Bytes of each payload, decompressed; 0 where it has no codec or does not decompress."""
    results: Mapping[int, DecodedEntry] = field(default_factory=dict)
    """Results of the entries with findings, of control batches and of wrapper messages, by number. The
    header is the result of all others."""
    bases: Numbers | None = None
    """Offset of the first row of each entry, if there are wrapper messages: headers do not have it."""

    def result(self, number: int) -> DecodedEntry:
        """Return the result for the entry *number*."""
        return self._result(number, self.entries[number], int(self.num_rows[number]))

    def all_results(self) -> list[DecodedEntry]:
        """Return the result for each entry."""
        pairs = zip(self.entries, self.num_rows.tolist(), strict=True)
        return [self._result(number, *pair) for number, pair in enumerate(pairs)]

    def _result(self, number: int, entry: Entry, num_rows: int) -> DecodedEntry:
        result = self.results.get(number)
        if result is not None:
            return result
        if self.bases is not None:
            return DecodedEntry(num_rows, int(self.bases[number]), num_rows)
        return DecodedEntry(num_rows, entry.base_offset, entry.record_count)


class Engine(Protocol):
    """Decodes log entries: `reference` one at a time, as the specification reads, `columnar` by kernels."""

    name: str

    @property
    def views(self) -> bool:
        """True if binary columns have Arrow's type `binary_view`."""

    def read_headers(self, file: File, position: int, end: int) -> BatchHeaders:
        """Return headers of v2 batches back to back in [position, end) of a file.

        The bytes between headers are not read. It ends after some thousand headers, before bytes that
        are no v2 batch, and before a batch that ends after *end*.
        """

    def scan(
        self,
        chunk: Chunk,
        *,
        verify: bool,
        limits: Limits,
        max_entries: int | None = None,
    ) -> Scan:
        """Return the sound entries that *chunk* begins with.

        *verify* checks their checksums. A scan may also end before an entry of another format.
        """

    def decode(
        self,
        chunk: Chunk,
        columns: Sequence[str],
        *,
        limits: Limits,
        max_bytes: int | None = None,
        verify: bool = True,
        max_entries: int | None = None,
    ) -> Decoded:
        """Return the entries that *chunk* begins with, as `scan` does, and the wire *columns* of their records.

        It may end once the entries have *max_bytes*, decompressed. Each record is parsed to its end, for
        any columns, and an entry that is not sound has no rows. Checksums of messages in a
        wrapper message are always verified. To verify while decoding costs less than in a scan, because
        the bytes are still in the processor's cache.
        """
