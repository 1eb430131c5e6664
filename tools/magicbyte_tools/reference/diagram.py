"""Draws a structure as labelled boxes, one per field, whose widths are the sizes in bytes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from magicbyte_tools.reference.field_cells import is_impossible, type_words
from magicbyte_tools.reference.layout import TIMES, FieldPlacement, expression, places
from magicbyte_tools.reference.library import FormatStructure, Library, bits
from magicbyte_tools.reference.svg import Picture, width_of

WIDTH = 1000.0
MARGIN = 20.0
ROOM = WIDTH - 2 * MARGIN
BYTE = ROOM / 16
HEIGHT = 62.0
ROW = 88.0
VARIABLE = 3.2 * BYTE
NUMBER = 1.7 * BYTE


@dataclass(frozen=True, slots=True)
class Box:
    """A box of the diagram: a field, its width in pixels and its three lines of text."""

    placement: FieldPlacement
    width: float
    lines: tuple[str, str, str]
    fixed: bool
    repeated: bool


def diagram(structure: FormatStructure, library: Library, *, covered: bool = False) -> str | None:
    """Draw *structure* as SVG; return None for fewer than two fields or a structure of bits."""
    boxes = [_box(place, library) for place in _flat(structure, library, covered=covered)]
    if structure.is_bits or len(boxes) < 2:
        return None
    picture = Picture(
        WIDTH,
        f"The bytes of {structure.name}",
        "; ".join(f"{box.placement.id}: {box.lines[2]}" for box in boxes),
    )
    y = 30.0
    for row in _rows(boxes):
        x = MARGIN
        for box in row:
            _draw(picture, box, x, y)
            x += box.width
        y += ROW
    for name, inner in _bit_fields(boxes, library):
        y = _bits(picture, name, inner, y + 6)
    return picture.finish(_legend(picture, boxes, y + 2))


def _flat(
    structure: FormatStructure, library: Library, *, covered: bool
) -> Iterator[FieldPlacement]:
    """Yield the placements of *structure*'s fields, with nested structures replaced by their fields."""
    for place in places(structure, library, covered=covered):
        if is_impossible(place.field):
            continue
        inner = library.of(place.field, structure)
        is_one = inner and inner.format == structure.format and "repeat" not in place.field
        if not inner or not is_one or inner.is_bits or inner.is_primitive or not inner.fields:
            yield place
            continue
        start = int(place.offset) if place.offset.isdigit() else None
        for one in _flat(inner, library, covered=place.covered):
            offset = "" if start is None or not one.offset else _moved(one.offset, start)
            condition = " and ".join(filter(None, [place.condition, one.condition]))
            yield replace(one, offset=offset, condition=condition)


def _moved(offset: str, start: int) -> str:
    return " or ".join(str(int(one) + start) for one in offset.split(" or "))


def _box(placement: FieldPlacement, library: Library) -> Box:
    attribute = placement.field
    size = placement.size + (
        " byte" + "s" * (placement.size != "1") if placement.fixed is not None else ""
    )
    kind = type_words(attribute, placement.owner, library)
    kafka = str(attribute.get("-orig-id", ""))
    third = f"{kind}, {size}" if kind != "bytes" or placement.fixed is not None else size
    if kind == "bytes" and "size" in attribute and placement.fixed is None:
        third = f"{size} bytes"
    if placement.fixed is not None and kind[-1:].isdigit():
        third = kind
    inner = library.of(attribute, placement.owner)
    if inner and inner.is_primitive and "repeat" not in attribute:
        third = kind
    if attribute.get("repeat") == "expr":
        third = f"{expression(attribute['repeat-expr'])} {TIMES} {kind}"
    if inner and inner.is_bits:
        third = f"{sum(map(bits, inner.fields))} bits"
    if placement.fixed is not None:
        width = placement.fixed * BYTE
    else:
        width = NUMBER if inner and inner.is_primitive else VARIABLE
    second = kafka if kafka != placement.id else third if placement.condition else ""
    lines = (placement.id, second, placement.condition or third)
    label = max(width_of(lines[0], 13), width_of(lines[1], 10.5), width_of(third, 10.5)) + 14
    if len(lines[2]) > len(third):
        label = max(label, min(width_of(lines[2], 10.5) + 14, 6 * BYTE))
    width = min(max(width, label), ROOM)
    return Box(placement, width, lines, placement.fixed is not None, "repeat" in attribute)


def _rows(boxes: list[Box]) -> Iterator[list[Box]]:
    row_boxes: list[Box] = []
    for box in boxes:
        if row_boxes and sum(one.width for one in row_boxes) + box.width > ROOM + 0.5:
            yield row_boxes
            row_boxes = []
        row_boxes.append(box)
    yield row_boxes


