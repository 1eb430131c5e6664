"""The page: figures in, HTML out. No script, nothing from elsewhere."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from magicbyte.findings import CODES
from magicbyte_tools.report.figures import (
    SEVERITIES,
    Figures,
    PartitionFigures,
    Share,
    read_figures,
    total,
)
from magicbyte_tools.report.markup import Content, Markup, element, joined
from magicbyte_tools.report.style import FILLS, KEYS, STYLE

MEANINGS = {
    "delivered": "what a consumer would have got",
    "aborted": "data of aborted transactions",
    "withheld": "at or above the last stable offset, or of a transaction without an end",
    "control": "transaction markers and other records of Kafka's own",
    "below_log_start": "deleted, the files are not yet",
    "outside_range": "outside of what was asked for",
    "damaged": "not what Kafka wrote: see the problems",
    "over_limit": "larger than a limit that can be raised",
    "superseded": "replaced by a file that cleaning made",
    "duplicate": "there twice",
    "tail": "an unfinished entry, or zeros, at a log's end",
}

MAX_FLAT = 300
"""Partitions that one table shows; more are folded by topic."""

DASH = element("span", "·", class_="none")


def write_report(folder: Path) -> None:
    """Write report.html into *folder*, an output of pipeline, from the tables in it."""
    page = render(read_figures(folder))
    (folder / "report.html").write_text(page, encoding="utf-8")


def render(figures: Figures) -> str:
    """Return the page that shows *figures*."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element(
            "meta",
            http_equiv="Content-Security-Policy",
            content="default-src 'none'; style-src 'unsafe-inline'",
        ),
        element("title", "magicbyte report"),
        element("style", Markup(STYLE + FILLS)),
    )
    body = element(
        "body",
        _heading(figures),
        _cards(figures),
        element("h2", "Where the bytes went"),
        _fates(figures),
        element("h2", "How they are stored"),
        element(
            "div",
            _shares("Codecs, by bytes of entries", figures.codecs),
            _shares("Formats, by bytes of entries", figures.formats),
            class_="pair",
        ),
        element("h2", "Transactions"),
        *_transactions(figures),
        element("h2", "Problems"),
        *_problems(figures),
        element("h2", "Partitions"),
        *_partitions(figures.partitions),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


# Parts


def _heading(figures: Figures) -> Markup:
    about = figures.about
    paths = joined(
        joined((", " if number else None, element("code", path)))
        for number, path in enumerate(about.get("paths", []))
    )
    return element(
        "header",
        element("h1", "magicbyte report"),
        element("p", paths, f" · {about.get('isolation_level')}", class_="soft"),
    )


def _cards(figures: Figures) -> Markup:
    records = figures.records
    delivered = records["delivered"]
    rest = sum(records.values()) - delivered
    size = sum(figures.bytes.values())
    unread = len(figures.partitions) - len(figures.read)
    times = [time for one in figures.read for time in one.times if time is not None]
    errors = figures.severities["error"]
    others = [_counted(figures.severities[name], name) for name in SEVERITIES[1:]]
    return element(
        "div",
        _card(
            delivered, "records delivered", f"{rest:,} not delivered" if rest else "all there are"
        ),
        _card(
            len(figures.read),
            "partitions read",
            f"{_counted(unread, 'internal one')} left out" if unread else None,
        ),
        _card(_size(size), _counted(figures.num_segments, "live segment"), f"{size:,} bytes"),
        _card(
            element("span", f"{errors:,}", class_="error" if errors else None),
            "error" if errors == 1 else "errors",
            ", ".join(others),
        ),
        _card(
            _day(min(times)) if times else "none", "first record", _clock(min(times, default=None))
        ),
        _card(
            _day(max(times)) if times else "none", "last record", _clock(max(times, default=None))
        ),
        class_="cards",
    )


def _card(figure: Content, name: str, more: str | None) -> Markup:
    shown = f"{figure:,}" if isinstance(figure, int) else figure
    small = element("div", more, class_="soft") if more else None
    return element("div", element("b", shown), name, small, class_="card")


def _fates(figures: Figures) -> Markup:
    sizes, records = figures.bytes, figures.records
    whole = sum(sizes.values())
    rows = [
        (
            joined((element("span", class_=f"key {name}"), _words(name))),
            _number(records[name]),
            _number(sizes[name]),
            _percent(sizes[name], whole),
            element("span", MEANINGS[name], class_="soft"),
        )
        for name in KEYS
        if sizes[name] or records[name] or name in ("delivered", "damaged")
    ]
    table = _table(("", ">Records", ">Bytes", ">Share", ""), rows)
    return element("div", _bar(sizes), table, class_="card big")


def _shares(title: str, shares: Sequence[Share]) -> Markup:
    whole = sum(share.bytes for share in shares)
    rows = [
        (
            element("b", share.name),
            _bar(Counter(delivered=share.bytes), whole),
            _percent(share.bytes, whole),
            _two(_size(share.bytes), None),
            _number(share.entries),
            _number(share.records),
        )
        for share in shares
    ]
    table = (
        _table(("", "", ">Share", ">Size", ">Entries", ">Records"), rows)
        if rows
        else element("p", "No entries.", class_="soft")
    )
    return element("div", element("h3", title), table, class_="card")


def _transactions(figures: Figures) -> Iterable[Markup]:
    if not figures.outcomes:
        yield element("p", "There are none.", class_="soft")
        return
    order = ("committed", "aborted", "open", "undecided")
    rows = [
        (
            element("b", name),
            _number(figures.outcomes[name]["transactions"]),
            _number(figures.outcomes[name]["records"]),
            _size(figures.outcomes[name]["bytes"]),
        )
        for name in order
        if name in figures.outcomes
    ]
    table = _table(("Outcome", ">Transactions", ">Records", ">Size"), rows)
    yield element("div", element("div", table, class_="card"), class_="pair")
    if not figures.endless:
        return
    rows_open = [
        (
            _name(row["topic"], row["partition"]),
            row["outcome"],
            _number(row["producer_id"]),
            _number(row["first_offset"]),
            _number(row["last_offset"]),
            _number(row["record_count"]),
            _moment(row["first_timestamp"], 1000),
        )
        for row in figures.endless
    ]
    ends = sum(
        figures.outcomes[name]["transactions"] for name in order[2:] if name in figures.outcomes
    )
    yield element("h3", f"Without an end{_of(len(rows_open), ends)}", style="margin-top:1rem")
    yield _scroll(
        (
            "Partition",
            "Outcome",
            ">Producer id",
            ">First offset",
            ">Last offset",
            ">Records",
            "Begun, UTC",
        ),
        rows_open,
    )


def _problems(figures: Figures) -> Iterable[Markup]:
    if not figures.problems:
        yield element("p", "None were found.", class_="soft")
        return
    by_code = sorted(
        figures.codes.items(), key=lambda item: (SEVERITIES.index(item[0][0]), -item[1])
    )
    yield _scroll(
        ("Severity", "Code", ">How many", "What it means"),
        [
            (
                _severity(severity),
                element("code", code),
                _number(count),
                element("span", CODES[code].sentence if code in CODES else "", class_="soft"),
            )
            for (severity, code), count in by_code
        ],
    )
    number = sum(figures.severities.values())
    shown = len(figures.problems)
    yield element(
        "h3", f"One by one{_of(shown, number)}, the gravest first", style="margin-top:1rem"
    )
    yield _scroll(
        ("Severity", "Partition", "File", ">Byte", ">Length", ">Offset", "What was found"),
        [
            (
                _severity(row["severity"]),
                _name(row["topic"], row["partition"]),
                element("code", row["file"]) if row["file"] else DASH,
                _number(row["position"]),
                _number(row["length"]),
                _number(row["base_offset"]),
                joined((row["message"], " ", element("code", row["code"], class_="soft"))),
            )
            for row in figures.problems
        ],
        wide=6,
    )


def _partitions(partitions: Sequence[PartitionFigures]) -> Iterable[Markup]:
    shown = total([*(one.bytes for one in partitions), *(one.records for one in partitions)])
    keys = [name for name in KEYS if shown[name] or name in ("delivered", "damaged")]
    yield element(
        "p",
        joined(
            element("span", element("span", class_=f"key {name}"), _words(name), class_="kind")
            for name in keys
        ),
        class_="soft",
    )
    yield element(
        "p",
        "Records, and below them bytes of entries. A dot is none; a kind that no partition has ",
        "is left out.",
        class_="soft",
    )
    by_topic: dict[str | None, list[PartitionFigures]] = {}
    for one in partitions:
        by_topic.setdefault(one.topic, []).append(one)
    if len(partitions) <= MAX_FLAT or len(partitions) < 4 * len(by_topic):
        yield _partition_table(partitions, keys)
        return
    for topic, group in by_topic.items():
        yield element("details", _summary(topic, group), _partition_table(group, keys))


def _summary(topic: str | None, group: Sequence[PartitionFigures]) -> Markup:
    sizes = total(one.bytes for one in group)
    records = total(one.records for one in group)
    return element(
        "summary",
        element("b", "(no name)" if topic is None else topic),
        element("span", _counted(len(group), "partition"), class_="soft"),
        _bar(sizes),
        element("span", f"{records['delivered']:,} delivered", class_="n"),
        element("span", _size(sum(sizes.values())), class_="n soft"),
        _problem_count(total(one.problems for one in group)),
    )


def _partition_table(partitions: Sequence[PartitionFigures], keys: Sequence[str]) -> Markup:
    heads = (
        "Partition",
        "Problems",
        "",
        *(f">{_words(name).capitalize()}" for name in keys),
        ">Size",
        ">Log start, end",
        ">Last stable, high watermark",
        "First and last time, UTC",
    )
    rows = []
    for one in partitions:
        row, records = one.row, one.records
        rows.append(
            (
                _two(
                    element("b", one.name),
                    None if one.is_read else "internal, not in records",
                ),
                _problem_count(one.problems),
                _bar(one.bytes),
                *(_fate(name, records[name], one.bytes[name]) for name in keys),
                _two(
                    _size(row["size_bytes"]),
                    _counted(row["segment_count"], "segment"),
                ),
                _below(row["log_start_offset"], row["log_end_offset"]),
                _below(row["last_stable_offset"], row["high_watermark"]),
                joined((_moment(one.times[0]), element("div", _moment(one.times[1]))))
                if one.times[0] is not None
                else DASH,
            )
        )
    return _scroll(heads, rows)


def _fate(name: str, records: int, size: int) -> Content:
    if not records and not size:
        return DASH
    if name in ("damaged", "over_limit", "tail"):  # their records are not known
        return _two("", _size(size))
    return _two(f"{records:,}", _size(size))


# Pieces


def _table(
    heads: Sequence[str], rows: Iterable[Sequence[Content]], *, wide: int | None = None
) -> Markup:
    """Return a table; a head that begins with `>` is that of a column of numbers."""
    kinds = [
        "n" if head.startswith(">") else "wide" if number == wide else None
        for number, head in enumerate(heads)
    ]
    top = joined(
        element("th", head.removeprefix(">"), class_=kind)
        for head, kind in zip(heads, kinds, strict=True)
    )
    lines = (
        element(
            "tr",
            *(element("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True)),
        )
        for row in rows
    )
    return element("table", element("thead", element("tr", top)), element("tbody", *lines))


def _scroll(
    heads: Sequence[str], rows: Iterable[Sequence[Content]], *, wide: int | None = None
) -> Markup:
    return element("div", _table(heads, rows, wide=wide), class_="scroll")


def _bar(sizes: Counter[str], whole: int | None = None) -> Markup:
    """Return a bar of *sizes* by what they are, full at *whole*, by default at their sum."""
    full = (sum(sizes.values()) if whole is None else whole) or 1
    parts, left = [], 0.0
    for name in KEYS:
        if sizes[name]:
            width = 1000 * sizes[name] / full
            parts.append(
                element(
                    "rect",
                    class_=name,
                    x=f"{left:.1f}",
                    y="0",
                    width=f"{max(width, 4):.1f}",
                    height="8",
                )
            )
            left += width
    label = ", ".join(f"{_words(name)} {sizes[name]:,} bytes" for name in KEYS if sizes[name])
    return element(
        "svg",
        *parts,
        viewBox="0 0 1000 8",
        preserveAspectRatio="none",
        role="img",
        aria_label=label or "no bytes",
    )


def _two(first: Content, second: Content) -> Markup:
    return joined((first, element("small", second) if second is not None else None))


def _below(first: int | None, second: int | None) -> Markup:
    return joined((_number(first), element("div", _number(second))))


def _number(number: int | None) -> Content:
    return DASH if number is None else f"{number:,}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _of(shown: int, number: int) -> str:
    return f" (the first {shown:,} of {number:,}; the table has all)" if shown < number else ""


def _words(name: str) -> str:
    return name.replace("_", " ")


def _name(topic: str | None, partition: int | None) -> Content:
    return DASH if topic is None else element("b", f"{topic}-{partition}")


def _severity(name: str) -> Markup:
    return element("span", name, class_=f"severity {name}")


def _problem_count(problems: Counter[str]) -> Content:
    told = [
        element("span", _counted(problems[name], name), class_=name)
        for name in SEVERITIES
        if problems[name]
    ]
    return joined(element("div", one) for one in told) if told else DASH


def _percent(part: int, whole: int) -> str:
    if not whole:
        return ""
    share = 100 * part / whole
    return f"{share:.1f} %" if share >= 0.05 or not part else "< 0.1 %"


def _size(number: int | None) -> str:
    """Return *number* of bytes for people: 1,023 B, 1.5 MiB."""
    value = float(number or 0)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{value:,.0f} B" if unit == "B" else f"{value:,.1f} {unit}"


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _utc(time: int, per_millisecond: int = 1) -> datetime | None:
    try:
        return EPOCH + timedelta(microseconds=time * 1000 // per_millisecond)
    except OverflowError:
        return None


def _moment(time: int | None, per_millisecond: int = 1) -> Content:
    """Return *time* since the epoch as UTC; the number itself where no calendar has it."""
    if time is None:
        return DASH
    moment = _utc(time, per_millisecond)
    return f"{time:,} ms" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}"


def _day(time: int) -> str:
    moment = _utc(time)
    return f"{time:,}" if moment is None else f"{moment:%Y-%m-%d}"


def _clock(time: int | None) -> str | None:
    moment = None if time is None else _utc(time)
    return None if moment is None else f"{moment:%H:%M:%S} UTC"
