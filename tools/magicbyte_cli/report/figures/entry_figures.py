"""Figures of batches and v0 and v1 messages: formats, codecs, sizes, timestamps, producers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.engines.entry_columns import Numbers
from magicbyte.statistics.power_histogram import PowerHistogram
from magicbyte.tables.schemas import LOST
from magicbyte_cli.report.figures.partition_figures import (
    BYTE_DISPOSITIONS,
    Key,
    PartitionFigures,
)
from magicbyte_cli.report.figures.producer_figures import ProducerSums
from magicbyte_cli.report.figures.scan import GroupedAggregates, ParquetFiles, scan
from magicbyte_cli.report.figures.timeline import Timeline

COLUMNS = (
    "topic partition size_bytes magic codec record_count base_timestamp max_timestamp "
    "producer_id producer_epoch is_transactional is_control disposition"
)


@dataclass(slots=True)
class EncodingFigures:
    """Sums over the data batches and messages with one codec, or with one format version."""

    name: str
    entries: int = 0
    records: int = 0
    bytes: int = 0
    decoded_bytes: int = 0
    """Stored bytes of the batches and messages that were decoded."""
    content_bytes: int = 0
    """Bytes of their keys and values after decoding."""
    plain_bytes: int = 0
    """Bytes that they would have without compression."""


@dataclass(slots=True)
class EntryFigures:
    """Figures of the report about all batches and messages."""

    num_entries: int
    num_control: int
    codecs: list[EncodingFigures]
    formats: list[EncodingFigures]
    bytes: PowerHistogram
    """Bytes per entry."""
    records: PowerHistogram
    """Records per entry."""
    times: Timeline
    """Records by the disposition of their batch, at the batch's largest timestamp."""
    producers: ProducerSums
    has_content_sizes: bool
    """True if the output contains the decoded sizes of keys and values."""


def read_entries(
    folder: Path, batch_files: ParquetFiles, figures_by_partition: dict[Key, PartitionFigures]
) -> EntryFigures:
    """Return the figures of *batch_files*, and of *folder*; set the largest timestamps of *figures_by_partition*."""
    encodings = GroupedAggregates(
        ("magic", "codec"), ("size_bytes", "count"), ("size_bytes", "sum"), ("record_count", "sum")
    )
    last_times = GroupedAggregates(("topic", "partition"), ("max_timestamp", "max"))
    num_entries = num_control = 0
    entry_bytes, entry_records = PowerHistogram(), PowerHistogram()
    times = Timeline([name for name in BYTE_DISPOSITIONS if name not in (*LOST, "tail")])
    producers = ProducerSums()
    for table in scan(batch_files, COLUMNS.split()):
        num_entries += table.num_rows
        is_control = pc.fill_null(table.column("is_control"), False)
        num_control += pc.sum(is_control).as_py() or 0
        is_readable = pc.invert(pc.is_in(table.column("disposition"), pa.array(LOST)))
        last_times.add(table.filter(is_readable))
        data = table.filter(pc.and_(is_readable, pc.invert(is_control)))
        encodings.add(data)
        entry_bytes.count(_sizes(data, "size_bytes"))
        entry_records.count(_sizes(data, "record_count"))
        times.add(
            data.column("max_timestamp"),
            data.column("disposition"),
            data.column("record_count").fill_null(0).to_numpy().astype(np.int64),
        )
        producers.add(data)
    for row in last_times.rows():
        partition = figures_by_partition.get((row["topic"], row["partition"]))
        if partition is not None and row["max_timestamp_max"] is not None:
            partition.last_time = row["max_timestamp_max"] // 1000
    contents = _contents(folder)
    codecs, formats = _by_encoding(encodings.rows(), contents or [])
    return EntryFigures(
        num_entries,
        num_control,
        codecs,
        formats,
        entry_bytes,
        entry_records,
        times,
        producers,
        has_content_sizes=contents is not None,
    )


def _sizes(table: pa.Table, column: str) -> Numbers:
    """Return the numbers in *column* of *table* that are neither null nor negative."""
    numbers: Numbers = table.column(column).drop_null().to_numpy().astype(np.int64)
    return numbers[numbers >= 0]


def _contents(folder: Path) -> list[dict[str, Any]] | None:
    path = folder / "_magicbyte" / "contents.json"
    if not path.is_file():  # written by an earlier release
        return None
    contents: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    # An earlier release wrote no sizes without compression.
    return contents if all("plain_bytes" in row for row in contents) else None


def _by_encoding(
    rows: list[dict[str, Any]], contents: list[dict[str, Any]]
) -> tuple[list[EncodingFigures], list[EncodingFigures]]:
    """Return figures by codec and figures by format version, the most bytes first."""
    codecs: dict[str, EncodingFigures] = {}
    formats: dict[str, EncodingFigures] = {}

    def encodings_of(row: dict[str, Any]) -> Iterator[EncodingFigures]:
        codec, version = row["codec"] or "unknown", f"v{row['magic']}"
        yield codecs.setdefault(codec, EncodingFigures(codec))
        yield formats.setdefault(version, EncodingFigures(version))

    for row in rows:
        for encoding in encodings_of(row):
            encoding.entries += row["size_bytes_count"]
            encoding.records += row["record_count_sum"] or 0
            encoding.bytes += row["size_bytes_sum"] or 0
    for row in contents:
        for encoding in encodings_of(row):
            encoding.decoded_bytes += row["stored_bytes"]
            encoding.content_bytes += row["content_bytes"]
            encoding.plain_bytes += row["plain_bytes"]
    return _largest_first(codecs), _largest_first(formats)


def _largest_first(encodings: dict[str, EncodingFigures]) -> list[EncodingFigures]:
    return sorted(encodings.values(), key=lambda encoding: (-encoding.bytes, encoding.name))
