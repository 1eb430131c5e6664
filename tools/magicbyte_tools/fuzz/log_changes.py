"""Mutates the files of a partition of several segments: entries, companion files and checkpoints."""

from collections.abc import Callable
from random import Random

from crc32c import crc32c

from magicbyte_formats.wire import (
    ProducerSnapshotEntry,
    ProducerSnapshotHeader,
    RecordBatchHeader,
)
from magicbyte_tools.fuzz.mutate import altered, mutated
from magicbyte_tools.fuzz.numbers import odd_integer
from magicbyte_tools.fuzz.partition import SeedPartition, seed_of
from magicbyte_tools.fuzz.seed import seal

WIDTHS = {
    "base_offset": 8,
    "producer_id": 8,
    "producer_epoch": 2,
    "base_sequence": 4,
    "last_offset_delta": 4,
    "max_timestamp": 8,
}
"""Fields of a batch in which the value of another batch makes sense, with their sizes in bytes."""

FLAGS = (0x10, 0x10, 0x20, 0x30, 0x08, 0x40)
"""Attribute bits to flip: transactional, control, timestamp type, delete horizon."""

ChangedFiles = dict[str, bytes | None]
"""Contents of changed files by name; None for a file that is removed."""


def changed_files(chance: Random, seed_partition: SeedPartition) -> ChangedFiles:
    """Return the mutated files of *seed_partition* by name; checksums are mostly right."""
    others = sorted(seed_partition.files.keys() - set(seed_partition.logs))
    files: ChangedFiles = {}
    drawn = chance.random()
    if drawn < 0.75 or not others:
        name = chance.choice(seed_partition.logs)
        files[name] = chance.choice(LOG_CHANGES)(chance, seed_partition, name)
    if others and (drawn >= 0.65):
        name = chance.choice(others)
        files[name] = _changed_companion(chance, seed_partition, name)
    return files


def _mutated_entry(chance: Random, seed_partition: SeedPartition, name: str) -> bytes:
    entries = list(seed_partition.entries[name])
    at = chance.randrange(max(len(entries) - 1, 1))
    seed = seed_of(entries[at])
    if seed is not None:
        entries[at] = mutated(chance, seed, seed_partition.seeds, sealed=0.9)
    return b"".join(entries)


def _field_of_another(chance: Random, seed_partition: SeedPartition, name: str) -> bytes:
    """Give a batch the value that another batch has in one field, or a near one."""
    entries = list(seed_partition.entries[name])
    at = chance.randrange(max(len(entries) - 1, 1))
    batch, other = bytearray(entries[at]), chance.choice(seed_partition.seeds).data
    if len(batch) < RecordBatchHeader.SIZE or len(other) < RecordBatchHeader.SIZE:
        return b"".join(entries)
    if chance.random() < 0.2:
        batch[RecordBatchHeader.POSITIONS["attributes"] + 1] ^= chance.choice(FLAGS)
    else:
        field = chance.choice(list(WIDTHS))
        begin = RecordBatchHeader.POSITIONS[field]
        end = begin + WIDTHS[field]
        if chance.random() < 0.6:
            batch[begin:end] = other[begin:end]
        else:
            _change_number(chance, batch, begin, WIDTHS[field])
    seal(batch)
    entries[at] = bytes(batch)
    return b"".join(entries)


def _moved_entries(chance: Random, seed_partition: SeedPartition, name: str) -> bytes:
    """Remove, repeat or exchange whole entries, or take one from another segment."""
    entries = list(seed_partition.entries[name])
    at, other = (chance.randrange(max(len(entries) - 1, 1)) for _ in range(2))
    match chance.randrange(5):
        case 0:
            del entries[at]
        case 1:
            entries[at:at] = [entries[other]]
        case 2:
            entries[at], entries[other] = entries[other], entries[at]
        case 3:
            entries[at:at] = [
                chance.choice(seed_partition.entries[chance.choice(seed_partition.logs)])
            ]
        case _:
            del entries[at:]
    return b"".join(entries)


def _altered_bytes(chance: Random, seed_partition: SeedPartition, name: str) -> bytes:
    data = bytearray(seed_partition.files[name])
    altered(chance, data, seed_partition.seeds)
    return bytes(data)


def _no_segment(chance: Random, seed_partition: SeedPartition, name: str) -> bytes | None:
    return None if len(seed_partition.logs) > 1 else seed_partition.files[name]


LogChange = Callable[[Random, SeedPartition, str], bytes | None]

LOG_CHANGES: tuple[LogChange, ...] = (
    _mutated_entry,
    _mutated_entry,
    _field_of_another,
    _field_of_another,
    _field_of_another,
    _moved_entries,
    _altered_bytes,
    _no_segment,
)


def _changed_companion(chance: Random, seed_partition: SeedPartition, name: str) -> bytes | None:
    if chance.random() < 0.1:
        return None
    data = bytearray(seed_partition.files[name])
    kind = name.rpartition(".")[2]
    same = [other for other in seed_partition.files if other.endswith(f".{kind}") and other != name]
    if same and chance.random() < 0.15:
        return seed_partition.files[chance.choice(same)]
    if name.startswith("../"):
        return _changed_checkpoint(chance, data)
    if kind == "snapshot" and len(data) > ProducerSnapshotHeader.SIZE:
        entry = chance.randrange(ProducerSnapshotHeader.SIZE, len(data), ProducerSnapshotEntry.SIZE)
        begin = entry + chance.choice(list(ProducerSnapshotEntry.POSITIONS.values()))
        if chance.random() < 0.2:
            del data[entry : entry + ProducerSnapshotEntry.SIZE]
            count = (len(data) - ProducerSnapshotHeader.SIZE) // ProducerSnapshotEntry.SIZE
            data[ProducerSnapshotHeader.SIZE - 4 : ProducerSnapshotHeader.SIZE] = count.to_bytes(4, "big")  # fmt: skip
        else:
            _change_number(chance, data, begin, 8 if chance.random() < 0.7 else 2)
        checksum = ProducerSnapshotHeader.CHECKSUM
        data[checksum.field_position : checksum.field_position + 4] = crc32c(
            bytes(data[checksum.start :])
        ).to_bytes(4, "big")
    elif kind in ("index", "timeindex", "txnindex") and data:
        width = 4 if kind == "index" else 8
        _change_number(chance, data, chance.randrange(0, len(data), 2), width)
    else:
        altered(chance, data, seed_partition.seeds)
    return bytes(data)


def _change_number(chance: Random, file_buffer: bytearray, begin: int, width: int) -> None:
    end = min(begin + width, len(file_buffer))
    number = int.from_bytes(file_buffer[begin:end], "big", signed=True)
    file_buffer[begin:end] = odd_integer(chance, number, end - begin)


def _changed_checkpoint(chance: Random, file_buffer: bytearray) -> bytes:
    """Return the text of a checkpoint with another last number in one line."""
    lines = file_buffer.decode(errors="replace").split("\n")
    numbers = [at for at, line in enumerate(lines) if at > 1 and line]
    if numbers:
        at = chance.choice(numbers)
        words = lines[at].split(" ")
        if words[-1].isdecimal():
            words[-1] = str(int(words[-1]) + chance.choice((-9, -1, 1, 9, 1000)))
        lines[at] = " ".join(words)
    return "\n".join(lines).encode()
