"""Tests of `dump-log` against Kafka's own kafka-dump-log on random records of internal topics.

`make test-brokers` runs it; it needs Maven and Java, and takes two minutes. Files with differences
are kept and named with the seed; MAGICBYTE_SEED repeats a run. MAGICBYTE_DRAWN sets the number of
files for each decoder of each release (default FILES), MAGICBYTE_RELEASES the releases. The tool's
output for the cases of `tests/cli/dump_log` is compared too. MAGICBYTE_RECORD=1 records that output
again; this needs all of EVERY_RELEASE.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli.dump_log import cases
from cli.dump_log.drawn import DRAWN, Record, control_record
from cli.dump_log.told import TOLD, Told, by_release, load, steps, tail
from log_builder import CONTROL, GZIP, LZ4, SNAPPY, ZSTD, batch, control, message, record, records
from magicbyte_cli.dump_log.decoders.internal_topics import TOPICS
from magicbyte_cli.dump_log.releases import Release
from magicbyte_cli.kafka_dump_log import kafka_dump_log
from paths import shared

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))
SEED = int(os.environ.get("MAGICBYTE_SEED") or random.randrange(1 << 32))
FILES = int(os.environ.get("MAGICBYTE_DRAWN") or 150)
RELEASES = (
    os.environ.get("MAGICBYTE_RELEASES") or "2.8.2 3.3.2 3.6.2 3.9.2 4.1.2 4.3.1 4.4.0"
).split()

EVERY_RELEASE = (
    *("2.8.2", "3.0.2", "3.1.2", "3.2.3", "3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2", "3.8.1"),
    *("3.9.2", "4.0.0", "4.1.2", "4.2.0", "4.3.1", "4.4.0"),
)

MORE_FLAGS: tuple[tuple[str, ...], ...] = (
    *[()] * 12,
    ("--skip-record-metadata",),
    ("--deep-iteration",),
    ("--print-data-log", "--skip-record-metadata"),
    *[(flag,) for flag in TOPICS],
)


@dataclass(frozen=True)
class Dump:
    """A segment, and the flags with which the tool dumps it."""

    name: str
    flags: tuple[str, ...]
    data: bytes


def random_segments(seed: int, version: str, files: int) -> list[Dump]:
    """Return random segments for a Kafka release, with flags; a seed gives the same ones again."""
    chance = random.Random(f"{seed} {version}")
    release = Release.of(version)
    found = []
    for flag, draw in DRAWN.items():
        if not release.since(*TOPICS[flag].since):
            continue
        ends = flag == "--offsets-decoder" and not release.since(3, 8)
        ends = ends or (flag == "--transaction-log-decoder" and not release.since(4, 1))
        for number in range(files * (4 if ends else 1)):
            more = tuple(
                other
                for other in chance.choice(MORE_FLAGS)
                if other not in TOPICS or release.since(*TOPICS[other].since)
            )
            flags = (flag, *more)
            if chance.random() < 0.03:
                package = (
                    "org.apache.kafka.tools.api" if release.since(3, 8) else "kafka.serializer"
                )
                flags += ("--key-decoder-class", f"{package}.LongDecoder")
            size = chance.choice((1, 1, 1, 2)) if ends else chance.randrange(1, 24)
            records = [draw(chance, release.version) for _ in range(size)]
            key, value = records[0]
            if value is not None and not ends and chance.random() < 0.05:
                records = [(key, value[:cut]) for cut in range(min(len(value), 300))]
            found.append(Dump(f"{flag.strip('-')}-{number}", flags, segment(chance, records)))
    return found


def segment(chance: random.Random, records: list[Record]) -> bytes:
    """Return *records* in batches of random format, codec and size, with some control batches."""
    data = b""
    base = 0
    if chance.random() < 0.05:
        magic = chance.choice((0, 1))
        return b"".join(
            message(value, offset, key, magic=magic) for offset, (key, value) in enumerate(records)
        )
    while records:
        count = chance.choice((1, 2, 5))
        some, records = records[:count], records[count:]
        content = [record(value, key, delta=delta) for delta, (key, value) in enumerate(some)]
        codec = GZIP if chance.random() < 0.1 else 0
        data += batch(content, base, codec=codec, leader_epoch=chance.randrange(3))
        base += len(some)
        if chance.random() < 0.05:
            kind = chance.choice((0, 1))
            data += control(kind, base, 7, epoch=1, coordinator_epoch=chance.randrange(9))
            base += 1
        if chance.random() < 0.05:
            key, value = control_record(chance)
            data += batch([record(value, key)], base, flags=CONTROL)
            base += 1
    return data


def answers(folder: Path, version: str, asked: list[Dump]) -> Iterator[tuple[Dump, Path, Any]]:
    """Yield (segment, its path, the tool's result) for each segment of *asked*."""
    sys.path.insert(0, str(shared() / "brokers" / "damage"))
    import dumplog

    java = dumplog.class_path(version)
    classes = folder / "classes"
    out = folder / "answers"
    for some in (classes, out, folder / "in"):
        some.mkdir(parents=True)
    runner = classes / "DumpRunner.java"
    source = (dumplog.HERE / "DumpRunner.java").read_text("utf-8")
    if Release.of(version).since(4, 4):
        source = source.replace("common.utils.Exit", "common.utils.internals.Exit")
    runner.write_text(source)
    subprocess.run(["javac", "-nowarn", "-cp", java, "-d", classes, runner], check=True)
    lines, paths = [], []
    for one in asked:
        path = folder / "in" / one.name / f"{0:020}.log"
        path.parent.mkdir()
        path.write_bytes(one.data)
        paths.append(path)
        lines.append("\t".join([one.name, *one.flags, "--files", str(path)]))
    quiet = folder / "quiet.properties"
    quiet.write_text("rootLogger.level = off\nlog4j.rootLogger=OFF\n")
    logging = [f"-Dlog4j.configuration=file:{quiet}", f"-Dlog4j2.configurationFile={quiet}"]
    main = [f"{classes}:{java}", "DumpRunner", dumplog.main_class(version), str(out)]
    done = subprocess.run(
        ["java", "-Xmx1g", *dumplog.brokers.JVM_FLAGS, *logging, "-cp", *main],
        input="\n".join(lines) + "\n",
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    for one, path in zip(asked, paths, strict=True):
        status = out / f"{one.name}.exit"
        assert status.is_file(), done.stdout[-500:]
        yield one, path, ((out / f"{one.name}.out").read_bytes(), int(status.read_text()))


def ours(version: str, one: Dump, path: Path) -> tuple[bytes, int]:
    arguments = ["--kafka-version", version, *one.flags, "--files", str(path)]
    result = CliRunner().invoke(kafka_dump_log, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout_bytes, result.exit_code


def difference(expected: bytes, got: bytes) -> str:
    """Return the first line that differs, from Kafka's tool and from ours."""
    theirs, mine = expected.split(b"\n"), got.split(b"\n")
    for number, (a, b) in enumerate(zip(theirs, mine, strict=False), 1):
        if a != b:
            return f"line {number}\n  the tool: {a!r}\n  we:       {b!r}"
    return f"the tool has {len(theirs)} lines, we {len(mine)}"


@pytest.mark.skipif(not RUN, reason="it takes Maven, Java and two minutes: make test-brokers")
@pytest.mark.parametrize("version", RELEASES)
def test_drawn_records_are_decoded_as_kafkas_tool_decodes_them(
    version: str, tmp_path: Path
) -> None:
    differing = []
    asked = random_segments(SEED, version, FILES)
    for one, path, told in answers(tmp_path, version, asked):
        found = ours(version, one, path)
        if found != told:
            what = difference(told[0], found[0]) + f"\n  statuses: {told[1]}, {found[1]}"
            differing.append(f"{path} {' '.join(one.flags)}: {what}")
    assert not differing, (
        f"{len(differing)} of {len(asked)} outputs differ; MAGICBYTE_SEED={SEED}\n"
        + "\n".join(differing[:20])
    )


def segments_with_wrong_counts() -> list[Dump]:
    """Return segments whose first batch states more or fewer records than it has."""
    segments = []
    for codec, size in product((0, GZIP, SNAPPY, LZ4, ZSTD), range(1, 5)):
        for count in range(-1, size + 3):
            for is_cut in (False, True):
                content = b"".join(records(size))
                content = content[:-1] if is_cut else content
                first = batch(content, count=count, last_delta=size - 1, codec=codec)
                name = f"count-{codec}-{size}-{count}-{'cut' if is_cut else 'whole'}"
                segments.append(Dump(name, ("--deep-iteration",), first + batch(base=size)))
    return segments


@pytest.mark.skipif(not RUN, reason="it takes Maven, Java and two minutes: make test-brokers")
@pytest.mark.parametrize("version", RELEASES)
def test_a_wrong_count_ends_the_lines_where_kafkas_tool_ends(version: str, tmp_path: Path) -> None:
    asked = segments_with_wrong_counts()
    differing = {
        one.name: (difference(told[0], output[0]), told[1], output[1])
        for one, path, told in answers(tmp_path, version, asked)
        if (output := ours(version, one, path)) != told
    }
    assert not differing


@pytest.mark.skipif(not RUN, reason="it takes Maven, Java and two minutes: make test-brokers")
def test_lines_of_the_cases_are_those_of_kafkas_tool(tmp_path: Path) -> None:
    is_recorded = bool(os.environ.get("MAGICBYTE_RECORD"))
    found: dict[str, Told] = {case.name: {} for case in cases.cases()}
    for version in EVERY_RELEASE if is_recorded else RELEASES:
        release = Release.of(version)
        asked = [
            Dump(f"case-{number}", (case.flag,), cases.segment(case))
            for number, case in enumerate(cases.cases())
        ]
        names = dict(zip((one.name for one in asked), found, strict=True))
        known = [one for one in asked if release.since(*TOPICS[one.flags[0]].since)]
        for one, _, (output, status) in answers(tmp_path / version, version, known):
            found[names[one.name]]["{}.{}".format(*release.version)] = tail(output.decode(), status)
    if is_recorded:
        told = {name: steps(said) for name, said in found.items()}
        TOLD.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")
    for name, said in found.items():
        everywhere = by_release(load()[name])
        assert said == {release: everywhere[release] for release in said}, name
