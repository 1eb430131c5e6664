"""Runs the Java classes of a Kafka release on logs, companion files and produced batches."""

import json
import re
import subprocess
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from magicbyte_tools.check_kafka import kafka_jars
from magicbyte_tools.check_kafka.__main__ import CACHE

SOURCES = Path(__file__).with_name("java")

IMPORT = re.compile(r"import ((?:org\.apache\.)?kafka\.[\w.]+);\n")


@cache
def command(main: str, version: str) -> list[str]:
    """Return the command that runs the class *main* of `java/` with the classes of Kafka *version*."""
    jars = kafka_jars.class_path(version, CACHE)
    source = CACHE / f"sources-{version}" / f"{main}.java"
    source.parent.mkdir(exist_ok=True)
    source.write_text(with_known_imports((SOURCES / f"{main}.java").read_text("utf-8"), jars))
    return kafka_jars.java(main, kafka_jars.compiled_classes([source], jars, CACHE), jars)


def with_known_imports(source: str, jars: str) -> str:
    """Return *source* without the imports of Kafka's classes that *jars* do not contain."""
    names = set()
    for jar in jars.split(":"):
        if Path(jar).name.startswith("kafka"):
            with zipfile.ZipFile(jar) as archive:
                names.update(archive.namelist())

    def known(match: re.Match[str]) -> str:
        return match[0] if f"{match[1].replace('.', '/')}.class" in names else ""

    return IMPORT.sub(known, source)


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


def storage_answers(version: str, files: Sequence[tuple[str, Path, bool]]) -> list[BrokerAnswer]:
    """Return the answer of Kafka *version* for each of *files*: format, path, topic is compacted."""
    lines = [
        f"{kind}\t{path}\t{'compacted' if is_compacted else ''}\n"
        for kind, path, is_compacted in files
    ]
    done = subprocess.run(
        command("KafkaStorage", version), input="".join(lines).encode(), stdout=subprocess.PIPE
    )
    lines = done.stdout.decode("utf-8").removesuffix("\n").split("\n")
    answers = [BrokerAnswer(*line.split(" ", 1)) for line in lines]
    assert done.returncode == 0 and len(answers) == len(files), lines[-1]
    return answers
