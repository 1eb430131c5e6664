"""Tests of what the viewer looks like: small pictures of it without texts, against stored ones.

`MAGICBYTE_WIDE=1 VIEWER_PICTURES_WRITE=1 pytest tests/viewer/test_pictures.py` writes the stored ones again, after a
change of the page that is meant.
"""

import base64
import os
from pathlib import Path
from typing import Any

import pytest

from extent import only_wide

from .conftest import HERE
from .test_browser import SEGMENT, browser, run_jobs

__all__ = ["browser"]

TOLERANCE = 12.5
"""Mean difference of brightness, of 255, in a square of 128 by 128 pixels. Other fonts came to 10.8 at most, a pane
moved by 80 pixels to 14.6 at least."""

VIEWS = [f"{width}-{scheme}" for width in (1440, 390) for scheme in ("light", "dark")]

pytestmark = only_wide("compares pictures of the page, for a minute")


def stored(view: str) -> Path:
    return HERE / "pictures" / f"{view}.png"


def job(view: str, *styles: tuple[str, str, str]) -> dict[str, Any]:
    width, scheme = view.split("-")
    path = stored(view)
    picture = base64.b64encode(path.read_bytes()).decode() if path.exists() else None
    return {
        "file": str(SEGMENT),
        "hash": "#byte=1100",
        "size": {"width": int(width), "height": 900},
        "scheme": scheme,
        "wait": 300,
        "styles": styles,
        "shrunk": {"stored": picture},
    }


@pytest.fixture(scope="module")
def differences(browser: str) -> dict[str, float | None]:
    """Provide the difference of each view from its stored picture: as it is, in another font, with a moved pane."""
    changes: dict[str, list[tuple[str, str, str]]] = {
        "": [],
        " in serif": [("*", "font-family", "serif")],
        " with a moved pane": [("#main .hex", "transform", "translateX(80px)")],
    }
    names = [(view, change) for change in changes for view in VIEWS]
    found = run_jobs(browser, [job(view, *changes[change]) for view, change in names])["results"]
    if os.environ.get("VIEWER_PICTURES_WRITE"):
        for (view, change), picture in zip(names, found, strict=True):
            if not change:
                stored(view).parent.mkdir(exist_ok=True)
                stored(view).write_bytes(base64.b64decode(picture["png"]))
        pytest.skip("the stored pictures were written")
    return {
        f"{view}{change}": picture["difference"]
        for (view, change), picture in zip(names, found, strict=True)
    }


@pytest.mark.parametrize("view", VIEWS)
def test_page_looks_as_in_the_stored_picture(
    view: str, differences: dict[str, float | None]
) -> None:
    difference = differences[view]
    assert difference is not None and difference <= TOLERANCE


@pytest.mark.parametrize("view", VIEWS)
def test_another_font_is_tolerated_and_a_moved_pane_is_not(
    view: str, differences: dict[str, float | None]
) -> None:
    font, pane = differences[f"{view} in serif"], differences[f"{view} with a moved pane"]
    assert font is not None and font <= TOLERANCE
    assert pane is not None and pane > TOLERANCE
