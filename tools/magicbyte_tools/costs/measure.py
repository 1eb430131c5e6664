"""Sums up sizes over all batches, by the mean size of their records."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from construct import IntegerError

from magicbyte_tools.costs.encodings import FORMATS, Encoded
from magicbyte_tools.costs.headers_first import headers_first, read_until
from magicbyte_tools.costs.samples import BatchSample

STREAMED = ("gzip", "lz4", "zstd")
"""Codecs that can be decompressed in part; a block of snappy is all or nothing."""

CLASSES = ((100, "up to 100 B"), (1000, "to 1 kB"), (1 << 62, "over 1 kB"))
"""Size classes: upper limit of the mean bytes of a record's key and value, and name."""


@dataclass(slots=True)
class CostSums:
    """Sums over all batches of a size class."""

    batches: int = 0
    records: int = 0
    content_bytes: int = 0
    sizes: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Bytes of all batches, by format and codec."""
    header_bytes: Counter[str] = field(default_factory=Counter)
    """Bytes of batch headers, by format."""
    payload_bytes: int = 0
    """Bytes of the v2 payloads, uncompressed."""
    metadata_bytes: int = 0
    """Bytes of the v2 payloads that are neither keys nor values."""
    prefix: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Bytes with metadata first, by codec and kind: `read`, `decompressed`, and the compressed `size`."""


@dataclass(slots=True)
class Measured:
    """Sums by size class, and the numbers of batches that were left out."""

    classes: dict[str, CostSums] = field(default_factory=dict)
    with_headers: int = 0
    """Batches left out, since they have record headers, which v0 and v1 lack."""
    over_24_days: int = 0
    """Batches left out, since KIP-931 has 32 bits for the milliseconds that a batch spans (24.8 days)."""


def measure(batches: Iterable[BatchSample | None], into: Measured) -> None:
    """Encode *batches* in every format and add their sizes to *into*; None is a batch with headers."""
    for sample in batches:
        if sample is None:
            into.with_headers += 1
            continue
        try:
            encoded = {name: encode(sample) for name, encode in FORMATS.items()}
        except IntegerError:
            into.over_24_days += 1
            continue
        mean = sample.content_bytes / len(sample.records)
        name = next(name for limit, name in CLASSES if mean <= limit)
        _add(sample, encoded, into.classes.setdefault(name, CostSums()))


def _add(sample: BatchSample, formats: dict[str, Encoded], sums: CostSums) -> None:
    sums.batches += 1
    sums.records += len(sample.records)
    sums.content_bytes += sample.content_bytes
    for name, encoded in formats.items():
        sums.header_bytes[name] += encoded.header_bytes
        for codec, size in encoded.sizes.items():
            sums.sizes[name, codec] += size
        if name == "v2":
            sums.payload_bytes += len(encoded.payload)
            split = headers_first(encoded.payload)
            sums.metadata_bytes += split.metadata_bytes
            for codec in STREAMED:
                read, out, size = read_until(codec, split)
                sums.prefix[codec, "read"] += read
                sums.prefix[codec, "decompressed"] += out
                sums.prefix[codec, "size"] += size
