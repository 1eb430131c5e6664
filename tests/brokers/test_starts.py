"""Tests of a real broker's start on damaged segments, against the table of `test_by_field.py`.

Bytes to flip and positions to cut are random, by a seed, some in each field. `make test-brokers`
starts the broker; other runs compare the table with predictions alone.
"""

import os
import random
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from paths import DATA
from verification.startup.conftest import BOUNDS, LAST, TOPIC
from verification.startup.test_by_field import FIRST, FIRST_SIZE, TABLE, flipped

from .one_broker import START_S, create_topics, end_offsets, killed_at_the_end

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))
SEED = int(os.environ.get("MAGICBYTE_SEED") or random.randrange(1 << 32))

PER_FIELD = {"what the CRC covers": 12}
"""Number of random bytes to flip in these fields; 3 in each other field."""

CUTS = 12

SOURCE = DATA / "4.3" / "transactions" / "log-0" / f"{TOPIC}-0"


@dataclass(frozen=True)
class StartCase:
    """A damaged partition, and the expected log end offset and segment size after a start."""

    topic: str
    damage: str
    data: bytes
    """Bytes of the last segment."""
    is_clean: bool
    end: int | None
    """The log end offset after the start; None where the broker does not start."""
    size: int | None


def random_cases() -> list[StartCase]:
    """Return at least 60 random cases; a seed gives the same ones again."""
    chance = random.Random(SEED)
    sound = (SOURCE / LAST).read_bytes()
    found: list[StartCase] = []

    def add(damage: str, data: bytes, is_clean: bool, end: int | None, size: int | None) -> None:
        found.append(StartCase(f"case-{len(found)}", damage, data, is_clean, end, size))

    for row in TABLE:
        places = range(row.begin, row.end)
        for at in chance.sample(places, min(len(places), PER_FIELD.get(row.field, 3))):
            data = flipped(sound, at)
            add(f"{row.field}, byte {at}", data, False, *row.unclean[1:])
            add(f"{row.field}, byte {at}", data, True, *row.clean[1:])
    for size in chance.sample(range(min(BOUNDS), max(BOUNDS)), CUTS):
        kept = max(begin for begin in BOUNDS if begin <= size)
        add(f"cut to {size}", sound[:size], False, BOUNDS[kept], kept)
        add(f"cut to {size}", sound[:size], True, BOUNDS[kept], size)
    return found


def test_the_cases_are_enough_and_of_all_fields() -> None:
    cases = random_cases()
    assert len(cases) >= 60
    for row in TABLE:
        assert any(case.damage.startswith(row.field) for case in cases)


@pytest.mark.skipif(not RUN, reason="it takes Maven, Java and some minutes: make test-brokers")
@pytest.mark.parametrize("is_clean", [False, True])
def test_a_broker_does_what_the_table_says(is_clean: bool, tmp_path: Path) -> None:
    cases = [case for case in random_cases() if case.is_clean == is_clean]
    properties = {"log.retention.ms": -1, "log.cleaner.enable": "false"}
    with killed_at_the_end("4.3", tmp_path, properties) as cluster:
        cluster.start()
        create_topics(cluster, [case.topic for case in cases])
        cluster.stop()
        log_dir = cluster.log_dirs[0]
        made = {case.topic: _metadata(log_dir, case.topic) for case in cases}
        saved = tmp_path / "saved"
        shutil.copytree(log_dir, saved)
        starting = [case for case in cases if case.end is not None]
        assert _outcome(cluster, saved, made, starting) == {
            case.topic: (case.damage, case.end, {FIRST: FIRST_SIZE, LAST: case.size})
            for case in starting
        }, f"MAGICBYTE_SEED={SEED}"
        for case in cases:
            if case.end is None:
                assert _outcome(cluster, saved, made, [case]) is None, (
                    f"{case.damage}: the broker starts; MAGICBYTE_SEED={SEED}"
                )


def _metadata(log_dir: Path, topic: str) -> bytes:
    return (log_dir / f"{topic}-0" / "partition.metadata").read_bytes()


def _outcome(
    cluster: Any, saved: Path, made: dict[str, bytes], cases: list[StartCase]
) -> dict[str, tuple[str, int, dict[str, int]]] | None:
    """Start the broker; return each case's (damage, log end offset, sizes); None if it fails."""
    log_dir = cluster.log_dirs[0]
    shutil.rmtree(log_dir)
    shutil.copytree(saved, log_dir)
    points = (log_dir / "recovery-point-offset-checkpoint").read_text().splitlines()[2:]
    ours = {case.topic for case in cases}
    points = [line for line in points if line.split()[0] not in ours]
    points += [f"{case.topic} 0 55" for case in cases]
    (log_dir / "recovery-point-offset-checkpoint").write_text(
        "\n".join(["0", str(len(points)), *points, ""])
    )
    for case in cases:
        folder = log_dir / f"{case.topic}-0"
        shutil.rmtree(folder)
        shutil.copytree(SOURCE, folder)
        (folder / "partition.metadata").write_bytes(made[case.topic])
        (folder / LAST).write_bytes(case.data)
        if not case.is_clean:
            (log_dir / ".kafka_cleanshutdown").unlink(missing_ok=True)
    try:
        cluster.start(START_S)
    except RuntimeError:
        return None
    try:
        ends = end_offsets(cluster, [case.topic for case in cases])
        return {
            case.topic: (
                case.damage,
                ends[case.topic],
                {
                    path.name: path.stat().st_size
                    for path in (log_dir / f"{case.topic}-0").glob("*.log")
                },
            )
            for case in cases
        }
    finally:
        cluster.kill()
