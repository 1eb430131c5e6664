"""Random SQL conditions on the records of a log, and a log of more than a million records."""

import random
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

import log_builder as build
from indexed_log import write_segment, write_snapshot

RECORDS_PER_BATCH = 1000
SEGMENT_RECORDS = 300_000
NUM_RECORDS = 1_200_000
LIMIT = 1_000_000


class RandomConditions:
    """Random conditions whose values are those of *records*, or near them."""

    def __init__(self, records: pa.Table, seed: int) -> None:
        self.random = random.Random(seed)
        self.topics = sorted({topic for topic in records["topic"].to_pylist() if topic})
        self.last = max(records["offset"].to_pylist())
        times = records["timestamp"].cast(pa.int64()).to_pylist()
        self.times = [time for time in times if time is not None and abs(time) < 1 << 50] or [0]
        keys = {bytes(key) for key in records["key"].to_pylist() if key}
        self.keys = [key for key in sorted(keys) if len(key) <= 40] or [b"none"]

    def condition(self) -> str:
        """Return up to three comparisons, joined by AND and OR, perhaps negated."""
        text = self._comparison()
        for _ in range(self.random.randrange(3)):
            text = f"({text}) {self.random.choice(['AND', 'AND', 'OR'])} ({self._comparison()})"
        return f"NOT ({text})" if self.random.random() < 0.15 else text

    def _comparison(self) -> str:
        pick = self.random.choice
        operator = pick(["<", "<=", "=", "<>", ">=", ">"])
        offsets = self.random.sample(range(self.last + 2), min(3, self.last + 2))
        names = self.random.sample(self.topics, min(3, len(self.topics))) or ["none"]
        return pick(
            [
                f"topic {pick(['=', '=', '<', '>='])} '{pick(names)}'",
                f"topic IN ({', '.join(map(repr, names))})",
                f"topic LIKE '{pick(names)[:2]}%'",
                f"partition {operator} {self.random.randrange(3)}",
                f'"offset" {operator} {offsets[0]}',
                f'"offset" IN ({", ".join(map(str, offsets))})',
                f'"offset" BETWEEN {min(offsets)} AND {max(offsets)}',
                f'"offset" % 7 {operator} 3',
                f"timestamp {operator} make_timestamptz({pick(self.times) * 1000})",
                f"key {pick(['=', '>'])} '{''.join(f'{chr(92)}x{byte:02X}' for byte in pick(self.keys))}'::BLOB",
                f"{pick(['key', 'value', 'timestamp'])} IS {pick(['', 'NOT '])}NULL",
            ]
        )


def write_large_log(log_dir: Path) -> None:
    """Write two partitions of NUM_RECORDS records each, in segments of SEGMENT_RECORDS, with offset indexes."""
    records = [
        build.record(b"value %d" % number, delta=number) for number in range(RECORDS_PER_BATCH)
    ]
    body = build.batch(records)[8:]
    for partition in ("x-0", "y-0"):
        for base in range(0, NUM_RECORDS, SEGMENT_RECORDS):
            # The base offset is not covered by the checksum.
            batches = [
                first.to_bytes(8) + body
                for first in range(base, base + SEGMENT_RECORDS, RECORDS_PER_BATCH)
            ]
            write_segment(log_dir / partition, batches, base, per_batch=RECORDS_PER_BATCH)
            write_snapshot(log_dir / partition, base)


def bytes_from(log_dir: Path, partition: str, offset: int) -> int:
    """Return the bytes of the batches of a partition of `write_large_log` that hold *offset* or a later one."""
    sizes = [path.stat().st_size for path in (log_dir / partition).glob("*.log")]
    num_batches = NUM_RECORDS // RECORDS_PER_BATCH
    return sum(sizes) // num_batches * (num_batches - offset // RECORDS_PER_BATCH)


def ask(query: str, **tables: Any) -> list[tuple[Any, ...]]:
    """Return the rows of *query* about *tables* by DuckDB."""
    with duckdb.connect() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        rows: list[tuple[Any, ...]] = connection.sql(query).fetchall()
    return rows


def rows_of(result: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a DuckDB result, sorted; nulls first."""
    rows: list[tuple[Any, ...]] = result.fetchall()
    return sorted(rows, key=lambda row: [(value is not None, value) for value in row])
