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
            *_contents(encoding.content_bytes, encoding.decoded_bytes),
        )

    rows = [
        row(encoding, bar(Counter(delivered=encoding.bytes), total=total.bytes))
        for encoding in encodings
    ]
    heads = f"{head}||>Share|>Entries|>Records|>Stored bytes|>Key and value bytes|>Ratio"
    return table(caption, heads.split("|"), rows, foot=[row(total, "")])


def _contents(content_bytes: int, stored_bytes: int) -> tuple[Content, Content]:
    """Return the bytes of keys and values, and their ratio to the stored bytes."""
    if not stored_bytes:
        return DASH, DASH
    return f"{content_bytes:,}", f"{content_bytes / stored_bytes:.2f}"


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
