"""Partitions of real brokers, and the companion files that Kafka's recovery writes for them.

`tests/brokers/test_companions.py` records what Kafka writes; `tests/writing/test_companions.py` compares what we build.
"""

import hashlib
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import log_builder as log
from paths import DATA, shared

RECORDED = Path(__file__).with_name("writing") / "recovered_companions.json"
"""By partition, the answer of Kafka 4.3.1."""

INTERVALS = (4096, 150)
"""Kafka's default, and one at which the small segments of the test logs get many index entries."""

RANDOM_PARTITIONS = 60

INDEX_KINDS = ("index", "timeindex")
KINDS = (*INDEX_KINDS, "txnindex", "snapshot", "leader-epoch-checkpoint")


def partition_folders() -> Iterator[tuple[str, Path]]:
    """Yield each partition folder of the test logs, with its path in them; those of a cluster in both places once."""
    keys = set()
    for root in (DATA, shared() / "logs"):
        for folder in sorted(root.glob("*/*/log-*/*-[0-9]*")):
            key = folder.relative_to(root).as_posix()
            if key not in keys and any(folder.glob("*.log")):
                keys.add(key)
                yield key, folder


def write_random_partitions(folder: Path) -> Iterator[tuple[str, Path]]:
    """Write RANDOM_PARTITIONS partitions into *folder*; yield each with its key."""
    for seed in range(RANDOM_PARTITIONS):
        partition = folder / f"random-{seed}-0"
        partition.mkdir(parents=True)
        for base, data in random_segments(random.Random(seed)).items():
            (partition / f"{base:020}.log").write_bytes(data)
        yield f"random/{seed}", partition


def random_segments(chance: random.Random) -> dict[int, bytes]:
    """Return the segments of a sound log, by base offset, with much of what real logs seldom have.

    Producers whose ids share buckets of a hash table, epochs that change without data, sequences that wrap, batches
    without records, markers without a transaction, times that go back or are missing, gaps, formats v0 and v1.
    """
    offset = chance.choice([0, 0, 7])
    segments = {offset: bytearray()}
    ids = chance.sample([*range(30), *range(1000, 60_000, 1000), 1 << 40, (1 << 62) + 3], 40)
    ids = ids[: chance.choice([1, 3, 12, 13, 40])]
    epochs, open_ids, leader_epoch = dict.fromkeys(ids, 0), set[int](), chance.choice([-1, 0, 4])
    for _ in range(chance.randrange(10, 200)):
        if chance.random() < 0.05:
            offset += chance.choice([0, 1, 5000])
            segments.setdefault(offset, bytearray())
        segment = segments[max(segments)]
        leader_epoch = max(leader_epoch + chance.choice([0] * 20 + [1, 3, -1]), -1)
        time = chance.choice([-1, log.TIME, log.TIME + chance.randrange(10**6)])
        count = chance.randrange(1, 5)
        fields: dict[str, Any] = {"leader_epoch": leader_epoch, "time": time}
        fields["flags"] = chance.choice([0, 0, log.APPEND_TIME])
        producer = chance.choice(ids)
        match chance.randrange(10):
            case 0:
                segment += log.message(bytes(50), offset, magic=chance.choice([0, 1]), time=time)
                count = 1
            case 1:
                segment += log.batch(log.records(count), offset, **fields)
            case 2:
                fields["flags"] |= log.TRANSACTIONAL | log.CONTROL
                fields |= {"producer": producer, "epoch": epochs[producer]}
                segment += log.batch([], offset, last_delta=0, sequence=-1, **fields)
                count = 1
            case 3 | 4 if producer in open_ids or chance.random() < 0.3:
                epochs[producer] += chance.choice([0, 0, 1])
                fields["flags"] |= log.TRANSACTIONAL | log.CONTROL
                fields |= {"epoch": epochs[producer], "coordinator_epoch": chance.randrange(3)}
                kind = chance.choice([log.ABORT, log.COMMIT])
                segment += log.control(kind, offset, producer, **fields)
                open_ids.discard(producer)
                count = 1
            case kind:
                is_transactional = producer in open_ids or chance.random() < 0.5
                if is_transactional:
                    fields["flags"] |= log.TRANSACTIONAL
                    open_ids.add(producer)
                if kind == 9:
                    epochs[producer] += 1
                fields |= {"producer": producer, "epoch": epochs[producer]}
                fields["sequence"] = chance.choice([-1, 0, offset, (1 << 31) - 2])
                content = [] if kind == 8 else log.records(count)
                segment += log.batch(content, offset, last_delta=count - 1, **fields)
        offset += count + chance.choice([0, 0, 0, 2])
    # After messages at the end Kafka leaves one more snapshot, at the end of the batches before them.
    segments[max(segments)] += log.batch(base=offset)
    return {base: bytes(data) for base, data in segments.items()}


def log_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.log"))


def answer(files: Mapping[int, Mapping[str, bytes]], end: int, stable: int) -> dict[str, int | str]:
    """Return what is recorded of the *files* at each interval: their number and digest by kind, and the two offsets.

    The interval changes nothing but the two indexes, so that other files are recorded once.
    """
    answers: dict[str, int | str] = {"end": end, "stable": stable}
    for kind in KINDS:
        for interval, contents in files.items():
            names = sorted(name for name in contents if name.split(".")[-1] == kind)
            if not names:
                continue
            digest = hashlib.sha256()
            for name in names:
                digest.update(f"{name} {len(contents[name])}\n".encode() + contents[name])
            recording = f"{len(names)} {digest.hexdigest()[:12]}"
            if kind in INDEX_KINDS:
                answers[f"{kind} {interval}"] = recording
            else:
                assert answers.setdefault(kind, recording) == recording, (kind, interval)
    return answers


def recorded() -> dict[str, dict[str, int | str]]:
    answers: dict[str, dict[str, int | str]] = json.loads(RECORDED.read_text())
    return answers
