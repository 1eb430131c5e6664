"""What became of each topic and partition, with bytes that add up."""

from collections.abc import Sequence

from magicbyte_cli.report import display
from magicbyte_cli.report.display import DASH
from magicbyte_cli.report.figures import Figures
from magicbyte_cli.report.figures.partition_figures import FATES, PartitionFigures, together
from magicbyte_cli.report.figures.problem_figures import SEVERITIES
from magicbyte_cli.report.markup import Content, Markup, element, joined
from magicbyte_cli.report.plots import bar, key
from magicbyte_cli.report.sections.overview_section import UNCOUNTED
from magicbyte_cli.report.tables import Row, section, soft, table

MAX_TOPICS = 100
"""Topics that have a row."""

MAX_PARTITIONS = 200
"""Partitions that have a row."""

SHOWN = "those with most errors, then damage, warnings, withheld records and bytes"


def partitions(figures: Figures) -> Markup:
    """Return a row for each topic and for each partition, as many as a page can bear."""
    read = figures.partitions
    by_topic: dict[str | None, list[PartitionFigures]] = {}
    for one in read:
        by_topic.setdefault(one.topic, []).append(one)
    keys = [
        name
        for name in FATES
        if figures.whole.bytes[name] or figures.whole.records[name] or name == "delivered"
    ]
    parts: list[Markup] = [
        element("p", *map(key, keys), class_="soft"),
        soft("Records, and below them bytes; the bytes of a row add up to its size."),
    ]
    if 1 < len(by_topic) < len(read):
        topics = [together(group, topic) for topic, group in by_topic.items()]
        parts.append(_topics(topics, {name: len(group) for name, group in by_topic.items()}, keys))
    parts.append(_partitions(read, keys))
    if figures.internal:
        parts.append(_internal(figures.internal))
    return section("partitions", "Topics and partitions", *parts)


def _topics(
    topics: Sequence[PartitionFigures], counts: dict[str | None, int], keys: Sequence[str]
) -> Markup:
    shown, rest = _gravest(topics, MAX_TOPICS)

    def row(one: PartitionFigures, name: Content, count: int) -> Row:
        return (display.two(name, display.counted(count, "partition")), *_fates(one, keys))

    rows = [row(one, _topic(one), counts[one.topic]) for one in shown]
    if rest:
        count = sum(counts[one.topic] for one in rest)
        rows.append(row(together(rest), f"{len(rest):,} other topics", count))
    total = row(together(topics), element("b", "together"), sum(counts.values()))
    caption = _caption("By topic", len(shown), len(topics), "topics")
    return table(caption, ("Topic", *_fate_heads(keys)), rows, foot=[total])


def _partitions(read: Sequence[PartitionFigures], keys: Sequence[str]) -> Markup:
    shown, rest = _gravest(read, MAX_PARTITIONS)
    heads = (
        "Partition",
        *_fate_heads(keys),
        ">Log start, end",
        ">Last stable, high watermark",
        "First and last time, UTC",
    )
    rows = [(element("b", one.name), *_fates(one, keys), *_ends(one)) for one in shown]
    if rest:
        other = together(rest)
        rows.append((f"{len(rest):,} others", *_fates(other, keys), *_ends(other)))
    whole = together(read)
    total = (element("b", "together"), *_fates(whole, keys), *_ends(whole))
    caption = _caption("By partition", len(shown), len(read), "partitions")
    return table(caption, heads, rows, foot=[total])


def _gravest(
    parts: Sequence[PartitionFigures], most: int
) -> tuple[list[PartitionFigures], list[PartitionFigures]]:
    """Return the *most* of *parts* that are to be looked at first, and the others, in their order."""
    order = sorted(range(len(parts)), key=lambda number: parts[number].gravity, reverse=True)
    chosen = {*order[:most]}
    shown = [one for number, one in enumerate(parts) if number in chosen]
    return shown, [one for number, one in enumerate(parts) if number not in chosen]


def _caption(text: str, shown: int, whole: int, noun: str) -> Content:
    if shown == whole:
        return text
    return joined(
        (
            f"{text}: {shown:,} of {whole:,} {noun}, {SHOWN}; the others are one row, and the tables ",
            element("code", "partitions"),
            " and ",
            element("code", "segments"),
            " have all",
        )
    )


def _topic(one: PartitionFigures) -> Markup:
    return element("b", "(no name)" if one.topic is None else one.topic)


def _fate_heads(keys: Sequence[str]) -> tuple[str, ...]:
    return "Findings", "", *(f">{display.words(name).capitalize()}" for name in keys), ">Size"


def _fates(one: PartitionFigures, keys: Sequence[str]) -> Row:
    size = display.two(f"{one.size_bytes:,}", display.counted(one.num_segments, "segment"))
    if one.missing_bytes:
        size = joined((size, display.severity("error", f"{one.missing_bytes:,} in none")))
    return _findings(one), bar(one.bytes), *(_fate(one, name) for name in keys), size


def _fate(one: PartitionFigures, name: str) -> Content:
    records, size = one.records[name], one.bytes[name]
    if not records and not size:
        return DASH
    cell = display.two("" if name in UNCOUNTED else f"{records:,}", f"{size:,} B")
    if name != "withheld" or not one.unended:
        return cell
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in one.unended.items())
    return joined((cell, element("small", told)))


def _findings(one: PartitionFigures) -> Content:
    told = [
        element("div", display.severity(name, display.counted(one.problems[name], name)))
        for name in SEVERITIES
        if one.problems[name]
    ]
    return joined(told) if told else DASH


def _ends(one: PartitionFigures) -> Row:
    def pair(first: str, second: str) -> Content:
        values = one.row.get(first), one.row.get(second)
        if values == (None, None):
            return DASH
        return joined((display.number(values[0]), element("div", display.number(values[1]))))

    first, last = one.times
    return (
        pair("log_start_offset", "log_end_offset"),
        pair("last_stable_offset", "high_watermark"),
        DASH
        if first is None
        else joined((display.moment(first), element("div", display.moment(last)))),
    )


def _internal(internal: Sequence[PartitionFigures]) -> Markup:
    topics: dict[str | None, list[PartitionFigures]] = {}
    for one in internal:
        topics.setdefault(one.topic, []).append(one)
    rows = []
    for topic, group in topics.items():
        whole = together(group, topic)
        rows.append(
            (
                _topic(whole),
                f"{len(group):,}",
                f"{whole.num_segments:,}",
                f"{whole.size_bytes:,}",
                f"{whole.bytes['damaged']:,}",
            )
        )
    return table(
        joined(
            (
                "Internal topics, which nobody named: their bytes are accounted for, and no more; ",
                element("code", "--include-internal"),
                " reads them",
            )
        ),
        ("Topic", ">Partitions", ">Segments", ">Bytes", ">Of these damaged"),
        rows,
    )
