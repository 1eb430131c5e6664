"""Contents of table cells: numbers, times, names of partitions, severities."""

from collections.abc import Iterator

from magicbyte_cli.display import utc, utc_time
from magicbyte_cli.report.markup import Content, Markup, element, joined
from magicbyte_cli.report.tables import figure_card

DASH = element("span", "·", class_="none")
"""Cell without a value."""


def number(value: int | None) -> Content:
    return DASH if value is None else f"{value:,}"


def identifier(value: int | None) -> Content:
    """Return an offset, a position or an id without separators, so that it can be copied."""
    return DASH if value is None else str(value)


def spaced(name: str) -> str:
    """Return the name of a disposition or an outcome with spaces: `below log start`."""
    return name.replace("_", " ")


def time(milliseconds: int | None) -> Content:
    return DASH if milliseconds is None else utc_time(milliseconds)


def time_range(times: tuple[int | None, int | None]) -> Content:
    """Return a cell with the first and the last of *times*, one below the other."""
    first, last = times
    return DASH if first is None else joined((time(first), element("div", time(last))))


def axis_time(milliseconds: int, bar_width_ms: int) -> str:
    """Return a time with the precision that bars of *bar_width_ms* need."""
    moment = utc(milliseconds)
    if moment is None:
        return f"{milliseconds:,} ms"
    if bar_width_ms < 1000:
        return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03}"
    return f"{moment:%Y-%m-%d %H:%M:%S}" if bar_width_ms < 86_400_000 else f"{moment:%Y-%m-%d}"


def time_cards(first: int | None, last: int | None, *, absent: Content) -> Iterator[Markup]:
    """Yield cards with the dates and times of the first and the last record."""
    for milliseconds, name in ((first, "first record"), (last, "last record")):
        moment = None if milliseconds is None else utc(milliseconds)
        if moment is not None:
            yield figure_card(f"{moment:%Y-%m-%d}", name, f"{moment:%H:%M:%S} UTC")
        else:
            yield figure_card(absent if milliseconds is None else f"{milliseconds:,}", name, None)


def error_card(num_errors: int, detail: str) -> Markup:
    """Return a card with the number of findings of severity `error`, and *detail* below it."""
    figure = element("span", f"{num_errors:,}", class_="error" if num_errors else None)
    return figure_card(figure, "error" if num_errors == 1 else "errors", detail)


def partition(topic: str | None, number: int | None) -> Content:
    return DASH if topic is None else f"{topic}-{number}"


def stacked(upper: Content, lower: Content) -> Markup:
    """Return the content of a cell: *upper*, and *lower* in small letters below."""
    return joined((upper, element("small", lower) if lower is not None else None))


def severity(name: str, text: str | None = None) -> Markup:
    """Return the name of a severity, or *text*, with a symbol besides the color."""
    return element("span", text or name, class_=f"severity {name}")


def partial_caption(caption: str, shown: int, total: int, table: str, which: str) -> Content:
    """Return *caption*; if some rows are left out, add both numbers of rows and *which* are shown."""
    if shown >= total:
        return caption
    counts = f"{caption}: {shown:,} of {total:,}, {which}; the table "
    return joined((counts, element("code", table), " has all"))
