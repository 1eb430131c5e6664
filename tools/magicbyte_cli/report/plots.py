"""Bars and time plots as SVG. Labels are HTML outside of the SVG, which is stretched."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from magicbyte_cli.display import NumberFormat, byte_size, counted, duration, percent
from magicbyte_cli.report.cells import axis_time, spaced
from magicbyte_cli.report.figures.partition_figures import BYTE_DISPOSITIONS
from magicbyte_cli.report.figures.timeline import Panel
from magicbyte_cli.report.markup import Markup, element, joined
from magicbyte_cli.report.tables import table

HEIGHT = 100

MIN_BARS = 12
"""Smallest number of bars for which a panel is wide enough, so that a single bar stays narrow."""

SizeClass = Mapping[str, Any]
"""Class of sizes: `at_least`, half of its upper bound; `entry_count`; and `sum` of the sizes."""


def bar(byte_counts: Counter[str], unit: str = "byte", total: int | None = None) -> Markup:
    """Return a bar divided into *byte_counts* by kind; its full width is *total*, or else their sum."""
    full = (byte_counts.total() if total is None else total) or 1
    rectangles, left = [], 0.0
    for name in dict.fromkeys((*BYTE_DISPOSITIONS, *byte_counts)):
        if not byte_counts[name]:
            continue
        width = 1000 * byte_counts[name] / full
        rectangles.append((name, _rect(name, left, 0, max(width - 1, 3), 8)))
        left += width
    label = ", ".join(
        f"{spaced(name)} {counted(byte_counts[name], unit)}" for name, _ in rectangles
    )
    return _svg("bar", 8, label or f"no {unit}s", [rectangle for _, rectangle in rectangles])


def _svg(class_name: str, height: int, label: str, rectangles: Sequence[Markup]) -> Markup:
    return element(
        "svg",
        *rectangles,
        class_=class_name,
        viewBox=f"0 0 1000 {height}",
        preserveAspectRatio="none",
        role="img",
        aria_label=label,
    )


def key(name: str) -> Markup:
    """Return the legend of one kind of bar: a square of the kind's color, and its name."""
    return element("span", element("span", class_=f"key {name}"), spaced(name), class_="kind")


def lanes(title: str, panels: Sequence[Panel], noun: str) -> Markup:
    """Return counts over time: one panel per range of time, with one lane per kind."""
    highest = max(max(counts) for panel in panels for counts in panel.bars.values())
    columns = " ".join(
        f"minmax(min(100%, 11rem), {max(panel.num_bars, MIN_BARS)}fr)" for panel in panels
    )
    figures = [_panel(panel, noun, highest) for panel in panels]
    return element(
        "figure",
        element("figcaption", title),
        element("div", *figures, class_="panels", style=f"grid-template-columns: {columns}"),
        class_="card",
    )


def _panel(panel: Panel, noun: str, highest: int) -> Markup:
    ends = [axis_time(moment, panel.width) for moment in (panel.start, panel.end)]
    return element(
        "div",
        *(_lane(panel, kind, noun, highest) for kind in panel.bars),
        element("div", *(element("span", end) for end in ends), class_="axis"),
        element("p", f"UTC; one bar is {duration(panel.width)}", class_="soft"),
        class_="panel",
    )


def _lane(panel: Panel, kind: str, noun: str, highest: int) -> Markup:
    counts = panel.bars[kind]
    largest = max(counts)
    peak = panel.start + panel.width * counts.index(largest)
    summary = f"{counted(sum(counts), noun)}, at most {largest:,} per bar"
    head = element("div", element("b", spaced(kind)), element("span", summary), class_="lane")
    label = f"{spaced(kind)}: {summary}, most at {axis_time(peak, panel.width)} UTC"
    return joined((head, _bars(counts, kind, label, panel, noun, highest)))


def _bars(
    counts: Sequence[int], kind: str, label: str, panel: Panel, noun: str, full_height: int
) -> Markup:
    """Return a bar for each of *counts*; the largest possible one, *full_height*, fills the plot."""
    step = 1000 / max(len(counts), MIN_BARS)
    bars: list[Markup] = []
    for number, count in enumerate(counts):
        if count:
            height = max(HEIGHT * count / full_height, 3)
            width = max(step * 0.88, 1)
            start = axis_time(panel.start + number * panel.width, panel.width)
            title = f"{start}: {counted(count, noun)}"
            bars.append(_rect(kind, number * step, HEIGHT - height, width, height, title))
    return _svg("plot", HEIGHT, label, bars)


def _rect(
    kind: str, x: float, y: float, width: float, height: float, title: str | None = None
) -> Markup:
    return element(
        "rect",
        element("title", title) if title else None,
        class_=kind,
        x=f"{x:.1f}",
        y=f"{y:.1f}",
        width=f"{width:.1f}",
        height=f"{height:.1f}",
    )


def class_names(size_classes: Sequence[SizeClass], number_format: NumberFormat) -> Iterator[str]:
    """Yield the name of each class of sizes, such as `4 to 7` or `1 KiB up to 2 KiB`."""
    for size_class in size_classes:
        low = size_class["at_least"]
        if low < 2:
            yield number_format(low)
        elif number_format is byte_size:
            yield f"{number_format(low)} up to {number_format(2 * low)}"
        else:
            yield f"{number_format(low)} to {number_format(2 * low - 1)}"


def histogram(
    caption: str, unit: str, size_classes: Sequence[SizeClass], number_format: NumberFormat
) -> Markup:
    """Return a table with a bar for each class of sizes, which are in *unit*."""
    num_entries = sum(size_class["entry_count"] for size_class in size_classes)
    size_sum = sum(size_class["sum"] for size_class in size_classes)
    largest_count = max((size_class["entry_count"] for size_class in size_classes), default=0)
    rows = [
        (
            name,
            bar(Counter(delivered=size_class["entry_count"]), "entry", largest_count),
            f"{size_class['entry_count']:,}",
            percent(size_class["entry_count"], num_entries),
            percent(size_class["sum"], size_sum),
        )
        for name, size_class in zip(
            class_names(size_classes, number_format), size_classes, strict=True
        )
    ]
    mean = f"{size_sum / num_entries:,.1f} on average" if num_entries else "none"
    heads = (unit.capitalize(), "", ">Entries", ">Share of entries", f">Share of {unit}")
    return table(f"{caption}: {mean}", heads, rows)
