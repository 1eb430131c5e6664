"""Partitions of several segments to mutate, of real logs and built, with companion files and checkpoints."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from magicbyte_formats.wire import ControlType
from magicbyte_tools.fuzz.partition import Files, SeedPartition
from magicbyte_tools.vectors import entry_parts
from magicbyte_tools.vectors.companion_cases import (
    offset_index,
    producer,
    producer_snapshot,
    time_index,
    transaction_index,
)
from magicbyte_tools.vectors.entry_parts import T0, rec

MAX_BYTES = 24 << 10
"""Largest size of the files of a partition, in bytes: each case is read about ten times."""

NUM_BUILT = 40

CHECKPOINTS = (
    "cleaner-offset-checkpoint",
    "log-start-offset-checkpoint",
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
)


def segmented_partitions(
    directories: Sequence[Path], seed: int, *, are_all: bool = False
) -> Iterator[SeedPartition]:
    """Yield the small partitions of several segments below *directories*, and NUM_BUILT built ones.

    *are_all*: yield all partitions below *directories*, and none besides. The checkpoint files of a log.dir are named as from within the partition's folder: `../NAME`.
    """
    for folder in sorted({log.parent for path in directories for log in path.rglob("*.log")}):
        partition = _of_folder(folder)
        is_small = len(partition.logs) > 1 and partition.num_bytes <= MAX_BYTES
        if are_all or (is_small and partition.seeds):
            yield partition
    chance = Random(f"{seed} segmented")
    for number in range(0 if are_all else NUM_BUILT):
        yield SeedPartition(f"built-{number}", dict(_LogBuilder(chance, number).files()))


def _of_folder(folder: Path) -> SeedPartition:
    files: Files = {
        path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()
    }
    for name in CHECKPOINTS:
        if (path := folder.parent / name).is_file():
            files[f"../{name}"] = path.read_bytes()
    return SeedPartition(folder.name, files)


class _LogBuilder:
    """Builds a log of interleaved transactions with right companion files."""

    def __init__(self, chance: Random, number: int) -> None:
        self.chance = chance
        self.offset = self.base = chance.choice((0, 0, 40))
        self.topic = f"built {number}"
        self.data, self.aborted = b"", list[tuple[int, int, int, int]]()
        self.sequences = dict.fromkeys((4, 5, 6), 0)
        self.epochs = dict.fromkeys((4, 5, 6), 0)
        self.last_offsets: dict[int, int] = {}
        self.open: dict[int, int] = {}
        """First offsets of open transactions by producer id."""
        self.positions: list[tuple[int, int]] = []
        """Entries of the segment's offset index: offset from the segment's base, position."""
        self.num_indexed = Random(f"{number} offset index").choice((0, 1, 1, 3))
        """Batches for each entry of the offset index; 0: there are no offset indexes."""
        self.latest = -1, -1
        """The largest timestamp of the segment, and the offset of its batch from the segment's base."""
        self.may_stay_open = chance.random() < 0.3

    def files(self) -> Iterator[tuple[str, bytes]]:
        if self.base:
            yield self.snapshot()
        for _ in range(self.chance.randrange(2, 6)):
            for _ in range(self.chance.randrange(2, 9)):
                self.add_entry()
            yield from self.segment()
        if not self.may_stay_open:
            for producer_id in list(self.open):
                self.add_marker(producer_id)
        yield from self.segment()
        yield self.snapshot()
        lines = ["0", "1", f"{self.topic} {self.offset}", ""]
        yield "../replication-offset-checkpoint", "\n".join(lines).encode()

    def segment(self) -> Iterator[tuple[str, bytes]]:
        """Yield the files of the current segment, and begin the next one."""
        if self.data:
            yield f"{self.base:020}.log", self.data
            yield f"{self.base:020}.timeindex", time_index(self.latest)
            if self.aborted:
                yield f"{self.base:020}.txnindex", transaction_index(*self.aborted)
            if self.num_indexed:
                positions = self.positions[1 :: self.num_indexed]  # none of the first batch
                yield f"{self.base:020}.index", offset_index(*positions)
            self.data, self.aborted, self.base = b"", [], self.offset
            self.positions = []
            self.latest = -1, -1
            yield self.snapshot()

    def snapshot(self) -> tuple[str, bytes]:
        states = [
            producer(
                producer_id,
                epoch=self.epochs[producer_id],
                last_sequence=self.sequences[producer_id] - 1,
                last_offset=last_offset,
                current_transaction_first_offset=self.open.get(producer_id, -1),
            )
            for producer_id, last_offset in self.last_offsets.items()
        ]
        return f"{self.offset:020}.snapshot", producer_snapshot(*states)

    def add_entry(self) -> None:
        chance, position = self.chance, len(self.data)
        producer_id = chance.choice((4, 5, 6))
        drawn = chance.random()
        if drawn < 0.25:
            self.add_marker(producer_id)
            return
        records = [
            rec(self.offset + n, b"%d" % (self.offset + n), time=T0 + chance.randrange(-9, 1))
            for n in range(chance.randrange(1, 4))
        ]
        if drawn < 0.4:
            self.data += entry_parts.batch(*records).data
        else:
            self.data += entry_parts.transactional(
                *records,
                producer=producer_id,
                epoch=self.epochs[producer_id],
                sequence=self.sequences[producer_id],
            ).data
            self.sequences[producer_id] += len(records)
            self.open.setdefault(producer_id, self.offset)
            self.last_offsets[producer_id] = self.offset + len(records) - 1
        self.offset += len(records)
        self.positions.append((self.offset - 1 - self.base, position))
        self.add_time(max(record.time for record in records))

    def add_time(self, time: int) -> None:
        """Note the max timestamp of the last batch."""
        if time > self.latest[0]:
            self.latest = time, self.offset - 1 - self.base

    def add_marker(self, producer_id: int) -> None:
        first = self.open.pop(producer_id, None)
        if first is None:
            return
        kind = self.chance.choice((ControlType.ABORT, ControlType.COMMIT))
        self.positions.append((self.offset - self.base, len(self.data)))
        epoch = self.epochs[producer_id]
        self.data += entry_parts.marker(kind, self.offset, producer=producer_id, epoch=epoch).data
        if kind == ControlType.ABORT:
            stable = min([*self.open.values(), self.offset + 1])
            self.aborted.append((producer_id, first, self.offset, stable))
        self.offset += 1
        self.add_time(T0 + self.offset - 1)
