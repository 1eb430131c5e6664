"""Sections of the report about formats, codecs, and sizes of batches."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple

from magicbyte.statistics.power_histogram import PowerHistogram
from magicbyte_cli import display
from magicbyte_cli.report.cells import DASH
from magicbyte_cli.report.figures.entry_figures import EncodingFigures, EntryFigures
from magicbyte_cli.report.markup import Content, Markup, element
from magicbyte_cli.report.plots import bar, histogram
from magicbyte_cli.report.stats.class_labels import ratio
from magicbyte_cli.report.tables import section, soft, table


def storage(entries: EntryFigures) -> Markup:
    """Return the shares of codecs and formats, with the sizes of their contents."""
    explanation = (
        "The ratio is bytes without compression per stored byte; it is 1 without compression."
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
            explanation,
        ),
        _shares("Codecs", "Codec", entries.codecs),
        _shares("Formats", "Format", entries.formats),
    )


def _shares(caption: str, head: str, encodings: Sequence[EncodingFigures]) -> Markup:
    numbers = zip(*(astuple(encoding)[1:] for encoding in encodings), strict=True)
    total = EncodingFigures("total", *map(sum, numbers))

    def row(encoding: EncodingFigures, encoding_bar: Content) -> tuple[Content, ...]:
        return (
            element("b", encoding.name),
            encoding_bar,
            display.percent(encoding.bytes, total.bytes),
            f"{encoding.entries:,}",
            f"{encoding.records:,}",
            f"{encoding.bytes:,}",
            *_contents(encoding),
        )

    rows = [
        row(encoding, bar(Counter(delivered=encoding.bytes), total=total.bytes))
        for encoding in encodings
    ]
    heads = f"{head}||>Share|>Entries|>Records|>Stored bytes|>Decompressed bytes|>Ratio|>Key and value bytes"
    return table(caption, heads.split("|"), rows, foot=[row(total, "")])


def _contents(encoding: EncodingFigures) -> tuple[Content, Content, Content]:
    """Return the bytes without compression, their ratio to the stored bytes, and keys and values."""
    if not encoding.decoded_bytes:
        return DASH, DASH, DASH
    return (
        f"{encoding.plain_bytes:,}",
        ratio(encoding.plain_bytes, encoding.decoded_bytes) or DASH,
        f"{encoding.content_bytes:,}",
    )


def sizes(entries: EntryFigures) -> Markup:
    """Return a section with histograms: bytes and records per data batch or message."""
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
    caption: str, unit: str, size_histogram: PowerHistogram, number_format: display.NumberFormat
) -> Markup:
    title = f"{caption}, {size_histogram.largest or 0:,} at most"
    return histogram(title, unit, size_histogram.rows(with_gaps=True), number_format)
