"""Random logs that are plain at their beginning, and damage to them."""

import random
from pathlib import Path

import log_builder as build

HEADER_BYTES = 61


def write_log(rng: random.Random, folder: build.Folder) -> list[Path]:
    """Write a random log whose first entries are plain; return its segments.

    Later ones may be transactional, damaged, missing or out of order.
    """
    offset = base = rng.choice([0, 0, 40])
    segments: list[Path] = []
    data, num_plain = b"", rng.choice([0, 5, 20, 40])
    strange, transactional = rng.choice([0, 0, 0.02, 0.1]), rng.choice([0, 0, 0.05, 0.3])
    magic, is_wrapped = rng.choice([0, 1, 2, 2, 2]), rng.random() < 0.3
    if base:
        open_from = rng.choice([-1, -1, base - 5])
        snapshot = build.producer_snapshot((7, 0, base - 1, open_from))
        folder.segment("t-0", snapshot, base, "snapshot")
    for number in range(rng.randrange(1, 90)):
        count, first = rng.randrange(1, 5), offset
        if number >= num_plain and rng.random() < strange:
            first = max(first + rng.choice([-20, -1, 1, 9, 1 << 40]), 0)
        if number >= num_plain and rng.random() < strange:
            data += rng.randbytes(rng.randrange(1, 90))
        if magic < 2:
            data += _messages(rng, first, count, magic, is_wrapped=is_wrapped)
        elif number >= num_plain and rng.random() < transactional:
            kind, producer = rng.choice([build.COMMIT, build.ABORT]), rng.choice([7, 9])
            count = 1
            if rng.random() < 0.4:
                data += build.control(kind, first, producer)
            else:
                data += build.transactional(first, producer)
        else:
            codec = rng.choice([0, 0, build.GZIP, build.ZSTD])
            data += build.batch(build.records(count), first, codec=codec, leader_epoch=number // 9)
        offset += count
        if rng.random() < 0.06:
            segments.append(folder.segment("t-0", data, base))
            base, data = offset, b""
    segments.append(folder.segment("t-0", data, base))
    if rng.random() < 0.3:
        name = rng.choice(["log-start-offset-checkpoint", "replication-offset-checkpoint"])
        folder.checkpoint(name, {("t", 0): rng.randrange(offset + 5)})
    return segments


def _messages(rng: random.Random, first: int, count: int, magic: int, *, is_wrapped: bool) -> bytes:
    if not is_wrapped:
        return b"".join(build.message(b"v", first + i, magic=magic) for i in range(count))
    inner = [build.message(b"v", i + (0 if magic else first), magic=magic) for i in range(count)]
    return build.wrapper(inner, first + count - 1, magic=magic, codec=rng.choice([1, 2, 3]))


def damage(rng: random.Random, path: Path) -> None:
    """Flip a bit of the file, or overwrite, remove, insert or append bytes."""
    data = bytearray(path.read_bytes() or b"\0")
    at = rng.randrange(len(data))
    length = rng.randrange(1, 300)
    match rng.randrange(8):
        case 0:
            data[at : at + length] = bytes(len(data[at : at + length]))
        case 1:
            del data[at:]
        case 2:
            del data[at : at + length]
        case 3:
            data[at:at] = rng.randbytes(length)
        case 4:
            data += bytes(length)
        case 5:
            at = min(rng.randrange(HEADER_BYTES), len(data) - 1)
            data[at] ^= 1 << rng.randrange(8)
        case _:
            data[at] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
