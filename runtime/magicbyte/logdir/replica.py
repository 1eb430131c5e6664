"""Replicas of a partition: their offsets and errors, and the bytes of their files that are not read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileRange:
    """Bytes [start, end) of a segment that are not read, because another replica has its entries."""

    path: str
    start: int
    end: int
    disposition: str
    """`superseded` if they are damaged and another replica fills the hole; `duplicate` if other bytes of
    their segment fill one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """A replica of a partition, and its use in a read: a row of the table `replicas`."""

    log_dir: str
    """The log.dir; the partition folder where that is in no log.dir."""
    rank: int
    """1 for the replica that is read, 2 for the first from which ranges are filled, and so on."""
    leader_epoch: int | None
    """Highest leader epoch that its last entry or its checkpoint has."""
    first_offset: int | None
    log_end_offset: int | None
    """Offset after its last sound entry; None if it has none."""
    missing_offsets: int | None
    """Offsets between its first and last entry that are damaged or missing, by its headers; None: it is
    the only replica."""
    error_count: int
    """Findings of severity error, by its headers."""
    size_bytes: int
    filled_ranges: int = 0
    """Ranges that are read from it, because the replicas with a lower rank do not have them."""
    filled_offsets: int = 0
    filled_bytes: int = 0
