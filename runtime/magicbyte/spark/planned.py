"""What the tasks of a pipeline do: records, or batches with what became of every byte."""

import gc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from magicbyte.reading.builders import batch_rows
from magicbyte.reading.split import Split, examine, read_split
from magicbyte.spark import columns
from magicbyte.spark.facts import Told
from magicbyte.spark.plan import splits_of, task_lines
from magicbyte.spark.stores import storage_options
from magicbyte.spark.told import one_sentence
from magicbyte.storage import Storage, StorageOptions
from magicbyte.tables.schemas import BATCHES, RECORDS
from magicbyte.tables.stored import in_stored_types, stored_schema

ROWS = 4096
"""Rows of batches in a record batch."""


RECORDS_SCHEMA = stored_schema(RECORDS)
BATCHES_SCHEMA = stored_schema(BATCHES)
SCHEMAS = {
    "records": RECORDS_SCHEMA,
    "batches": BATCHES_SCHEMA.append(pa.field("facts", pa.string())),
}


class PlannedDataSource(DataSource):
    """The tasks of a written plan. Options: `plan`, its path; `table`, `records` or `batches`; and
    `storage.<name>`, which the plan does not keep.

    In `batches` the last row of each split has null in all columns but one more, `facts`.
    """

    @classmethod
    def name(cls) -> str:
        return "magicbyte_plan"

    def schema(self) -> StructType:
        return columns.struct_of(SCHEMAS[self.options["table"]])

    def reader(self, schema: StructType) -> DataSourceReader:
        return PlannedReader(
            self.options["plan"], self.options["table"], storage_options(self.options)
        )


class PlannedReader(DataSourceReader):
    def __init__(self, plan: str, table: str, opened_by: StorageOptions) -> None:
        self.plan = plan
        self.table = table
        self.storage_options = opened_by

    def partitions(self) -> list[InputPartition]:
        return [
            InputPartition((is_read, line))
            for is_read, line in task_lines(Path(self.plan))
            if is_read or self.table != "records"
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if not gc.get_freeze_count():
            gc.freeze()
        if partition.value is None:
            return
        is_read, line = partition.value
        with one_sentence():
            for split in splits_of(line, Storage(self.storage_options)):
                if self.table == "records":
                    for batch in read_split(split, RECORDS.names):
                        yield in_stored_types(batch)
                else:
                    yield from _batches(split, is_read)


def _batches(split: Split, is_read: bool) -> Iterator[pa.RecordBatch]:
    """Yield the rows of *split* in `batches`, if *is_read*, and then its facts."""
    # The records' pass has raised already where damage is not to be skipped.
    told = Told(split)
    rows: list[dict[str, Any]] = []
    for piece in examine(replace(split, on_damage="skip"), ("timestamp", "position")):
        told.count(piece)
        if is_read:
            rows.extend(batch_rows(split, piece, quick=False))
        while len(rows) >= ROWS:
            yield _of_rows(rows[:ROWS])
            del rows[:ROWS]
    if rows:
        yield _of_rows(rows)
    facts = {name: [None] for name in BATCHES.names} | {"facts": [told.facts().to_json()]}
    yield pa.RecordBatch.from_pydict(facts, schema=SCHEMAS["batches"])


def _of_rows(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    made = pa.RecordBatch.from_pylist(rows, schema=BATCHES.schema(BATCHES.names))
    arrays = [*in_stored_types(made).columns, pa.nulls(len(rows), pa.string())]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMAS["batches"])
