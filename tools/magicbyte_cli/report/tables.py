"""Tables and cards."""

from collections.abc import Iterable, Sequence

from magicbyte_cli.report.markup import Content, Markup, element, joined

Row = Sequence[Content]


def table(
    caption: Content,
    heads: Sequence[str],
    rows: Iterable[Row],
    *,
    foot: Iterable[Row] = (),
    wide: int | None = None,
) -> Markup:
    """Return a table in a box that scrolls where it is too wide for the page.

    A head that begins with `>` is that of a column of numbers; the column *wide* may be broken
    into lines. The first cell of a row is its head. *foot* are rows of sums.
    """
    kinds = [
        "n" if head.startswith(">") else "wide" if number == wide else None
        for number, head in enumerate(heads)
    ]
    top = joined(
        element("th", head.removeprefix(">"), class_=kind, scope="col")
        for head, kind in zip(heads, kinds, strict=True)
    )
    sums = [_line(row, kinds) for row in foot]
    made = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", element("tr", top)),
        element("tbody", *(_line(row, kinds) for row in rows)),
        element("tfoot", *sums) if sums else None,
    )
    return element(
        "div",
        made,
        class_="scroll",
        tabindex="0",
        role="group",
        aria_label="a table that may scroll",
    )


def _line(row: Row, kinds: Sequence[str | None]) -> Markup:
    first, *others = zip(row, kinds, strict=True)
    return element(
        "tr",
        element("th", first[0], class_=first[1], scope="row"),
        *(element("td", cell, class_=kind) for cell, kind in others),
    )


def card(*content: Content, class_: str = "card") -> Markup:
    return element("div", *content, class_=class_)


def figure_card(figure: Content, name: str, more: str | None) -> Markup:
    """Return a card with a *figure* that anyone asks for, what it is, and *more* of it small below."""
    small = element("div", more, class_="soft") if more else None
    return card(element("b", figure), element("span", name), small)


def soft(*content: Content) -> Markup:
    """Return a paragraph that explains what is beside it."""
    return element("p", *content, class_="soft")


def section(name: str, title: str, *content: Content) -> Markup:
    return element("section", element("h2", title, id=name), *content, aria_labelledby=name)
