"""Read the delivered rows of one split."""

from collections.abc import Iterator

import pyarrow as pa

from magicbyte.findings import Finding
from magicbyte.reading.results import examine
from magicbyte.reading.split import Split, select_rows
from magicbyte.tables.schemas import RECORDS


def read_split(
    split: Split,
    columns: tuple[str, ...] | None = None,
    *,
    dispositions: tuple[str, ...] = ("delivered",),
    findings: list[Finding] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Read the records of one split, in order, on any machine that has the files.

    Args:
        split: A split of `plan`.
        columns: Columns of the table `records`. Default: the eight of `Dataset.records`.
        dispositions: Dispositions of the records to return. Default: those that a consumer would
            get.
        findings: A list that findings are appended to. Default: they are dropped.
    Returns:
        Arrow record batches.
    Raises:
        InputError: A column does not exist.
        ChangedError: The file has changed since the read was planned.
        FormatError: The split is damaged, and `on_damage` is ``"fail"``; so for LimitError.
    Example:
        >>> splits = mb.open("log-0", topics=["fenced"]).plan()
        >>> [batch.num_rows for batch in mb.read_split(splits[1], ("offset", "value"))]
        [4]
    """
    names = RECORDS.check(tuple(columns if columns is not None else RECORDS.default))
    for result in examine(split, names):
        if findings is not None:
            findings.extend(result.findings)
        yield from select_rows(result, dispositions)
