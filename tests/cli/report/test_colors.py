"""Colors of bars are distinct for readers with each kind of color vision."""

import re
from itertools import combinations

import pytest

from magicbyte_cli.report.figures.partition_figures import BYTE_DISPOSITIONS
from magicbyte_cli.report.style import STYLE

FREQUENT = ("delivered", "aborted", "withheld", "control", "damaged")
"""Dispositions that are often beside each other in a bar."""

VISIONS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""Matrices on linear RGB: Machado, Oliveira, Fernandes, 2009, at the highest severity."""

Color = tuple[float, ...]


def linear(text: str) -> Color:
    channels = (int(text[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels
    )


def oklab(color: Color) -> Color:
    """Return *color*, in linear RGB, in Oklab, where distances are those that people see."""
    red, green, blue = (max(one, 0) for one in color)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def seen(text: str, vision: str) -> Color:
    color = linear(text)
    return oklab(
        tuple(sum(a * b for a, b in zip(row, color, strict=True)) for row in VISIONS[vision])
    )


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_colors_of_dispositions_are_distinct(mode: str, vision: str) -> None:
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    colors = dict(re.findall(r"--(\w+): (#\w{6});", blocks[("light", "dark").index(mode)]))
    for one, other in combinations(BYTE_DISPOSITIONS, 2):
        pairs = zip(seen(colors[one], vision), seen(colors[other], vision), strict=True)
        distance = sum((a - b) ** 2 for a, b in pairs) ** 0.5
        are_frequent = one in FREQUENT and other in FREQUENT
        assert distance > (0.13 if are_frequent else 0.08), (one, other)
