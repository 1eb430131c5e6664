"""Prints the measured sizes of formats and codecs as a page of Markdown."""

from collections.abc import Iterable, Sequence

from magicbyte_tools.costs.encodings import FORMATS
from magicbyte_tools.costs.measure import CLASSES, STREAMED, CostSums, Measured

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")

INTRODUCTION = """\
# What the formats cost

The same records, in the same batches, encoded as v0, v1 and v2 and as the v3 that KIP-931 proposed
and Kafka discarded. The batches are those of logs that real brokers wrote for this project's tests:
{batches:,} of them with {records:,} records, each encoded anew by the Construct twin. {with_headers:,}
batches with headers were left out, as v0 and v1 have none, and {over_24_days:,} whose times lie further
apart than the 24.8 days that KIP-931's 32 bits of milliseconds reach: mostly those where some
records have no time, which is -1. v0 keeps no timestamps. Compressors are set as Kafka's producer
sets them: gzip 6, snappy in blocks of 32 KiB, lz4's fast compressor in blocks of 64 KiB, zstd 3.

Logs made for tests have small batches, and where a batch holds few records, its header weighs most.
So the figures are given by the mean size of a batch's keys and values, with the number of its
records beside it. `make costs LOGS="DIR..."` gives the page for other logs.
"""


def page(measured: Measured) -> str:
    """Return the sizes in *measured* as a page of Markdown, with tables by size class."""
    classes = {name: measured.classes[name] for _, name in CLASSES if name in measured.classes}
    every = classes.values()
    introduction = INTRODUCTION.format(
        batches=sum(sums.batches for sums in every),
        records=sum(sums.records for sums in every),
        with_headers=measured.with_headers,
        over_24_days=measured.over_24_days,
    )
    parts = [
        introduction,
        "## What was encoded\n\n" + _samples(classes),
        "## Overhead, uncompressed\n\n" + _overhead(classes),
        *(f"## Sizes: keys and values {name}\n\n{_sizes(sums)}" for name, sums in classes.items()),
        "## KIP-931's claims\n\n" + _claims(classes),
        "## Headers first\n\n" + _headers_first(classes),
    ]
    return "\n".join(parts)


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table with the headings *heads*; the columns after the first are aligned right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def _samples(classes: dict[str, CostSums]) -> str:
    rows = []
    for name, sums in classes.items():
        records, content = sums.records / sums.batches, sums.content_bytes / sums.records
        rows.append(
            [name, f"{sums.batches:,}", f"{sums.records:,}", f"{records:.1f}", f"{content:.1f}"]
        )
    heads = ["Keys and values", "batches", "records", "records per batch", "bytes per record"]
    return table(heads, rows)


def _overhead(classes: dict[str, CostSums]) -> str:
    text = (
        "Bytes that are neither key nor value: of the batch's own header, and per record beside it."
        "\n\n"
    )
    rows = []
    for name, sums in classes.items():
        for form in FORMATS:
            header = sums.header_bytes[form]
            rest = sums.sizes[form, "none"] - sums.content_bytes - header
            rows.append([name, form, f"{header / sums.batches:.1f}", f"{rest / sums.records:.2f}"])
    return text + table(["Keys and values", "format", "per batch", "per record"], rows)


def _sizes(sums: CostSums) -> str:
    rows = []
    for codec in CODECS:
        v2 = sums.sizes["v2", codec]
        cells = []
        for form in FORMATS:
            size = sums.sizes[form, codec]
            cells.append(f"{size:,} ({size / v2:.3f})" if size else "not allowed")
        saved = 1 - v2 / sums.sizes["v2", "none"]
        rows.append([codec, *cells, f"{saved:.1%}"])
    heads = ["Codec", *(f"{form}, bytes (to v2)" for form in FORMATS), "v2 saved by the codec"]
    return table(heads, rows)


def _claims(classes: dict[str, CostSums]) -> str:
    records = sum(sums.records for sums in classes.values())
    batches = sum(sums.batches for sums in classes.values())

    def total(form: str, codec: str = "none") -> int:
        return sum(sums.sizes[form, codec] for sums in classes.values())

    def headers(form: str) -> int:
        return sum(sums.header_bytes[form] for sums in classes.values())

    per_batch = (headers("v2") - headers("KIP-931")) / batches
    between = total("v2") - total("KIP-931") - (headers("v2") - headers("KIP-931"))
    beside = (total("v1") - total("v2") + headers("v2")) / records
    shared = (total("v1") - total("v2")) / records
    without_header = "v2 saves per record against v1, its header not counted"
    rows = [
        ["KIP-931 saves per batch", "10 bytes", f"{per_batch:.2f} bytes"],
        ["KIP-931 saves per record", "1 byte", f"{between / records:.3f} bytes"],
        [without_header, "about 25 bytes", f"{beside:.2f} bytes"],
        ["the same, its header shared out over these batches", "", f"{shared:.2f} bytes"],
    ]
    for codec in CODECS:
        share = 1 - total("KIP-931", codec) / total("v2", codec)
        rows.append([f"KIP-931 against v2, all bytes, {codec}", "", f"{share:.2%} less"])
    text = (
        "The proposal counts 2 bytes for the base timestamp, 6 for the largest timestamp and 2 for\n"
        "the last offset delta. Where a batch spans little time, the two deltas take a byte each.\n\n"
    )
    return text + table(["Claim", "said", "measured"], rows)


def _headers_first(classes: dict[str, CostSums]) -> str:
    text = (
        "A second idea for a v3 puts lengths, deltas and counts of all records before their keys\n"
        "and values, so that a broker that validates a compressed batch need decompress only the\n"
        "front. What was read and decompressed until all of them were there; snappy is not in the\n"
        "table, as a block of it is decompressed as a whole.\n\n"
    )
    rows = []
    for name, sums in classes.items():
        for codec in STREAMED:
            size = sums.prefix[codec, "size"]
            before = sums.sizes["v2", codec] - sums.header_bytes["v2"]
            shares = (
                sums.metadata_bytes / sums.payload_bytes,
                sums.prefix[codec, "decompressed"] / sums.payload_bytes,
                sums.prefix[codec, "read"] / size,
            )
            percents = (f"{share:.1%}" for share in shares)
            rows.append([name, codec, *percents, f"{size / before - 1:+.1%}"])
    heads = [
        "Keys and values",
        "codec",
        "metadata, of the payload",
        "decompressed",
        "compressed bytes read",
        "size against v2's order",
    ]
    return text + table(heads, rows)
