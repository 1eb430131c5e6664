"""Numbers, times and names as people read them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from magicbyte_cli.report.markup import Content, Markup, element, joined

DASH = element("span", "·", class_="none")
"""Stands for nothing at all."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

LENGTHS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1))
"""Units of a length of time, in milliseconds."""

Shown = Callable[[int], str]
"""Makes text of a number."""

YEAR = 365 * 86_400_000


def number(value: int | None) -> Content:
    return DASH if value is None else f"{value:,}"


def counted(value: int, noun: str, plural: str | None = None) -> str:
    return f"{value:,} {noun if value == 1 else plural or noun + 's'}"


def words(name: str) -> str:
    """Return the name of a disposition or an outcome as words."""
    return name.replace("_", " ")


def percent(part: int, whole: int) -> str:
    if not whole:
        return ""
    share = 100 * part / whole
    return f"{share:.1f} %" if share >= 0.05 or not part else "< 0.1 %"


def size(value: int | None) -> str:
    """Return *value* bytes for people: 1,023 B, 1.5 MiB."""
    scaled = float(value or 0)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if scaled < 1024 or unit == "TiB":
            break
        scaled /= 1024
    return f"{scaled:,.0f} B" if unit == "B" else f"{scaled:,.1f} {unit}"


def length(milliseconds: int) -> str:
    """Return a length of time in its two largest units: 1 min 4 s."""
    if milliseconds >= YEAR:
        return f"{milliseconds / YEAR:,.1f} years"
    parts, left = [], abs(milliseconds)
    for unit, scale in LENGTHS:
        if left >= scale:
            parts.append(f"{left // scale} {unit}")
            left %= scale
    return ("-" if milliseconds < 0 else "") + (" ".join(parts[:2]) or "0 ms")


def utc(milliseconds: int) -> datetime | None:
    """Return a time since the epoch; None where no calendar of ours has it."""
    try:
        return EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None


def moment(milliseconds: int | None) -> Content:
    if milliseconds is None:
        return DASH
    time = utc(milliseconds)
    return f"{milliseconds:,} ms" if time is None else f"{time:%Y-%m-%d %H:%M:%S}"


def fine_moment(milliseconds: int, width: int) -> str:
    """Return a time as finely as bars of *width* milliseconds need it."""
    time = utc(milliseconds)
    if time is None:
        return f"{milliseconds:,} ms"
    if width < 1000:
        return f"{time:%Y-%m-%d %H:%M:%S}.{time.microsecond // 1000:03}"
    return f"{time:%Y-%m-%d %H:%M:%S}" if width < 86_400_000 else f"{time:%Y-%m-%d}"


def day(milliseconds: int) -> str:
    time = utc(milliseconds)
    return f"{milliseconds:,}" if time is None else f"{time:%Y-%m-%d}"


def clock(milliseconds: int | None) -> str | None:
    time = None if milliseconds is None else utc(milliseconds)
    return None if time is None else f"{time:%H:%M:%S} UTC"


def place(topic: str | None, partition: int | None) -> Content:
    return DASH if topic is None else f"{topic}-{partition}"


def two(first: Content, second: Content) -> Markup:
    """Return *first* with *second* small below it."""
    return joined((first, element("small", second) if second is not None else None))


def severity(name: str, text: str | None = None) -> Markup:
    """Return the word for a severity, with a sign that is not only a color."""
    return element("span", text or name, class_=f"severity {name}")


def plain(value: int | None) -> Content:
    """Return a number that is a name or a place, to be copied: without separators."""
    return DASH if value is None else str(value)


def part(caption: str, shown: int, whole: int, table: str, which: str) -> Content:
    """Return *caption*, with which ones they are where not all of *whole* rows are shown."""
    if shown >= whole:
        return caption
    said = f"{caption}: {shown:,} of {whole:,}, those {which}; the table "
    return joined((said, element("code", table), " has all"))
