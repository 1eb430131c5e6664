"""Generates the segment files that the benchmark reads, once per seed, in the cache folder.

A segment is written batch by batch, so it may be larger than memory.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import product
from pathlib import Path

from magicbyte_formats.wire import RecordBatchHeader
from magicbyte_tools.bench import encode
from magicbyte_tools.bench.record_data import SHAPES, RecordData, rows

BATCHES = {"16k": (16 << 10) - RecordBatchHeader.SIZE, "1m": 1 << 20}
"""Largest size of a batch's records in bytes, by name. `16k` is Kafka's default batch.size less the header."""

CODECS = ("none", "lz4", "snappy", "zstd", "gzip")

SEED = 20240


@dataclass(frozen=True, slots=True)
class Kind:
    """Format, record size, batch size and codec of a file."""

    magic: int
    shape: str
    batch: str
    codec: str

    @property
    def name(self) -> str:
        return f"v{self.magic}-{self.shape}-{self.batch}-{self.codec}"


@dataclass(frozen=True, slots=True)
class Segment:
    """A generated segment file, with the numbers of its records, batches and uncompressed bytes."""

    kind: Kind
    path: Path
    num_rows: int
    num_batches: int
    raw_bytes: int
    """Bytes of all records encoded as v2, uncompressed: equal for the same rows in any format."""

    @property
    def size_bytes(self) -> int:
        return self.path.stat().st_size


KINDS = tuple(
    [Kind(2, *rest) for rest in product(SHAPES, BATCHES, CODECS)]
    + [
        Kind(magic, shape, "16k", codec)
        for magic, shape, codec in product((0, 1), ("100B", "1000B"), CODECS)
        if codec != "zstd"  # only batches may have it (KIP-110)
    ]
)
"""All kinds of files that can be measured. v0 and v1 have no record headers, and with a codec wrappers."""


def chosen(patterns: Sequence[str]) -> list[Kind]:
    """Return the kinds whose names match one of the shell patterns *patterns*."""
    return [kind for kind in KINDS if any(fnmatch(kind.name, pattern) for pattern in patterns)]


def segments(
    kinds: Iterable[Kind], folder: Path, *, raw_bytes: int, seed: int = SEED
) -> list[Segment]:
    """Return a segment with at least *raw_bytes* of uncompressed records for each of *kinds*.

    Segments that *folder* does not hold yet are written there.
    """
    place = folder / f"{raw_bytes}-{seed}"
    place.mkdir(parents=True, exist_ok=True)
    wanted = list(kinds)
    missing = [kind for kind in wanted if not _counts_path(kind, place).exists()]
    for shape, size in dict.fromkeys((kind.shape, kind.batch) for kind in missing):
        together = [kind for kind in missing if (kind.shape, kind.batch) == (shape, size)]
        _write(together, place, raw_bytes, seed)
    return [_read(kind, place) for kind in wanted]


def _counts_path(kind: Kind, folder: Path) -> Path:
    """Return the path of a segment's JSON file of counts, whose existence shows that the segment is whole."""
    return folder / f"{kind.name}.json"


def _read(kind: Kind, folder: Path) -> Segment:
    stated = json.loads(_counts_path(kind, folder).read_text("utf-8"))
    return Segment(kind, folder / f"{kind.name}.log", **stated)


def _write(kinds: Sequence[Kind], folder: Path, least_bytes: int, seed: int) -> None:
    """Write the same batches of records in each of *kinds* in one pass, since generating records costs most."""
    num_rows = num_batches = raw_bytes = 0
    with ExitStack() as stack:
        files = [
            (kind, stack.enter_context((folder / f"{kind.name}.log").open("wb"))) for kind in kinds
        ]
        for together, payload in batches(kinds[0], least_bytes, seed):
            for kind, file in files:
                if kind.magic == 2:
                    file.write(encode.batch(together, payload, kind.codec))
                else:
                    file.write(encode.messages(together, kind.magic, kind.codec))
            num_rows += len(together)
            num_batches += 1
            raw_bytes += len(payload)
    for kind in kinds:
        stated = {"num_rows": num_rows, "num_batches": num_batches, "raw_bytes": raw_bytes}
        _counts_path(kind, folder).write_text(json.dumps(stated), "utf-8")


def batches(kind: Kind, least_bytes: int, seed: int) -> Iterator[tuple[list[RecordData], bytes]]:
    """Yield rows of each batch, and the records encoded as in v2, until *least_bytes* of them are written."""
    together: list[RecordData] = []
    records: list[bytes] = []
    size = written = 0
    for row in rows(SHAPES[kind.shape], seed):
        first = together[0] if together else row
        encoded = encode.record(row, first.offset, first.timestamp)
        if together and size + len(encoded) > BATCHES[kind.batch]:
            yield together, b"".join(records)
            written += size
            if written >= least_bytes:
                return
            together, records, size = [], [], 0
            encoded = encode.record(row, row.offset, row.timestamp)
        together.append(row)
        records.append(encoded)
        size += len(encoded)
