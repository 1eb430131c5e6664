"""Draws compacted partitions: keys, tombstones, transactions, several producers, formats, segments and rounds."""

import os
import random
from dataclasses import dataclass, field
from pathlib import Path

import log_builder as build

NOW = build.TIME + 100_000_000
"""Time of the round, in milliseconds."""

EXPIRATION = 86_400_000
KEYS = (b"", *(b"k%d" % number for number in range(6)), b"a key that is longer than 32 bytes, one")


@dataclass
class DrawnProducer:
    """A producer id, and the state of its transaction."""

    producer_id: int
    is_transactional: bool
    time: int
    epoch: int = 0
    sequence: int = 0
    has_data: bool = False


@dataclass
class DrawnLog:
    """Draws the entries of one partition, in the order of offsets."""

    rng: random.Random
    now: int = NOW
    offset: int = 0
    producers: list[DrawnProducer] = field(default_factory=list)
    magic: int = 2
    codecs: tuple[int, ...] = (0, 0, build.GZIP, build.SNAPPY, build.LZ4, build.ZSTD)

    def __post_init__(self) -> None:
        for number in range(self.rng.randrange(5)):
            # A producer is forgotten, or it is not: its times are old throughout, or recent throughout.
            age = self.rng.choice([2 * EXPIRATION, 1_000_000])
            is_transactional = self.rng.random() < 0.7
            self.producers.append(DrawnProducer(1000 + number, is_transactional, self.now - age))
        self.has_horizons = self.rng.random() < 0.5

    def key(self) -> bytes | None:
        return None if self.rng.random() < 0.08 else self.rng.choice(KEYS)

    def value(self) -> bytes | None:
        return None if self.rng.random() < 0.25 else b"v%d" % self.rng.randrange(1000)

    def message(self) -> bytes:
        """Return a v0 or v1 message, or a wrapper of some."""
        rng, magic = self.rng, self.magic
        time = build.TIME + rng.randrange(1000)
        if rng.random() < 0.6 or len(set(self.codecs)) == 1:
            entry = build.message(self.value(), self.offset, self.key(), magic=magic, time=time)
            self.offset += 1 + (rng.random() < 0.2)
            return entry
        count = rng.randrange(1, 5)
        steps = sorted(rng.sample(range(count + 2), count))
        inner = [
            build.message(
                self.value(),
                step - (steps[0] if magic == 1 else -self.offset),
                self.key(),
                magic=magic,
                time=time + step,
            )
            for step in steps
        ]
        codec = rng.choice([build.GZIP, build.LZ4])
        last = self.offset + steps[-1]
        entry = build.wrapper(inner, last, magic=magic, codec=codec, time=time + steps[-1])
        self.offset = last + 1
        return entry

    def horizon(self) -> int:
        return self.now + self.rng.choice([-1_000_000, -1, 0, 1, 1_000_000])

    def marker(self, producer: DrawnProducer) -> bytes:
        """Return the marker that ends the transaction of *producer*, or one that no data precedes."""
        rng = self.rng
        producer.epoch += rng.random() < 0.3
        kind = rng.choice([build.ABORT, build.COMMIT])
        fields = {"epoch": producer.epoch, "time": producer.time + rng.randrange(1000)}
        if self.has_horizons and rng.random() < 0.7:
            fields |= {"flags": build.TRANSACTIONAL | build.CONTROL | build.HORIZON}
            fields |= {"time": self.horizon()}
        entry = build.control(kind, self.offset, producer.producer_id, **fields)
        producer.has_data = False
        self.offset += 1
        return entry

    def batch(self, producer: DrawnProducer | None) -> bytes:
        """Return a v2 batch, with gaps between its offsets, or without records."""
        rng = self.rng
        deltas = sorted(rng.sample(range(8), rng.randrange(1, 5)))
        last_delta = deltas[-1] + rng.choice([0, 0, 0, 3])
        flags = rng.choice([0, 0, 0, build.APPEND_TIME])
        time = build.TIME + rng.randrange(1000)
        fields: dict[str, int] = {}
        if producer is not None:
            time = producer.time + rng.randrange(1000)
            flags |= build.TRANSACTIONAL if producer.is_transactional else 0
            fields |= {"producer": producer.producer_id, "epoch": producer.epoch}
            fields |= {"sequence": producer.sequence}
            producer.sequence += last_delta + 1
            producer.has_data = producer.is_transactional
        base = time
        if self.has_horizons and rng.random() < 0.4:
            flags |= build.HORIZON
            base = self.horizon()
        content = [
            build.record(self.value(), self.key(), delta=delta, time_delta=time + delta - base)
            for delta in deltas
        ]
        is_empty = rng.random() < 0.08
        entry = build.batch(
            [] if is_empty else content,
            self.offset,
            last_delta=last_delta,
            flags=flags & ~build.HORIZON if is_empty else flags,
            codec=0 if is_empty else rng.choice(self.codecs),
            time=-1 if is_empty else base,
            max_time=time + deltas[-1],
            leader_epoch=self.offset // 30,
            **fields,
        )
        self.offset += last_delta + 1 + rng.choice([0, 0, 0, 2])
        return entry

    def entry(self) -> bytes:
        rng = self.rng
        if self.magic < 2:
            return self.message()
        producer = rng.choice([None, *self.producers])
        if producer is not None and producer.is_transactional:
            is_over = rng.random() < (0.4 if producer.has_data else 0.15)
            if is_over:
                return self.marker(producer)
        return self.batch(producer)

    def segments(self) -> list[tuple[int, bytes]]:
        """Return base offset and bytes of each segment."""
        rng, segments = self.rng, []
        self.offset = rng.choice([0, 0, 500])
        num_old = rng.choice([0, 0, 0, 1, 2])
        for number in range(rng.randrange(1, 6)):
            self.magic = rng.choice([0, 1]) if number < num_old else 2
            base = self.offset
            count = rng.randrange(1, 14)
            segments.append((base, b"".join(self.entry() for _ in range(count))))
        return segments


