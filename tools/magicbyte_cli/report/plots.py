"""Plots, as SVG that stretches: what has letters is beside it, and keeps its size."""

from collections import Counter
from collections.abc import Sequence

from magicbyte_cli.report.display import counted, fine_moment, length, words
from magicbyte_cli.report.figures.partition_figures import FATES
from magicbyte_cli.report.figures.timeline import Panel
from magicbyte_cli.report.markup import Content, Markup, element, joined

HEIGHT = 100


def bar(parts: Counter[str], unit: str = "byte", whole: int | None = None) -> Markup:
    """Return a bar of *parts* by what they are, full at *whole*, by default at their sum."""
    full = (parts.total() if whole is None else whole) or 1
    made, left = [], 0.0
    for name in dict.fromkeys((*FATES, *parts)):
        if not parts[name]:
            continue
        width = 1000 * parts[name] / full
        made.append((name, _rect(name, left, 0, max(width - 1, 3), 8)))
        left += width
    label = ", ".join(f"{words(name)} {counted(parts[name], unit)}" for name, _ in made)
    return element(
        "svg",
        *(rect for _, rect in made),
        class_="bar",
        viewBox="0 0 1000 8",
        preserveAspectRatio="none",
        role="img",
        aria_label=label or f"no {unit}s",
    )


def key(name: str) -> Markup:
    """Return the name of what a part of a bar is, behind a square of its color."""
    return element("span", element("span", class_=f"key {name}"), words(name), class_="kind")


def lanes(title: str, panels: Sequence[Panel], noun: str) -> Markup:
    """Return counts over time: a panel for each stretch of time, in it a lane for each kind."""
    figures = [_panel(panel, noun) for panel in panels]
    return element(
        "figure",
        element("figcaption", title),
        element("div", *figures, class_=f"panels of{len(figures)}"),
        class_="card",
    )


def _panel(panel: Panel, noun: str) -> Markup:
    ends = (
        fine_moment(panel.start, panel.width),
        fine_moment(panel.end, panel.width),
    )
    made = [_lane(panel, kind, noun) for kind in panel.counts]
    return element(
        "div",
        *made,
        element("div", *(element("span", end) for end in ends), class_="axis"),
        element("p", f"UTC; a bar is {length(panel.width)}", class_="soft"),
        class_="panel",
    )


def _lane(panel: Panel, kind: str, noun: str) -> Markup:
    counts = panel.counts[kind]
    most = max(counts)
    peak = panel.start + panel.width * counts.index(most)
    told = f"{counted(sum(counts), noun)}, at most {most:,} in a bar"
    head = element("div", element("b", words(kind)), element("span", told), class_="lane")
    label = f"{words(kind)}: {told}, most at {fine_moment(peak, panel.width)} UTC"
    return joined((head, _bars(counts, kind, label, panel, noun)))


def _bars(counts: Sequence[int], kind: str, label: str, panel: Panel, noun: str) -> Markup:
    step, most = 1000 / max(len(counts), 1), max(counts)
    bars: list[Content] = []
    for number, count in enumerate(counts):
        if count:
            high = max(HEIGHT * count / most, 2)
            said = f"{fine_moment(panel.start + number * panel.width, panel.width)}: {counted(count, noun)}"
            wide = max(step * 0.88, 1)
            bars.append(_rect(kind, number * step, HEIGHT - high, wide, high, said))
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
