"""Draws how the formats are nested: a segment, its batches and messages, their records."""

from collections.abc import Sequence
from dataclasses import dataclass

from magicbyte_tools.reference.layout import places
from magicbyte_tools.reference.library import Library
from magicbyte_tools.reference.svg import Picture, width_of

WIDTH = 1000.0
HEIGHT = 44.0
LEFT, MIDDLE, RIGHT = 20.0, 424.0, 980.0


@dataclass(frozen=True, slots=True)
class StripPart:
    """A box of a strip: its text, its relative width, and its CSS classes."""

    words: str
    share: float
    kind: str = "box"


@dataclass(frozen=True, slots=True)
class Strip:
    """A row of adjacent boxes: its y coordinate, and the x coordinates of the boxes' edges."""

    y: float
    edges: tuple[float, ...]

    def span(self, index: int) -> tuple[float, float]:
        return self.edges[index], self.edges[index + 1] - 3


def overview(library: Library) -> str:
    """Return the overview of all formats as SVG."""
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
            StripPart("v0", 9, "h1"),
            StripPart("v0", 9, "h1"),
            StripPart("v1", 10, "h5"),
            StripPart("v1", 11, "h5"),
            StripPart("v2", 17, "h0"),
            StripPart("v2", 21, "h0"),
            StripPart("v2", 14, "h0"),
            StripPart("cut off, or zeros", 16, "box optional"),
        ],
    )
    message = [
        StripPart("offset", 54),
        StripPart("length", 54),
        StripPart("crc", 34),
        StripPart("magic", 46, "covered bold"),
        StripPart("…", 24, "covered"),
        StripPart("key", 46, "covered"),
        StripPart("value", 80, "covered"),
    ]
    legacy = _strip(picture, "kafka_message: v0 and v1", (LEFT, MIDDLE - 24), 152, message)
    batch = _strip(
        picture,
        f"kafka_record_batch: v2, a header of {header} bytes and the records",
        (MIDDLE, RIGHT),
        152,
        [
            StripPart("offset", 54),
            StripPart("length", 54),
            StripPart("epoch", 46),
            StripPart("magic", 46, "box bold"),
            StripPart("crc", 34),
            StripPart("attributes", 78, "covered"),
            StripPart("…", 24, "covered"),
            StripPart("records", 220, "covered"),
        ],
    )
    inner = _strip(
        picture,
        "decompressed, the value of a wrapper: kafka_log again",
        (LEFT, MIDDLE - 24),
        260,
        [StripPart("v1", 30, "h5"), StripPart("v1", 34, "h5"), StripPart("v1", 36, "h5")],
    )
    records = _strip(
        picture,
        "kafka_records: one after another, decompressed if need be",
        (MIDDLE, RIGHT),
        260,
        [
            StripPart("record", 30, "h2"),
            StripPart("record", 42, "h2"),
            StripPart("record", 28, "h2"),
        ],
    )
    record = _strip(
        picture,
        "kafka_record: all numbers but one are varints",
        (MIDDLE, RIGHT),
        368,
        [
            StripPart("length", 54),
            StripPart("attributes", 78),
            StripPart("time Δ", 52),
            StripPart("offset Δ", 64),
            StripPart("key", 84),
            StripPart("value", 128),
            StripPart("headers", 78),
        ],
    )
    control = _strip(
        picture,
        "kafka_control_record: key and value in a control batch",
        (MIDDLE, RIGHT),
        476,
        [
            StripPart("version", 60, "h4"),
            StripPart("type", 50, "h4"),
            StripPart("what it says, by its type", 200, "h4"),
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
    picture: Picture,
    title: str,
    span: tuple[float, float],
    y: float,
    strip_parts: Sequence[StripPart],
) -> Strip:
    """Draw *strip_parts* side by side between the x coordinates of *span*, below a title."""
    picture.text(span[0], y - 9, title, "small soft")
    whole = sum(part.share for part in strip_parts)
    edges = [span[0]]
    for part in strip_parts:
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
    """Shade the area between a box (*upper*) and the strip that shows its inside (*lower*)."""
    picture.path(
        f"M{upper[0]:g} {top:g} L{upper[1]:g} {top:g} L{lower[1]:g} {bottom:g} L{lower[0]:g} {bottom:g} Z",
        "zoom",
    )


def _beside(picture: Picture, y: float) -> None:
    """Draw the list of a segment's companion files: suffix and content of each."""
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