@dataclass(frozen=True)
class DrawnPartition:
    """A partition and the settings of rounds over it."""

    segments: list[tuple[int, bytes]]
    settings: list[dict[str, int | bool]]
    """Settings of the rounds, one after the other."""
    modified_ms: list[int]


def draw_partition(seed: int) -> DrawnPartition:
    """Return the drawn partition *seed*."""
    rng = random.Random(seed)
    segment_bytes = rng.choice([1 << 30, 1 << 30, 700])
    log = DrawnLog(rng)
    if segment_bytes < 1 << 30:
        log.codecs = (0,)  # how segments are joined must not depend on a library of a codec
    segments = log.segments()
    bases = [base for base, _ in segments]
    first = rng.choice([bases[0], bases[0], rng.choice(bases), rng.randrange(bases[0], log.offset)])
    lags = [NOW - build.TIME - delta for delta in (-1, 500, 900)]
    settings: dict[str, int | bool] = {
        "first_dirty_offset": first,
        "now_ms": NOW,
        "delete_retention_ms": rng.choice([0, 1000, 86_400_000]),
        "segment_bytes": segment_bytes,
        "dedupe_buffer_bytes": rng.choice([1 << 20, 1 << 20, 1 << 20, 24 * 4, 24 * 7]),
        "includes_active_segment": rng.random() < 0.7,
        "min_compaction_lag_ms": rng.choice([0, 0, 0, *lags]),
        "max_compaction_lag_ms": rng.choice(lags),
    }
    times = [build.TIME + 10_000_000 * number for number in range(len(segments))]
    # The second round is at the moment at which horizons of the first one pass; in the third, all producers are old.
    later = NOW + int(settings["delete_retention_ms"])
    rounds = [settings | {"now_ms": now} for now in (NOW, later, later + 2 * EXPIRATION)]
    return DrawnPartition(segments, rounds, times)


def write_segments(folder: Path, drawn: DrawnPartition) -> None:
    """Write the segments of *drawn* into *folder*, with their times."""
    folder.mkdir(parents=True)
    for (base, data), time in zip(drawn.segments, drawn.modified_ms, strict=True):
        path = folder / f"{base:020}.log"
        path.write_bytes(data)
        os.utime(path, (time / 1000, time / 1000))
