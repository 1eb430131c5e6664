"""The contenders of the benchmark: magicbyte's engines, the floor, and other readers of the same files."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from magicbyte_tools.bench import go_reader, java_reader, rust_reader
from magicbyte_tools.bench.data import Kind
from magicbyte_tools.bench.foreign_programs import ProgramUnavailable

OURS = "ours"
OURS_OFFSETS = "ours, offsets"
OURS_KEPT = "ours, one kept"
OURS_VIEWS = "ours, views"
OURS_FILE = "ours, file"
OURS_OPEN = "ours, mb.open"
JAVA_EXACT = "Java exact"
JAVA_COLUMNS = "Java columns"
JAVA_OFFSETS = "Java offsets"
JAVA_FILE = "Java exact, file"
JAVA_SMALL = "Java exact, file, 256 MiB heap"
GO = "Go"
RUST = "Rust"
FLOOR = "floor"
AIOKAFKA = "aiokafka"
KAFKA_PYTHON = "kafka-python"

JAVA_WARM_UP_S = 3.0
"""Seconds of warm-up for Java; passes no longer get faster after one second (measured)."""

SETTLE_S = 0.5
"""Seconds after which passes of several threads no longer get faster (measured)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    name: str
    command: Sequence[str]
    mode: str = "columns"
    via: str = "memory"
    threads: int = 1
    warm_up_s: float = 0.0
    """CPU seconds of passes before the first measured one. Java compiles code after many runs."""
    settle_s: float = 0.0
    """Seconds of unmeasured passes before each measured pass."""
    has_checksum: bool = True
    reads_all: bool = True
    """False for slow readers, which read the beginning of the file only."""
    reads_messages: bool = True
    """True if the contender can read formats v0 and v1."""
    reads_compressed: bool = True
    reads_first_lz4: bool = True
    """True if the contender reads lz4 in v0, whose frames have a wrong header checksum (KAFKA-3160)."""

    def reads(self, kind: Kind) -> bool:
        is_format_read = kind.magic == 2 or self.reads_messages
        is_codec_read = kind.codec == "none" or self.reads_compressed
        is_first_lz4 = kind.magic == 0 and kind.codec == "lz4"
        return is_format_read and is_codec_read and (self.reads_first_lz4 or not is_first_lz4)


def reader_command(*arguments: str) -> tuple[str, ...]:
    """Return the command that runs a Python reader: *arguments* are READER and ENGINE of bench.serve."""
    return (sys.executable, "-m", "magicbyte_tools.bench.serve", *arguments)


def contenders(engine: str, cache: Path) -> tuple[list[Contender], dict[str, str]]:
    """Return the contenders that can run on this machine, and why others cannot, by name."""
    floor = reader_command("floor")
    here = ours(engine)
    here.append(Contender(name=FLOOR, command=floor, has_checksum=False, reads_messages=False))
    left_out = {}
    for name, some in (("Java", _java), (GO, _go), (RUST, _rust)):
        try:
            here += some(cache)
        except ProgramUnavailable as reason:
            left_out[name] = str(reason)
    # kafka-python reads lz4 in v0 with another package only.
    for name, module, reads_all in ((AIOKAFKA, "aiokafka", True), (KAFKA_PYTHON, "kafka", False)):
        if find_spec(module) is None:
            left_out[name] = f"there is no Python package {module}"
            continue
        client = partial(Contender, name=name, command=reader_command(name))
        here.append(client(reads_all=reads_all, reads_first_lz4=False))
    return here, left_out


def ours(engine: str) -> list[Contender]:
    our = partial(Contender, command=reader_command("ours", engine))
    return [
        our(name=OURS),
        our(name=OURS_OFFSETS, mode="offsets"),
        our(name=OURS_KEPT, mode="kept"),
        # Views of compressed entries are not measured: decompressed keys and values are copied anyway.
        our(name=OURS_VIEWS, mode="views", reads_compressed=False),
        our(name=OURS_FILE, via="file"),
        our(name=OURS_OPEN, via="open"),
    ]


def _java(cache: Path) -> list[Contender]:
    # One process per mode, so that the JVM compiles the code of each mode by itself.
    java = partial(Contender, command=java_reader.reader(cache), warm_up_s=JAVA_WARM_UP_S)
    return [
        java(name=JAVA_EXACT, mode="exact"),
        java(name=JAVA_COLUMNS),
        java(name=JAVA_OFFSETS, mode="offsets"),
        java(name=JAVA_FILE, mode="exact", via="file"),
    ]


def _go(cache: Path) -> list[Contender]:
    return [Contender(name=GO, command=go_reader.reader(cache))]


def _rust(cache: Path) -> list[Contender]:
    return [Contender(name=RUST, command=rust_reader.reader(cache), reads_messages=False)]


def over_threads(engine: str, thread_counts: Iterable[int]) -> list[Contender]:
    """Return a contender for each number of threads in *thread_counts*, named `1 thread`, `2 threads`, ..."""
    command = reader_command("ours", engine)
    names = {count: f"{count} thread{'s' * (count > 1)}" for count in thread_counts}
    return [
        Contender(name=name, command=command, threads=count, settle_s=SETTLE_S)
        for count, name in names.items()
    ]


def over_sizes(engine: str, cache: Path) -> list[Contender]:
    """Return the contenders for files of several sizes; all read from the file, not from memory."""
    here = [contender for contender in ours(engine) if contender.name in (OURS_FILE, OURS_OPEN)]
    with suppress(ProgramUnavailable):
        java = partial(Contender, command=java_reader.reader(cache, heap="256m"))
        here.append(java(name=JAVA_SMALL, mode="exact", via="file", warm_up_s=JAVA_WARM_UP_S))
    return here
