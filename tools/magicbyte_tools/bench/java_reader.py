"""Builds the contenders that use Kafka's Java classes, on machines with Java and Maven."""

import os
import subprocess
from pathlib import Path

from magicbyte_tools.bench.foreign_programs import ProgramUnavailable, compiled, tool

SOURCES = Path(__file__).with_name("java")
POM = SOURCES / "pom.xml"

COLLECTOR = "-XX:+UseSerialGC"
"""The fastest setting of those measured: Serial, Parallel, G1, a small young generation, huge pages."""

HEAP = "2g"
"""Java's heap: large enough never to grow. Objects are short-lived, so collections cost little."""


def reader(cache: Path, *, heap: str = HEAP) -> list[str]:
    """Return the command of the Java reader."""
    return program("SegmentReader", cache, heap=heap)


def program(main: str, cache: Path, *, heap: str = HEAP) -> list[str]:
    """Return the command of the class *main*; it is compiled into *cache* unless it is there already."""
    java, javac = tool("java"), tool("javac")
    jars = class_path("reader", cache)
    source = SOURCES / f"{main}.java"

    def build(folder: Path) -> None:
        command = [javac, "-encoding", "UTF-8", "-nowarn", "-d", str(folder), "-cp", jars]
        subprocess.run([*command, str(source)], check=True)

    classes = compiled("java", [source.read_bytes(), jars.encode()], cache, build)
    heaps = [f"-Xms{heap}", f"-Xmx{heap}"]
    path = os.pathsep.join([str(classes), jars])
    return [java, COLLECTOR, *heaps, "-cp", path, main]


def class_path(profile: str, cache: Path) -> str:
    """Return the class path of the Maven profile *profile* in pom.xml; Maven's answer is cached in *cache*."""

    def build(output_file: Path) -> None:
        command = [tool("mvn"), "--batch-mode", "--quiet", "--file", str(POM)]
        command += [f"-Dmaven.repo.local={cache.parent / 'maven'}", "--activate-profiles", profile]
        goal = ["dependency:build-classpath", f"-Dmdep.outputFile={output_file}"]
        done = subprocess.run([*command, *goal], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise ProgramUnavailable(f"Maven does not find the jars: {done.stdout.strip()[-500:]}")

    answer = compiled(f"{profile}-classpath", [POM.read_bytes()], cache, build)
    return answer.read_text("utf-8").strip()
