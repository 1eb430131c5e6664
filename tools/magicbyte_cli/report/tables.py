"""Tables, cards, paragraphs and sections of a page."""

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
    """Return a table in a box that scrolls if the table is too wide for the page.

    A column whose head begins with `>` is aligned to the right. Text in the column *wide* may wrap.
    The first cell of a row is its head. *foot* are rows of sums.
    """
    css_classes = [
        "n" if head.startswith(">") else "wide" if number == wide else None
        for number, head in enumerate(heads)
    ]
    top = joined(
        element("th", head.removeprefix(">"), class_=kind, scope="col")
        for head, kind in zip(heads, css_classes, strict=True)
    )
    sums = [_line(row, css_classes) for row in foot]
    table_element = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", element("tr", top)),
        element("tbody", *(_line(row, css_classes) for row in rows)),
        element("tfoot", *sums) if sums else None,
    )
    return element(
        "div",
        table_element,
        class_="scroll",
        tabindex="0",
        role="group",
        aria_label="scrollable table",
    )


def _line(row: Row, css_classes: Sequence[str | None]) -> Markup:
    (head, head_class), *cells = zip(row, css_classes, strict=True)
    return element(
        "tr",
        element("th", head, class_=head_class, scope="row"),
        *(element("td", cell, class_=kind) for cell, kind in cells),
    )


def card(*children: Content, class_: str = "card", id: str | None = None) -> Markup:
    return element("div", *children, class_=class_, id=id)


def figure_card(figure: Content, name: str, detail: str | None) -> Markup:
    """Return a card with a *figure* in large letters, its *name*, and a *detail* below."""
    small = element("div", detail, class_="soft") if detail else None
    return card(element("b", figure), element("span", name), small)


def soft(*children: Content) -> Markup:
    """Return an explanatory paragraph in small letters."""
    return element("p", *children, class_="soft")


def section(name: str, title: str, *children: Content) -> Markup:
    """Return a section that a reader can fold; it is open at first."""
    summary = element("summary", element("h2", title, id=name))
    return element("section", element("details", summary, *children, open=""), aria_labelledby=name)
