"""Plots the CPU times of all readers on each file as SVG, relative to the floor of the benchmark."""

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, log10

from magicbyte_tools.bench import contenders as who
from magicbyte_tools.bench.measure import Cell
from magicbyte_tools.bench.ratios import ratio

WIDTH, LEFT, RIGHT, TOP, LINE = 900, 190, 20, 76, 20

MARKS = {
    who.OURS: ("circle", "#0b6e4f"),
    who.JAVA_EXACT: ("square", "#c44536"),
    who.JAVA_COLUMNS: ("hollow", "#c44536"),
    who.GO: ("hollow", "#e09f3e"),
    who.RUST: ("hollow", "#6d597a"),
    who.AIOKAFKA: ("square", "#3d5a80"),
    who.KAFKA_PYTHON: ("hollow", "#3d5a80"),
}
"""Contenders in the plot, with the shape and the colour of their marks."""


def plot(cells: Sequence[Cell]) -> str | None:
    """Return an SVG plot of the files in *cells* whose floor was measured; None if there are none."""
    rows = [(cell.name, ratios) for cell in cells if (ratios := _ratios(cell))]
    if not rows:
        return None
    decades = max(1, ceil(log10(max(max(ratios.values()) for _, ratios in rows))))
    height = TOP + LINE * len(rows) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        *_legend(rows),
        *_axis(decades, height),
    ]
    for number, (name, ratios) in enumerate(rows):
        y = TOP + LINE * number + LINE / 2
        parts.append(f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{escape(name)}</text>')
        for who_, times in ratios.items():
            title = f"<title>{escape(name)}, {escape(who_)}: {times:.2f}</title>"
            parts.append(_mark(who_, _x(times, decades), y, title))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _ratios(cell: Cell) -> dict[str, float]:
    found = {name: ratio(cell, name, who.FLOOR) for name in MARKS}
    return {name: times for name, times in found.items() if times is not None}


def _x(ratio: float, decades: int) -> float:
    """Return the x coordinate of *ratio*, a CPU time relative to the floor's; below 1 is drawn at 1."""
    share = max(0.0, log10(ratio)) / decades
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _axis(decades: int, height: int) -> Iterator[str]:
    for decade in range(decades + 1):
        for times in (1, 2, 5):
            label = times * 10**decade
            if label > 10**decades:
                return
            x = _x(label, decades)
            yield f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{height - 10}" stroke="#ddd"/>'
            yield f'<text x="{x}" y="{TOP - 6}" text-anchor="middle" fill="#555">{label}</text>'


def _legend(rows: Sequence[tuple[str, dict[str, float]]]) -> Iterator[str]:
    yield '<text x="10" y="20" font-weight="bold">CPU time to the floor (1), logarithmic</text>'
    x = LEFT
    for name in MARKS:
        if any(name in ratios for _, ratios in rows):
            yield _mark(name, x, 34, "")
            yield f'<text x="{x + 10}" y="38">{escape(name)}</text>'
            x += 100


def _mark(name: str, x: float, y: float, title: str) -> str:
    shape, colour = MARKS[name]
    if shape == "circle":
        return f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}">{title}</circle>'
    fill = colour if shape == "square" else "white"
    return (
        f'<rect x="{x - 4}" y="{y - 4}" width="8" height="8" fill="{fill}" '
        f'stroke="{colour}" stroke-width="2">{title}</rect>'
    )
