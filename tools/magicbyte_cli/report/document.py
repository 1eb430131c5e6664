"""Pages that are one self-contained file, which loads nothing."""

from collections.abc import Mapping, Sequence

from magicbyte_cli.report.markup import Markup, element, joined
from magicbyte_cli.report.page_origin import PageOrigin
from magicbyte_cli.report.script import POLICY, SCRIPT
from magicbyte_cli.report.style import FILLS, STYLE
from magicbyte_cli.report.tables import soft

MAX_PATHS = 3
"""Paths that the heading shows; a reader unfolds the others."""


def document(
    title: str,
    paths: Sequence[str],
    part_names: Mapping[str, str],
    page_header: Markup,
    *sections: Markup,
) -> str:
    """Return a page of *sections* below *page_header*; *part_names* maps anchors to names of the parts."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element(
            "meta",
            http_equiv="Content-Security-Policy",
            content=POLICY,
        ),
        element("title", " ".join([title, *paths[:1]])),
        element("style", Markup(STYLE + FILLS)),
    )
    links = (element("a", name, href=f"#{anchor}") for anchor, name in part_names.items())
    body = element(
        "body",
        page_header,
        element("nav", *links, aria_label="Parts of this page"),
        element("main", *sections),
        element("script", Markup(SCRIPT)),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _path_list(paths: Sequence[str]) -> Markup:
    return joined(
        joined((", " if number else None, element("code", path)))
        for number, path in enumerate(paths)
    )


def heading(
    title: str, paths: Sequence[str], mode: str, page_origin: PageOrigin | None = None
) -> Markup:
    """Return the header of a page: its title, the paths, the *mode* of reading, and where it was made."""
    path_list = _path_list(paths[:MAX_PATHS])
    if len(paths) > MAX_PATHS:
        summary = element("summary", path_list, f" and {len(paths) - MAX_PATHS:,} more")
        path_list = element("details", summary, _path_list(paths[MAX_PATHS:]))
    origin = None if page_origin is None else soft(" · ".join(page_origin.texts()))
    return element(
        "header",
        element("h1", title),
        element("div", path_list, f" · {mode}", class_="soft"),
        origin,
    )
