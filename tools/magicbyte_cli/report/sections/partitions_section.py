"""Dispositions by topic and by partition, with bytes that add up."""

from collections.abc import Sequence

from magicbyte.findings import SEVERITIES
from magicbyte_cli import display
from magicbyte_cli.report import cells
from magicbyte_cli.report.cells import DASH
from magicbyte_cli.report.figures import ReportFigures
from magicbyte_cli.report.figures.partition_figures import (
    BYTE_DISPOSITIONS,
    PartitionFigures,
    summed,
)
from magicbyte_cli.report.markup import Content, Markup, element, joined
from magicbyte_cli.report.plots import bar, key
from magicbyte_cli.report.sections.overview_section import WITHOUT_RECORD_COUNT
from magicbyte_cli.report.tables import Row, section, soft, table

MAX_TOPICS = 100
"""Largest number of topics that have a row."""

MAX_PARTITIONS = 200
"""Largest number of partitions that have a row."""

ORDER = "those with the most errors, damage, warnings, withheld records and bytes, in this order"


def partitions(figures: ReportFigures) -> Markup:
    """Return a row for each topic and each partition, up to the limits of a page."""
    by_topic: dict[str | None, list[PartitionFigures]] = {}
    for partition in figures.partitions:
        by_topic.setdefault(partition.topic, []).append(partition)
    dispositions = [
        name
        for name in BYTE_DISPOSITIONS
        if figures.total.bytes[name] or figures.total.records[name] or name == "delivered"
    ]
    parts: list[Markup] = [
        element("p", *map(key, dispositions), class_="soft"),
        soft(
            "Records, with bytes below them. The bytes of a row add up to its size. Bytes per day are the size over "
            "the time from the first record to the last, where that is an hour or more."
        ),
    ]
    if 1 < len(by_topic) < len(figures.partitions):
        topic_figures = [summed(of_topic, topic) for topic, of_topic in by_topic.items()]
        counts = {name: len(of_topic) for name, of_topic in by_topic.items()}
        parts.append(_topics(topic_figures, counts, dispositions))
    parts.append(_partitions(figures.partitions, dispositions))
    if figures.internal:
        parts.append(_internal(figures.internal))
    return section("partitions", "Topics and partitions", *parts)


def _topics(
    topic_figures: Sequence[PartitionFigures],
    partition_counts: dict[str | None, int],
    dispositions: Sequence[str],
) -> Markup:
    listed, unlisted = _most_grave(topic_figures, MAX_TOPICS)

    def row(topic: PartitionFigures, name: Content, count: int) -> Row:
        head = cells.stacked(name, display.counted(count, "partition"))
        return (head, *_disposition_cells(topic, dispositions))

    rows = [row(topic, _topic_name(topic), partition_counts[topic.topic]) for topic in listed]
    sums = [row(summed(topic_figures), element("b", "total"), sum(partition_counts.values()))]
    if unlisted:
        count = sum(partition_counts[topic.topic] for topic in unlisted)
        sums.insert(0, row(summed(unlisted), f"{len(unlisted):,} other topics", count))
    caption = _caption("By topic", len(listed), len(topic_figures), "topics")
    return table(caption, ("Topic", *_disposition_heads(dispositions)), rows, foot=sums)


def _partitions(partitions: Sequence[PartitionFigures], dispositions: Sequence[str]) -> Markup:
    listed, unlisted = _most_grave(partitions, MAX_PARTITIONS)
    heads = (
        "Partition",
        *_disposition_heads(dispositions),
        ">Log start, end",
        ">Last stable, high watermark",
        "First and last time, UTC",
    )

    def row(figures: PartitionFigures, name: Content) -> Row:
        return (name, *_disposition_cells(figures, dispositions), *_bounds(figures))

    rows = [row(partition, element("b", partition.name)) for partition in listed]
    sums = [row(summed(partitions), element("b", "total"))]
    if unlisted:
        sums.insert(0, row(summed(unlisted), f"{len(unlisted):,} others"))
    caption = _caption("By partition", len(listed), len(partitions), "partitions")
    return table(caption, heads, rows, foot=sums)


