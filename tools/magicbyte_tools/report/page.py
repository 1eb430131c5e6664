"""The page: figures in, HTML out. No script, nothing from elsewhere."""

from pathlib import Path

from magicbyte_tools.report.figures import Figures, read_figures
from magicbyte_tools.report.markup import Markup, element
from magicbyte_tools.report.sections import overview
from magicbyte_tools.report.sections.findings import findings
from magicbyte_tools.report.sections.partitions import partitions
from magicbyte_tools.report.sections.producers import producers
from magicbyte_tools.report.sections.storage import sizes, storage
from magicbyte_tools.report.sections.time import records_over_time
from magicbyte_tools.report.sections.transactions import transactions
from magicbyte_tools.report.style import FILLS, STYLE

CONTENTS = {
    "fates": "Bytes",
    "findings": "Findings",
    "partitions": "Partitions",
    "time": "Time",
    "transactions": "Transactions",
    "producers": "Producers",
    "storage": "Codecs",
    "sizes": "Batch sizes",
    "files": "Files",
}
"""The parts of the page, in their order."""


def write_report(folder: Path) -> None:
    """Write report.html into *folder*, an output of pipeline, from the tables in it."""
    page = render(read_figures(folder))
    (folder / "report.html").write_text(page, encoding="utf-8")


def render(figures: Figures) -> str:
    """Return the page that shows *figures*."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element(
            "meta",
            http_equiv="Content-Security-Policy",
            content="default-src 'none'; style-src 'unsafe-inline'",
        ),
        element("title", " ".join(["magicbyte report", *figures.about.get("paths", [])][:2])),
        element("style", Markup(STYLE + FILLS)),
    )
    links = (element("a", name, href=f"#{anchor}") for anchor, name in CONTENTS.items())
    body = element(
        "body",
        overview.heading(figures),
        element("nav", *links, aria_label="Parts of this page"),
        element(
            "main",
            overview.cards(figures),
            overview.fates(figures),
            findings(figures.problems),
            partitions(figures),
            records_over_time(figures.entries.times),
            transactions(figures),
            producers(figures.entries.producers),
            storage(figures.entries),
            sizes(figures.entries),
            overview.files(figures),
        ),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"
