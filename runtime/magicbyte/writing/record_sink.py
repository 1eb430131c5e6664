"""Write records into a log.dir of new partitions: tasks write runs, a commit publishes them, or nothing is left."""

import os
import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from magicbyte import codecs
from magicbyte.errors import FormatError, InputError
from magicbyte.findings import Finding
from magicbyte.limits import DEFAULT_LIMITS
from magicbyte.output_guard import check_no_log_folder
from magicbyte.storage import absolute_path
from magicbyte.storage.output_folder import LocalFolder
from magicbyte.writing._abandoned_writes import delete_abandoned, delete_staging
from magicbyte.writing._new_folder import create_output_folder
from magicbyte.writing._output_log_dir import DRAFTS, OutputLogDir, RewriteJob
from magicbyte.writing._partition_writer import PartitionWriter
from magicbyte.writing._record_columns import check_record_schema
from magicbyte.writing._record_groups import codec_number
from magicbyte.writing._run_join import joined_runs
from magicbyte.writing.copies import check_local, writer_settings
from magicbyte.writing.record_runs import RecordRun, RecordSettings, RunWriter, check_topic
from magicbyte.writing.rewrite import RewriteReport, WriterSettings, verified_log

JOB = RewriteJob("write", {})
"""All writes into a folder are one job: each adds partitions, with options of its own."""

TIMESTAMP_TYPES = {"CreateTime": 0, "LogAppendTime": 1}
"""Numbers of Kafka's `message.timestamp.type`."""

MAX_BATCH_BYTES = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class RecordSink:
    """A write job. It can be pickled: its tasks run in other processes, which see the same folder.

    Runs and drafts are in a hidden folder of the output until they are published.
    """

    path: Path
    """The output folder."""
    record_settings: RecordSettings
    writer_settings: WriterSettings
    starting_offset: int | Mapping[tuple[str, int], int] = 0
    """First offset of partitions whose records have none: of all, or by topic and partition."""
    overwrites: bool = False
    """True if all partitions that are in the output are replaced; False if others are added."""
    job_id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def staging(self) -> Path:
        """The hidden folder."""
        return self.path / f"{DRAFTS}-{self.job_id}"

    @property
    def runs_folder(self) -> Path:
        """The folder into which tasks write."""
        return self.staging / "runs"

    def check(self) -> None:
        """Raise InputError if the output folder holds anything but the output of earlier writes."""
        check_no_log_folder(self.path)
        if self.path.exists() and not self.path.is_dir():
            raise InputError("this is a file", "a folder, or a new name", path=str(self.path))
        self._output_dir()

    def _output_dir(self) -> OutputLogDir:
        output_dir = OutputLogDir(self.path, JOB)
        output_dir.read_manifest()
        return output_dir

    def begin(self) -> None:
        """Create the hidden folder, and delete older ones whose writes were killed.

        Tasks do not create it: one that runs after the end of the write would create it again.
        """
        create_output_folder(self.path)
        delete_abandoned(self.path, f"{DRAFTS}-")
        self.runs_folder.mkdir(parents=True)

    def check_schema(self, schema: pa.Schema) -> None:
        """Raise InputError unless *schema* has the columns of records."""
        check_record_schema(
            schema,
            has_topic=self.record_settings.topic is not None,
            is_append_time=self.record_settings.timestamp_type == 1,
        )

    def run_writer(
        self, schema: pa.Schema, *, file_prefix: str = "", first_partition: int = 0
    ) -> RunWriter:
        """Return the writer of a task; see RunWriter."""
        if not self.runs_folder.is_dir():
            raise InputError(
                "the folder of this write is not there",
                "a folder that all machines share, and a write that has not ended",
                path=str(self.runs_folder),
            )
        return RunWriter(
            self.runs_folder,
            self.record_settings,
            schema,
            file_prefix=file_prefix,
            first_partition=first_partition,
            check_partitions=partial(self._check_new, self._output_dir()),
        )

    def commit(self, runs: Iterable[RecordRun]) -> RewriteReport:
        """Publish the partitions of *runs*, in the order that records without offsets get.

        All partitions are written and verified before the first one appears. Raises InputError if one exists, or
        if offsets contradict each other; nothing is published then.
        """
        output_dir = self._output_dir()
        by_partition: dict[tuple[str, int], list[RecordRun]] = defaultdict(list)
        for run in runs:
            by_partition[run.topic, run.partition].append(run)
        names = [f"{topic}-{partition}" for topic, partition in by_partition]
        self._check_new(output_dir, names)
        report = RewriteReport(str(JOB), str(self.path))
        reports: dict[str, dict[str, Any]] = {}
        for (topic, partition), partition_runs in sorted(by_partition.items()):
            row = self._write_partition(topic, partition, partition_runs)
            reports[f"{topic}-{partition}"] = row
            report.partitions.append(row)
        output_dir.open()
        self._check_new(output_dir, names)  # another job may have written them meanwhile
        output_dir.publish_drafts(self.staging, reports, is_whole=self.overwrites)
        self.discard()
        return report

    def _check_new(self, output_dir: OutputLogDir, names: Iterable[str]) -> None:
        """Raise InputError if one of the partitions *names* exists and this job may not replace it."""
        for name in names:
            if not os.path.lexists(self.path / name):
                continue
            if name not in output_dir.partition_names:
                raise InputError(
                    f"the folder holds {name}, which no write has written",
                    "a new or empty folder, or the output of earlier writes",
                    path=str(self.path),
                )
            if not self.overwrites:
                raise InputError(
                    f"the partition {name} exists",
                    "partitions that are not in the folder yet; records are not appended to a partition",
                    path=str(self.path),
                )

    def _write_partition(
        self, topic: str, partition: int, runs: Sequence[RecordRun]
    ) -> dict[str, Any]:
        """Join *runs* as the draft of a partition, verify it, and return its row of the report."""
        draft = LocalFolder(self.staging / f"{topic}-{partition}")
        draft.folder.mkdir()
        start = self.starting_offset
        if not isinstance(start, int):
            start = start.get((topic, partition), 0)
        writer = PartitionWriter(
            draft,
            limits=DEFAULT_LIMITS,
            index_interval_bytes=self.writer_settings.index_interval_bytes,
            segment_bytes=self.writer_settings.segment_bytes,
        )
        try:
            writer.write_parts(joined_runs(self.runs_folder, runs, start))
            writer.finish()
        finally:
            writer.close()
        log = verified_log(draft.path, ())
        num_records = sum(run.num_records for run in runs)
        if writer.num_records != num_records:
            raise _other_count(f"{topic}-{partition}", writer.num_records, num_records)
        for run in runs:
            (self.runs_folder / run.file_name).unlink()
        return {
            "topic": topic,
            "partition": partition,
            "outcome": "written",
            "records": num_records,
            "first_offset": log.logs[0].base_offset,
            "log_end_offset": writer.companions.log_end_offset,
            "segments": writer.num_segments,
            "output_entries": writer.num_entries,
            "output_bytes": writer.num_bytes,
        }

    def discard(self) -> None:
        """Delete all that is not published, and the output folder if it is empty then."""
        delete_staging(self.staging)
        with suppress(OSError):
            self.path.rmdir()


