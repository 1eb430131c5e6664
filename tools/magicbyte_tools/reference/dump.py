"""Draws the bytes of an example as SVG: hex in rows of 16, each field coloured and named."""

from magicbyte_tools.reference.svg import HUES, Picture, width_of
from magicbyte_tools.reference.walk import Leaf

CELL = 44.0
LEFT = 58.0
TOP = 34.0
LINE = 50.0
PER_ROW = 16
WIDTH = LEFT + PER_ROW * CELL + 158.0


def dump(title: str, data: bytes, leaves: list[Leaf]) -> str:
    """Return the hex dump of *data* as SVG, with its fields *leaves* coloured and named."""
    picture = Picture(WIDTH, title, f"{len(data)} bytes in hex, with the field that each is of")
    for column in range(PER_ROW):
        x = LEFT + column * CELL + CELL / 2
        picture.text(x, 22, f"{column:x}", "mono small soft", "middle")
    for at in range(0, len(data), PER_ROW):
        y = TOP + at // PER_ROW * LINE
        picture.text(LEFT - 12, y + 19, str(at), "mono small soft", "end")
        shown = data[at : at + PER_ROW]
        letters = "".join(chr(byte) if 0x20 <= byte < 0x7F else "·" for byte in shown)
        picture.text(LEFT + PER_ROW * CELL + 14, y + 19, letters, "mono small soft")
    present = [leaf for leaf in leaves if leaf.end > leaf.start]
    for number, leaf in enumerate(present):
        _field(picture, leaf, data, f"h{number % HUES}")
    rows = -(-len(data) // PER_ROW)
    return picture.finish(TOP + rows * LINE + 6)


def _field(picture: Picture, leaf: Leaf, data: bytes, hue: str) -> None:
    """Draw one field, split at the row ends, with its name below the widest piece."""
    pieces = []
    at = leaf.start
    while at < leaf.end:
        end = min(leaf.end, at // PER_ROW * PER_ROW + PER_ROW)
        pieces.append((at, end))
        at = end
    named = max(pieces, key=lambda piece: piece[1] - piece[0])
    for start, end in pieces:
        x = LEFT + start % PER_ROW * CELL
        y = TOP + start // PER_ROW * LINE
        width = (end - start) * CELL
        picture.box(x + 1, y, width - 2, 28, hue)
        for index in range(start, end):
            middle = x + (index - start) * CELL + CELL / 2
            picture.text(middle, y + 19, f"{data[index]:02x}", "mono hex ink", "middle")
        if (start, end) == named:
            _name(picture, str(leaf.field_path[-1]), x, y, width)


def _name(picture: Picture, name: str, x: float, y: float, width: float) -> None:
    """Write *name* below its bytes, shortened to *width* pixels."""
    most = int((width - 2) / width_of("x", 9))
    words = name if len(name) <= most else name[: most - 1] + "…"
    picture.text(x + 2, y + 39, words, "mono tiny soft")
