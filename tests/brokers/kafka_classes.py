"""Runs the Java classes of a Kafka release on logs, companion files and produced batches."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from magicbyte_tools.scores import client_runner, kafka_programs

SOURCES = Path(__file__).with_name("java")

RUNNERS = {
    "KafkaJava": client_runner.RUNNERS / "kafka-records",
    "KafkaFetches": client_runner.RUNNERS / "kafka-consumer",
    "KafkaStorage": client_runner.RUNNERS / "kafka-storage",
}
"""Folders of classes that are runners of the vectors too, by name."""


def command(main: str, version: str) -> list[str]:
    """Return the command that runs the class *main* with the classes of Kafka *version*."""
    return kafka_programs.command(RUNNERS.get(main, SOURCES) / f"{main}.java", version)


@dataclass(frozen=True)
class BrokerAnswer:
    """Answer of a broker's classes about a file."""

    verdict: str
    """`accept`, `refuse`, or `absent` where the release has no such class."""
    text: str
    """Entries as JSON, or the exception."""

    @property
    def rows(self) -> list[list[Any]] | None:
        """Entries of the file; None if it is refused."""
        return json.loads(self.text) if self.verdict == "accept" else None


def storage_answers(
    version: str, files: Sequence[tuple[str, Path, bool]], *flags: str
) -> list[BrokerAnswer]:
    """Return the answer of Kafka *version* for each of *files*: format, path, topic is compacted.

    With `--loaded` in *flags*, files are read as a broker loads a partition.
    """
    lines = [
        f"{kind}\t{path}\t{'compacted' if is_compacted else ''}\n"
        for kind, path, is_compacted in files
    ]
    done = subprocess.run(
        [*command("KafkaStorage", version), *flags],
        input="".join(lines).encode(),
        stdout=subprocess.PIPE,
    )
    lines = done.stdout.decode("utf-8").removesuffix("\n").split("\n")
    answers = [BrokerAnswer(*line.split(" ", 1)) for line in lines]
    assert done.returncode == 0 and len(answers) == len(files), lines[-1]
    return answers
