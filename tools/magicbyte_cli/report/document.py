"""Pages that are one self-contained file, without scripts."""

from collections.abc import Mapping, Sequence

from magicbyte_cli.report.markup import Markup, element, joined
from magicbyte_cli.report.style import FILLS, STYLE
from magicbyte_cli.report.tables import soft


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
            content="default-src 'none'; style-src 'unsafe-inline'",
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
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def heading(title: str, paths: Sequence[str], mode: str) -> Markup:
    """Return the header of a page: its title, the paths, and the *mode* of reading."""
    path_list = joined(
        joined((", " if number else None, element("code", path)))
        for number, path in enumerate(paths)
    )
    return element("header", element("h1", title), soft(path_list, f" · {mode}"))
