"""Engines turn bytes into entries and columns; they know nothing of log directories or transactions.

Each gives the same rows, the same problems, the same positions. `reference` is the Kaitai
classes plus this runtime: slow, obvious, and the judge of any other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import pyarrow as pa

from magicbyte.engines.entry import Entry
from magicbyte.engines.entry_columns import Entries, Numbers
from magicbyte.engines.header_scan import BatchHeaders
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.storage import File

__all__ = [
    "BatchHeaders",
    "Control",
    "Decoded",
    "DecodedEntry",
    "Engine",
    "Entries",
    "Entry",
    "Scan",
    "Taken",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """The sound entries of a stretch of bytes, back to back from its beginning."""

    entries: Entries
    end: int
    """The byte of the buffer behind the last of them."""
    unsound: Entry | None = None
    """The whole entry at *end*, if it is larger than is allowed or its checksum is wrong."""
    computed: int | None = None
    """The checksum of its bytes, where that was asked for and is wrong."""
    stopped_by: Finding | None = None
    """Why the bytes at *end* are no entry; `incomplete-entry` where the buffer ends inside one."""


@dataclass(frozen=True, slots=True)
class Control:
    """The first record of a control batch."""

    type: int
    coordinator_epoch: int | None


@dataclass(slots=True)
class DecodedEntry:
    """What only the payload of an entry tells."""

    num_rows: int = 0
    """Rows in the record batch; 0 where a problem is fatal."""
    base_offset: int | None = None
    record_count: int | None = None
    control: Control | None = None
    findings: tuple[Finding, ...] = ()
    """The first finding of each code."""
    repeated: dict[str, int] | None = None
    """Further findings by code, where there were any: a fault of one record may be in every record."""
    decompressed: int = field(default=0, compare=False)
    """Bytes of its payload, where the reference engine has decompressed it; of any entry,
    `Decoded.decompressed` tells."""

    def add(self, finding: Finding, times: int = 1) -> None:
        """Add *finding*, or count it where there is one of its code already."""
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
        """Whether the rows of the entry may be delivered."""
        return not any(finding.severity == "error" for finding in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The records of some entries, in their order, and what was found in each."""

    rows: pa.RecordBatch
    headers: Sequence[Entry]
    """The entries."""
    num_rows: Numbers
    """Rows of each."""
    decompressed: Numbers
    """Bytes of each one's payload, decompressed; 0 where it has no codec or does not decompress."""
    told: Mapping[int, DecodedEntry] = field(default_factory=dict)
    """By its number, whatever entry there is more to say of than its header does: a problem, a
    control record, offsets that a wrapper hides."""
    bases: Numbers | None = None
    """Where all are wrappers, of which no more is to be said: the offset of each one's first row."""
    computed: int | None = None
    """The checksum of the entry behind them, where that was to be verified and is wrong."""

    def entry(self, number: int) -> DecodedEntry:
        """Return what the payload of an entry tells."""
        return self._entry(number, self.headers[number], int(self.num_rows[number]))

    @property
    def entries(self) -> list[DecodedEntry]:
        """What the payload of each entry tells."""
        pairs = zip(self.headers, self.num_rows.tolist(), strict=True)
        return [self._entry(number, *pair) for number, pair in enumerate(pairs)]

    def _entry(self, number: int, header: Entry, num_rows: int) -> DecodedEntry:
        if self.bases is not None:
            return DecodedEntry(num_rows, int(self.bases[number]), num_rows)
        told = self.told.get(number)
        return told or DecodedEntry(num_rows, header.base_offset, header.record_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Entries back to back, scanned, verified and decoded at once."""

    entries: Entries
    decoded: Decoded
    end: int
    """The byte of the buffer behind the last of them."""
    unsound: Entry | None = None
    """The whole entry at *end*, if its checksum is wrong, which `decoded.computed` is."""
    is_cut: bool = False
    """Whether the buffer ends in the entry at *end*."""


class Engine(Protocol):
    name: str

    @property
    def views(self) -> bool:
        """Whether columns of bytes are given as Arrow's `binary_view`."""

    def read_headers(self, file: File, position: int, end: int) -> BatchHeaders:
        """Return headers of v2 batches that lie back to back from *position* of a file to at most *end*.

        Nothing that lies between them is read. It ends after some thousand, and in front of what
        is no such batch, or does not lie whole in front of *end*; why, is for who can say.
        """

    def scan(
        self,
        buffer: memoryview,
        *,
        origin: int,
        verify: bool,
        limits: Limits,
        stop: int | None = None,
    ) -> Scan:
        """Return the entries that lie whole in *buffer*, whose first byte is *origin* of the file.

        *verify* checks their checksums. *stop* is the most entries wanted. A scan may also end
        where another format begins, or anything unusual: the next goes on there.
        """

    def take(
        self,
        buffer: memoryview,
        columns: Sequence[str],
        *,
        origin: int,
        limits: Limits,
        most_bytes: int,
    ) -> Taken | None:
        """Return the entries that *buffer* begins with, verified, with the wire columns *columns* of
        their records: what `scan` and `decode` give of them, in less time.

        It ends where they come to *most_bytes*, decompressed, and in front of what is wrong or
        unusual. None where there is little before that, or the engine has no such way.
        """

    def decode(
        self,
        buffer: memoryview,
        entries: Sequence[Entry],
        columns: Sequence[str],
        *,
        origin: int,
        limits: Limits,
        most_bytes: int | None = None,
        verify: bool = False,
    ) -> Decoded:
        """Return the wire columns *columns* of all records of *entries*.

        Where those so far come to *most_bytes* or more, decompressed, it may end: then *headers*
        are those up to there. Without *most_bytes* it goes through all.

        Every record is walked to its end whatever the columns, and no row of an entry is given
        unless all of it is sound. Checksums of messages inside a wrapper are verified in any case,
        those of entries with *verify*: it ends in front of the first that is wrong. What a scan
        has touched is no longer in the processor's cache when all of it is decoded, so that
        verifying here costs less than there.
        """
