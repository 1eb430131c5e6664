"""Run a pipeline: check the output, plan, write the tables, and let the output appear."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from magicbyte.errors import InputError
from magicbyte.output_guard import check_outside, check_url_outside
from magicbyte.reading.dataset import Dataset
from magicbyte.spark._append import KeptOffsets, append_records, plan_append
from magicbyte.spark._commit_stage import CommitStage, committed
from magicbyte.spark._driver_tables import PipelineSummary
from magicbyte.spark._pipeline import Say, write_tables
from magicbyte.spark._pipeline_plan import SMALL_BYTES, PipelinePlan, make_plan, size_of
from magicbyte.spark._stage import Stage, check_output, staged
from magicbyte.spark._write_internal_tables import write_internal_tables
from magicbyte.spark.session import LazySession
from magicbyte.spark.table_formats import TableFormats
from magicbyte.spark.task_writer import TASK_TABLES, OutputSettings
from magicbyte.spark.typed_topics import DecodeSettings, TypedTopics, settled_topics
from magicbyte.storage import NO_OPTIONS, StorageOptions, is_url
from magicbyte.storage.output_folder import OutputFolder, output_folder
from magicbyte.verification.verify import Verification

NO_TABLES = TableFormats()

MAX_PARTITION_BYTES = 128 << 20
"""Default bytes of a segment that one task reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """A pipeline: the logs that it reads, and the output that it writes."""

    dataset: Dataset
    paths: Sequence[str]
    """Paths of the dataset."""
    out: str
    """Folder on this machine or in a store."""
    output: OutputSettings
    max_partition_bytes: int = MAX_PARTITION_BYTES
    overwrite: bool = False
    append: bool = False
    """Add the records that the output does not have yet."""
    allow_data_loss: bool = False
    """Append what exists where offsets that were not written are gone."""
    table_formats: TableFormats = NO_TABLES
    """Tables in which the files are registered that are appended."""
    internal_tables: bool = False
    """Write the tables of internal topics too."""
    restart: bool = False
    """Start from the beginning instead of resuming a run that was killed."""
    storage_options: StorageOptions = NO_OPTIONS
    """Options of the stores of the dataset and the output."""
    decode_settings: DecodeSettings | None = None
    """Forms and schemas of keys and values; None: they stay bytes."""

    @property
    def is_short(self) -> bool:
        """True if Spark should start fast rather than run fast."""
        return size_of(self.dataset) < SMALL_BYTES

    def run(
        self,
        spark: LazySession,
        *,
        say: Say,
        verify: Callable[[], Verification | None] = lambda: None,
        finish: Callable[[Stage | CommitStage], None] = lambda _: None,
    ) -> PipelineSummary:
        """Write the tables.

        Args:
            spark: Session for the tasks; not started if there are none.
            say: Receives a sentence about each step.
            verify: Called after the plan; its findings are added to the tables.
            finish: Called with the stage before the output appears.
        """
        if self.table_formats != NO_TABLES and not self.append:
            raise InputError("a table of Delta Lake or Iceberg without --append", "with --append")
        if self.table_formats != NO_TABLES and self.decode_settings is not None:
            raise InputError(
                "a table of Delta Lake or Iceberg with --decode",
                "one of them: a table has the same columns for all topics",
            )
        if self.append:
            return self._append(spark, say)
        typed = self._typed_topics()
        with self._stage(say) as stage:
            plan = make_plan(
                self.dataset,
                self.max_partition_bytes,
                by_topic="topic" in self.output.partition_by,
                for_records=set(self.output.tables) <= set(TASK_TABLES),
                spark=spark.get,
            )
            say(_planned(plan))
            summary = write_tables(
                plan,
                stage,
                output=self.output,
                spark=spark,
                about=self._about,
                say=say,
                storage_options=self.storage_options,
                verification=verify(),
                typed=typed,
            )
            if self.internal_tables:
                summary.findings += write_internal_tables(
                    self.dataset, stage.ready, say, summary.findings
                )
            finish(stage)
        return summary

    def _append(self, spark: LazySession, say: Say) -> PipelineSummary:
        if self.output.tables != ("records",) or self.overwrite:
            found = "--overwrite" if self.overwrite else ", ".join(self.output.tables)
            raise InputError(f"{found} with --append", "the table records, to which it adds rows")
        self.table_formats.check(self.output)
        settings = {
            "columns": list(self.output.columns),
            "partition_by": list(self.output.partition_by),
            "isolation_level": self.dataset.options.isolation_level,
            "decode": None if self.decode_settings is None else self.decode_settings.facts,
        }
        if not is_url(self.out):
            check_outside(Path(self.out), self.dataset.all_logs, self.paths)
        folder = self._output_folder
        with committed(
            folder, overwrite=False, is_append=True, restart=self.restart, say=say
        ) as stage:
            kept = KeptOffsets.read(folder, settings)
            plan = plan_append(
                self.dataset,
                kept.ends_by_partition,
                self.max_partition_bytes,
                by_topic="topic" in self.output.partition_by,
                allow_data_loss=self.allow_data_loss,
                spark=None if self.is_short else spark,
            )
            summary = append_records(
                plan,
                kept,
                stage,
                output=self.output,
                spark=spark,
                about=self._about,
                say=say,
                storage_options=self.storage_options,
                typed=self._typed_topics(),
            )
        num_runs = KeptOffsets.read(folder, settings).num_runs
        self.table_formats.register(folder, self.output, num_runs, self.storage_options, say)
        return summary

    def _typed_topics(self) -> TypedTopics | None:
        """Return how the topics are decoded; None if keys and values stay bytes."""
        if self.decode_settings is None:
            return None
        return settled_topics(self.dataset, self.decode_settings, self.output.columns)

    @property
    def _output_folder(self) -> OutputFolder:
        """Return the folder in a store or on this machine; InputError if it is inside of an input in a store."""
        if is_url(self.out):
            check_url_outside(self.out, self.paths)
        return output_folder(self.out, self.storage_options)

    @property
    def _about(self) -> dict[str, Any]:
        options = self.dataset.options
        return {
            "paths": list(self.paths),
            "isolation_level": options.isolation_level,
            "on_damage": options.on_damage,
            "max_partition_bytes": self.max_partition_bytes,
        }

    def _stage(self, say: Say) -> AbstractContextManager[Stage | CommitStage]:
        """Return the stage of the output, which is checked first."""
        if not is_url(self.out):
            out = check_output(Path(self.out), self.dataset, self.paths, overwrite=self.overwrite)
            return staged(out, overwrite=self.overwrite, restart=self.restart, say=say)
        return committed(
            self._output_folder,
            overwrite=self.overwrite,
            is_append=False,
            restart=self.restart,
            say=say,
        )


def _planned(plan: PipelinePlan) -> str:
    """Return a sentence about *plan*."""
    logs = plan.dataset.logs
    counts = (
        (len(logs), "partition"),
        (sum(len(log.logs) for log in logs), "segment"),
        (size_of(plan.dataset), "byte"),
    )
    parts = [f"{number:,} {noun}{'' if number == 1 else 's'}" for number, noun in counts]
    tasks = len(plan.read)
    return f"planned {', '.join(parts)}: {tasks:,} task{'' if tasks == 1 else 's'}"
