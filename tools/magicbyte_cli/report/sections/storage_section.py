"""How it is stored: formats, codecs, sizes of batches."""

from collections import Counter
from collections.abc import Iterator, Sequence

from magicbyte_cli.report import display
from magicbyte_cli.report.display import DASH
from magicbyte_cli.report.figures.entry_figures import EntryFigures, Share, Sizes
from magicbyte_cli.report.markup import Content, Markup, element
from magicbyte_cli.report.plots import bar
from magicbyte_cli.report.tables import section, soft, table


def storage(entries: EntryFigures) -> Markup:
    """Return the shares of codecs and formats, with what their bytes hold."""
    ratio = (
        "The ratio is bytes of decoded keys and values to stored bytes. The frame around "
        "records and batches is stored too, and headers are not counted, so that it is below 1 "
        "where nothing is compressed."
        if entries.is_measured
        else "How far they were compressed this output does not tell: it was made before that was "
        "written."
    )
    return section(
        "storage",
        "Formats and codecs",
        soft(
            f"{display.counted(entries.num_entries - entries.num_control, 'entry', 'entries')}: batches "
            "of v2, messages and wrappers of v0 and v1. "
            f"{display.counted(entries.num_control, 'control batch', 'control batches')} and what is "
            "damaged are left out of the tables. ",
            ratio,
        ),
        _shares("Codecs", "Codec", entries.codecs),
        _shares("Formats", "Format", entries.formats),
    )


def _shares(caption: str, head: str, shares: Sequence[Share]) -> Markup:
    whole = sum(share.bytes for share in shares)
    rows = [
        (
            element("b", share.name),
            bar(Counter(delivered=share.bytes), whole=whole),
            display.percent(share.bytes, whole),
            f"{share.entries:,}",
            f"{share.records:,}",
            f"{share.bytes:,}",
            *_contents(share.content_bytes, share.measured_bytes),
        )
        for share in shares
    ]
    foot: tuple[Content, ...] = (
        element("b", "together"),
        "",
        display.percent(whole, whole),
        f"{sum(share.entries for share in shares):,}",
        f"{sum(share.records for share in shares):,}",
        f"{whole:,}",
        *_contents(
            sum(share.content_bytes for share in shares),
            sum(share.measured_bytes for share in shares),
        ),
    )
    heads = (
        head,
        "",
        ">Share",
        ">Entries",
        ">Records",
        ">Stored bytes",
        ">Key and value bytes",
        ">Ratio",
    )
    return table(caption, heads, rows, foot=[foot])


def _contents(content: int, measured: int) -> tuple[Content, Content]:
    """Return bytes of keys and values, and how many of them a stored byte holds."""
    return (f"{content:,}", f"{content / measured:.2f}") if measured else (DASH, DASH)


def sizes(entries: EntryFigures) -> Markup:
    """Return how large entries with data are."""
    return section(
        "sizes",
        "Batch sizes",
        element(
            "div",
            _classes("Bytes of an entry", "Bytes", entries.bytes, display.size),
            _classes("Records in an entry", "Records", entries.records, lambda value: f"{value:,}"),
            class_="pair",
        ),
    )


def _classes(caption: str, head: str, found: Sizes, shown: display.Shown) -> Markup:
    if found.mean is None:
        return table(f"{caption}: there are none", (head,), [])
    most, whole, weight = (
        max(found.entries.values()),
        found.entries.total(),
        found.weights.total(),
    )
    rows = [
        (
            name,
            bar(Counter(delivered=found.entries[number]), "entry", most),
            f"{found.entries[number]:,}",
            display.percent(found.entries[number], whole),
            display.percent(found.weights[number], weight),
        )
        for number, name in _names(found, shown)
    ]
    mean = f"{found.mean:,.1f}"
    return table(
        f"{caption}: {mean} on average, {found.largest:,} at most",
        (head, "", ">Entries", ">Of entries", f">Of all {head.lower()}"),
        rows,
    )


def _names(found: Sizes, shown: display.Shown) -> Iterator[tuple[int, str]]:
    """Yield each class between the smallest and the largest there are, with a name."""
    for number in range(min(found.entries), max(found.entries) + 1):
        if number < 0:
            yield number, "0"
        elif number == 0:
            yield number, shown(1)
        elif number == 1 or shown is not display.size:
            yield number, f"{shown(1 << number)} to {shown((2 << number) - 1)}"
        else:
            yield number, f"{shown(1 << number)} up to {shown(2 << number)}"
