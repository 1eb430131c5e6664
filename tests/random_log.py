"""Random logs with transactions, gaps, damage and companion files."""

import random
from typing import Any

import log_builder as build

PRODUCERS = (0, 3, 7, 9)


def write_random_log(rng: random.Random, folder: Any) -> None:
    """Write a random log of interleaved transactions; most of its companion files are wrong."""
    offset = segment = rng.choice([0, 40])
    data = b""
    epochs, aborted = dict.fromkeys(PRODUCERS, 0), []
    strange = rng.choice([0, 0, 0.01, 0.1])
    states = [(one, rng.randrange(2), 30 + one, 20 * rng.randrange(2) - 1) for one in PRODUCERS]
    folder.segment("t-0", build.producer_snapshot(*states[rng.randrange(5) :]), 40, "snapshot")
    for _ in range(rng.randrange(20, 150)):
        producer = rng.choice([*PRODUCERS[: rng.randrange(1, 5)], PRODUCERS[0]])
        count, more = rng.randrange(1, 4), {"epoch": epochs[producer], "leader_epoch": offset // 50}
        if rng.random() < strange:
            match rng.randrange(6):
                case 0:
                    offset += 3
                case 1:
                    offset = max(offset - 3, segment)
                case 2:
                    count, flags = 2, build.TRANSACTIONAL | build.HORIZON * rng.randrange(2)
                    data += build.batch([], offset, flags=flags, producer=producer, last_delta=1)
                case 3:
                    count = 1
                    data += build.control(build.ABORT, offset, producer, count=0, **more)
                case 4:
                    count = 1
                    data += build.control(rng.choice([9, 1]), offset, producer, key=None, **more)
                case _:
                    data += bytes([*build.batch(base=offset)[:-1], 1])
        elif rng.random() < 0.75:
            flags = build.TRANSACTIONAL if rng.random() < 0.9 else 0
            told = {"flags": flags, "producer": producer, "sequence": offset, **more}
            if rng.random() < 0.1:
                told = {"flags": build.HORIZON if rng.random() < strange else 0}
            time = build.TIME + rng.randrange(1000)
            data += build.batch(build.records(count), offset, time=time, **told)
        else:
            epochs[producer] += rng.randrange(2)
            count, kind = 1, rng.choice([build.ABORT, build.COMMIT])
            data += build.control(kind, offset, producer, epoch=epochs[producer])
            aborted += [(producer, rng.randrange(offset + 1), offset)] if not kind else []
        offset += count
        if offset > segment and rng.random() < 0.03:
            folder.segment("t-0", data, segment)
            segment, data = offset, b""
        if offset > 60 and rng.random() < 0.05:
            base = rng.choice([offset, offset - 5])
            states = [(one, epochs[one], base - 1 - one, -1) for one in PRODUCERS]
            states[0] = (*states[0][:3], base - 9)
            chosen = rng.sample(states, rng.randrange(5))
            folder.segment("t-0", build.producer_snapshot(*chosen), base, "snapshot")
    folder.segment("t-0", data, segment)
    folder.segment("t-0", build.transaction_index(*aborted[:5]), segment, "txnindex")
    if rng.random() < 0.5:
        folder.checkpoint("cleaner-offset-checkpoint", {("t", 0): rng.randrange(offset)})
