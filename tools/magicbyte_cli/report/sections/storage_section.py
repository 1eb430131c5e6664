"""Formats, codecs, and sizes of batches."""

from collections import Counter
from collections.abc import Iterator, Sequence

from magicbyte_cli import display
from magicbyte_cli.report.cells import DASH
from magicbyte_cli.report.figures.entry_figures import (
    EncodingFigures,
    EntryFigures,
    SizeHistogram,
)
from magicbyte_cli.report.markup import Content, Markup, element
from magicbyte_cli.report.plots import bar
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
            _classes("Bytes per entry", "Bytes", entries.bytes, display.byte_size),
            _classes("Records per entry", "Records", entries.records, lambda value: f"{value:,}"),
            class_="pair",
        ),
    )


def _classes(
    caption: str, head: str, histogram: SizeHistogram, number_format: display.NumberFormat
) -> Markup:
    if histogram.mean is None:
        return table(f"{caption}: none", (head,), [])
    largest_count = max(histogram.entries.values())
    num_entries, size_sum = histogram.entries.total(), histogram.sums.total()
    rows = [
        (
            name,
            bar(Counter(delivered=histogram.entries[exponent]), "entry", largest_count),
            f"{histogram.entries[exponent]:,}",
            display.percent(histogram.entries[exponent], num_entries),
            display.percent(histogram.sums[exponent], size_sum),
        )
        for exponent, name in _class_names(histogram, number_format)
    ]
    return table(
        f"{caption}: {histogram.mean:,.1f} on average, {histogram.largest:,} at most",
        (head, "", ">Entries", ">Share of entries", f">Share of {head.lower()}"),
        rows,
    )


def _class_names(
    histogram: SizeHistogram, number_format: display.NumberFormat
) -> Iterator[tuple[int, str]]:
    """Yield the exponent and the name of each class between the smallest and the largest."""
    for exponent in range(min(histogram.entries), max(histogram.entries) + 1):
        low, end = (1 << exponent, 2 << exponent) if exponent >= 0 else (0, 1)
        if exponent < 0:
            yield exponent, "0"
        elif exponent == 0:
            yield exponent, number_format(1)
        elif exponent == 1 or number_format is not display.byte_size:
            yield exponent, f"{number_format(low)} to {number_format(end - 1)}"
        else:
            yield exponent, f"{number_format(low)} up to {number_format(end)}"
