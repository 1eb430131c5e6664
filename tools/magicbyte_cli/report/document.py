"""A page as it is sent to somebody: one file, no script, nothing from elsewhere."""

from collections.abc import Mapping, Sequence

from magicbyte_cli.report.markup import Markup, element, joined
from magicbyte_cli.report.style import FILLS, STYLE
from magicbyte_cli.report.tables import soft


def document(
    title: str,
    paths: Sequence[str],
    contents: Mapping[str, str],
    header: Markup,
    *parts: Markup,
) -> str:
    """Return the page of *parts* below *header*; *contents* are the names of parts by their anchors."""
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
    links = (element("a", name, href=f"#{anchor}") for anchor, name in contents.items())
    body = element(
        "body",
        header,
        element("nav", *links, aria_label="Parts of this page"),
        element("main", *parts),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def heading(title: str, paths: Sequence[str], how: str) -> Markup:
    """Return the head of a page: what was read, and *how*."""
    named = joined(
        joined((", " if number else None, element("code", path)))
        for number, path in enumerate(paths)
    )
    return element("header", element("h1", title), soft(named, f" · {how}"))
