"""The tables of internal topics in a pipeline's output, which the driver writes."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

from magicbyte.findings import Finding
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.results import Report
from magicbyte.tables.schemas import INTERNAL_TABLES
from magicbyte.tables.stored_types import file_metadata

ROWS_PER_GROUP = 1 << 16


def write_internal_tables(
    dataset: Dataset, folder: Path, say: Callable[[str], None]
) -> list[Finding]:
    """Write each table of internal topics that has rows into a folder of its own in *folder*.

    Returns the findings about the records of these topics, each once; *say* receives the numbers of rows.
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
        schema = rows.schema.with_metadata(file_metadata(name))
        path = folder / name / "part-00000.zstd.parquet"
        path.parent.mkdir(parents=True)
        num_rows = first.num_rows
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            writer.write_batch(first.replace_schema_metadata(schema.metadata), ROWS_PER_GROUP)
            for batch in batches:
                writer.write_batch(batch.replace_schema_metadata(schema.metadata), ROWS_PER_GROUP)
                num_rows += batch.num_rows
        findings |= dict.fromkeys(report.findings)
        counts.append(f"{name}: {num_rows:,}")
    say(f"rows of tables of internal topics: {', '.join(counts) or 'none'}")
    return list(findings)