def _other_count(name: str, num_written: int, num_expected: int) -> FormatError:
    return FormatError(
        Finding(
            code="bad-record-count",
            message=f"the batches of {name} hold {num_written} records, expected {num_expected}: files of tasks have "
            "changed since they were written",
            found=str(num_written),
            expected=str(num_expected),
        )
    )


def record_sink(
    output: str | os.PathLike[str],
    *,
    topic: str | None,
    partitions: int,
    codec: str,
    level: int | None,
    batch_bytes: int,
    segment_bytes: int | None,
    index_interval_bytes: int,
    timestamp_type: str,
    starting_offset: int | Mapping[tuple[str, int], int],
    leader_epoch: int,
    overwrites: bool = False,
) -> RecordSink:
    """Return the job that writes into *output*. Raises InputError for a value that is not allowed."""
    check_local(output)
    if topic is not None:
        check_topic(topic)
    if not 1 <= partitions < 1 << 31:
        raise InputError(f"partitions {partitions}", f"1 to {(1 << 31) - 1}")
    if not 1 <= batch_bytes <= MAX_BATCH_BYTES:
        raise InputError(f"batch_bytes {batch_bytes}", f"1 to {MAX_BATCH_BYTES}")
    if timestamp_type not in TIMESTAMP_TYPES:
        raise InputError(f"timestamp_type {timestamp_type!r}", " or ".join(TIMESTAMP_TYPES))
    if not 0 <= leader_epoch < 1 << 31:
        raise InputError(f"leader_epoch {leader_epoch}", f"0 to {(1 << 31) - 1}")
    offsets = (starting_offset,) if isinstance(starting_offset, int) else starting_offset.values()
    for offset in offsets:
        if not 0 <= offset < 1 << 62:
            raise InputError(f"starting_offset {offset}", f"0 to {(1 << 62) - 1}")
    number = codec_number(codec)
    codecs.check_level(number, level)
    sink = RecordSink(
        Path(absolute_path(output)),
        RecordSettings(
            topic=topic,
            num_partitions=partitions,
            codec=number,
            level=level,
            batch_bytes=batch_bytes,
            timestamp_type=TIMESTAMP_TYPES[timestamp_type],
            leader_epoch=leader_epoch,
        ),
        writer_settings(index_interval_bytes, segment_bytes),
        starting_offset,
        overwrites,
    )
    sink.check()
    return sink
