"""Formats, codecs, and sizes of batches."""

from collections import Counter
from collections.abc import Sequence

from magicbyte_cli import display
from magicbyte_cli.report.cells import DASH
from magicbyte_cli.report.figures.entry_figures import (
    EncodingFigures,
    EntryFigures,
    SizeHistogram,
)
from magicbyte_cli.report.markup import Content, Markup, element
from magicbyte_cli.report.plots import bar, histogram
from magicbyte_cli.report.tables import section, soft, table


def storage(entries: EntryFigures) -> Markup:
    """Return the shares of codecs and formats, with the sizes of their contents."""
    ratio = (
        "The ratio is bytes of decoded keys and values per stored byte. Stored bytes include the "
        "headers and lengths of batches and records, so the ratio is below 1 without compression."
        if entries.has_content_sizes
        else "This output does not contain the decoded sizes: an earlier release wrote it."
    )
    num_data = entries.num_entries - entries.num_control
    return section(
        "storage",
        "Formats and codecs",
        soft(
            f"{display.counted(num_data, 'entry', 'entries')}: v2 batches, v0 and v1 messages and "
            "wrappers. "
            f"{display.counted(entries.num_control, 'control batch', 'control batches')} and "
            "damaged ranges are left out of these tables. ",
            ratio,
        ),
        _shares("Codecs", "Codec", entries.codecs),
        _shares("Formats", "Format", entries.formats),
    )


def _shares(caption: str, head: str, encodings: Sequence[EncodingFigures]) -> Markup:
    total_bytes = sum(encoding.bytes for encoding in encodings)
    rows = [
        (
            element("b", encoding.name),
            bar(Counter(delivered=encoding.bytes), total=total_bytes),
            display.percent(encoding.bytes, total_bytes),
            f"{encoding.entries:,}",
            f"{encoding.records:,}",
            f"{encoding.bytes:,}",
            *_contents(encoding.content_bytes, encoding.decoded_bytes),
        )
        for encoding in encodings
    ]
    foot: tuple[Content, ...] = (
        element("b", "total"),
        "",
        display.percent(total_bytes, total_bytes),
        f"{sum(encoding.entries for encoding in encodings):,}",
        f"{sum(encoding.records for encoding in encodings):,}",
        f"{total_bytes:,}",
        *_contents(
            sum(encoding.content_bytes for encoding in encodings),
            sum(encoding.decoded_bytes for encoding in encodings),
        ),
    )
    heads = (
        head,
        "",
        ">Share",
        ">Entries",
        ">Records",
        ">Stored bytes",
        ">Key and value bytes",
        ">Ratio",
    )
    return table(caption, heads, rows, foot=[foot])


def _contents(content_bytes: int, stored_bytes: int) -> tuple[Content, Content]:
    """Return the bytes of keys and values, and their ratio to the stored bytes."""
    if not stored_bytes:
        return DASH, DASH
    return f"{content_bytes:,}", f"{content_bytes / stored_bytes:.2f}"


def sizes(entries: EntryFigures) -> Markup:
    """Return the distribution of the sizes of data batches and messages."""
    return section(
        "sizes",
        "Batch sizes",
        element(
            "div",
            _histogram("Bytes per entry", "bytes", entries.bytes, display.byte_size),
            _histogram("Records per entry", "records", entries.records, "{:,}".format),
            class_="pair",
        ),
    )


def _histogram(
    caption: str, unit: str, size_histogram: SizeHistogram, number_format: display.NumberFormat
) -> Markup:
    exponents = range(
        min(size_histogram.entries, default=0), max(size_histogram.entries, default=-1) + 1
    )
    classes = [
        {
            "at_least": 1 << exponent if exponent >= 0 else 0,
            "entry_count": size_histogram.entries[exponent],
            "sum": size_histogram.sums[exponent],
        }
        for exponent in exponents
    ]
    return histogram(f"{caption}, {size_histogram.largest:,} at most", unit, classes, number_format)
