"""Compiles Java programs that run in any Kafka release since 2.8 against the jars of one."""

import re
import zipfile
from functools import cache
from pathlib import Path

from magicbyte_tools.check_kafka import kafka_jars
from magicbyte_tools.check_kafka.__main__ import CACHE

IMPORT = re.compile(r"import ((?:org\.apache\.)?kafka\.[\w.]+);\n")


@cache
def command(source_file: Path, version: str) -> list[str]:
    """Return the command that runs the class in *source_file* with the classes of Kafka *version*."""
    jars = kafka_jars.class_path(version, CACHE)
    source = CACHE / f"sources-{version}" / source_file.name
    source.parent.mkdir(exist_ok=True)
    source.write_text(with_known_imports(source_file.read_text("utf-8"), jars))
    classes = kafka_jars.compiled_classes([source], jars, CACHE)
    return kafka_jars.java(source_file.stem, classes, jars)


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
