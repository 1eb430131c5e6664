"""The prediction of what a broker would do with one partition on startup."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from magicbyte.verification.verdicts import Verdict

OffsetRange = tuple[int, int]
"""First offset, and the offset after the last one."""


class StartupRefusedError(Exception):
    """The broker fails with an exception; the text names the file, the byte and the exception."""


@dataclass(slots=True)
class StartupPrediction:
    """The state in which a broker's startup would leave a partition."""

    log_end_offset: int | None = None
    """The offset that the next record would get; None where the startup fails."""
    segment_sizes: dict[str, int] = field(default_factory=dict)
    """Bytes of each `.log` file after the startup, by file name."""
    refusal: str | None = None
    """The reason why the startup fails; None if it does not."""
    open_transactions: dict[int, int] | None = None
    """Producer id and first offset of each open transaction, as a clean startup reads them from
    producer snapshots; None where the startup rebuilds them from the log."""
    partial_tail: tuple[str, int] | None = None
    """Name of the last segment, and the bytes of a partial batch that the startup leaves in it."""
    actions: list[str] = field(default_factory=list)
    """Changes to segments, in order, one sentence each."""
    cuts: list[tuple[int, int | None]] = field(default_factory=list)
    """Offsets that are gone from segments: the first one, and the base offset of the next segment
    that is left; None where none is left, so that all later offsets are gone."""

    def sentences(
        self, *, log_end_offset: int | None, open_transactions: Mapping[int, int]
    ) -> list[str]:
        """Return the actions of the broker, and the damage that it would not notice.

        *log_end_offset* and *open_transactions* (producer id to first offset) describe the log by
        all its bytes.
        """
        if self.refusal is not None:
            return [*self.actions, f"the broker would fail to load this partition: {self.refusal}"]
        return [*self.actions, *self.unnoticed_damage(log_end_offset, open_transactions)]

    def unnoticed_damage(
        self, log_end_offset: int | None, open_transactions: Mapping[int, int]
    ) -> Iterator[str]:
        """Yield a sentence for each fault that the broker would not change.

        `sentences` has the same arguments.
        """
        end = self.log_end_offset
        is_hidden = end is not None and log_end_offset is not None and end < log_end_offset
        if is_hidden and log_end_offset is not None and not self.actions:
            yield (
                f"the broker would take {end} for the log end offset: offsets {end} to "
                f"{log_end_offset - 1} stay in the file, consumers cannot read them, and new "
                "records get the same offsets"
            )
        if self.partial_tail is not None:
            name, num_bytes = self.partial_tail
            yield (
                f"{num_bytes} bytes of a partial batch would stay at the end of {name}: consumers "
                "get stuck there and cannot read records that are appended later"
            )
        if self.open_transactions is None:
            return
        for producer, offset in open_transactions.items():
            if producer not in self.open_transactions:
                yield (
                    f"the broker would forget the open transaction of producer {producer} from "
                    f"offset {offset}: read_committed consumers would get its records"
                )
        for producer, offset in self.open_transactions.items():
            if open_transactions.get(producer) != offset:
                yield (
                    f"the broker would take a transaction of producer {producer} for open from "
                    f"offset {offset}, but the log has none: read_committed consumers would stop "
                    "there"
                )

    def lost_ranges(self, log_start: int | None, log_end: int | None) -> list[OffsetRange]:
        """Return the offsets of a log from *log_start* to *log_end* that are gone after the startup.

        They are gone because segments are truncated or deleted, or because the broker takes a lower
        offset for the log end offset.
        """
        if self.log_end_offset is None or log_end is None:
            return []
        # A log start above the end makes the broker empty the log: all offsets count then.
        floor = 0 if log_start is None or log_start >= log_end else log_start
        gone = [(first, log_end if base is None else base) for first, base in self.cuts]
        gone.append((self.log_end_offset, log_end))
        lost: list[OffsetRange] = []
        for first, end in sorted(gone):
            begin, end = max(first, floor), min(end, log_end)
            if lost and begin <= lost[-1][1]:
                lost[-1] = lost[-1][0], max(lost[-1][1], end)
            elif begin < end:
                lost.append((begin, end))
        return lost

    def verdict(
        self, sizes_before: Mapping[str, int], *, loses_offsets: bool, is_damaged: bool
    ) -> Verdict:
        """Return the verdict on a partition whose `.log` files have *sizes_before*, by name.

        *is_damaged* says whether anything would still be wrong after the startup.
        """
        if self.refusal is not None:
            return "refuses-to-start"
        if self.segment_sizes != sizes_before:
            return "truncated" if loses_offsets else "recovered"
        return "unchanged-damaged" if is_damaged or loses_offsets else "intact"
