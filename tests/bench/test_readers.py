"""Tests of the benchmark's Python readers and of its floor, the least work of any reader."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from magicbyte import codecs
from magicbyte_formats.wire import CODEC_NAMES
from magicbyte_tools.bench.clients import Aiokafka, KafkaPython
from magicbyte_tools.bench.data import CODECS, Kind, Segment, segments
from magicbyte_tools.bench.floor import Floor
from magicbyte_tools.bench.ours import DamagedFileError, Ours
from magicbyte_tools.bench.primitives import PRIMITIVES, DecompressionArena, Section, Source

# kafka-python reads its own package files with functions that Python has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:.*_text is deprecated:DeprecationWarning")

KINDS = [Kind(2, "100B-3h", "16k", codec) for codec in CODECS] + [Kind(1, "100B", "16k", "lz4")]


@pytest.fixture(scope="module")
def segment_by_name(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Segment]:
    folder = tmp_path_factory.mktemp("made")
    return {s.kind.name: s for s in segments(KINDS, folder, raw_bytes=40_000)}


@pytest.mark.parametrize("name", ["v2-100B-3h-16k-none", "v1-100B-16k-lz4"])
def test_all_readers_find_the_same_columns(segment_by_name: dict[str, Segment], name: str) -> None:
    readers: list[tuple[Any, str]] = [(Aiokafka(), "memory"), (KafkaPython(), "memory")]
    readers += [(Ours("reference"), via) for via in ("memory", "file", "open")]
    for reader, via in readers:
        reader.load(segment_by_name[name].path, via)
    (found,) = {reader.check() for reader, _ in readers}
    assert found[0] == segment_by_name[name].num_rows


@pytest.mark.parametrize("mode", ["columns", "offsets"])
def test_threads_share_the_file(segment_by_name: dict[str, Segment], mode: str) -> None:
    segment = segment_by_name["v2-100B-3h-16k-lz4"]
    ours = Ours("reference")
    ours.load(segment.path, "memory")
    assert ours.read(mode, 2) == ours.read(mode, 3) == ours.read(mode, 1) == segment.num_rows


def test_an_entry_larger_than_what_is_read_at_a_time_is_read(
    segment_by_name: dict[str, Segment], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("magicbyte_tools.bench.ours.CHUNK", 1000)
    segment = segment_by_name["v2-100B-3h-16k-none"]
    ours = Ours("reference")
    ours.load(segment.path, "file")
    assert ours.read("columns", 1) == segment.num_rows


@pytest.mark.parametrize(
    ("reader", "mode", "error"),
    [
        (Ours("reference"), "offsets", DamagedFileError),
        (Aiokafka(), "columns", ValueError),
        (KafkaPython(), "columns", ValueError),
        (Floor(), "columns", ValueError),
    ],
)
def test_every_reader_verifies_checksums(
    segment_by_name: dict[str, Segment],
    tmp_path: Path,
    reader: Any,
    mode: str,
    error: type[Exception],
) -> None:
    data = bytearray(segment_by_name["v2-100B-3h-16k-none"].path.read_bytes())
    data[-1] ^= 1
    copy = tmp_path / "flipped.log"
    copy.write_bytes(data)
    reader.load(copy, "memory")
    with pytest.raises(error, match="checksum"):
        reader.read(mode, 1)


@pytest.mark.parametrize("codec", CODECS)
def test_the_floor_goes_over_all_rows(segment_by_name: dict[str, Segment], codec: str) -> None:
    segment = segment_by_name[f"v2-100B-3h-16k-{codec}"]
    floor = Floor()
    floor.load(segment.path, "memory")
    assert floor.read("columns", 1) == segment.num_rows


@pytest.mark.parametrize(
    ("codec", "primitive"), [(c, p) for c, ps in PRIMITIVES.items() for p in ps]
)
def test_a_primitive_decompresses(
    segment_by_name: dict[str, Segment], codec: str, primitive: object
) -> None:
    data = segment_by_name[f"v2-100B-3h-16k-{codec}"].path.read_bytes()
    end = 12 + int.from_bytes(data[8:12])
    number = next(number for number, name in CODEC_NAMES.items() if name == codec)
    plain = codecs.decompress(number, data[61:end], magic=2, max_bytes=1 << 20)
    stored = np.frombuffer(data, np.uint8)
    room = np.zeros(len(plain) + 5, np.uint8)
    arena = DecompressionArena(room, room.data, room.ctypes.data)
    source = Source(memoryview(data), stored.ctypes.data)
    assert callable(primitive)
    assert primitive(source, Section(61, end, len(plain)), arena, 5) == len(room)
    assert room.tobytes() == bytes(5) + plain
