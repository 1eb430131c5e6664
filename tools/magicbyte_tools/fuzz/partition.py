"""Partitions to mutate: small ones of real logs, and small ones built from a seed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from magicbyte.engines.entry import read_entry
from magicbyte_formats.wire import ControlType
from magicbyte_tools.fuzz import seeds
from magicbyte_tools.fuzz.seed import UNREADABLE, Seed, taken_apart
from magicbyte_tools.vectors import entry_parts
from magicbyte_tools.vectors.entry_parts import rec

MAX_BYTES = 6 << 10
"""Largest size of the files of a partition that is mutated, in bytes; larger ones only take longer."""

NUM_BUILT = 60

GAP = 200
"""Number of offsets that are missing between two entries of some built partitions."""

Files = dict[str, bytes]


@dataclass(frozen=True)
class SeedPartition:
    name: str
    files: Files

    @property
    def num_bytes(self) -> int:
        return sum(map(len, self.files.values()))

    @cached_property
    def logs(self) -> list[str]:
        return [name for name, data in self.files.items() if name.endswith(".log") and data]

    @cached_property
    def entries(self) -> dict[str, list[bytes]]:
        """Log entries of each .log file, by its name; the last item of a list is the bytes after them."""
        return {name: seeds.split_entries(self.files[name]) for name in self.logs}

    @cached_property
    def seeds(self) -> list[Seed]:
        """Seeds of the partition: all its log entries that can be parsed."""
        found = (seed_of(data) for entries in self.entries.values() for data in entries)
        return [one for one in found if one is not None]


def partitions(directories: Sequence[Path]) -> Iterator[SeedPartition]:
    """Yield the partitions below *directories* with at least one readable log entry."""
    folders = {log.parent for path in directories for log in path.rglob("*.log")}
    for folder in sorted(folders):
        files = {one.name: one.read_bytes() for one in sorted(folder.iterdir()) if one.is_file()}
        made = SeedPartition(folder.name, files)
        if made.logs and made.seeds:
            yield made


def built(seed: int) -> Iterator[SeedPartition]:
    """Yield NUM_BUILT partitions of random entries, among them the batches and markers of transactions.

    A quarter of them have gaps between their entries; most of the others are sound.
    """
    chance = Random(f"{seed} partitions")
    plain = [one for one in seeds.built(seed) if not (one.magic == 0 and one.payload)]
    for number in range(NUM_BUILT):
        offset = chance.choice((0, 0, 100, 1 << 33))
        gap = GAP if chance.random() < 0.25 else 0
        name, data = f"{offset:020}.log", b""
        for _ in range(chance.randrange(3, 9)):
            one = _transactional(chance, offset) if chance.random() < 0.6 else None
            if one is None:
                one = _at_offset(chance.choice(plain), offset)
            data += one
            offset = read_entry(one, 0).last_offset + 1 + gap
        yield SeedPartition(f"built-{number}", {name: data})


def _at_offset(seed: Seed, offset: int) -> bytes:
    """Return the entry of *seed* with *offset* as its first one: no checksum covers it."""
    if seed.magic == 1 and seed.payload:  # a wrapper message has the offset of its last message
        offset += len(seeds.split_entries(seed.payload)) - 2
    return offset.to_bytes(8, "big") + seed.data[8:]


def _transactional(chance: Random, offset: int) -> bytes:
    producer, epoch = chance.choice((4, 5)), chance.choice((0, 1))
    if chance.random() < 0.4:
        kind = chance.choice((ControlType.ABORT, ControlType.COMMIT))
        return entry_parts.marker(kind, offset, producer=producer, epoch=epoch).data
    records = [rec(offset + n, b"value") for n in range(chance.randrange(1, 4))]
    return entry_parts.transactional(*records, producer=producer, epoch=epoch).data


def seed_of(data: bytes) -> Seed | None:
    """Return the log entry *data* as a seed; None if it cannot be read."""
    try:
        return taken_apart(data)
    except UNREADABLE:
        return None