def _most_grave(
    partitions: Sequence[PartitionFigures], max_rows: int
) -> tuple[list[PartitionFigures], list[PartitionFigures]]:
    """Return the *max_rows* of highest gravity, the worst first, and the others.

    Partitions that differ only in size stay in their original order.
    """
    by_gravity = sorted(
        range(len(partitions)), key=lambda number: partitions[number].gravity, reverse=True
    )
    numbers = {*by_gravity[:max_rows]}
    listed = [partitions[number] for number in sorted(numbers)]
    return (
        sorted(listed, key=lambda figures: figures.gravity[:-1], reverse=True),
        [partitions[number] for number in range(len(partitions)) if number not in numbers],
    )


def _caption(text: str, num_listed: int, total: int, noun: str) -> Content:
    if num_listed == total:
        return text
    return joined(
        (
            f"{text}: {num_listed:,} of {total:,} {noun}, {ORDER}. A row below has the sum of the "
            "others; the tables ",
            element("code", "partitions"),
            " and ",
            element("code", "segments"),
            " have all",
        )
    )


def _topic_name(topic: PartitionFigures) -> Markup:
    return element("b", "(no name)" if topic.topic is None else topic.topic)


def _disposition_heads(dispositions: Sequence[str]) -> tuple[str, ...]:
    names = (f">{cells.spaced(name).capitalize()}" for name in dispositions)
    return "Findings", "", *names, ">Size", ">Bytes per day"


def _disposition_cells(figures: PartitionFigures, dispositions: Sequence[str]) -> Row:
    segments = display.counted(figures.num_segments, "segment")
    size = cells.stacked(f"{figures.size_bytes:,}", segments)
    if figures.missing_bytes:
        missing = f"{figures.missing_bytes:,} unaccounted for"
        size = joined((size, cells.severity("error", missing)))
    by_disposition = (_disposition_cell(figures, name) for name in dispositions)
    growth = cells.number(figures.bytes_per_day)
    return _findings(figures), bar(figures.bytes), *by_disposition, size, growth


def _disposition_cell(figures: PartitionFigures, name: str) -> Content:
    num_records, size_bytes = figures.records[name], figures.bytes[name]
    if not num_records and not size_bytes:
        return DASH
    cell = cells.stacked(
        "" if name in WITHOUT_RECORD_COUNT else f"{num_records:,}", f"{size_bytes:,} B"
    )
    if name != "withheld" or not figures.unended:
        return cell
    unended = ", ".join(f"{count:,} {outcome}" for outcome, count in figures.unended.items())
    return joined((cell, element("small", unended)))


def _findings(figures: PartitionFigures) -> Content:
    lines = [
        element("div", cells.severity(name, display.counted(figures.problems[name], name)))
        for name in SEVERITIES
        if figures.problems[name]
    ]
    return joined(lines) if lines else DASH


def _bounds(figures: PartitionFigures) -> Row:
    def pair(first_name: str, second_name: str) -> Content:
        values = figures.row.get(first_name), figures.row.get(second_name)
        if values == (None, None):
            return DASH
        return joined((cells.number(values[0]), element("div", cells.number(values[1]))))

    return (
        pair("log_start_offset", "log_end_offset"),
        pair("last_stable_offset", "high_watermark"),
        cells.time_range(figures.times),
    )


def _internal(internal: Sequence[PartitionFigures]) -> Markup:
    figures_by_topic: dict[str | None, list[PartitionFigures]] = {}
    for partition in internal:
        figures_by_topic.setdefault(partition.topic, []).append(partition)
    rows = []
    for topic, of_topic in figures_by_topic.items():
        total = summed(of_topic, topic)
        rows.append(
            (
                _topic_name(total),
                f"{len(of_topic):,}",
                f"{total.num_segments:,}",
                f"{total.size_bytes:,}",
                f"{total.bytes['damaged']:,}",
            )
        )
    return table(
        joined(
            (
                "Internal topics, which were left out: only their bytes were counted. ",
                element("code", "--include-internal"),
                " reads them",
            )
        ),
        ("Topic", ">Partitions", ">Segments", ">Bytes", ">Damaged bytes"),
        rows,
    )
