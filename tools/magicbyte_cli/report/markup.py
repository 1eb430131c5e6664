"""HTML elements; every string that is not Markup is escaped."""

import html
from collections.abc import Iterable

from magicbyte_cli.display import printable

VOID = ("meta",)


class Markup(str):
    """Text that is already HTML."""

    __slots__ = ()


Content = str | int | None
"""Content of an element. Markup is inserted verbatim, other text escaped, None omitted."""


def element(tag: str, *content: Content, **attributes: Content) -> Markup:
    """Return an element; `_` in an attribute's name becomes `-`, and a trailing `_` is dropped."""
    attribute_text = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in VOID:
        return Markup(f"<{tag}{attribute_text}/>")
    return Markup(f"<{tag}{attribute_text}>{joined(content)}</{tag}>")


def joined(content: Iterable[Content]) -> Markup:
    return Markup("".join(escaped(item) for item in content if item is not None))


def escaped(item: Content) -> str:
    """Return *item* as HTML, with special and unprintable characters escaped."""
    return item if isinstance(item, Markup) else html.escape(printable(str(item)))
