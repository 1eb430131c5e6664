"""The prediction of what a broker would do with one partition on startup."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["ok", "recovers", "starts-damaged", "refuses-to-start", "unknown"]
"""`ok`: the broker starts and keeps every segment unchanged. `recovers`: it starts, and truncates,
deletes, creates or renames a segment. `starts-damaged`: it starts and changes no segment, but
consumers meet an error. `refuses-to-start`: the broker, the log.dir or the partition fails."""


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

    def sentences(
        self, *, log_end_offset: int | None, open_transactions: Mapping[int, int]
    ) -> list[str]:
        """Return the actions of the broker, and the damage that it would not notice.

        *log_end_offset* and *open_transactions* (producer id to first offset) describe the log by
        all its bytes.
        """
        if self.refusal is not None:
            return [*self.actions, f"the broker would fail to load this partition: {self.refusal}"]
        return [*self.actions, *self._unnoticed_damage(log_end_offset, open_transactions)]

    def _unnoticed_damage(
        self, log_end_offset: int | None, open_transactions: Mapping[int, int]
    ) -> Iterator[str]:
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

    def verdict(self, sizes_before: Mapping[str, int], *, is_damaged: bool) -> Verdict:
        """Return the verdict on a partition whose `.log` files have *sizes_before*, by name.

        *is_damaged* says whether consumers would still meet an error after the startup.
        """
        if self.refusal is not None:
            return "refuses-to-start"
        if self.segment_sizes != sizes_before:
            return "recovers"
        return "starts-damaged" if is_damaged else "ok"
