"""Random logs of a partition with several replicas, damaged so that chosen batches are lost in each."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import log_builder as build
from log_builder import Folder

PRODUCERS = (3, 7)


@dataclass
class Batch:
    """A batch of the log: its bytes, and its offsets."""

    data: bytes
    first: int
    epoch: int


def random_batches(rng: random.Random, count: int) -> list[Batch]:
    """Return the batches of a log with transactions, leader epochs and several sizes."""
    batches: list[Batch] = []
    offset = epoch = 0
    open_producers: set[int] = set()
    for _ in range(count):
        epoch += rng.choice([0, 0, 0, 0, 0, 1, 2])
        producer = rng.choice(PRODUCERS)
        kind = rng.random()
        if kind < 0.2 and producer in open_producers:
            open_producers.discard(producer)
            outcome = rng.choice([build.ABORT, build.COMMIT])
            data, num_offsets = build.control(outcome, offset, producer, leader_epoch=epoch), 1
        else:
            num_offsets = rng.randrange(1, 4)
            more: dict[str, Any] = {"leader_epoch": epoch, "time": build.TIME + offset}
            if kind < 0.5:
                open_producers.add(producer)
                more |= {"flags": build.TRANSACTIONAL, "producer": producer, "sequence": offset}
            content = [
                build.record(b"value %d" % (offset + delta) * rng.randrange(1, 9), delta=delta)
                for delta in range(num_offsets)
            ]
            data = build.batch(content, offset, codec=rng.choice([0, 0, build.GZIP]), **more)
        batches.append(Batch(data, offset, epoch))
        offset += num_offsets
    for producer in sorted(open_producers):
        # An open transaction would hold back all that follows.
        data = build.control(build.COMMIT, offset, producer, leader_epoch=epoch)
        batches.append(Batch(data, offset, epoch))
        offset += 1
    return batches


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Return a batch with damage that its size or its checksum shows."""
    match rng.randrange(5):
        case 0:
            return bytes(len(data))
        case 1:
            return rng.randbytes(len(data))
        case 2:
            place = rng.choice([8, 9, 10, 11, 16])
        case _:
            place = rng.randrange(17, len(data))
    return data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]


def write_replica(
    rng: random.Random, folder: Folder, batches: list[Batch], lost: set[int], *, epochs: bool = True
) -> None:
    """Write *batches* as the partition t-0, in random segments; those with a number in *lost* are damaged.

    A segment that is lost as a whole may be missing or empty.
    """
    (folder.path / "t-0").mkdir(parents=True)
    numbers = list(range(len(batches)))
    cuts = sorted({0, *rng.sample(numbers, min(len(numbers), rng.randrange(4)))})
    for begin, end in zip(cuts, [*cuts[1:], len(batches)], strict=True):
        own = numbers[begin:end]
        base = batches[begin].first
        if lost.issuperset(own) and rng.random() < 0.7:
            if rng.random() < 0.5:
                folder.segment("t-0", b"", base)
            continue
        data = b""
        for number in own:
            is_cut = number == own[-1] == numbers[-1] and rng.random() < 0.5
            whole = batches[number].data
            if number not in lost:
                data += whole
            elif is_cut:
                data += whole[: rng.randrange(len(whole))]
            else:
                data += damaged(rng, whole)
        folder.segment("t-0", data, base)
    if epochs:
        write_epochs(folder.path / "t-0", batches)


def write_epochs(partition: Path, batches: list[Batch]) -> None:
    """Write the leader-epoch-checkpoint of a log of *batches*."""
    starts: dict[int, int] = {}
    for batch in batches:
        starts.setdefault(batch.epoch, batch.first)
    lines = ["0", str(len(starts)), *(f"{epoch} {start}" for epoch, start in starts.items()), ""]
    (partition / "leader-epoch-checkpoint").write_text("\n".join(lines))


def random_losses(rng: random.Random, num_batches: int, num_replicas: int) -> list[set[int]]:
    """Return for each replica the numbers of the batches that it has lost; no batch is lost in all."""
    losses: list[set[int]] = [set() for _ in range(num_replicas)]
    share = rng.choice([0.05, 0.2, 0.5])
    for number in range(num_batches):
        hit = [replica for replica in range(num_replicas) if rng.random() < share]
        for replica in rng.sample(hit, min(len(hit), num_replicas - 1)):
            losses[replica].add(number)
    if rng.random() < 0.3:
        # A whole disk is gone; the others have all of it.
        gone = rng.randrange(num_replicas)
        kept = rng.choice([replica for replica in range(num_replicas) if replica != gone])
        losses[gone], losses[kept] = set(range(num_batches)), set()
    return losses
