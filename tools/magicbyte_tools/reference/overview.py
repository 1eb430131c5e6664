"""How the formats nest, as one picture: a segment, an entry of each kind, what is inside."""

from collections.abc import Sequence
from dataclasses import dataclass

from magicbyte_tools.reference.layout import places
from magicbyte_tools.reference.library import Library
from magicbyte_tools.reference.svg import Picture, width_of

WIDTH = 1000.0
HEIGHT = 44.0
LEFT, MIDDLE, RIGHT = 20.0, 424.0, 980.0


@dataclass(frozen=True, slots=True)
class Part:
    """A box of a strip: its words, its share of the width, and how it looks."""

    words: str
    share: float
    kind: str = "box"


@dataclass(frozen=True, slots=True)
class Strip:
    """Boxes in a row, and where they are."""

    y: float
    edges: tuple[float, ...]

    def span(self, index: int) -> tuple[float, float]:
        return self.edges[index], self.edges[index + 1] - 3


def overview(library: Library) -> str:
    """Return the picture."""
    header = sum(
        place.fixed or 0
        for place in places(library.formats["kafka_record_batch"], library)
        if not place.condition
    )
    picture = Picture(
        WIDTH,
        "A segment, and what is in it",
        "A segment is entries. An entry is a message of v0 or v1, whose value may be messages again,"
        " or a batch of v2, which holds records.",
    )
    segment = _strip(
        picture,
        "kafka_log: a segment, one entry after another; the formats may be mixed",
        (LEFT, RIGHT),
        44,
        [
            Part("v0", 9, "h1"),
            Part("v0", 9, "h1"),
            Part("v1", 10, "h5"),
            Part("v1", 11, "h5"),
            Part("v2", 17, "h0"),
            Part("v2", 21, "h0"),
            Part("v2", 14, "h0"),
            Part("cut off, or zeros", 16, "box optional"),
        ],
    )
    message = [
        Part("offset", 54),
        Part("length", 54),
        Part("crc", 34),
        Part("magic", 46, "covered bold"),
        Part("…", 24, "covered"),
        Part("key", 46, "covered"),
        Part("value", 80, "covered"),
    ]
    legacy = _strip(picture, "kafka_message: v0 and v1", (LEFT, MIDDLE - 24), 152, message)
    batch = _strip(
        picture,
        f"kafka_record_batch: v2, a header of {header} bytes and the records",
        (MIDDLE, RIGHT),
        152,
        [
            Part("offset", 54),
            Part("length", 54),
            Part("epoch", 46),
            Part("magic", 46, "box bold"),
            Part("crc", 34),
            Part("attributes", 78, "covered"),
            Part("…", 24, "covered"),
            Part("records", 220, "covered"),
        ],
    )
    inner = _strip(
        picture,
        "decompressed, the value of a wrapper: kafka_log again",
        (LEFT, MIDDLE - 24),
        260,
        [Part("v1", 30, "h5"), Part("v1", 34, "h5"), Part("v1", 36, "h5")],
    )
    records = _strip(
        picture,
        "kafka_records: one after another, decompressed if need be",
        (MIDDLE, RIGHT),
        260,
        [Part("record", 30, "h2"), Part("record", 42, "h2"), Part("record", 28, "h2")],
    )
    record = _strip(
        picture,
        "kafka_record: all numbers but one are varints",
        (MIDDLE, RIGHT),
        368,
        [
            Part("length", 54),
            Part("attributes", 78),
            Part("time Δ", 52),
            Part("offset Δ", 64),
            Part("key", 84),
            Part("value", 128),
            Part("headers", 78),
        ],
    )
    control = _strip(
        picture,
        "kafka_control_record: key and value in a control batch",
        (MIDDLE, RIGHT),
        476,
        [
            Part("version", 60, "h4"),
            Part("type", 50, "h4"),
            Part("what it says, by its type", 200, "h4"),
        ],
    )
    _beside(picture, 380)
    for (start, upper), (left, right), lower in (
        (segment.span(3), (LEFT, MIDDLE - 27), legacy),
        (segment.span(5), (MIDDLE, RIGHT - 3), batch),
        (legacy.span(6), (LEFT, MIDDLE - 27), inner),
        (batch.span(7), (MIDDLE, RIGHT - 3), records),
        (records.span(1), (MIDDLE, RIGHT - 3), record),
    ):
        top = lower.y - 108 + HEIGHT + 2
        _zoom(picture, (start, upper), top, (left, right), lower.y - 24)
    key = record.span(4)[0], record.span(5)[1]
    _zoom(picture, key, record.y + HEIGHT + 2, (MIDDLE, RIGHT - 3), control.y - 24)
    return picture.finish(540)


def _strip(
    picture: Picture, title: str, span: tuple[float, float], y: float, parts: Sequence[Part]
) -> Strip:
    """Draw *parts* side by side over all of *span*."""
    picture.text(span[0], y - 9, title, "small soft")
    whole = sum(part.share for part in parts)
    edges = [span[0]]
    for part in parts:
        width = (span[1] - span[0]) * part.share / whole
        kind = part.kind.replace(" bold", "")
        picture.box(edges[-1], y, width - 3, HEIGHT, kind)
        size = "small" if width_of(part.words, 12) > width - 8 else ""
        weight = " bold" if part.kind.endswith("bold") else ""
        picture.text(
            edges[-1] + (width - 3) / 2, y + 27, part.words, f"mono ink {size}{weight}", "middle"
        )
        edges.append(edges[-1] + width)
    return Strip(y, tuple(edges))


def _zoom(
    picture: Picture,
    upper: tuple[float, float],
    top: float,
    lower: tuple[float, float],
    bottom: float,
) -> None:
    """Shade the way from a box to what it looks like from near."""
    picture.path(
        f"M{upper[0]:g} {top:g} L{upper[1]:g} {top:g} L{lower[1]:g} {bottom:g} L{lower[0]:g} {bottom:g} Z",
        "zoom",
    )


def _beside(picture: Picture, y: float) -> None:
    """List the files that lie beside a segment."""
    picture.text(LEFT, y - 9, "beside the segment, of the same name", "small soft")
    for row, (suffix, words) in enumerate(
        (
            (".index", "offset → position"),
            (".timeindex", "time → offset"),
            (".txnindex", "aborted transactions"),
            (".snapshot", "producers and their open transactions"),
        )
    ):
        picture.box(LEFT, y + row * 32, 106, 26, "box")
        picture.text(LEFT + 8, y + row * 32 + 17, suffix, "mono small ink")
        picture.text(LEFT + 118, y + row * 32 + 17, words, "small soft")
