"""Contents of table cells: numbers, times, names of partitions, severities."""

from magicbyte_cli.display import utc, utc_time
from magicbyte_cli.report.markup import Content, Markup, element, joined

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
    """Return the first and the last of *times*, one below the other."""
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


def date(milliseconds: int) -> str:
    moment = utc(milliseconds)
    return f"{milliseconds:,}" if moment is None else f"{moment:%Y-%m-%d}"


def time_of_day(milliseconds: int | None) -> str | None:
    moment = None if milliseconds is None else utc(milliseconds)
    return None if moment is None else f"{moment:%H:%M:%S} UTC"


def partition(topic: str | None, number: int | None) -> Content:
    return DASH if topic is None else f"{topic}-{number}"


def stacked(upper: Content, lower: Content) -> Markup:
    """Return *upper* with *lower* in small letters below it."""
    return joined((upper, element("small", lower) if lower is not None else None))


def severity(name: str, text: str | None = None) -> Markup:
    """Return the name of a severity, or *text*, with a symbol besides the color."""
    return element("span", text or name, class_=f"severity {name}")


def partial_caption(caption: str, shown: int, total: int, table: str, which: str) -> Content:
    """Return *caption*; if not all rows are shown, with their numbers and *which* are shown."""
    if shown >= total:
        return caption
    counts = f"{caption}: {shown:,} of {total:,}, {which}; the table "
    return joined((counts, element("code", table), " has all"))