def _draw(picture: Picture, box: Box, x: float, y: float) -> None:
    kind = "covered" if box.placement.covered else "box"
    if box.placement.condition:
        kind += " optional"
    w = box.width - 4
    if box.repeated:
        picture.box(x + 5, y + 5, w - 5, HEIGHT, kind)
        w -= 5
    if box.fixed:
        picture.box(x, y, w, HEIGHT, kind)
    else:
        picture.path(_torn(x, y, w), kind)
    if box.placement.covered:
        picture.box(x + 1, y + HEIGHT - 4, w - (2 if box.fixed else 9), 3, "bar", 1)
    if box.placement.offset:
        picture.text(x + 1, y - 6, box.placement.offset, "mono small soft")
    name, kafka, last = box.lines
    middle = y + (20 if kafka else 26)
    picture.text(x + 6, middle, name, "mono name ink")
    if kafka:
        picture.text(x + 6, middle + 15, kafka, "mono small soft")
    kind = "mono small accent" if box.placement.condition else "mono small soft"
    most = int((w - 8) / width_of("x", 10.5))
    words = f"if {last}" if box.placement.condition else last
    picture.text(x + 6, y + 51, words if len(words) <= most else words[: most - 1] + "…", kind)


def _torn(x: float, y: float, w: float) -> str:
    """Return the SVG path of a box with a jagged right edge, for a field of variable length."""
    teeth = "".join(
        f" L{x + w - (6 if tooth % 2 else 0):g} {y + HEIGHT * tooth / 6:g}" for tooth in range(7)
    )
    return f"M{x:g} {y:g}{teeth} L{x:g} {y + HEIGHT:g} Z"


def _bit_fields(boxes: list[Box], library: Library) -> Iterator[tuple[str, FormatStructure]]:
    for box in boxes:
        inner = library.of(box.placement.field, box.placement.owner)
        if inner and inner.is_bits:
            yield box.placement.id, inner


def _bits(picture: Picture, name: str, structure: FormatStructure, y: float) -> float:
    """Draw the bit fields of one number, highest bit first; return the y coordinate below them."""
    picture.text(MARGIN, y, f"{name}, bit by bit", "small soft bold")
    top = sum(map(bits, structure.fields))
    least = [
        max(width_of(word, 10.5) for word in _halves(one["id"])) + 14 for one in structure.fields
    ]
    shares = [max(want, bits(one) * 26) for want, one in zip(least, structure.fields, strict=True)]
    x, y = MARGIN, y + 26
    for one, width in zip(structure.fields, shares, strict=True):
        low = top - bits(one)
        numbers = f"{low}" if bits(one) == 1 else f"{top - 1} to {low}"
        reserved = one["id"].startswith("reserved")
        picture.text(x + 1, y - 6, numbers, "mono small soft")
        picture.box(x, y, width - 4, 40, "box optional" if reserved else "box")
        words = _halves(one["id"])
        for row, word in enumerate(words):
            at = y + (24 if len(words) == 1 else 17 + 14 * row)
            picture.text(x + 6, at, word, f"mono small {'soft' if reserved else 'ink'}")
        x, top = x + width, low
    return y + 64


def _halves(name: str) -> list[str]:
    """Split a long *name* into two lines, at the underscore nearest to its middle."""
    breaks = [at for at, letter in enumerate(name) if letter == "_"]
    if len(name) < 13 or not breaks:
        return [name]
    middle = min(breaks, key=lambda at: abs(at - len(name) / 2))
    return [name[:middle], name[middle:]]


def _legend(picture: Picture, boxes: list[Box], y: float) -> float:
    """Draw a legend of the box styles that *boxes* use; return the height of the whole picture."""
    entries = []
    if any(box.placement.covered for box in boxes):
        entries.append(("covered", "covered by the checksum"))
    if any(not box.fixed for box in boxes):
        entries.append(("torn", "of varying length"))
    if any(box.placement.condition for box in boxes):
        entries.append(("optional", "not always there"))
    if any(box.repeated for box in boxes):
        entries.append(("repeated", "repeated"))
    x = MARGIN
    for kind, words in entries:
        if kind == "torn":
            teeth = "".join(f" L{x + 22 - 4 * (n % 2):g} {y + n * 14 / 4:g}" for n in range(5))
            picture.path(f"M{x:g} {y:g}{teeth} L{x:g} {y + 14:g} Z", "box")
        elif kind == "repeated":
            picture.box(x + 3, y + 3, 19, 12, "box", 2)
            picture.box(x, y, 19, 12, "box", 2)
        else:
            picture.box(x, y, 22, 14, "covered" if kind == "covered" else "box optional", 2)
        if kind == "covered":
            picture.box(x + 1, y + 11, 20, 2, "bar", 1)
        picture.text(x + 30, y + 11, words, "small soft")
        x += 30 + 6.2 * len(words) + 24
    return y + 30 if entries else y + 8
