"""The page of a pipeline: figures in, HTML out."""

from pathlib import Path

from magicbyte_cli.report.document import document
from magicbyte_cli.report.figures import Figures, read_figures
from magicbyte_cli.report.sections import overview
from magicbyte_cli.report.sections.findings import findings
from magicbyte_cli.report.sections.partitions import partitions
from magicbyte_cli.report.sections.producers import producers
from magicbyte_cli.report.sections.storage import sizes, storage
from magicbyte_cli.report.sections.time import records_over_time
from magicbyte_cli.report.sections.transactions import transactions

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
    paths = figures.about.get("paths", [])
    return document(
        "magicbyte report",
        paths,
        CONTENTS,
        overview.heading(figures),
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
    )
