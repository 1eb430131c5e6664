"""Measures reading batch headers alone: a pass over a file, and `dump --table batches --quick`.

The operating system counts the bytes that the process reads. Bytes that the same command reads for
the first batch alone belong to Python and its packages, and are subtracted.
"""

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from magicbyte.engines.entry import HEADER_BYTES, read_entry
from magicbyte_tools.bench import jobs
from magicbyte_tools.bench.contenders import SETTLE_S, reader_command
from magicbyte_tools.bench.data import Segment
from magicbyte_tools.bench.jobs import ProcessJob
from magicbyte_tools.bench.measure import WARM_UP, Disagreement
from magicbyte_tools.bench.process import Process
from magicbyte_tools.bench.whole_jobs import MAGICBYTE


@dataclass(slots=True)
class HeaderScan:
    """Cost of reading the headers of a file; lists have an item per repetition."""

    num_batches: int
    pass_ns: list[int]
    """CPU nanoseconds of a pass over all headers, in a warm process."""
    whole: ProcessJob
    """Cost of `dump --quick` of the whole file."""
    first: ProcessJob
    """Cost of `dump --quick` of a file that holds the first batch alone."""

    @property
    def pass_us_per_batch(self) -> float:
        return median(self.pass_ns) / 1e3 / self.num_batches

    @property
    def command_us_per_batch(self) -> float:
        """CPU microseconds of the command per batch, without the cost of its start and first batch."""
        both = zip(self.whole.cpu_s, self.first.cpu_s, strict=True)
        return median(whole - first for whole, first in both) * 1e6 / (self.num_batches - 1)

    @property
    def bytes_per_batch(self) -> float | None:
        """Bytes that the command reads per batch, less its start; None if the system has no count."""
        both = zip(self.whole.read_bytes, self.first.read_bytes, strict=True)
        more = [whole - first for whole, first in both if whole is not None and first is not None]
        return median(more) / (self.num_batches - 1) if more else None


def header_scan(segment: Segment, cache: Path, *, engine: str, repetitions: int) -> HeaderScan:
    """Measure reading the headers of *segment*.

    Raises Disagreement if a pass finds another number of batches than were written.
    """
    pass_ns: list[int] = []
    with Process(reader_command("ours", engine)) as process:
        passes, spent_ns = 0, 0
        while len(pass_ns) < repetitions:
            took = process.ask(segment.path, "headers", "file")
            if took.rows != segment.num_batches:
                told = f"{took.rows} headers of {segment.num_batches}"
                raise Disagreement(f"{segment.kind.name}: {told}")
            if passes >= WARM_UP and spent_ns >= SETTLE_S * 1e9:
                pass_ns.append(took.thread_ns)
            passes, spent_ns = passes + 1, spent_ns + took.wall_ns
    with TemporaryDirectory(dir=cache) as name:
        # Both files have the same name, so that the command prints the same path.
        whole, first = (Path(name) / part / f"{0:020}.log" for part in ("whole", "first"))
        for log in (whole, first):
            log.parent.mkdir()
        whole.hardlink_to(segment.path)
        first.write_bytes(_first_batch(segment.path))
        dump = [*MAGICBYTE, "dump", "--table", "batches", "--quick"]
        commands = {"whole": [*dump, str(whole)], "first": [*dump, str(first)]}
        of_whole, of_first = jobs.run(commands, repetitions=repetitions)
    return HeaderScan(segment.num_batches, pass_ns, of_whole, of_first)


def _first_batch(path: Path) -> bytes:
    with path.open("rb") as file:
        head = file.read(HEADER_BYTES)
        return head + file.read(read_entry(head, 0).end - len(head))
