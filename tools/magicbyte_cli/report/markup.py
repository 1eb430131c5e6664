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


def element(tag: str, *children: Content, **attributes: Content) -> Markup:
    """Return an element; `_` in an attribute's name becomes `-`, and a trailing `_` is dropped."""
    attribute_text = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in VOID:
        return Markup(f"<{tag}{attribute_text}/>")
    return Markup(f"<{tag}{attribute_text}>{joined(children)}</{tag}>")


def joined(children: Iterable[Content]) -> Markup:
    return Markup("".join(escaped(item) for item in children if item is not None))


def escaped(value: Content) -> str:
    """Return *value* as HTML, with special and unprintable characters escaped."""
    return value if isinstance(value, Markup) else html.escape(printable(str(value)))
