"""Keys of all lengths, and the partitions to which Kafka's producer sends them.

`tests/brokers/test_written_records.py` asks Kafka, and records its answers in `kafka_partitions.json`.
"""

import json
import random
from pathlib import Path

RECORDED = Path(__file__).with_name("kafka_partitions.json")

NUM_PARTITIONS = 1_000_003
"""A number of partitions for which hardly two hashes give the same one."""


def drawn_keys() -> list[bytes]:
    """Return keys of 0 to 40 bytes, and longer ones."""
    chance = random.Random(1)
    lengths = [*range(41), *range(41), 1000, 1001, 1002, 1003]
    return [chance.randbytes(length) for length in lengths]


def recorded_partitions() -> list[int]:
    """Return the partition of each of the keys."""
    partitions: list[int] = json.loads(RECORDED.read_text("utf-8"))
    return partitions
