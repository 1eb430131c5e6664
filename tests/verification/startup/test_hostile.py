"""Tests of predicting a broker's start on hostile bytes: there is a prediction and no exception."""

import os
import random
import struct
from collections.abc import Callable

import magicbyte as mb
from extent import WIDE
from magicbyte.checksum import crc32c

from .conftest import FLIPPED, NEXT, Partition

SEED = int(os.environ.get("MAGICBYTE_SEED") or random.randrange(1 << 32))

VERDICTS = {"intact", "recovered", "truncated", "unchanged-damaged", "refuses-to-start"}

NUMBERS = (0, 1, -1, 13, 14, 48, 49, 1 << 16, (1 << 31) - 1, -(1 << 31), (1 << 31) + 7)


def test_mutated_partitions(make: Callable[[], Partition]) -> None:
    chance = random.Random(SEED)
    for number in range(3_000 if WIDE else 40):
        partition = make()
        for _ in range(chance.randint(1, 3)):
            mutate(partition, chance)
        for clean_shutdown in (False, True):
            verdict, end, sizes = partition.predict(
                clean_shutdown=clean_shutdown, index_interval_bytes=chance.choice([0, 100, 4096])
            )
            assert verdict in VERDICTS, f"MAGICBYTE_SEED={SEED}, case {number}"
            assert (end is None) == (verdict == "refuses-to-start")
            assert all((size is None) == (end is None) for size in sizes.values())


def mutate(partition: Partition, chance: random.Random) -> None:
    path = chance.choice(sorted(partition.folder.iterdir()))
    data = bytearray(path.read_bytes())
    match chance.randrange(5):
        case 0 if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case 1:
            del data[chance.randint(0, len(data)) :]
        case 2:
            data += bytes(chance.randrange(40)) + chance.randbytes(chance.randrange(40))
        case 3 if path == partition.last and len(data) >= NEXT:
            field, form = chance.choice([(0, ">q"), (8, ">i"), (16, ">b"), (23, ">i"), (57, ">i")])
            wanted = chance.choice(NUMBERS)
            bits = struct.calcsize(form) * 8
            struct.pack_into(
                form,
                data,
                FLIPPED + field,
                (wanted + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1),
            )
            if chance.random() < 0.8:
                checksum = crc32c(bytes(data[FLIPPED + 21 : NEXT]))
                struct.pack_into(">I", data, FLIPPED + 17, checksum)
        case _:
            path.unlink()
            return
    path.write_bytes(data)


def test_a_part_that_cannot_be_split_again_ends_the_start(partition: Partition) -> None:
    """Kafka would split the segment forever: its first batch ends below its base offset."""
    data = bytearray(partition.last.read_bytes())
    struct.pack_into(">q", data, FLIPPED, (1 << 33))
    struct.pack_into(">i", data, FLIPPED + 23, -(1 << 31))
    struct.pack_into(">I", data, FLIPPED + 17, crc32c(bytes(data[FLIPPED + 21 : NEXT])))
    struct.pack_into(">q", data, 2139, (1 << 34))
    partition.last.write_bytes(data)
    assert partition.predict()[0] == "refuses-to-start"
    assert mb.verify(partition.log_dir).partitions[0]["recovery"]
