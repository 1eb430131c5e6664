"""The files that are read: made once from a seed, in the cache folder.

A file is a log segment: entries back to back. It is written batch by batch, so its size is not
bounded by memory.
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
    """A file, and what went into it."""

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
"""All that can be measured. v0 and v1 have no headers; with a codec they are wrapped."""


def chosen(patterns: Sequence[str]) -> list[Kind]:
    """Return the kinds whose names match one of *patterns*."""
    return [kind for kind in KINDS if any(fnmatch(kind.name, pattern) for pattern in patterns)]


def segments(
    kinds: Iterable[Kind], folder: Path, *, raw_bytes: int, seed: int = SEED
) -> list[Segment]:
    """Return a file of *raw_bytes* of records, and those that fill its last batch, for each of *kinds*.

    It is made in *folder* if it is not there.
    """
    place = folder / f"{raw_bytes}-{seed}"
    place.mkdir(parents=True, exist_ok=True)
    wanted = list(kinds)
    missing = [kind for kind in wanted if not _stated(kind, place).exists()]
    for shape, size in dict.fromkeys((kind.shape, kind.batch) for kind in missing):
        together = [kind for kind in missing if (kind.shape, kind.batch) == (shape, size)]
        _write(together, place, raw_bytes, seed)
    return [_read(kind, place) for kind in wanted]


def _stated(kind: Kind, folder: Path) -> Path:
    """Return the file that says what went into a segment; written last, so it stands for the whole."""
    return folder / f"{kind.name}.json"


def _read(kind: Kind, folder: Path) -> Segment:
    stated = json.loads(_stated(kind, folder).read_text("utf-8"))
    return Segment(kind, folder / f"{kind.name}.log", **stated)


def _write(kinds: Sequence[Kind], folder: Path, least_bytes: int, seed: int) -> None:
    """Write the same rows, in the same batches, as each of *kinds*: drawing them is what costs."""
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
        _stated(kind, folder).write_text(json.dumps(stated), "utf-8")


def batches(kind: Kind, least_bytes: int, seed: int) -> Iterator[tuple[list[RecordData], bytes]]:
    """Yield rows that make a batch, and their records as v2 has them, until there are *least_bytes* of these."""
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
