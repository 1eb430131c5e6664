"""The page report.html of `pipeline`."""

from pathlib import Path

from magicbyte_cli.report.document import document
from magicbyte_cli.report.figures import ReportFigures, read_figures
from magicbyte_cli.report.figures.scan import ParquetFiles
from magicbyte_cli.report.page_origin import PageOrigin
from magicbyte_cli.report.sections import overview_section
from magicbyte_cli.report.sections.answers_section import answers
from magicbyte_cli.report.sections.coordinators_section import groups, transactional_ids
from magicbyte_cli.report.sections.findings_section import findings
from magicbyte_cli.report.sections.partitions_section import partitions
from magicbyte_cli.report.sections.producers_section import producers
from magicbyte_cli.report.sections.startup_section import startup
from magicbyte_cli.report.sections.storage_section import sizes, storage
from magicbyte_cli.report.sections.time_section import records_over_time
from magicbyte_cli.report.sections.transactions_section import transactions

CONTENTS = {
    "bytes": "Bytes",
    "startup": "Startup",
    "findings": "Findings",
    "partitions": "Partitions",
    "time": "Time",
    "transactions": "Transactions",
    "producers": "Producers",
    "groups": "Groups",
    "transactional-ids": "Transactional ids",
    "storage": "Codecs",
    "sizes": "Batch sizes",
    "files": "Files",
}
"""Names of the parts of the page by anchor, in order."""


def write_report(
    folder: Path,
    batch_files: ParquetFiles | None = None,
    page_origin: PageOrigin | None = None,
) -> None:
    """Write report.html into *folder*, an output of `pipeline`, from the tables in it.

    *batch_files* are the files of that table, if they are elsewhere. The heading has *page_origin*.
    """
    page = render(read_figures(folder, batch_files), page_origin)
    (folder / "report.html").write_text(page, encoding="utf-8")


def render(figures: ReportFigures, page_origin: PageOrigin | None = None) -> str:
    """Return report.html with *figures*, as HTML; its heading has *page_origin*."""
    paths = figures.plan_settings.get("paths", [])
    return document(
        "magicbyte report",
        paths,
        CONTENTS,
        overview_section.heading(figures, page_origin),
        answers(figures),
        overview_section.cards(figures),
        overview_section.dispositions(figures),
        startup(figures.verdicts),
        findings(figures.problems, is_verified=figures.verdicts is not None),
        partitions(figures),
        records_over_time(figures.entries.times),
        transactions(figures),
        producers(figures.entries.producers),
        groups(figures.coordinators),
        transactional_ids(figures.coordinators),
        storage(figures.entries),
        sizes(figures.entries),
        overview_section.files(figures),
    )
