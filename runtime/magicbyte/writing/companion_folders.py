"""Companion files of partitions in folders of their own, for `.log` files that stay where they are."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from magicbyte.errors import FormatError, InputError, LimitError
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.output_guard import check_outside
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.entry_runs import LostBytes, PartitionReader, SegmentStart
from magicbyte.storage.output_folder import LocalFolder
from magicbyte.writing._companions import INDEX_INTERVAL_BYTES, CompanionBuilder, SegmentCompanions
from magicbyte.writing._new_folder import create_output_folder
from magicbyte.writing._output_log_dir import DRAFTS, RewriteJob, sync_folder_tree
from magicbyte.writing.copies import check_local, check_whole
from magicbyte.writing.rewrite import (
    Progress,
    RefusedError,
    RewriteReport,
    check_unchanged,
    file_versions,
    partition_row_of,
)

COMPANION_KINDS = ("index", "timeindex", "txnindex", "snapshot")


def write_companions(
    dataset: Dataset,
    output: str | os.PathLike[str] | None,
    *,
    index_interval_bytes: int = INDEX_INTERVAL_BYTES,
    progress: Progress | None = None,
) -> RewriteReport:
    """Write the companion files of partitions into a new folder, without their ``.log`` files.

    They are for a copy of a log whose companion files are missing or wrong: delete those from the copy, and copy the
    folders of *output* over it. Keep its own ``leader-epoch-checkpoint``: it also has epochs without batches. A broker
    then loads the partitions without reading their segments. It does not verify them, so a partition that is damaged,
    or ends inside a batch, gets no companion files.

    Args:
        dataset: The partitions, from `open`.
        output: New or empty folder. It gets a folder for each partition. None: write nothing, and return the report.
        index_interval_bytes: The topic's ``index.interval.bytes``.
        progress: Called after each partition with the bytes that are done, and those in all.
    Returns:
        A row for each partition. `files` is the number of companion files, `output_bytes` their size, and
        `obsolete_files` are the names of those in the source's folder that must be deleted from a copy.
    Raises:
        InputError: *output* is in a log.dir, or holds files; or the dataset is limited to some offsets.
        ChangedError: A source changed while it was read.
        OSError: The output cannot be written.
    Example:
        >>> from magicbyte.writing.companion_folders import write_companions
        >>> report = write_companions(mb.open("log-0", topics=["fenced"]), None)
        >>> [row["files"] for row in report.partitions]
        [7, 7]
    """
    check_whole(dataset)
    folder = None if output is None else _new_folder(output, dataset)
    job = RewriteJob(
        "rewrite", {"companions_only": True, "index_interval_bytes": index_interval_bytes}
    )
    report = RewriteReport(str(job), None if folder is None else folder.path)
    num_bytes, done = sum(log.log_bytes for log in dataset.logs), 0
    for log in dataset.logs:
        builder = CompanionBuilder(
            index_interval_bytes=index_interval_bytes, limits=dataset.options.limits
        )
        draft = None if folder is None else folder.child(DRAFTS)
        try:
            row = _write_partition(dataset, log, builder, draft)
            if folder is not None and draft is not None:
                draft.child(log.name).folder.rename(folder.folder / log.name)
        except (FormatError, LimitError) as error:
            report.findings.append(error.finding)
            row = partition_row_of(log, "failed", error=str(error))
        except RefusedError as error:
            row = partition_row_of(log, "failed", error=str(error))
        finally:
            if draft is not None:
                draft.delete_folder()
        report.partitions.append(row)
        done += log.log_bytes
        if progress is not None:
            progress(done, num_bytes)
    return report


def _new_folder(folder_path: str | os.PathLike[str], dataset: Dataset) -> LocalFolder:
    """Create the folder *folder_path*. Raises InputError if it holds files, or is in a log that is read."""
    check_local(folder_path)
    path = Path(os.path.abspath(folder_path))
    check_outside(path, dataset.all_logs, ())
    create_output_folder(path)
    names = sorted(os.listdir(path))
    if names:
        raise InputError(f"the folder holds {names[0]}", "a new or empty folder", path=str(path))
    return LocalFolder(path)


def _write_partition(
    dataset: Dataset, log: PartitionLog, builder: CompanionBuilder, draft: LocalFolder | None
) -> dict[str, Any]:
    """Build the companion files of *log*, into a folder of its name in *draft*; return its row."""
    if not log.logs:
        raise RefusedError("it has no segment; expected a .log file")
    if log.is_filled or any(file.is_remote for file in log.logs):
        raise RefusedError(
            "segments of several replicas, or of remote storage, would need other positions: "
            "`magicbyte rewrite` copies them with their companion files"
        )
    versions = file_versions(log)
    file_sizes: dict[str, int] = {}
    for segment in _segment_companions(PartitionReader(dataset, log), builder):
        for name, data in segment.files.items():
            file_sizes[name] = len(data)
            if draft is not None:
                draft.child(log.name).write(name, data)
    check_unchanged(log, versions)
    if draft is not None:
        sync_folder_tree(draft.folder / log.name)
    companions = [file.name for file in log.files if file.live and file.kind in COMPANION_KINDS]
    return partition_row_of(
        log,
        "counted" if draft is None else "written",
        segments=len(log.logs),
        files=len(file_sizes),
        output_bytes=sum(file_sizes.values()),
        changed_entries={},
        changed_records={},
        obsolete_files=[name for name in companions if name not in file_sizes],
        log_end_offset=builder.log_end_offset,
        last_stable_offset=builder.last_stable_offset,
    )


def _segment_companions(
    partition_reader: PartitionReader, builder: CompanionBuilder
) -> Iterator[SegmentCompanions]:
    """Yield the companion files of each segment. Raises RefusedError at bytes that are no sound batch."""
    for segment in partition_reader.survey().segments:
        for unsound in segment.unsound_ranges:
            raise _unsound(segment.file.name, unsound.start, unsound.end)
    for part in partition_reader.parts():
        if isinstance(part, SegmentStart):
            ended = builder.begin_segment(part.file.base_offset or 0)
            if ended is not None:
                yield ended
        elif isinstance(part, LostBytes):
            raise _unsound(part.file.name, part.start, part.end)
        else:
            builder.add(part.entries, part.data)
    yield builder.finish()


def _unsound(file_name: str, start: int, end: int) -> RefusedError:
    return RefusedError(
        f"bytes {start} to {end - 1} of {file_name} are no sound batch: with companion files a broker would not "
        "notice that; `magicbyte verify` says what is wrong, and `magicbyte salvage` copies what is sound"
    )
