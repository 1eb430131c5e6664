"""Tests of the header scan benchmark: it subtracts the bytes that every process start reads."""

import dataclasses
import sys
from pathlib import Path

import pytest

from magicbyte_tools.bench import header_scan as module
from magicbyte_tools.bench.data import Kind, Segment, segments
from magicbyte_tools.bench.header_scan import header_scan
from magicbyte_tools.bench.jobs import run
from magicbyte_tools.bench.measure import Disagreement
from magicbyte_tools.bench.ours import Ours

needs_linux = pytest.mark.skipif(
    not Path("/proc/self/io").exists(), reason="the system does not count what is read"
)

READS_ALL = "import sys; open(sys.argv[-1], 'rb').read()"


@pytest.fixture(scope="module")
def segment(tmp_path_factory: pytest.TempPathFactory) -> Segment:
    folder = tmp_path_factory.mktemp("made")
    (one,) = segments([Kind(2, "100B", "16k", "lz4")], folder, raw_bytes=60_000)
    return one


def test_our_reader_finds_the_batches(segment: Segment) -> None:
    ours = Ours("reference")
    ours.load(segment.path, "file")
    assert ours.read("headers", 1) == segment.num_batches == 4


@needs_linux
def test_bytes_read_at_process_start_are_subtracted(
    segment: Segment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAGICBYTE", [sys.executable, "-S", "-c", READS_ALL])
    scan = header_scan(segment, tmp_path, engine="reference", repetitions=2)
    first = 12 + int.from_bytes(segment.path.read_bytes()[8:12])
    assert scan.bytes_per_batch == (segment.size_bytes - first) / 3
    assert len(scan.pass_ns) == len(scan.whole.cpu_s) == len(scan.first.cpu_s) == 2
    assert not list(tmp_path.iterdir())


def test_a_pass_that_misses_a_batch_ends_the_run(segment: Segment, tmp_path: Path) -> None:
    more = dataclasses.replace(segment, num_batches=5)
    with pytest.raises(Disagreement, match="4 headers of 5"):
        header_scan(more, tmp_path, engine="reference", repetitions=1)


@needs_linux
def test_bytes_read_by_child_processes_count(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(100_000))
    reads = [sys.executable, "-S", "-c", READS_ALL, str(tmp_path / "file")]
    starts = f"import subprocess; subprocess.run({reads!r}, check=True)"
    nothing = [sys.executable, "-S", "-c", "pass"]
    alone, with_child = run(
        {"alone": nothing, "with": [sys.executable, "-S", "-c", starts]}, repetitions=1
    )
    assert alone.read_bytes[0] is not None and with_child.read_bytes[0] is not None
    assert with_child.read_bytes[0] - alone.read_bytes[0] > 100_000
