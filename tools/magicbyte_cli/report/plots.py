"""Bars and time plots as SVG. Labels are HTML outside of the SVG, which is stretched."""

from collections import Counter
from collections.abc import Sequence

from magicbyte_cli.display import counted, duration
from magicbyte_cli.report.cells import axis_time, spaced
from magicbyte_cli.report.figures.partition_figures import BYTE_DISPOSITIONS
from magicbyte_cli.report.figures.timeline import Panel
from magicbyte_cli.report.markup import Content, Markup, element, joined

HEIGHT = 100


def bar(parts: Counter[str], unit: str = "byte", total: int | None = None) -> Markup:
    """Return a bar divided into *parts* by kind; its full width is *total*, or else their sum."""
    full = (parts.total() if total is None else total) or 1
    rectangles, left = [], 0.0
    for name in dict.fromkeys((*BYTE_DISPOSITIONS, *parts)):
        if not parts[name]:
            continue
        width = 1000 * parts[name] / full
        rectangles.append((name, _rect(name, left, 0, max(width - 1, 3), 8)))
        left += width
    label = ", ".join(f"{spaced(name)} {counted(parts[name], unit)}" for name, _ in rectangles)
    return element(
        "svg",
        *(rect for _, rect in rectangles),
        class_="bar",
        viewBox="0 0 1000 8",
        preserveAspectRatio="none",
        role="img",
        aria_label=label or f"no {unit}s",
    )


def key(name: str) -> Markup:
    """Return the legend of a kind of part: a square of its color, and its name."""
    return element("span", element("span", class_=f"key {name}"), spaced(name), class_="kind")


def lanes(title: str, panels: Sequence[Panel], noun: str) -> Markup:
    """Return counts over time: one panel per range of time, with one lane per kind."""
    figures = [_panel(panel, noun) for panel in panels]
    return element(
        "figure",
        element("figcaption", title),
        element("div", *figures, class_=f"panels of{len(figures)}"),
        class_="card",
    )


def _panel(panel: Panel, noun: str) -> Markup:
    ends = (
        axis_time(panel.start, panel.width),
        axis_time(panel.end, panel.width),
    )
    panel_lanes = [_lane(panel, kind, noun) for kind in panel.counts]
    return element(
        "div",
        *panel_lanes,
        element("div", *(element("span", end) for end in ends), class_="axis"),
        element("p", f"UTC; one bar is {duration(panel.width)}", class_="soft"),
        class_="panel",
    )


def _lane(panel: Panel, kind: str, noun: str) -> Markup:
    counts = panel.counts[kind]
    highest = max(counts)
    peak = panel.start + panel.width * counts.index(highest)
    summary = f"{counted(sum(counts), noun)}, at most {highest:,} per bar"
    head = element("div", element("b", spaced(kind)), element("span", summary), class_="lane")
    label = f"{spaced(kind)}: {summary}, most at {axis_time(peak, panel.width)} UTC"
    return joined((head, _bars(counts, kind, label, panel, noun)))


def _bars(counts: Sequence[int], kind: str, label: str, panel: Panel, noun: str) -> Markup:
    step, highest = 1000 / max(len(counts), 1), max(counts)
    bars: list[Content] = []
    for number, count in enumerate(counts):
        if count:
            height = max(HEIGHT * count / highest, 2)
            width = max(step * 0.88, 1)
            start = axis_time(panel.start + number * panel.width, panel.width)
            title = f"{start}: {counted(count, noun)}"
            bars.append(_rect(kind, number * step, HEIGHT - height, width, height, title))
    return element(
        "svg",
        *bars,
        class_="plot",
        viewBox=f"0 0 1000 {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=label,
    )


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
