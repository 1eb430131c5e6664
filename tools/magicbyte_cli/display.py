"""Strings, counts, sizes and times as text for people; safe to print on a terminal."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

NumberFormat = Callable[[int], str]
"""Formats a number for people."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

UNITS_OF_TIME = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1))
"""Units of a duration, in milliseconds."""

YEAR_MS = 365 * 86_400_000


def printable(text: str) -> str:
    """Return *text* with each character that does not print escaped as in a Python literal."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def printable_bytes(data: bytes) -> str:
    r"""Return *data* decoded as UTF-8, with `\x..` for each byte that is not UTF-8."""
    return printable(data.decode("utf-8", "backslashreplace"))


def text_line(text: str) -> bytes:
    """Return *text* as one line of output."""
    return f"{printable(text)}\n".encode("utf-8", "backslashreplace")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return *number* with its noun: `1 batch`, `1,024 batches`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(count: int, whole: int) -> str:
    if not whole:
        return ""
    share = 100 * count / whole
    return f"{share:.1f} %" if share >= 0.05 or not count else "< 0.1 %"


def byte_size(size_bytes: int | None) -> str:
    """Return a number of bytes in the unit that suits it: `1,023 B`, `1.5 MiB`."""
    scaled = float(size_bytes or 0)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if scaled < 1024 or unit == "TiB":
            break
        scaled /= 1024
    return f"{scaled:,.0f} B" if unit == "B" else f"{scaled:,.1f} {unit}"


def duration(milliseconds: int) -> str:
    """Return a duration in its two largest units: `1 min 4 s`."""
    if milliseconds >= YEAR_MS:
        return f"{milliseconds / YEAR_MS:,.1f} years"
    parts, remainder = [], abs(milliseconds)
    for unit, scale in UNITS_OF_TIME:
        if remainder >= scale:
            parts.append(f"{remainder // scale} {unit}")
            remainder %= scale
    return ("-" if milliseconds < 0 else "") + (" ".join(parts[:2]) or "0 ms")


def utc(milliseconds: int) -> datetime | None:
    """Return a time since the Unix epoch; None outside of the years 1 to 9999."""
    try:
        return EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None


def iso_time(milliseconds: int) -> str:
    """Return a time since the Unix epoch in ISO 8601; outside of the years 1 to 9999 its number."""
    time = utc(milliseconds)
    if time is None:
        return f"{milliseconds}ms"
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def utc_time(milliseconds: int) -> str:
    """Return a time since the Unix epoch to the second, in UTC."""
    time = utc(milliseconds)
    return f"{milliseconds:,} ms" if time is None else f"{time:%Y-%m-%d %H:%M:%S}"
