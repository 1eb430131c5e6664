"""What is foretold of a partition."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["ok", "recovers", "starts-damaged", "refuses-to-start", "unknown"]
"""`ok`: it starts, and keeps all segments as they are. `recovers`: it starts, and cuts, removes, adds
or renames one. `starts-damaged`: it starts and changes none, and consumers meet an error.
`refuses-to-start`: the broker, the log.dir or the partition does not come up."""


class RefusedError(Exception):
    """The start ends here, with an exception of the broker's; the text says at what."""


@dataclass(slots=True)
class Forecast:
    """What a broker's start would leave of a partition."""

    log_end_offset: int | None = None
    """The offset that the next record would get; None where it does not start."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes of each `.log` file that would be there, by name."""
    refusal: str | None = None
    """Why it would not start."""
    opened: dict[int, int] | None = None
    """Where the open transaction of each producer begins, as the start takes it from producer
    snapshots; None where it takes it from the log."""
    left_over: tuple[str, int] | None = None
    """The last segment, and the bytes at its end that are no whole entry, if it keeps some."""
    events: list[str] = field(default_factory=list)
    """What it would do to segments, in order, a sentence each."""

    def sentences(self, *, log_end_offset: int | None, opened: Mapping[int, int]) -> list[str]:
        """Return what it would do, what it would not notice, and where it would end.

        The log itself ends at *log_end_offset*, and has the transactions *opened*, by producer and
        first offset.
        """
        if self.refusal is not None:
            return [*self.events, f"it does not start: {self.refusal}"]
        return [*self.events, *self._unnoticed(log_end_offset, opened)]

    def _unnoticed(self, log_end_offset: int | None, opened: Mapping[int, int]) -> Iterator[str]:
        end = self.log_end_offset
        is_hidden = end is not None and log_end_offset is not None and end < log_end_offset
        if is_hidden and not self.events:
            yield (
                f"it takes {end} for the log end: what lies in front of {log_end_offset} stays in the "
                "file, no consumer gets it, and new records get the same offsets"
            )
        if self.left_over is not None:
            name, num_bytes = self.left_over
            yield (
                f"it leaves {num_bytes} bytes at the end of {name} that are no whole entry: no consumer "
                "reads past them to what is appended behind"
            )
        if self.opened is None:
            return
        for producer, offset in opened.items():
            if producer not in self.opened:
                yield (
                    f"it forgets the open transaction of producer {producer} from offset {offset}: "
                    "read_committed is given its records"
                )
        for producer, offset in self.opened.items():
            if opened.get(producer) != offset:
                yield (
                    f"it takes a transaction of producer {producer} for open from offset {offset}, "
                    "where the log has none: read_committed ends there"
                )

    def verdict(self, before: dict[str, int], *, is_damaged: bool) -> Verdict:
        """Return the verdict on a partition that had the `.log` files *before*, with their sizes.

        *is_damaged* says whether something is left that consumers stop at.
        """
        if self.refusal is not None:
            return "refuses-to-start"
        if self.sizes != before:
            return "recovers"
        return "starts-damaged" if is_damaged else "ok"
