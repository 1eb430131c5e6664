"""The tables of internal topics in a pipeline's output, which the driver writes."""

from collections.abc import Callable, Collection
from itertools import chain
from pathlib import Path

from magicbyte.findings import Finding
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.results import Report
from magicbyte.tables.schemas import INTERNAL_TABLES
from magicbyte.tables.table_files import TableFile


def write_internal_tables(
    dataset: Dataset,
    folder: Path,
    say: Callable[[str], None],
    known_findings: Collection[Finding] = (),
) -> list[Finding]:
    """Write each table of internal topics that has rows into a folder of its own in *folder*.

    Returns the findings that are not in *known_findings*, each once; *say* receives the numbers of rows.
    """
    findings: dict[Finding, None] = {}
    counts = []
    for name in INTERNAL_TABLES:
        report = Report()
        rows = dataset.stored(name)
        batches = rows.read_into(report)
        first = next(batches, None)
        findings |= dict.fromkeys(report.findings)
        if first is None:
            continue
        path = folder / name / "part-00000.zstd.parquet"
        path.parent.mkdir(parents=True)
        with (
            path.open("wb") as file,
            TableFile(file, name, rows.schema, "parquet") as table_file,
        ):
            for batch in chain([first], batches):
                table_file.write(batch)
        findings |= dict.fromkeys(report.findings)
        counts.append(f"{name}: {table_file.num_rows:,}")
    say(f"rows of tables of internal topics: {', '.join(counts) or 'none'}")
    known = set(known_findings)
    return [finding for finding in findings if finding not in known]
