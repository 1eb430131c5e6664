"""Runs Kafka's own log cleaner over partition folders, without a broker."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from .kafka_classes import command

NAMES = {
    "delete_retention_ms": "delete.retention.ms",
    "segment_bytes": "internal.segment.bytes",
    "min_compaction_lag_ms": "min.compaction.lag.ms",
    "max_compaction_lag_ms": "max.compaction.lag.ms",
    "dedupe_buffer_bytes": "map.bytes",
    "includes_active_segment": "roll",
}
"""Names of the settings in `tests/brokers/java/KafkaCleaner.java`, by ours."""


@dataclass
class KafkaCleaner:
    """A process with Kafka's classes, which compacts one folder after the other."""

    to_java: IO[str]
    from_java: IO[str]

    def clean(self, folder: Path, rounds: Sequence[dict[str, Any]]) -> list[list[str]]:
        """Compact *folder* once for each of *rounds*; return the lines of what each of them leaves."""
        answers = []
        for number, settings in enumerate(rounds):
            # Kafka deletes files in the background, so each round gets a folder of its own.
            target = folder.parent / f"round-{number}" / folder.name
            target.mkdir(parents=True)
            for path in folder.glob("*.log"):
                shutil.copy2(path, target)
            folder = target
            answers.append(self._clean(folder, settings))
        return answers

    def _clean(self, folder: Path, settings: dict[str, Any]) -> list[str]:
        words = [str(folder), str(settings["first_dirty_offset"]), str(settings["now_ms"])]
        for name, value in settings.items():
            if name in NAMES:
                words.append(f"{NAMES[name]}={str(value).lower()}")
        self.to_java.write("\t".join(words) + "\n")
        self.to_java.flush()
        lines = []
        while line := self.from_java.readline().removesuffix("\n"):
            lines.append(line)
        assert lines, "Kafka's classes ended; their error is above"
        return lines


@contextmanager
def kafka_cleaner(version: str) -> Iterator[KafkaCleaner]:
    """Start the cleaner of Kafka *version*, 4.0 or newer."""
    process = subprocess.Popen(
        command("KafkaCleaner", version), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        yield KafkaCleaner(process.stdin, process.stdout)
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()
