"""Partitions of real brokers, and the companion files that Kafka's recovery writes for them.

`tests/brokers/test_companions.py` records what Kafka writes; `tests/writing/test_companions.py` compares what we build.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from paths import DATA, shared

RECORDED = Path(__file__).with_name("writing") / "recovered_companions.json"
"""By partition, the answer of Kafka 4.3.1."""

INTERVALS = (4096, 150)
"""Kafka's default, and one at which the small segments of the test logs get many index entries."""

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
