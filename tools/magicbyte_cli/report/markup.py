"""HTML that cannot be broken by what it shows: every string that is not Markup is escaped."""

import html
from collections.abc import Iterable

from magicbyte_cli.printable import printable

VOID = ("meta",)


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Content = str | int | None
"""What goes into an element: Markup as it is, other text escaped, None left out."""


def element(tag: str, *content: Content, **attributes: Content) -> Markup:
    """Return the element *tag*; an attribute's `_` is `-`, and one at its end is dropped."""
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in VOID:
        return Markup(f"<{tag}{named}/>")
    return Markup(f"<{tag}{named}>{joined(content)}</{tag}>")


def joined(content: Iterable[Content]) -> Markup:
    return Markup("".join(escaped(item) for item in content if item is not None))


def escaped(item: Content) -> str:
    """Return *item* as HTML text: Markup as it is, what does not print escaped as Python would."""
    return item if isinstance(item, Markup) else html.escape(printable(str(item)))
