"""Fetches Kafka's jars with Maven, and compiles Java files against them."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from magicbyte_tools.bench.foreign_programs import ProgramUnavailable, compiled, tool

POM = Path(__file__).with_name("pom.xml")

BROKER, CLIENTS = "kafka_2.13", "kafka-clients"
"""Artifacts: the broker, which depends on all that a broker runs, and the Java client."""
KAFKA_GROUP = "org.apache.kafka"
"""Maven's group of Kafka's artifacts."""

ANY_VERSION = "[4.0,)"
"""Maven's notation for the newest release."""


def newest_version() -> str:
    """Return the version of the newest Kafka on Maven Central, such as 4.4.0."""
    with TemporaryDirectory() as folder:
        jars = _resolved(CLIENTS, ANY_VERSION, Path(folder) / "class_path", "--update-snapshots")
    match = re.search(rf"/{CLIENTS}-([0-9.]+)\.jar", jars)
    if match is None:
        raise ProgramUnavailable(f"Maven finds no version of {CLIENTS}: {jars}")
    return match[1]


def class_path(version: str, cache: Path, artifact: str = BROKER, group: str = KAFKA_GROUP) -> str:
    """Return the class path of *artifact* of *group* in *version*; Maven's answer is cached in *cache*."""

    def build(path: Path) -> None:
        _resolved(artifact, version, path, f"-Dgroup={group}")

    name = f"{artifact}-{version}-class-path"
    answer = compiled(name, [POM.read_bytes()], cache, build)
    return answer.read_text("utf-8").strip()


def _resolved(artifact: str, version: str, output_file: Path, *options: str) -> str:
    """Let Maven write the class path of *artifact* to *output_file*; return it."""
    command = [tool("mvn"), "--batch-mode", "--quiet", "--file", str(POM), *options]
    command += [f"-Dartifact={artifact}", f"-Dkafka={version}", "dependency:build-classpath"]
    done = subprocess.run(
        [*command, f"-Dmdep.outputFile={output_file}"], stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise ProgramUnavailable(f"Maven does not find the jars: {done.stdout.strip()[-500:]}")
    return output_file.read_text("utf-8").strip()


def compiled_classes(sources: Sequence[Path], jars: str, cache: Path) -> Path:
    """Return the folder in *cache* of the classes in the Java files *sources*, compiled once."""

    def build(folder: Path) -> None:
        folder.mkdir()
        command = [tool("javac"), "-encoding", "UTF-8", "-nowarn", "-Xlint:none"]
        command += ["-d", str(folder), "-cp", jars, *map(str, sources)]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise ProgramUnavailable(f"javac fails: {done.stderr.strip()[-2000:]}")

    contents = [source.read_bytes() for source in sources]
    return compiled("classes", [*contents, jars.encode()], cache, build)


def java(main: str, classes: Path, jars: str, *arguments: str) -> list[str]:
    """Return the command that runs the class *main* in *classes*."""
    flags = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g"]
    return [tool("java"), *flags, "-cp", os.pathsep.join([str(classes), jars]), main, *arguments]
